/* SPDX-License-Identifier: Apache-2.0 */
/* See asked.h. */
#include "core/asked.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define ASKED_TEXT (HOST_FORMAT_SIZE + 32)

/* One question on its way to an answer. */
struct asked_one {
	char text[HOST_FORMAT_SIZE]; /* as --allow-host takes it */
	enum approval answer;
	enum approval_scope scope;
	char who[APPROVAL_WHO_MAX];
};

/* Canonical, and closed by nothing but the missing entry? */
static bool asked_is_open(const struct asked *a, const struct proxy_question *q,
			  char text[static HOST_FORMAT_SIZE])
{
	struct authority open = *a->authority;
	struct authority_answer answer;
	struct host host;
	uint16_t port = q->port ? q->port : 443;

	if (host_parse(q->host, strlen(q->host), 0, &host, NULL) < 0 ||
	    strcmp(host.name, q->host) != 0)
		return false;
	authority_host(a->authority, &host, port, &answer);
	if (answer.is_allowed || !answer.is_unlisted)
		return false;
	open.mode = AUTHORITY_OPEN;
	authority_host(&open, &host, port, &answer);
	host.port = q->port;
	host_format(&host, text);
	return answer.is_allowed;
}

/* What was allowed before: 1, 0 or an error. */
static int asked_before(const struct asked *a, struct asked_one *one, struct cordon_error *err)
{
	const struct approval_of rows[] = {
		{APPROVAL_SESSION, a->request->session, one->text},
		{APPROVAL_PROJECT, a->workspace, one->text},
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(rows); i++) {
		if (!rows[i].owner)
			continue;
		r = approvals_find(a->state_dir, &rows[i], one->who, err);
		one->scope = rows[i].scope;
	}
	return r;
}

static void asked_person(const struct asked *a, struct asked_one *one, int64_t deadline,
			 int command_pidfd)
{
	int64_t own = clock_deadline(a->policy->approval_timeout_s * 1000);
	int64_t until = own < deadline ? own : deadline;
	char text[ASKED_TEXT];

	if (!a->ask) {
		one->answer = approve_ask_host(one->text, a->request->session != NULL, until,
					       command_pidfd, &one->scope, one->who);
		return;
	}
	(void)snprintf(text, sizeof(text), "connect to %s", one->text);
	one->scope = APPROVAL_ONCE;
	(void)snprintf(one->who, sizeof(one->who), "the caller");
	one->answer = a->ask(a->ask_data, text, "network.ask: the host is on no list",
			     until - clock_ms());
}

static int asked_keep(const struct asked *a, const struct asked_one *one, struct cordon_error *err)
{
	const struct approval_of of = {
		.scope = one->scope,
		.owner = one->scope == APPROVAL_SESSION ? a->request->session : a->workspace,
		.host = one->text,
	};

	return one->scope == APPROVAL_ONCE ? 0 : approvals_add(a->state_dir, &of, one->who, err);
}

bool asked_answer(const struct asked *a, const struct proxy_question *q, int64_t deadline,
		  int command_pidfd)
{
	struct asked_one one = {.answer = APPROVAL_DENIED};
	struct cordon_error err = {0};
	char rule[ASKED_TEXT + APPROVAL_WHO_MAX];
	bool granted;
	int r;

	if (a->is_tainted || !asked_is_open(a, q, one.text))
		return false;
	r = asked_before(a, &one, &err);
	if (r > 0)
		one.answer = APPROVAL_GRANTED;
	else if (r == 0)
		asked_person(a, &one, deadline, command_pidfd);
	granted = one.answer == APPROVAL_GRANTED;
	if (r == 0 && granted)
		r = asked_keep(a, &one, &err);
	(void)snprintf(rule, sizeof(rule), "network.ask '%s'%s%s%s%s", one.text,
		       granted ? ": " : "", granted ? approval_scope_name(one.scope) : "",
		       granted ? ", by " : "", granted ? one.who : "");
	/* What cannot be written down is not allowed. */
	if (r >= 0 && a->policy->log_approvals)
		r = record_approval(a->record, a->request, rule, one.answer, granted, &err);
	if (r >= 0 && granted)
		r = report_approval(a->report, one.text, approval_scope_name(one.scope), one.who);
	return r >= 0 && granted;
}
