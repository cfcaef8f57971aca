/* SPDX-License-Identifier: Apache-2.0 */
/* Ports that pass between a call and the host, as the policy names them, in the form of a plan. */
#pragma once

#include "backend/plan.h"
#include "base/limits.h"
#include "policy/policy.h"
#include "policy/publish.h"

struct ports {
	uint16_t granted[LIMIT_PORTS];
	struct publish published[LIMIT_PUBLISH];
	struct plan_publish rows[LIMIT_PUBLISH];
};

/* Fills the plan's part, which borrows *room and the policy.  A published port needs a network of the call's own. */
CORDON_MUST_CHECK int ports_plan(const struct policy *p, struct ports *room, struct plan *plan,
				 struct cordon_error *err);
