/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The secrets of a call that stop at the boundary: a placeholder for each, new for every call, which is what the call
 * sees; and what the proxy has to know of them.
 */
#pragma once

#include "base/str.h"
#include "core/report.h"
#include "proxy/boundary.h"
#include "proxy/proxy.h"
#include "secrets/grant.h"

#define FINDING_RULE_MISDIRECTED "secret-misdirected"
#define FINDING_RULE_LEAKED "SECRET-BY-RULE" /* which one is not known */

struct egress_secrets {
	struct boundary_secret *items; /* borrow from the grants and from what follows */
	size_t n;
	struct strv placeholders;
};

/* Does the policy put secrets in at the boundary? */
bool egress_secrets_are_due(const struct policy *p);
/* Is there a proxy that may look for something? */
bool egress_secrets_are_sought(const struct policy *p);
/* Those that are put in at the boundary, and of others those that are looked for in what leaves: all that are bound to
 * hosts, and the rest where the policy looks for leaks.  The grants must live as long.  *ret is always set up. */
CORDON_MUST_CHECK int egress_secrets_make(const struct policy *p,
					  const struct secret_grants *grants,
					  struct egress_secrets *ret, struct cordon_error *err);
/* What the proxy looks for in what leaves. */
struct proxy_leaks egress_secrets_leaks(const struct policy *p, const struct egress_secrets *s);
void egress_secrets_done(struct egress_secrets *s);
/* NAME=PLACEHOLDER, in the place of any other value.  0 or -errno. */
CORDON_MUST_CHECK int egress_secret_name(struct strv *env, const char *name,
					 const char *placeholder);
/* NAME=PLACEHOLDER for each, in the place of any other value.  0 or -errno. */
CORDON_MUST_CHECK int egress_secrets_environment(const struct egress_secrets *s, struct strv *env);
/* What must not leave and was on its way is a finding.  So is a placeholder that was sent elsewhere, and then the call's
 * verdict is that of all findings. */
CORDON_MUST_CHECK int egress_secrets_judge(const struct policy *p, const struct proxy_tally *tally,
					   struct report *report, struct cordon_error *err);
/* What the proxy of a sandbox that stays has counted between two times is a finding for each kind. */
CORDON_MUST_CHECK int egress_secrets_leaked(const struct policy *p,
					    const struct proxy_leaked *before,
					    const struct proxy_leaked *after, struct report *report,
					    struct cordon_error *err);
