/* SPDX-License-Identifier: Apache-2.0 */
/* See conn.h.  Every function that may end a connection is the last thing that its caller does with it. */
#include "proxy/conn.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "base/mem.h"
#include "net/hatch.h"
#include "net/hello.h"
#include "net/original.h"
#include "net/socks.h"
#include "proxy/ask.h"
#include "proxy/guard.h"

#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONN_SILENCE_MS 300 /* then a client is one that waits for the server's first word */
#define CONN_LOOK_MS 60000  /* at the latest */

static void conn_client_event(struct source *s, uint32_t events);

static struct conn *conn_of_server(struct source *s)
{
	return (struct conn *)(void *)((char *)s - offsetof(struct conn, server));
}

/* The list is in the order of the last event: the oldest one ends it. */
static void conn_unlink(struct conn *c)
{
	struct loop *l = c->loop;

	if (c->previous)
		c->previous->next = c->next;
	else
		l->conns = c->next;
	if (c->next)
		c->next->previous = c->previous;
	c->next = c->previous = NULL;
}

static void conn_link(struct conn *c)
{
	struct loop *l = c->loop;

	c->next = l->conns;
	if (c->next)
		c->next->previous = c;
	l->conns = c;
}

void conn_touch(struct conn *c, int64_t ms)
{
	c->deadline = clock_deadline(ms);
	if (c->deadline < c->loop->next_expiry)
		c->loop->next_expiry = c->deadline;
}

void conn_book(struct conn *c)
{
	if (c->bytes > 0)
		loop_add_bytes(c->loop, c->booked.name, c->booked_port, c->bytes);
	c->bytes = 0;
}

void conn_end(struct conn *c)
{
	struct loop *l = c->loop;

	if (c->phase == CONN_DEAD)
		return;
	conn_book(c);
	loop_close(&c->client);
	loop_close(&c->server);
	/* What is still in them is lost with the connection: they must not be reused. */
	loop_pipe_drop(l, c->up.pipe);
	loop_pipe_drop(l, c->down.pipe);
	conn_unlink(c);
	c->phase = CONN_DEAD;
	l->n_conns--;
	loop_admit(l);
	c->next = l->dead;
	l->dead = c;
}

static void conn_free(struct conn *c)
{
	exchange_free(c->exchange);
	tunnel_free(c->tunnel);
	free(c->in);
	free(c->last);
	free(c);
}

void conn_free_dead(struct loop *l)
{
	struct conn *kept = NULL;

	while (l->dead) {
		struct conn *c = l->dead;

		l->dead = c->next;
		if (c->is_waiting_name) { /* somebody else still points to it */
			c->next = kept;
			kept = c;
		} else {
			conn_free(c);
		}
	}
	l->dead = kept;
}

void conn_free_all(struct loop *l)
{
	while (l->conns)
		conn_end(l->conns);
}

/* May its silence mean that the server speaks first?  Not where there is something to check in what the client says. */
static bool conn_may_wait(const struct conn *c)
{
	return c->phase == CONN_SPEAKS && c->has_target && c->is_exact_port && !c->is_checked &&
	       c->in_len == 0 && c->port != 80 && c->port != 443 &&
	       !authority_reads(c->loop->authority, &c->host, c->port) && !shake_is_due(c);
}

int conn_expire(struct loop *l)
{
	int64_t now = clock_ms();
	int64_t first = CLOCK_NEVER;
	struct conn *next;

	/* Only when the earliest of all can be over: there may be thousands. */
	if (l->next_expiry > now)
		return l->next_expiry - now > CONN_LOOK_MS ? CONN_LOOK_MS
							   : (int)(l->next_expiry - now);
	l->next_expiry = CLOCK_NEVER;
	for (struct conn *c = l->conns; c; c = next) {
		next = c->next;
		if (c->deadline > now) {
			first = c->deadline < first ? c->deadline : first;
			continue;
		}
		/* Silence at first: the server speaks first, where any protocol may be spoken. */
		if (conn_may_wait(c)) {
			c->is_checked = c->is_unheard = true;
			conn_go_on(c);
		} else {
			conn_end(c);
		}
	}
	if (first < l->next_expiry)
		l->next_expiry = first;
	return l->next_expiry == CLOCK_NEVER ? -1 : 0; /* asked again at once, with the bound */
}

/* ---- the target ---- */

