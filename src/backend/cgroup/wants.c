/* SPDX-License-Identifier: Apache-2.0 */
/* What of a plan needs a group; pure, and the same where there are none (cgroup.h, limit.h). */
#include "backend/cgroup/cgroup.h"
#include "backend/cgroup/limit.h"

bool cgroup_limit_wants(const struct plan *plan, enum cgroup_controller controller)
{
	switch (controller) {
	case CGROUP_MEMORY:
		return plan->memory_bytes.is_given && !plan_memory_by_process(plan);
	case CGROUP_PIDS:
		return plan->max_processes.is_given && !plan_pids_by_user(plan);
	case CGROUP_CPU:
		return plan->cpu_shares.is_given || plan->cpu_percent.is_given;
	case CGROUP_FREEZER:
	case CGROUP_CONTROLLER_COUNT:
		break;
	}
	return false;
}

bool cgroup_is_needed(const struct plan *plan)
{
	for (int c = 0; c < CGROUP_CONTROLLER_COUNT; c++)
		if (cgroup_limit_wants(plan, (enum cgroup_controller)c))
			return true;
	return false;
}
