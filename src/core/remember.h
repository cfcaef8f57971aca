/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call in the memory of its session: judged by what came before, kept with what it says it does, and after it ran
 * with what the kernel saw of it.  Calls without a session are judged alone, and only where the policy names
 * sequences.
 */
#pragma once

#include "core/report.h"
#include "session/observe.h"
#include "session/session.h"

#define FINDING_RULE_TAINT "session-tainted"

struct remember {
	const struct policy *policy;
	const struct request *request;
	struct session_store *store; /* NULL without a session */
	struct observed observed;
	bool is_tainted;
	char taint[512]; /* by what */
};

/* Opens the memory if it is needed, and adds what follows from it.  remember_done() in any case. */
CORDON_MUST_CHECK int remember_begin(const struct policy *p, const struct request *r,
				     const char *state_dir, const char *home, struct remember *ret,
				     struct findings *findings, struct cordon_error *err);
/* Does the session lose the network that the policy would give? */
bool remember_denies_egress(const struct remember *m);
/* The call is going to run. */
CORDON_MUST_CHECK int remember_start(struct remember *m, struct cordon_error *err);
/* It ran: what was seen becomes events, and these are judged too. */
CORDON_MUST_CHECK int remember_end(struct remember *m, struct report *report,
				   struct cordon_error *err);
void remember_done(struct remember *m);