bool conn_hold(struct conn *c, const struct host *host, uint16_t port,
	       struct authority_answer *answer)
{
	if (ask_host(c->loop, host, port, answer) != ASK_WAITS)
		return false;
	c->is_held = true;
	conn_touch(c, c->loop->ask_ms);
	if (loop_watch(&c->client, 0) < 0)
		conn_end(c);
	return true;
}

void conn_let_go(struct loop *l)
{
	struct conn *next;

	for (struct conn *c = l->conns; c; c = next) {
		next = c->next;
		if (!c->is_held)
			continue;
		c->is_held = false;
		conn_touch(c, l->limits.handshake_ms);
		if (c->exchange)
			exchange_event(c, false, 0);
		else if (!conn_authorise(c))
			continue;
		else if (c->way == CONN_TRANSPARENT)
			conn_go_on(c);
		else
			conn_dial(c);
	}
}

bool conn_authorise(struct conn *c)
{
	struct authority_answer answer;

	if (guard_name(c->loop, c->host.name, c->port, "in the name of a host")) {
		conn_refuse(c, 403, "a secret in the name of a host", "", "");
		return false;
	}
	authority_host(c->loop->authority, &c->host, c->port, &answer);
	if (answer.is_allowed && c->host.kind != HOST_NAME)
		authority_address(c->loop->authority, &c->host, c->host.addr,
				  loop_is_own(c->loop, c->host.addr), &answer);
	if (!answer.is_allowed && conn_hold(c, &c->host, c->port, &answer))
		return false;
	if (!answer.is_allowed) {
		loop_record(c->loop, c->host.name, c->port, false, answer.rule, answer.remedy, 0);
		conn_refuse(c, 403, "the policy does not allow this host", answer.rule,
			    answer.remedy);
		return false;
	}
	c->is_exact_port = answer.is_exact_port;
	(void)snprintf(c->rule, sizeof(c->rule), "%.255s", answer.rule);
	return true;
}

/* ---- the client's first words ---- */

/* The words are not for the target. */
static void conn_mismatch(struct conn *c, const char *rule, const char *remedy)
{
	loop_record(c->loop, c->host.name, c->port, false, rule, remedy, 0);
	conn_refuse(c, 403, "what is said is not for this host", rule, remedy);
}

/* 1: meant for the target, 0: more is needed, -1: refused. */
static int conn_check_hello(struct conn *c)
{
	char rule[256];
	struct hello hello;

	switch (hello_parse((const uint8_t *)c->in, c->in_len, &hello)) {
	case HELLO_MORE:
		return 0;
	case HELLO_NAME:
		/* With one that is encrypted the name is only the outer one.  Clients that make one up, as browsers do, cannot
		 * be told from those that mean it; docs/THREAT_MODEL.md says what that leaves open. */
		if (host_equal(&hello.name, &c->host))
			return 1;
		(void)guard_name(c->loop, hello.name.name, c->port, "in the server name of TLS");
		(void)snprintf(rule, sizeof(rule), "TLS server name '%.160s' is not the host%s",
			       hello.name.name,
			       hello.has_ech ? ", and a hello inside is encrypted" : "");
		conn_mismatch(c, rule,
			      hello.has_ech ? "switch encrypted hellos (ECH) off in the client"
					    : "connect to the host that the certificate is for");
		return -1;
	case HELLO_NONE:
		if ((c->is_exact_port && !shake_is_due(c)) || c->host.kind != HOST_NAME)
			return 1;
		conn_mismatch(c, "TLS without a server name", "use a client that sends one");
		return -1;
	case HELLO_REFUSED:
	default:
		conn_mismatch(c, hello.reason ? hello.reason : "TLS that cannot be read",
			      "speak plain TLS");
		return -1;
	}
}

static bool conn_is_http(const struct conn *c)
{
	return c->in_len > 0 && isupper((unsigned char)c->in[0]);
}

/* On a port where any protocol may be spoken: is it HTTP after all, and are there secrets that must not be in it? */
static bool conn_is_searched(const struct conn *c)
{
	static const char *const methods[] = {"GET ",   "HEAD ",   "POST ",   "PUT ",
					      "PATCH ", "DELETE ", "OPTIONS "};

	for (size_t i = 0; c->loop->boundary && i < ARRAY_LEN(methods); i++) {
		size_t len = strlen(methods[i]);

		if (c->in_len > 0 &&
		    strncmp(c->in, methods[i], len < c->in_len ? len : c->in_len) == 0)
			return true;
	}
	return false;
}

