/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sandbox's network rejects before it comes to us, because it is neither TCP nor a question for a name: UDP and
 * with it QUIC, and whatever else a program may send.  The rule that rejects it has the kernel tell of it (capture.h).
 * A flood is told of in part: what we take in a second, and what is written down, has a bound.
 */
#include "proxy/loop.h"

#include "net/trace.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>

#define TOLD_BATCH 64  /* messages taken at one event; where there were so many, there is a pause */
#define TOLD_LAST 1024 /* taken at the end */
#define TOLD_RECORDS                                                                               \
	32 /* so that they cannot hide what was refused otherwise; more are only counted */
#define TOLD_MESSAGE 2048

static void told_record(struct loop *l, const struct trace_packet *packet)
{
	const struct alias *entry = alias_find(&l->aliases, packet->addr);
	uint32_t before = l->tally->n;
	char text[ADDR_TEXT_SIZE];
	char rule[64] = "UDP is closed but for questions for names";

	addr_format(packet->addr, text);
	if (packet->protocol == IPPROTO_UDP && packet->port == 443)
		(void)snprintf(rule, sizeof(rule), "UDP is closed, and QUIC with it");
	else if (packet->protocol != IPPROTO_UDP)
		(void)snprintf(rule, sizeof(rule), "only TCP is open, not IP protocol %u",
			       (unsigned)packet->protocol);
	if (l->n_told >= TOLD_RECORDS) {
		l->tally->blocked++;
		return;
	}
	loop_record(l, entry ? entry->host.name : text, packet->port, false, rule,
		    "use TCP, to a host that is allowed", 0);
	l->n_told += l->tally->n - before;
}

/* One message; false: there is none. */
static bool told_take(struct source *s)
{
	struct trace_packet packet;
	uint8_t bytes[TOLD_MESSAGE];
	ssize_t n = recv(s->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0 && errno == ENOBUFS && !s->loop->has_lost) {
		s->loop->has_lost = true;
		loop_record(s->loop, "*", 0, false,
			    "untracked: more was rejected than the kernel could tell of",
			    "use TCP, to a host that is allowed", 0);
	}
	if (n < 0)
		return errno == ENOBUFS;
	if (trace_parse(bytes, (size_t)n, &packet) == 0)
		told_record(s->loop, &packet);
	return true;
}

void told_event(struct source *s, uint32_t events)
{
	int n = 0;

	(void)events;
	while (n < TOLD_BATCH && told_take(s))
		n++;
	if (n == TOLD_BATCH)
		loop_pause(s);
}

void told_end(struct loop *l)
{
	for (int n = 0; l->told.fd >= 0 && n < TOLD_LAST && told_take(&l->told); n++)
		;
}
