/* SPDX-License-Identifier: Apache-2.0 */
/* See limits.h. */
#include "backend/limits.h"

#include "backend/cgroup/cgroup.h"

#include <assert.h>

static_assert(sizeof(((struct probe *)0)->lacks) == CGROUP_WHY_MAX, "one line fits the other");

void limits_probe(enum probe_form form, guarantee_set wanted, bool has_userns, struct probe *ret)
{
	bool is_full = form == PROBE_FULL;
	guarantee_set tried = is_full ? GUARANTEE_ALL : wanted;
	guarantee_set given = GUARANTEE_NONE;

	if (tried & CGROUP_GUARANTEES)
		given = cgroup_probe(tried & CGROUP_GUARANTEES, /* tries_entering= */ is_full,
				     ret->lacks);
	if (given & GUARANTEE_BIT(MEMORY_TREE)) {
		given |= GUARANTEE_BIT(MEMORY_PROCESS);
	} else if (tried & GUARANTEE_BIT(MEMORY_PROCESS) && limits_can_sample()) {
		given |= GUARANTEE_BIT(MEMORY_PROCESS);
		ret->by_rlimit |= GUARANTEE_BIT(MEMORY_PROCESS);
	}
	if (!(given & GUARANTEE_BIT(PIDS)) && tried & GUARANTEE_BIT(PIDS) && has_userns &&
	    limits_nproc_holds()) {
		given |= GUARANTEE_BIT(PIDS);
		ret->by_rlimit |= GUARANTEE_BIT(PIDS);
	}
	ret->guarantees |= given;
}
