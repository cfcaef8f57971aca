/* SPDX-License-Identifier: Apache-2.0 */
/* See ask.h. */
#include "proxy/ask.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static uint16_t ask_port(uint16_t port)
{
	return port == 80 || port == 443 ? 0 : port;
}

/* Is the missing entry all that is in its way? */
static bool ask_is_open(const struct loop *l, const struct host *host, uint16_t port,
			const struct authority_answer *answer)
{
	struct authority open = *l->authority;
	struct authority_answer other;

	/* A name without a dot is a machine nearby, or a search for one. */
	if (l->ask_ms <= 0 || !answer->is_unlisted ||
	    (host->kind == HOST_NAME && !strchr(host->name, '.')))
		return false;
	open.mode = AUTHORITY_OPEN;
	authority_host(&open, host, port ? port : 443, &other);
	return other.is_allowed;
}

static void ask_settle(struct loop *l, struct ask *q, bool is_granted)
{
	struct asks *a = l->asks;
	struct authority_entry *entry = &a->allowed[a->authority.n_allowed];

	q->state = is_granted ? ASK_YES : ASK_NO;
	if (!is_granted)
		return;
	*entry =
		(struct authority_entry){.host = {.host = q->host}, .name = "network.ask: allowed"};
	entry->host.host.port = q->port;
	a->authority.n_allowed++;
}

/* As if it had never been asked.  Connections that are there stay. */
static void ask_forget(struct loop *l, struct ask *q)
{
	struct asks *a = l->asks;

	for (size_t i = a->authority.n_allowed; q->state == ASK_YES && i-- > 0;) {
		struct authority_entry *e = &a->allowed[i];

		if (e->host.host.port != q->port || !host_equal(&e->host.host, &q->host))
			continue;
		*e = a->allowed[--a->authority.n_allowed];
		break;
	}
	q->state = ASK_FREE;
}

/* The list that grows, made at the first question. */
static bool ask_open(struct loop *l)
{
	const struct authority *old = l->authority;
	struct asks *a;

	if (l->asks)
		return true;
	a = calloc(1, sizeof(*a));
	if (!a)
		return false;
	a->allowed = calloc(old->n_allowed + ASK_MAX, sizeof(*a->allowed));
	if (!a->allowed) {
		free(a);
		return false;
	}
	if (old->n_allowed > 0)
		memcpy(a->allowed, old->allowed, old->n_allowed * sizeof(*a->allowed));
	a->authority = *old;
	a->authority.allowed = a->allowed;
	l->authority = &a->authority;
	l->asks = a;
	return true;
}

/* False: it cannot be asked. */
static bool ask_send(struct loop *l, const struct ask *q)
{
	struct proxy_question message = {.number = (uint32_t)(q - l->asks->items), .port = q->port};

	(void)snprintf(message.host, sizeof(message.host), "%s", q->host.name);
	return send(l->control.fd, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       (ssize_t)sizeof(message);
}

static struct ask *ask_room(struct asks *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->items[i].state == ASK_FREE)
			return &a->items[i];
	return a->n < ARRAY_LEN(a->items) ? &a->items[a->n++] : NULL;
}

enum ask_state ask_host(struct loop *l, const struct host *host, uint16_t port,
			struct authority_answer *answer)
{
	struct ask *q = NULL;

	if (!ask_is_open(l, host, port, answer) || !ask_open(l))
		return ASK_NO;
	for (size_t i = 0; i < l->asks->n; i++)
		if (l->asks->items[i].state != ASK_FREE &&
		    l->asks->items[i].port == ask_port(port) &&
		    host_equal(&l->asks->items[i].host, host))
			q = &l->asks->items[i];
	if (!q)
		q = ask_room(l->asks);
	if (q && q->state == ASK_FREE) {
		*q = (struct ask){.host = *host, .port = ask_port(port), .state = ASK_WAITS};
		q->host.port = 0;
		if (!ask_send(l, q))
			q->state = ASK_NO;
	}
	if (!q || q->state == ASK_NO)
		(void)snprintf(answer->rule, sizeof(answer->rule),
			       "network.ask: %s, and nobody allowed it",
			       q ? "no entry for it" : "too many hosts were asked for");
	return q ? q->state : ASK_NO;
}

void ask_reply(struct loop *l, const struct proxy_reply *reply)
{
	struct ask *q;

	if (!l->asks || reply->number >= l->asks->n)
		return;
	q = &l->asks->items[reply->number];
	if (q->state == ASK_WAITS) {
		ask_settle(l, q, reply->answer == PROXY_ANSWER_YES);
		conn_let_go(l);
		dnsd_let_go(l);
	}
	if (reply->answer == PROXY_ANSWER_FORGET)
		ask_forget(l, q);
}
