/* SPDX-License-Identifier: Apache-2.0 */
/* See filter.h. */
#include "backend/confine/filter.h"

struct seccomp_policy filter_of(const struct plan *plan, bool has_pid_namespace)
{
	return (struct seccomp_policy){
		/* In a network namespace of its own there is nobody to reach. */
		.allows_inet = true,
		.allows_unix = !plan->seals_unix,
		.allows_netlink_route = true,
		.allows_ptrace = plan->allows_ptrace,
		.has_host_pids = !has_pid_namespace,
		.denies_set_id = true,
		.denies_memfd = plan->separates_exec,
	};
}
