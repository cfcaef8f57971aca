/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the policy to what a backend must give.  At level none only what somebody wrote counts, and of
 * that only what the supervisor cannot hold by itself keeps noop from being used.
 */
#pragma once

#include "backend/select.h"
#include "policy/policy.h"

struct needs {
	guarantee_set guarantees;
	guarantee_set may_give_up;
};

/* CORDON_E_UNSUPPORTED when the policy asks for an inspection or a destination that this build does
 * not have: nothing that was asked for is dropped. */
CORDON_MUST_CHECK int needs_of(const struct policy *p, struct needs *ret, struct cordon_error *err);
/* The policy values that made a guarantee needed, for messages: "sandbox.capabilities.network.mode
 * (user …:3:9)"; appends nothing when it is always needed. */
void needs_reason(const struct policy *p, enum guarantee g, struct buf *out);
