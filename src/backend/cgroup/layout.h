/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where our own control groups are, from the text of /proc/self/mountinfo and /proc/self/cgroup.  Pure:
 * text in, paths out.  Version 1 has a hierarchy per controller (some share one), version 2 a single
 * one for all; on a hybrid machine each controller is in exactly one of them.
 *
 * Both files tell paths relative to the root of our cgroup namespace.  A mount that shows only a part
 * of a hierarchy (a container's) is used when our group lies in that part; what lies outside ("..") has
 * no name here and is not used.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* X(ID, name).  The freezer limits nothing, and version 2 has it in every group. */
#define CGROUP_CONTROLLER_TABLE(X)                                                                 \
	X(MEMORY, "memory")                                                                        \
	X(PIDS, "pids")                                                                            \
	X(CPU, "cpu")                                                                              \
	X(FREEZER, "freezer")

enum cgroup_controller {
#define CGROUP_CONTROLLER_ENUM(id, name) CGROUP_##id,
	CGROUP_CONTROLLER_TABLE(CGROUP_CONTROLLER_ENUM)
#undef CGROUP_CONTROLLER_ENUM
		CGROUP_CONTROLLER_COUNT
};

extern const char *const cgroup_controller_names[CGROUP_CONTROLLER_COUNT];

/* Directories of our own groups; owned, NULL when there is none.  Two controllers that share a
 * hierarchy have equal paths. */
struct cgroup_layout {
	char *v1[CGROUP_CONTROLLER_COUNT];
	char *v2;
};

/* 0; -EINVAL for text that the kernel would not write; -ENAMETOOLONG; -ENOMEM. */
CORDON_MUST_CHECK int cgroup_layout_parse(const char *mountinfo, const char *self,
					  struct cgroup_layout *ret);
void cgroup_layout_done(struct cgroup_layout *l);
