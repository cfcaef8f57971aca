/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doing what a plan says.  First everything that is to appear is prepared in a directory of its own in each tree; when
 * all of it is there, names are removed, moved into place and joined, then times and modes of directories are set.
 */
#pragma once

#include "workspace/snap/meta.h"
#include "workspace/snap/plan.h"

struct snap_apply {
	struct snap_plan *plan;
	struct meta_rights rights;
	char stage[17];
	int *stages;            /* a descriptor for each tree; -1: nothing is prepared there */
	struct timespec *roots; /* the times of the trees' own directories, before */
};

CORDON_MUST_CHECK int snap_apply_begin(struct snap_apply *a);
void snap_apply_done(struct snap_apply *a);
/* Gives the trees' own directories their times back, which making a directory in them has changed. */
void snap_apply_root_times(struct snap_apply *a);
/* Nothing that a tree had is changed, but for the directory that is made in it. */
CORDON_MUST_CHECK int snap_apply_prepare(struct snap_apply *a);
CORDON_MUST_CHECK int snap_apply_change(struct snap_apply *a);
/* Removes the directories with what was prepared, of this or an earlier run. */
void snap_apply_clean(struct snap_apply *a);
