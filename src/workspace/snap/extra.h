/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are there and were not in the snapshot: which of them a restore may remove. */
#pragma once

#include "workspace/snap/plan.h"

/* The part of an absolute path behind a tree's; "" for the tree itself; NULL when it is outside.  Borrows. */
const char *snap_extra_below(const char *tree, const char *path);
/* Fills the plan's goners by what the caller permits, deepest first. */
CORDON_MUST_CHECK int snap_extra_find(struct snap_plan *p);
/* The same by a journal. */
CORDON_MUST_CHECK int snap_extra_again(struct snap_plan *p, const struct snap_journal *j);
/* Gives the first name in a directory that will not be removed; NULL when all will.  0 or -errno. */
CORDON_MUST_CHECK int snap_extra_find_kept(struct snap_plan *p, size_t root, const char *path,
					   char **ret);