/* Is it read request by request? */
static bool conn_takes_requests(const struct conn *c)
{
	return conn_is_http(c) && (!c->is_exact_port || c->port == 80 || conn_is_searched(c) ||
				   authority_reads(c->loop->authority, &c->host, c->port));
}

/* The first words to a known target.  1, 0 or -1 as above. */
static int conn_check(struct conn *c)
{
	enum hello_form form = hello_form((const uint8_t *)c->in, c->in_len);

	if (c->in_len == 0 || form == HELLO_FORM_SHORT)
		return 0;
	if (form == HELLO_FORM_TLS) {
		if (authority_reads(c->loop->authority, &c->host, c->port) && !shake_is_due(c)) {
			conn_mismatch(
				c,
				"network.egress: a rule names methods or paths, and TLS hides them",
				c->loop->is_alone
					? "end it in the proxy (--ca-file)"
					: "give the host a rule without methods and paths");
			return -1;
		}
		return conn_check_hello(c);
	}
	if (conn_takes_requests(c))
		return 1;
	if (c->is_exact_port && !authority_reads(c->loop->authority, &c->host, c->port))
		return 1;
	conn_mismatch(c, "neither TLS nor HTTP",
		      "a rule HOST:PORT with the exact port allows any protocol");
	return -1;
}

static void conn_take(struct conn *c, size_t n)
{
	c->in_len -= n;
	memmove(c->in, c->in + n, c->in_len);
}

static void conn_socks(struct conn *c)
{
	static const uint8_t welcome[2] = {5, 0};
	static const uint8_t nothing[2] = {5, 0xff};
	enum socks_reply reply;
	uint8_t answer[10];
	int n;

	c->way = CONN_SOCKS;
	if (!c->has_greeted) {
		n = socks_greeting((const uint8_t *)c->in, c->in_len);
		if (n == 0)
			return;
		if (n < 0) {
			conn_say(c, nothing, sizeof(nothing));
			return;
		}
		conn_take(c, (size_t)n);
		c->has_greeted = true;
		if (send(c->client.fd, welcome, 2, MSG_NOSIGNAL | MSG_DONTWAIT) != 2) {
			conn_end(c);
			return;
		}
	}
	n = c->in_len > 0 ? socks_request((const uint8_t *)c->in, c->in_len, &c->host, &reply) : 0;
	if (n == 0)
		return;
	if (n < 0) {
		socks_answer(reply, answer);
		conn_say(c, answer, sizeof(answer));
		return;
	}
	conn_take(c, (size_t)n);
	c->port = c->host.port;
	c->host.port = 0;
	c->has_target = true;
	if (conn_authorise(c))
		conn_dial(c);
}

static void conn_proxy_request(struct conn *c)
{
	struct http_head head;
	int r = http_request_parse(c->in, c->in_len, &head);

	if (r == 0)
		return;
	if (r < 0) {
		conn_refuse(c, head.error, head.reason, "", "");
		return;
	}
	if (head.form != HTTP_AUTHORITY) {
		c->way = CONN_REQUESTS;
		exchange_start(c);
		return;
	}
	c->way = CONN_CONNECT;
	c->host = head.host;
	c->port = head.host.port;
	c->host.port = 0;
	c->has_target = true;
	conn_take(c, head.len);
	if (conn_authorise(c))
		conn_dial(c);
}

/* Goes as far as it can with what is there. */
void conn_go_on(struct conn *c)
{
	int r;

	if (!c->has_target) {
		if (c->in_len == 0)
			r = 0;
		else if (c->in[0] == 5 || c->way == CONN_SOCKS)
			conn_socks(c);
		else if (isalpha((unsigned char)c->in[0]))
			conn_proxy_request(c);
		else
			conn_refuse(c, 400, "neither HTTP nor SOCKS 5", "", "");
	} else {
		r = c->is_checked ? 1 : conn_check(c);
		if (r < 0)
			return;
		if (r > 0) {
			bool is_http = !c->is_checked && conn_takes_requests(c);

			c->is_checked = true;
			if (hello_form((const uint8_t *)c->in, c->in_len) == HELLO_FORM_TLS &&
			    shake_is_due(c))
				shake_client(c);
			else if (is_http)
				exchange_start(c);
			else if (c->server.fd >= 0)
				relay_start(c);
			else
				conn_dial(c);
			return;
		}
	}
	if (c->phase != CONN_SPEAKS || c->is_held)
		return;
	if (conn_may_wait(c))
		conn_touch(c, CONN_SILENCE_MS);
	if (loop_watch(&c->client, EPOLLIN) < 0)
		conn_end(c);
}

