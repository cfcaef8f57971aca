/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking a person.  The only way in this build is the terminal that controls the process; where there
 * is none, nobody can approve and the answer is no.
 */
#pragma once

#include "core/approvals.h"
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
/* Shows the call (quoted and escaped here) and waits for "y" or "yes" on /dev/tty.  TIMED_OUT means
 * that there was somebody to ask and no answer; a terminal that fails or hangs up is a no. */
enum approval approve_ask(const struct request *request, const char *reason, int64_t timeout_ms);
/* The same for a host that a running call wants, with how long the answer is to hold; until the deadline (clock_ms()),
 * the end of the command, or a signal for us.  who: the person, as far as that is known. */
enum approval approve_ask_host(const char *host, bool has_session, int64_t deadline,
			       int command_pidfd, enum approval_scope *ret_scope,
			       char ret_who[static APPROVAL_WHO_MAX]);
/* What the person is shown of the call; appends. */
void approve_text(const struct request *request, struct buf *out);
