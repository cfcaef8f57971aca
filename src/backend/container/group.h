/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control group of a container, as the engine shows it inside, of either version.  An engine says when it cannot hold
 * a limit; a runtime under it that leaves one out says nothing, so what was asked for is looked at.
 */
#pragma once

#include "backend/plan.h"
#include "base/error.h"

#define GROUP_DIR "/sys/fs/cgroup"

/* Has the kernel killed somebody at the memory limit of the group at dir? */
bool group_is_oom(const char *dir);
/* Are the plan's limits of memory, processes (beside own_processes of ours), processor time and its shares in force there?  0; -EPERM
 * when one is not, -ENOENT when one is not shown: *ret_what names it. */
CORDON_MUST_CHECK int group_holds(const char *dir, const struct plan *plan, unsigned own_processes,
				  const char **ret_what);
