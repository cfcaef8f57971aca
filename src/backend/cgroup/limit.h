/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a plan's limits into the directory of a group, for either version. */
#pragma once

#include "backend/cgroup/layout.h"
#include "backend/plan.h"

/* Sets what the plan limits by one controller, then reads it back: a value that is looser than asked is an
 * error.  (The kernel rounds memory down to pages.) */
CORDON_MUST_CHECK int cgroup_limit_apply(int fd, bool is_v2, enum cgroup_controller controller,
					 const struct plan *plan, struct cordon_error *err);
/* Does the plan limit anything by this controller? */
bool cgroup_limit_wants(const struct plan *plan, enum cgroup_controller controller);
