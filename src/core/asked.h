/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts that the proxy asks for (proxy/ask.h): answered by what a person allowed before, or by asking.  The proxy reads
 * what hostile programs write, so its question is judged here once more: only a host that is on no list, and that
 * nothing else closes, is put to anybody.  No answer, nobody to ask, trouble of any kind: no.
 */
#pragma once

#include "core/approvals.h"
#include "core/record.h"
#include "core/report.h"
#include "net/authority.h"
#include "proxy/proxy.h"

struct asked {
	const struct policy *policy;
	const struct request *request;
	const char *workspace; /* canonical */
	const char *state_dir;
	const struct authority *authority; /* of the call, as it began */
	struct record *record;             /* of the audit trail */
	struct report *report;             /* gets who allowed what */
	bool is_tainted; /* the session lost what no list names: nobody is asked */
	/* Asks elsewhere than on the terminal; NULL: there. */
	enum approval (*ask)(void *data, const char *text, const char *reason, int64_t timeout_ms);
	void *ask_data;
};

/* Is the question answered with yes?  Until the deadline, or until the command has ended. */
CORDON_MUST_CHECK bool asked_answer(const struct asked *a, const struct proxy_question *q,
				    int64_t deadline, int command_pidfd);
