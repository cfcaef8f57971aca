/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of one call that goes through the proxy: what the policy allows, put into the form that the proxy
 * judges by; the proxy's start and end; and what it wrote down, as a part of the report.
 */
#pragma once

#include "core/asked.h"
#include "core/egress_secret.h"
#include "core/fsplan.h"
#include "core/report.h"
#include "policy/policy.h"
#include "proxy/proxy.h"

struct egress_call {
	struct authority authority;
	struct authority_entry *allowed;
	struct authority_rule *rules;
	struct addr_cidr *exceptions;
	struct strv strings; /* names of the rules */
	const char **words;  /* methods and paths of the rules, one list after the other */
	struct proxy proxy;
	struct asked asked;
	const struct plan_entry *entry; /* of a call in a sandbox that stays, whose keeper asks */
	bool is_untold; /* what the network rejects is not written down: the report says that */
};

#define EGRESS_CALL ((struct egress_call){.proxy = PROXY_NONE})

/* Does the call of this policy go through the proxy? */
bool egress_is_needed(const struct policy *p);
/* Fills ret->authority; nothing is started.  Give *ret back with egress_done() in any case. */
CORDON_MUST_CHECK int egress_authority(const struct policy *p, struct egress_call *ret,
				       struct cordon_error *err);
/* Starts the proxy, and adds to the view what the call needs of it.  Give *ret back with egress_done() in any case. */
CORDON_MUST_CHECK int egress_start(const struct policy *p, const struct egress_secrets *secrets,
				   struct fsplan *view, struct egress_call *ret,
				   struct cordon_error *err);
/* plan.take_network */
CORDON_MUST_CHECK int egress_take(void *call, const struct doors *doors, struct cordon_error *err);
/* supervise_options.network_event: answers the proxy's questions, with what ->asked says of the call. */
CORDON_MUST_CHECK int egress_asked(void *call, int64_t deadline, int command_pidfd);
/* The same for a call in a sandbox that stays: the question comes from its keeper (keeper_ask.h). */
CORDON_MUST_CHECK int egress_asked_inside(void *call, int64_t deadline, int command_pidfd);
/* Ends the proxy and puts what it wrote down into the report. */
CORDON_MUST_CHECK int egress_end(struct egress_call *call, struct report *report,
				 struct cordon_error *err);
void egress_done(struct egress_call *call);
/* The variables that tell programs of the proxy: the sandbox's own, or one at ADDRESS:PORT. */
CORDON_MUST_CHECK int egress_environment(struct strv *env);
CORDON_MUST_CHECK int egress_variables(struct strv *env, const char *address);
