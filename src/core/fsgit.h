/* SPDX-License-Identifier: Apache-2.0 */
/* See fsgit.c; a part of fsplan.h. */
#pragma once

#include "core/fsbuild.h"

/* A git directory in a grant: its names, and what its configuration and the person's own name. */
CORDON_MUST_CHECK int fsgit_protect_dir(struct fsbuild *b, const char *gitdir);
/* What the person's configuration names in the workspace, and that of a repository of which the workspace is a part. */
CORDON_MUST_CHECK int fsgit_protect_around(struct fsbuild *b);
