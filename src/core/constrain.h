/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The action "constrain": a SUSPICIOUS call runs, held to what enforcement.suspicious grants its tool
 * (nothing for a tool that is not listed) and to what the policy granted anyway, under the adapter
 * that the policy names or the strongest backend there is.
 */
#pragma once

#include "backend/select.h"
#include "policy/policy.h"
#include "request/request.h"

/* Gives a tighter copy of p. */
CORDON_MUST_CHECK int constrain_policy(const struct policy *p, const char *tool,
				       struct policy **ret, struct cordon_error *err);
/* The backend for a constrained call: the caller's explicit choice, the policy's adapter, or the
 * strongest. */
const char *constrain_backend(const struct policy *p, const struct request *r, const char *chosen);
