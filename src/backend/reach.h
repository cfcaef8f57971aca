/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plan makes of a path: the question that the steps answer by being carried out, answered without
 * doing so.  For telling what a call could not have; nothing is enforced by it.  Pure.
 */
#pragma once

#include "backend/plan.h"

enum reach {
	REACH_NONE,      /* no step shows it */
	REACH_READ,      /* the host's, read-only; or a directory on the way to a grant */
	REACH_WRITE,     /* the host's, read and write */
	REACH_PRIVATE,   /* the call's own: nothing of the host's is there */
	REACH_PROTECTED, /* can be read only, although it is below something writable */
	REACH_DENIED,    /* can be neither read nor written */
	REACH_COUNT
};

/* path is absolute and normalised.  *ret_op is the step that decides, NULL for REACH_NONE. */
enum reach reach_of(const struct plan *plan, const char *path, const struct plan_op **ret_op);
/* Is name in the small /dev of a sandbox?  name: below /dev. */
bool reach_has_device(const char *name);
