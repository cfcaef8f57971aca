/* SPDX-License-Identifier: Apache-2.0 */
/* What a call left behind, as findings. */
#pragma once

#include "core/report.h"
#include "workspace/newgit.h"

/* Repositories that the call made: allowed, and said, the more so when git would run something for them.  And links in
 * those and in the ones that were there. */
CORDON_MUST_CHECK int aftermath_new_git(struct newgit *newgit, struct findings *ret,
					struct cordon_error *err);
