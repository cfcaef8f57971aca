/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The action "constrain": a SUSPICIOUS call runs, held to what enforcement.suspicious grants its tool
 * (nothing for a tool that is not listed) and to what the policy granted anyway, under the adapter
 * that the policy names or the strongest backend there is.
 */
#pragma once

#include "backend/select.h"
#include "base/json.h"
#include "policy/policy.h"

/* Gives a tighter copy of p, for the backend of constrain_backend(). */
CORDON_MUST_CHECK int constrain_policy(const struct policy *p, const char *tool,
				       const char *backend, struct policy **ret,
				       struct cordon_error *err);
/* Gives a copy of p without an open network; what an allowlist names stays. */
CORDON_MUST_CHECK int constrain_egress(const struct policy *p, struct policy **ret,
				       struct cordon_error *err);
/* Gives a copy of p that a call in a sandbox which stays can be held to: the sandbox's files, whose changes are kept
 * apart, and none of its network.  CORDON_E_REFUSED when the policy names what a SUSPICIOUS call of the tool may have, or
 * which backend is to hold it: the sandbox is what it is. */
CORDON_MUST_CHECK int constrain_inside(const struct policy *p, const char *tool, const char *agent,
				       struct policy **ret, struct cordon_error *err);
/* The backend for a constrained call: the caller's explicit choice, the policy's adapter, or the
 * strongest. */
const char *constrain_backend(const struct policy *p, const char *tool, const char *agent,
			      const char *chosen);

/* What a SUSPICIOUS call is held to; also computed where it is only shown. */
struct constrained {
	struct policy *policy; /* owned; NULL: nothing was constrained */
	const char *requested; /* backend; borrowed or static */
	struct selection
		selection; /* backend NULL: none can hold it, and the call would not run so */
	char problem[256]; /* then why */
};

void constrained_done(struct constrained *c);
/* Computes it and asks which backend would hold it; nothing is run.  That none can is no error. */
CORDON_MUST_CHECK int constrain_plan(const struct policy *p, const char *tool, const char *agent,
				     const char *chosen, struct constrained *ret,
				     struct cordon_error *err);
/* Writes it as an object under name. */
void constrained_json(const struct constrained *c, const char *name, struct json *out);