static void conn_transparent(struct conn *c, const uint8_t addr[static ADDR_LEN], uint16_t port);

/* What a head says is wanted. */
static void conn_begin(struct conn *c, const struct hatch_head *head)
{
	int fd = c->client.fd;

	switch (head->kind) {
	case HATCH_PROXY:
		conn_go_on(c);
		break;
	case HATCH_ADDRESS:
		conn_transparent(c, head->addr, head->port);
		break;
	case HATCH_NAMES:
		if (loop_watch(&c->client, 0) == 0) {
			c->client.fd = -1;
			dnsd_adopt(c->loop, fd);
		}
		conn_end(c);
		break;
	}
}

/* The head of a connection through the hatch, as far as it is there. */
static void conn_head(struct conn *c)
{
	struct hatch_head head;

	if (c->in_len < HATCH_HEAD_SIZE) {
		if (loop_watch(&c->client, EPOLLIN) < 0)
			conn_end(c);
		return;
	}
	if (hatch_read((const uint8_t *)c->in, &head) < 0) {
		conn_end(c);
		return;
	}
	c->awaits_head = false;
	c->in_len = 0;
	conn_begin(c, &head);
}

static void conn_hear(struct conn *c)
{
	/* No more than its head: what follows may be somebody else's. */
	size_t most = c->awaits_head ? HATCH_HEAD_SIZE : CONN_IN_MAX;
	ssize_t n;

	if (!c->in)
		c->in = malloc(CONN_IN_MAX);
	if (!c->in || c->in_len == CONN_IN_MAX) {
		conn_end(c);
		return;
	}
	n = recv(c->client.fd, c->in + c->in_len, most - c->in_len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		if (loop_watch(&c->client, EPOLLIN) < 0)
			conn_end(c);
		return;
	}
	if (n <= 0) {
		conn_end(c);
		return;
	}
	c->in_len += (size_t)n;
	if (c->awaits_head)
		conn_head(c);
	else
		conn_go_on(c);
}

int conn_hear_late(struct conn *c)
{
	ssize_t n;
	int r;

	if (!c->in)
		c->in = malloc(CONN_IN_MAX);
	if (!c->in || c->in_len == CONN_IN_MAX) {
		conn_end(c);
		return -1;
	}
	n = recv(c->client.fd, c->in + c->in_len, CONN_IN_MAX - c->in_len, MSG_DONTWAIT);
	/* Words that end in the middle are not heard. */
	if ((n < 0 && errno != EAGAIN && errno != EINTR) || (n == 0 && c->in_len > 0)) {
		conn_end(c);
		return -1;
	}
	if (n < 0 && c->in_len == 0) { /* there may be thousands that wait */
		free(c->in);
		c->in = NULL;
	}
	if (n < 0)
		return 0;
	c->in_len += (size_t)n;
	r = n == 0 ? 1 : conn_check(c);
	if (r > 0 && conn_takes_requests(c)) {
		conn_mismatch(c, "HTTP after a silence", "send the request at once");
		return -1;
	}
	c->is_unheard = r == 0;
	return r;
}

static void conn_client_event(struct source *s, uint32_t events)
{
	struct conn *c = (struct conn *)s; /* its first member */

	if (c->is_held) { /* nothing is wanted of it: it is gone */
		conn_end(c);
		return;
	}
	switch (c->phase) {
	case CONN_SPEAKS:
		conn_hear(c);
		break;
	case CONN_LOOKS:
	case CONN_DIALS:
		conn_end(c); /* only an error can come here: the client is gone */
		break;
	case CONN_RELAYS:
		relay_event(c);
		break;
	case CONN_SHAKES:
		shake_event(c);
		break;
	case CONN_HTTP:
		exchange_event(c, false, events);
		break;
	case CONN_LEAVES:
		conn_leave(c);
		break;
	case CONN_DEAD:
		break;
	}
}

