/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox's name server.  An allowed name gets its address from names.h, after it was looked up outside; any other
 * does not exist, is written down, and is asked of nobody.  Other types than addresses have no answer: not TXT, which
 * tunnels, and not HTTPS, which would let clients hide the server's name.
 */
#include "proxy/ask.h"
#include "proxy/guard.h"
#include "proxy/loop.h"

#include "base/fd.h"
#include "base/mem.h"
#include "net/dns.h"
#include "net/name.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DNSD_TTL 60
#define DNSD_BATCH 64       /* questions taken at one event */
#define DNSD_PENDING 1024   /* questions that wait at one time */
#define DNSD_TCP_CLIENTS 64 /* at one time */

/* A question that waits for its name. */
struct dnsd_pending {
	struct alias_waiter waiter;
	struct dnsd_pending *next; /* of dnsd_held */
	struct loop *loop;
	struct source *source; /* that the answer goes out on */
	struct sockaddr_storage peer;
	socklen_t peer_len;
	bool is_tcp;
	size_t len;
	uint8_t bytes[DNS_QUERY_MAX];
};

static size_t dnsd_n_pending;
static struct dnsd_pending *dnsd_held; /* of these, those that wait for a person */

/* On a stream the length goes before. */
static void dnsd_send(struct source *s, bool is_tcp, const struct sockaddr_storage *peer,
		      socklen_t peer_len, const uint8_t *bytes, size_t len)
{
	uint8_t framed[2 + DNS_QUERY_MAX + DNS_UDP_MAX];

	if (!is_tcp) {
		(void)sendto(s->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL,
			     (const struct sockaddr *)peer, peer_len); /* they ask again */
		return;
	}
	framed[0] = (uint8_t)(len >> 8);
	framed[1] = (uint8_t)len;
	memcpy(framed + 2, bytes, len);
	(void)send(s->fd, framed, len + 2, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Is any port of this name allowed?  The connection is judged again with its port. */
static bool dnsd_is_allowed(const struct loop *l, const struct host *host,
			    struct authority_answer *answer)
{
	const struct authority *a = l->authority;
	struct authority_answer other;

	authority_host(a, host, 443, answer);
	if (answer->is_allowed)
		return true;
	authority_host(a, host, 80, &other);
	if (other.is_allowed)
		return true;
	for (size_t i = 0; i < a->n_allowed; i++) {
		authority_host(a, host, a->allowed[i].host.host.port, &other);
		if (a->allowed[i].host.host.port && other.is_allowed)
			return true;
	}
	for (size_t i = 0; i < a->n_rules; i++) {
		authority_host(a, host, a->rules[i].host.host.port, &other);
		if (a->rules[i].host.host.port && other.is_allowed)
			return true;
	}
	return false;
}

static size_t dnsd_resolved(const struct dns_query *q, const struct alias *entry, uint8_t *out)
{
	uint8_t address[ADDR_LEN];

	if (entry->state != ALIAS_READY)
		return dns_answer(q, entry->rule[0] ? DNS_NXDOMAIN : DNS_SERVFAIL, NULL, 0, 0, out);
	if (q->type == DNS_A) {
		alias_address4(entry, address);
		return dns_answer(q, DNS_NOERROR, address, 4, DNSD_TTL, out);
	}
	alias_address6(entry, address);
	return dns_answer(q, DNS_NOERROR, address, ADDR_LEN, DNSD_TTL, out);
}

static void dnsd_settled(struct alias_waiter *w, const struct alias *entry)
{
	struct dnsd_pending *p = (struct dnsd_pending *)w; /* its first member */
	uint8_t out[DNS_QUERY_MAX + DNS_UDP_MAX];
	struct dns_query q;

	if (dns_parse(p->bytes, p->len, &q) == 0 && p->source->fd >= 0)
		dnsd_send(p->source, p->is_tcp, &p->peer, p->peer_len, out,
			  dnsd_resolved(&q, entry, out));
	dnsd_n_pending--;
	free(p);
}

static size_t dnsd_localhost(const struct dns_query *q, uint8_t *out)
{
	static const struct in6_addr six = IN6ADDR_LOOPBACK_INIT;
	const uint32_t four = htonl(INADDR_LOOPBACK);

	if (q->type == DNS_A)
		return dns_answer(q, DNS_NOERROR, (const uint8_t *)&four, sizeof(four), DNSD_TTL,
				  out);
	if (q->type == DNS_AAAA)
		return dns_answer(q, DNS_NOERROR, six.s6_addr, sizeof(six), DNSD_TTL, out);
	return dns_answer(q, DNS_NOERROR, NULL, 0, 0, out);
}

/* What can be said at once; 0: the name has to be looked up, in *ret, or a person is asked for it. */
static size_t dnsd_at_once(struct loop *l, const struct dns_query *q, uint8_t *out,
			   struct alias **ret)
{
	struct authority_answer answer;
	const struct name_row *row;
	struct alias *entry;

	*ret = NULL;
	if (q->code != DNS_NOERROR)
		return dns_answer(q, q->code, NULL, 0, 0, out);
	if (guard_name(l, q->shown, 0, "in a name to be looked up"))
		return dns_answer(q, DNS_NXDOMAIN, NULL, 0, 0, out);
	/* RFC 6761: never asked of anybody.  It is the loopback of the sandbox, which is its own. */
	row = name_class(&q->host);
	if (row && row->kind == NAME_LOCALHOST)
		return dnsd_localhost(q, out);
	if (!dnsd_is_allowed(l, &q->host, &answer)) {
		if ((q->type == DNS_A || q->type == DNS_AAAA) &&
		    ask_host(l, &q->host, 0, &answer) == ASK_WAITS)
			return 0;
		loop_record(l, q->host.name, 0, false, answer.rule, answer.remedy, 0);
		return dns_answer(q, DNS_NXDOMAIN, NULL, 0, 0, out);
	}
	if (q->type != DNS_A && q->type != DNS_AAAA)
		return dns_answer(q, DNS_NOERROR, NULL, 0, 0, out);
	entry = alias_get(&l->aliases, &q->host);
	if (!entry)
		return dns_answer(q, DNS_REFUSED, NULL, 0, 0, out);
	if (entry->state == ALIAS_READY)
		return dnsd_resolved(q, entry, out);
	*ret = entry;
	return 0;
}

static void dnsd_question(struct source *s, bool is_tcp, const uint8_t *bytes, size_t len,
			  const struct sockaddr_storage *peer, socklen_t peer_len)
{
	uint8_t out[DNS_QUERY_MAX + DNS_UDP_MAX];
	struct dnsd_pending *p;
	struct alias *entry;
	struct dns_query q;
	size_t n;

	if (dns_parse(bytes, len, &q) < 0)
		return;
	n = dnsd_at_once(s->loop, &q, out, &entry);
	if (n == 0 && dnsd_n_pending >= DNSD_PENDING)
		n = dns_answer(&q, DNS_SERVFAIL, NULL, 0, 0, out);
	p = n == 0 ? malloc(sizeof(*p)) : NULL;
	if (!p) {
		if (n == 0)
			n = dns_answer(&q, DNS_SERVFAIL, NULL, 0, 0, out);
		dnsd_send(s, is_tcp, peer, peer_len, out, n);
		return;
	}
	p->waiter = (struct alias_waiter){.fn = dnsd_settled};
	p->loop = s->loop;
	p->source = s;
	p->is_tcp = is_tcp;
	if (peer)
		p->peer = *peer;
	p->peer_len = peer_len;
	p->len = len;
	memcpy(p->bytes, bytes, len);
	dnsd_n_pending++;
	if (entry) {
		resolve_name(s->loop, entry, &p->waiter);
		return;
	}
	p->next = dnsd_held;
	dnsd_held = p;
}

void dnsd_let_go(struct loop *l)
{
	struct dnsd_pending *p = dnsd_held;

	(void)l;
	dnsd_held = NULL;
	while (p) {
		struct dnsd_pending *next = p->next;

		dnsd_n_pending--;
		if (p->source->fd >= 0)
			dnsd_question(p->source, p->is_tcp, p->bytes, p->len,
				      p->is_tcp ? NULL : &p->peer, p->peer_len);
		free(p);
		p = next;
	}
}

void dnsd_udp_event(struct source *s, uint32_t events)
{
	(void)events;
	for (int i = 0; i < DNSD_BATCH; i++) {
		uint8_t bytes[DNS_QUERY_MAX];
		struct sockaddr_storage peer = {0};
		socklen_t peer_len = sizeof(peer);
		ssize_t n = recvfrom(s->fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_TRUNC,
				     (struct sockaddr *)&peer, &peer_len);

		if (n < 0)
			return;
		if ((size_t)n <= sizeof(bytes))
			dnsd_question(s, false, bytes, (size_t)n, &peer, peer_len);
	}
}

/* A client on a stream.  A place is reused only when no question of it waits any more. */
struct dnsd_client {
	struct source source;
	size_t len;
	uint8_t bytes[2 + DNS_QUERY_MAX];
};

static struct dnsd_client dnsd_clients[DNSD_TCP_CLIENTS];

static void dnsd_client_event(struct source *s, uint32_t events)
{
	struct dnsd_client *c = (struct dnsd_client *)s; /* its first member */
	ssize_t n = recv(s->fd, c->bytes + c->len, sizeof(c->bytes) - c->len, MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		loop_close(s);
		return;
	}
	c->len += (size_t)n;
	while (c->len >= 2) {
		size_t len = (size_t)c->bytes[0] << 8 | c->bytes[1];

		if (len > DNS_QUERY_MAX) {
			loop_close(s);
			return;
		}
		if (c->len < len + 2)
			break;
		dnsd_question(s, true, c->bytes + 2, len, NULL, 0);
		memmove(c->bytes, c->bytes + 2 + len, c->len - len - 2);
		c->len -= len + 2;
	}
}

void dnsd_adopt(struct loop *l, int fd)
{
	struct dnsd_client *free_place = NULL;

	/* With questions that wait, a place could be mistaken for another client's. */
	for (size_t i = 0; i < DNSD_TCP_CLIENTS && !free_place; i++)
		if (!dnsd_clients[i].source.fn ||
		    (dnsd_clients[i].source.fd < 0 && dnsd_n_pending == 0))
			free_place = &dnsd_clients[i];
	if (!free_place) {
		(void)fd_close(fd);
		return;
	}
	*free_place =
		(struct dnsd_client){.source = {.fn = dnsd_client_event, .loop = l, .fd = fd}};
	if (loop_watch(&free_place->source, EPOLLIN) < 0)
		loop_close(&free_place->source);
}

void dnsd_tcp_event(struct source *s, uint32_t events)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (fd >= 0)
		dnsd_adopt(s->loop, fd);
	else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		loop_pause(s);
}
