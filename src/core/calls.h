/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls that a policy refuses on top, in the form of a plan. */
#pragma once

#include "backend/confine/calls.h"
#include "backend/plan.h"
#include "policy/policy.h"

/* Fills the plan's part, which borrows *room; nothing when there are none. */
CORDON_MUST_CHECK int calls_plan(const struct policy *p, struct callset *room, struct plan *plan,
				 struct cordon_error *err);
