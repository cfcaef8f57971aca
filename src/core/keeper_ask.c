/* SPDX-License-Identifier: Apache-2.0 */
/* See keeper_ask.h.  The proxy reads hostile bytes: a number beyond the table is the end of its questions. */
#include "core/keeper_ask.h"

#include <errno.h>
#include <sys/socket.h>

void keeper_ask_init(struct keeper_ask *a, struct proxy *proxy)
{
	a->proxy = proxy;
	for (size_t i = 0; i < ARRAY_LEN(a->who); i++)
		a->who[i] = KEEPER_ASK_NOBODY;
}

int keeper_ask_fd(const struct keeper_ask *a)
{
	return a->proxy ? a->proxy->control : -1;
}

void keeper_ask_pass(struct keeper_ask *a, int connection)
{
	struct proxy_question q;
	int r = proxy_asked(a->proxy, &q);

	if (r == 0)
		return;
	if (r < 0 || q.number >= ARRAY_LEN(a->who)) {
		a->proxy = NULL;
		return;
	}
	if (connection >= 0 &&
	    send(connection, &q, sizeof(q), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(q)) {
		a->who[q.number] = connection;
		return;
	}
	if (proxy_take_back(a->proxy, q.number) < 0)
		a->proxy = NULL;
}

bool keeper_ask_hear(struct keeper_ask *a, int connection)
{
	struct proxy_reply reply;
	ssize_t n = recv(connection, &reply, sizeof(reply), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n != (ssize_t)sizeof(reply) || reply.number >= ARRAY_LEN(a->who) ||
	    a->who[reply.number] != connection)
		return false;
	if (!a->proxy)
		return true; /* it ended while somebody was asked */
	if (proxy_answer(a->proxy, &(struct proxy_question){.number = reply.number},
			 reply.answer == PROXY_ANSWER_YES) < 0)
		a->proxy = NULL;
	return true;
}

void keeper_ask_gone(struct keeper_ask *a, int connection)
{
	for (size_t i = 0; i < ARRAY_LEN(a->who); i++) {
		if (a->who[i] != connection)
			continue;
		a->who[i] = KEEPER_ASK_NOBODY;
		if (a->proxy && proxy_take_back(a->proxy, (uint32_t)i) < 0)
			a->proxy = NULL;
	}
}
