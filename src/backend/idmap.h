/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids of a new user namespace.  As root all ids are mapped to themselves, so that files keep their owners;
 * otherwise the caller's own uid and gid are, which is all that the kernel allows.
 */
#pragma once

#include "base/error.h"

#include <sys/types.h>

/* Writes the maps of the process, which waits in its new namespace.  0 or -errno. */
CORDON_MUST_CHECK int idmap_own(pid_t pid);
/* The same, but a caller who is not root becomes root there: for a program that insists. */
CORDON_MUST_CHECK int idmap_root(pid_t pid);
