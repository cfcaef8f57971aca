/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking a person.  The only way in this build is the terminal that controls the process; where there
 * is none, nobody can approve and the answer is no.
 */
#pragma once

#include "core/approvals.h"
#include "policy/policy.h"
#include "request/request.h"

#include <stdbool.h>
#include <stdint.h>

enum approval {
	APPROVAL_GRANTED,
	APPROVAL_DENIED,
	APPROVAL_TIMED_OUT,
	APPROVAL_NOBODY,
	APPROVAL_COUNT
};

const char *approval_name(enum approval a);

/* What is to be approved, and what it would be run under. */
struct approve_call {
	const struct request *request;
	const struct policy *policy; /* NULL: nothing is run */
	const char *backend;         /* asked for; or NULL */
	const char *sandbox;         /* the one that stays in which it runs; or NULL */
	char *const *environ;        /* the caller's; or NULL */
};

/* Shows the call (quoted and escaped here) and waits for "y" or "yes" on /dev/tty.  TIMED_OUT means
 * that there was somebody to ask and no answer; a terminal that fails or hangs up is a no. */
enum approval approve_ask(const struct approve_call *call, const char *reason, int64_t timeout_ms);
/* The same for a host that a running call wants, with how long the answer is to hold; until the deadline (clock_ms()),
 * the end of the command, or a signal for us.  who: the person, as far as that is known. */
enum approval approve_ask_host(const char *host, bool has_session, int64_t deadline,
			       int command_pidfd, enum approval_scope *ret_scope,
			       char ret_who[static APPROVAL_WHO_MAX]);

/* approve_text.c: what the person is shown; these append. */
/* The call. */
void approve_text(const struct request *request, struct buf *out);
/* Directory, tool, level, network and all that options made of the policy. */
CORDON_MUST_CHECK int approve_scene(const struct approve_call *call, struct buf *out,
				    struct cordon_error *err);
/* The whole question. */
CORDON_MUST_CHECK int approve_question(const struct approve_call *call, const char *reason,
				       struct buf *out, struct cordon_error *err);