void conn_server_event(struct source *s, uint32_t events)
{
	struct conn *c = conn_of_server(s);
	int error = 0;
	socklen_t len = sizeof(error);

	if (c->is_held) {
		(void)!loop_watch(s, 0);
		return;
	}
	switch (c->phase) {
	case CONN_DIALS:
		if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error) {
			dial_next(c);
		} else {
			(void)!loop_watch(s, 0);
			dial_done(c);
		}
		break;
	case CONN_RELAYS:
		relay_event(c);
		break;
	case CONN_SHAKES:
		shake_event(c);
		break;
	case CONN_HTTP:
		exchange_event(c, true, events);
		break;
	case CONN_SPEAKS: /* dialled for CONNECT or SOCKS; the client has not spoken */
	case CONN_LOOKS:
	case CONN_LEAVES:
	case CONN_DEAD:
		(void)!loop_watch(s, 0);
		break;
	}
}

/* ---- new ones ---- */

/* A redirected connection: its target is an address of ours for a name, or an address. */
static void conn_transparent(struct conn *c, const uint8_t addr[static ADDR_LEN], uint16_t port)
{
	const struct alias *entry = alias_find(&c->loop->aliases, addr);
	char text[ADDR_TEXT_SIZE];

	c->way = CONN_TRANSPARENT;
	c->has_target = true;
	c->port = port;
	addr_format(addr, text);
	if (entry) {
		c->host = entry->host;
	} else if (alias_has_address(addr) ||
		   host_parse(text, strlen(text), 0, &c->host, NULL) < 0) {
		conn_reset(c); /* an address that was never given out */
		return;
	}
	if (conn_authorise(c))
		conn_go_on(c);
}

/* Takes the descriptor.  NULL: there is no room for it. */
static struct conn *conn_make(struct loop *l, int fd)
{
	struct conn *c = l->n_conns < l->limits.connections ? calloc(1, sizeof(*c)) : NULL;

	if (!c) {
		(void)fd_close(fd);
		return NULL;
	}
	c->loop = l;
	c->client = (struct source){.fn = conn_client_event, .loop = l, .fd = fd};
	c->server = (struct source){.fn = conn_server_event, .loop = l, .fd = -1};
	c->up.pipe[0] = c->up.pipe[1] = c->down.pipe[0] = c->down.pipe[1] = -1;
	l->n_conns++;
	conn_link(c);
	conn_touch(c, l->limits.handshake_ms);
	return c;
}

static void conn_new(struct loop *l, int fd, bool is_hatch)
{
	struct conn *c = conn_make(l, fd);
	uint8_t addr[ADDR_LEN];
	uint16_t port = 0;

	if (!c)
		return;
	c->awaits_head = is_hatch;
	if (l->is_alone)
		conn_hear(c); /* accepted when it has spoken */
	else if (is_hatch)
		conn_hear(c); /* its head is there, or nearly */
	else if (original_target(fd, l->port, addr, &port))
		conn_transparent(c, addr, port);
	else
		conn_go_on(c);
}

void conn_accept_event(struct source *s, uint32_t events)
{
	int fd;

	(void)events;
	/* The rest wait in the kernel's queue until somebody has left. */
	if (s->loop->n_conns >= s->loop->limits.connections) {
		(void)!loop_watch(s, 0);
		return;
	}
	/* One at a time: that there are more is told again, and to look whether there are costs as much. */
	fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		conn_new(s->loop, fd, s == &s->loop->hatch);
	else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		loop_pause(s); /* nothing left to accept with */
}

void conn_handed_event(struct source *s, uint32_t events)
{
	uint8_t bytes[HATCH_HEAD_SIZE];
	int fds[FDPASS_MAX];
	struct hatch_head head;
	struct conn *c;
	size_t n = 0;
	ssize_t len;

	(void)events;
	if (s->loop->n_conns >= s->loop->limits.connections) {
		(void)!loop_watch(s, 0);
		return;
	}
	len = fdpass_receive(s->fd, bytes, sizeof(bytes), clock_deadline(0), fds, &n);
	if (len == -EAGAIN || len == -ETIMEDOUT)
		return;
	/* Who hands over is in the sandbox's own cage: its word is held to the form, and judged like any other. */
	if (len == HATCH_HEAD_SIZE && n == 1 && hatch_read(bytes, &head) == 0 &&
	    fd_nonblock(fds[0], true) == 0) {
		c = conn_make(s->loop, fds[0]);
		if (c)
			conn_begin(c, &head);
		return;
	}
	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
	if (len <= 0)
		loop_close(s);
}
