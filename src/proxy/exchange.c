/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP, request by request, plain or out of TLS that ends here.  Each request is read whole as far as its head, judged, written anew (so that the
 * server reads what we read) and followed to its end; only then the next one is looked at.  The answer is followed the
 * same way.  After 101 bytes pass as in a tunnel.
 */
#include "proxy/exchange.h"

#include "base/buf.h"
#include "proxy/exfil.h"
#include "base/fd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define EXCHANGE_ENDS (-1)
#define EXCHANGE_BREAKS (-2)

void exchange_free(struct exchange *x)
{
	if (!x)
		return;
	if (x->guard && x->up.bytes)
		explicit_bzero(x->up.bytes, EXCHANGE_OUT);
	guard_free(x->guard);
	free(x->up.bytes);
	free(x->down.bytes);
	free(x->in);
	free(x);
}

const char *exchange_method(const struct exchange *x)
{
	return x->method;
}

/* Sends what is there; is_last: its end is told with it.  False: the connection is broken. */
static bool exchange_flush(struct conn *c, struct exchange_out *out, struct source *to,
			   bool is_last)
{
	while (out->sent < out->len) {
		const char *bytes = out->bytes + out->sent;
		ssize_t n = is_last ? stream_write_last(to, bytes, out->len - out->sent)
				    : stream_write(to, bytes, out->len - out->sent);

		if (n < 0)
			return n == -EAGAIN;
		out->sent += (size_t)n;
		c->bytes += (uint64_t)n;
	}
	out->sent = out->len = 0;
	return true;
}

/* Is the connection to the last server still good, and to the same place? */
static bool exchange_can_reuse(struct conn *c, const struct exchange *x, const struct host *host,
			       uint16_t port)
{
	/* What the last server said too much is nobody's answer. */
	return x->has_server && x->in_len == 0 && c->server.fd >= 0 && x->port == port &&
	       host_equal(&x->host, host) && stream_is_quiet(&c->server);
}

/* Where the request goes, if it may say so.  NULL, or the reason why not. */
static const char *exchange_target(const struct conn *c, const struct exchange *x,
				   const struct http_head *head, struct host *host, uint16_t *port)
{
	if (head->form == HTTP_AUTHORITY)
		return "CONNECT inside of a connection";
	if (!x->is_fixed && head->form != HTTP_ABSOLUTE)
		return "a proxy needs the whole URL";
	if (c->client.tls && head->form == HTTP_ABSOLUTE)
		return "a whole URL inside of TLS";
	if (!head->has_host) {
		*host = c->host;
		*port = c->port;
		return x->is_fixed ? NULL : "no host";
	}
	*host = head->host;
	*port = head->host.port ? head->host.port : x->default_port;
	host->port = 0;
	if (x->is_fixed && (!host_equal(host, &c->host) || *port != c->port))
		return "a Host that is not the host of the connection";
	return NULL;
}

void exchange_withhold(struct conn *c, const struct guard_refusal *why)
{
	char rule[256];

	if (why->is_alarm)
		guard_alarm(c->loop, c->host.name, c->port, why->who, why->what);
	if (why->who)
		(void)snprintf(rule, sizeof(rule), "secret '%.100s' was on its way %s",
			       why->who->name, why->what);
	else
		(void)snprintf(rule, sizeof(rule), "%s", why->what);
	if (!why->is_alarm)
		loop_record(
			c->loop, c->host.name, c->port, false, rule,
			why->remedy
				? why->remedy
				: "send it in a field, or in a body with a length of at most 65536",
			0);
	conn_refuse(c, why->status,
		    why->is_leak ? "something that must not leave"
		    : why->who   ? "a secret where it must not be"
				 : "a body that cannot be looked at",
		    rule, why->remedy ? why->remedy : "");
}

/* Looks for what must not leave in a head that is whole.  1: it is to be judged; 0: it has ended. */
static bool exchange_screen(struct conn *c, struct http_head *head)
{
	struct exchange *x = c->exchange;
	struct guard_refusal refusal;
	struct host host;
	uint16_t port;
	bool has_changed = false;

	if (!exfil_is_on(c->loop) || x->is_screened ||
	    exchange_target(c, x, head, &host, &port) != NULL)
		return true; /* or it is refused anyway */
	x->is_screened = true;
	if (!guard_screen(x->guard, c->loop, &host, port, c->in, head->len, &has_changed,
			  &refusal)) {
		c->host = host;
		c->port = port;
		c->has_target = true;
		exchange_withhold(c, &refusal);
		return false;
	}
	if (has_changed && http_request_parse(c->in, c->in_len, head) <= 0) {
		conn_refuse(c, 400, "a request that is none without what must not leave", "", "");
		return false;
	}
	return true;
}

/* Can it be sent twice, and by a connection that says nothing of who sends it? */
static bool exchange_is_light(const struct conn *c, const struct exchange *x,
			      const struct http_head *head)
{
	return !x->guard && !c->client.tls && !x->is_upgrade && head->minor == 1 &&
	       head->body == HTTP_BODY_NONE &&
	       (strcmp(x->method, "GET") == 0 || strcmp(x->method, "HEAD") == 0) &&
	       !http_find(head, "authorization") && !http_find(head, "cookie");
}

/* A connection that another client left.  True: the request is on its way. */
static bool exchange_use_spare(struct conn *c)
{
	struct exchange *x = c->exchange;

	if (!x->is_light || !spare_take(c->loop, &x->host, x->port, &c->server))
		return false;
	if (exchange_speak(c) < 0) {
		loop_close(&c->server);
		return false;
	}
	x->is_used = true;
	c->phase = CONN_DIALS;
	dial_done(c);
	return true;
}

/* Nobody asks any more: the next client may. */
static void exchange_leave_spare(struct conn *c)
{
	const struct exchange *x = c->exchange;

	if (!x->is_tainted && x->keeps && x->answer.is_done && x->in_len == 0 && x->has_server &&
	    c->server.fd >= 0 && x->up.len == x->up.sent && stream_is_quiet(&c->server))
		spare_give(c->loop, &c->server, &x->host, x->port);
}

/* It had ended before the request came.  True: it is dialled. */
static bool exchange_dial_again(struct conn *c)
{
	struct exchange *x = c->exchange;

	if (!x->is_used || x->answer.has_head || x->in_len > 0)
		return false;
	loop_close(&c->server);
	x->is_used = x->has_server = false;
	x->up.sent = 0;
	x->up.len = x->said;
	c->is_told = true;
	conn_dial(c);
	return true;
}

/* A request's head is whole.  False: the connection has ended or is busy elsewhere. */
static bool exchange_judge(struct conn *c, const struct http_head *head)
{
	struct exchange *x = c->exchange;
	struct authority_answer answer;
	struct guard_refusal refusal;
	char path[HTTP_TARGET_MAX + 1];
	struct host host;
	uint16_t port;
	const char *reason = exchange_target(c, x, head, &host, &port);

	if (reason) {
		loop_record(c->loop, head->has_host ? head->host.name : c->host.name, c->port,
			    false, reason, "", 0);
		conn_refuse(c,
			    c->client.tls ? 421
			    : x->is_fixed ? 403
					  : 400,
			    reason, reason,
			    x->is_fixed ? "open a connection to the host that the request is for"
					: "");
		return false;
	}
	(void)snprintf(x->method, sizeof(x->method), "%.*s", (int)head->method.len, head->method.p);
	(void)snprintf(path, sizeof(path), "%.*s", (int)head->path.len, head->path.p);
	c->host = host;
	c->port = port;
	c->has_target = true;
	if (guard_name(c->loop, host.name, port, "in the name of a host")) {
		conn_refuse(c, 403, "a secret in the name of a host", "", "");
		return false;
	}
	authority_request(c->loop->authority, &host, port, x->method, path, &answer);
	if (answer.is_allowed && host.kind != HOST_NAME)
		authority_address(c->loop->authority, &host, host.addr,
				  loop_is_own(c->loop, host.addr), &answer);
	if (!answer.is_allowed && conn_hold(c, &host, port, &answer))
		return false;
	if (!answer.is_allowed) {
		loop_record(c->loop, host.name, port, false, answer.rule, answer.remedy, 0);
		conn_refuse(c, 403, "the policy does not allow this request", answer.rule,
			    answer.remedy);
		return false;
	}
	(void)snprintf(c->rule, sizeof(c->rule), "%.255s", answer.rule);
	x->reads = authority_reads(c->loop->authority, &host, port);
	if (conn_overrides(c, head, x->method, path, x->reads))
		return false;
	/* After it nobody reads any more: not where the policy wants to, and to what is not HTTP only by an exact rule. */
	x->is_websocket = !answer.is_exact_port;
	x->is_upgrade =
		head->is_upgrade && !x->reads &&
		(!x->is_websocket || http_slice_is(http_find(head, "upgrade")->value, "websocket"));
	if (x->guard && !guard_request(x->guard, c->client.tls != NULL, &host, port, x->method,
				       path, c->in, head, &refusal)) {
		exchange_withhold(c, &refusal);
		return false;
	}
	exchange_message_start(&x->request, head);
	x->answer = (struct exchange_message){0};
	if (!exchange_can_reuse(c, x, &host, port)) {
		loop_close(&c->server);
		x->has_server = false;
		x->in_len = 0;
	} else {
		conn_log(c, 200, c->rule, ""); /* a new connection is logged when it is there */
	}
	x->host = host;
	x->port = port;
	x->is_light = exchange_is_light(c, x, head);
	x->is_tainted = (x->has_server && x->is_tainted) || !x->is_light;
	x->is_used = false;
	if (!exchange_write_request(x, head)) {
		conn_end(c);
		return false;
	}
	x->said = x->up.len;
	c->in_len -= head->len;
	memmove(c->in, c->in + head->len, c->in_len);
	return true;
}

/* The client's side.  False: stop, the connection is gone or dials. */
static bool exchange_client(struct conn *c)
{
	struct exchange *x = c->exchange;

	if (!x->request.has_head && c->in_len > 0) {
		struct http_head head;
		int r = http_request_parse(c->in, c->in_len, &head);

		if (r < 0) {
			conn_refuse(c, head.error, head.reason, "", "");
			return false;
		}
		if (r > 0) {
			if (!exchange_screen(c, &head) || !exchange_judge(c, &head))
				return false;
			if (!x->has_server) {
				if (!exchange_use_spare(c))
					conn_dial(c);
				return false;
			}
			if (c->client.tls && !c->server.tls) {
				shake_server(
					c); /* CONNECT and SOCKS dial before anything is said */
				return false;
			}
		}
	}
	if (x->request.has_head && x->guard)
		return exchange_request_body(c);
	if (x->request.has_head && !exchange_pass(&x->request, c->in, &c->in_len, &x->up)) {
		conn_refuse(c, 400, "a body that is not framed as it says", "", "");
		return false;
	}
	return !exchange_has_trailer(c);
}

/* Did the server agree to what it was asked for? */
static bool exchange_agrees(const struct exchange *x, const struct http_head *head)
{
	return x->is_upgrade && (!x->is_websocket || http_each_is(head, "upgrade", "websocket"));
}

/* An answer's head, if it is whole.  False: gone. */
static bool exchange_answer_head(struct conn *c)
{
	struct exchange *x = c->exchange;
	struct http_slice method = {.p = x->method, .len = strlen(x->method)};
	struct http_head head;
	int r = http_answer_parse(x->in, x->in_len, method, &head);
	bool is_interim;

	if (r == 0 && x->in_len < HTTP_HEAD_MAX)
		return true;
	if (r <= 0 || (head.status == 101 && !exchange_agrees(x, &head))) {
		conn_refuse(c, 502, "the server's answer cannot be read", "", "");
		return false;
	}
	if (x->guard && !guard_answer(x->guard, &head)) {
		loop_record(
			c->loop, c->host.name, c->port, false,
			"an answer in parts, or in a coding in which secrets cannot be looked for",
			"", 0);
		conn_refuse(c, 502, "the server's answer cannot be searched for secrets", "", "");
		return false;
	}
	is_interim = head.status < 200 && head.status != 101;
	if (is_interim && ++x->interim > EXCHANGE_INTERIM_MAX) {
		conn_refuse(c, 502, "the server says too much before its answer", "", "");
		return false;
	}
	if (!is_interim) {
		exchange_message_start(&x->answer, &head);
		x->keeps = head.is_kept && !http_find(&head, "www-authenticate");
		x->answer.is_kept = head.is_kept && x->request.is_kept;
	}
	if (!exchange_write_answer(x, &head,
				   !is_interim && head.status != 101 && !x->answer.is_kept)) {
		conn_end(c);
		return false;
	}
	x->in_len -= head.len;
	memmove(x->in, x->in + head.len, x->in_len);
	if (head.status == 101)
		x->answer.is_done = true;
	return true;
}

static bool exchange_server(struct conn *c)
{
	struct exchange *x = c->exchange;

	while (!x->answer.has_head && x->in_len > 0) {
		size_t before = x->in_len;

		if (!exchange_answer_head(c))
			return false;
		if (x->in_len == before)
			break;
	}
	if (x->answer.has_head &&
	    (x->guard && x->guard->searches
		     ? !exchange_answer_body(x)
		     : !exchange_pass(&x->answer, x->in, &x->in_len, &x->down))) {
		conn_end(c);
		return false;
	}
	return true;
}

/* Reads from a socket into a buffer.  1, 0 (nothing now, or no room), EXCHANGE_ENDS or EXCHANGE_BREAKS. */
static int exchange_read(struct source *from, char **buffer, size_t *len, size_t max)
{
	ssize_t n;

	if (!*buffer)
		*buffer = malloc(max);
	if (!*buffer)
		return EXCHANGE_BREAKS;
	if (*len == max)
		return 0;
	n = stream_read(from, *buffer + *len, max - *len);
	if (n == -EAGAIN)
		return 0;
	if (n <= 0)
		return n == 0 ? EXCHANGE_ENDS : EXCHANGE_BREAKS;
	*len += (size_t)n;
	return 1;
}

/* Is nothing said after this answer? */
static bool exchange_is_last(const struct exchange *x)
{
	return x->answer.is_done && (!x->answer.is_kept || !x->request.is_done);
}

/* After the last byte of an answer.  False: gone. */
static bool exchange_next(struct conn *c)
{
	struct exchange *x = c->exchange;
	bool is_flushed = x->down.sent == x->down.len && x->up.sent == x->up.len;

	if (!x->answer.is_done || !is_flushed)
		return true;
	if (exchange_is_last(x)) {
		if (c->client.tls)
			stream_bye(&c->client);
		/* The words leave with the end; the rest of the request nobody wants. */
		loop_close(&c->client);
		exchange_leave_spare(c);
		conn_end(c);
		return false;
	}
	x->request = x->answer = (struct exchange_message){0};
	x->is_screened = false;
	x->interim = 0;
	return true;
}

static uint32_t exchange_client_wants(const struct conn *c)
{
	const struct exchange *x = c->exchange;
	bool hears = x->request.has_head ? !x->request.is_done && x->up.len == x->up.sent : true;

	return (hears && c->in_len < CONN_IN_MAX ? EPOLLIN : 0u) |
	       (x->down.sent < x->down.len ? EPOLLOUT : 0u);
}

static uint32_t exchange_server_wants(const struct exchange *x)
{
	return (x->request.has_head && !x->answer.is_done && x->down.len == x->down.sent ? EPOLLIN
											 : 0u) |
	       (x->up.sent < x->up.len ? EPOLLOUT : 0u);
}

static void exchange_watch(struct conn *c)
{
	struct exchange *x = c->exchange;

	conn_touch(c, x->request.has_head ? c->loop->limits.idle_ms : c->loop->limits.handshake_ms);
	if (loop_watch(&c->client, exchange_client_wants(c) | stream_wants(&c->client)) < 0 ||
	    (c->server.fd >= 0 &&
	     loop_watch(&c->server, exchange_server_wants(x) | stream_wants(&c->server)) < 0))
		conn_end(c);
}

/* What was held back of an answer that ends with the connection. */
static bool exchange_answer_end(struct exchange *x)
{
	struct buf out = BUF_INIT(EXCHANGE_OUT);
	bool is_good = guard_answer_body(x->guard, "", 0, /* is_end= */ true, &out) == 0 &&
		       exchange_add(&x->down, buf_cstr(&out), out.len);

	buf_done(&out);
	return is_good;
}

static bool exchange_hear_client(struct conn *c)
{
	/* Who asks and goes does not want the answer. */
	if (exchange_read(&c->client, &c->in, &c->in_len, CONN_IN_MAX) >= 0)
		return true;
	if (!c->exchange->request.has_head && c->exchange->said > 0) {
		c->exchange->answer.is_done = true; /* that of the last request was */
		exchange_leave_spare(c);
	}
	conn_end(c);
	return false;
}

/* False: gone. */
static bool exchange_hear_server(struct conn *c)
{
	struct exchange *x = c->exchange;
	int r = exchange_read(&c->server, &x->in, &x->in_len, EXCHANGE_BODY);

	if (r >= 0)
		return true;
	if (exchange_dial_again(c))
		return false;
	/* In TLS an end that nobody announced may be somebody else's cut. */
	if (x->answer.has_head && x->answer.body == HTTP_BODY_CLOSE &&
	    (r == EXCHANGE_ENDS || !c->server.tls)) {
		x->answer.is_done = true;
		loop_close(&c->server);
		x->has_server = false;
		if (!x->guard || !x->guard->searches || exchange_answer_end(x))
			return true;
		conn_end(c);
		return false;
	}
	if (!x->answer.has_head && x->in_len == 0)
		conn_refuse(c, 502, "the server ended the connection", "", "");
	else
		conn_end(c);
	return false;
}

/* What was decrypted and waits, of which no event will tell.  1: there was something, 0: nothing, -1: gone. */
static int exchange_pending(struct conn *c)
{
	size_t before = c->in_len + c->exchange->in_len;

	if (exchange_client_wants(c) & EPOLLIN && stream_has_pending(&c->client) &&
	    !exchange_hear_client(c))
		return -1;
	if (c->server.fd >= 0 && exchange_server_wants(c->exchange) & EPOLLIN &&
	    stream_has_pending(&c->server) && !exchange_hear_server(c))
		return -1;
	return c->in_len + c->exchange->in_len > before;
}

/* Sends, goes on to the next request where one is there, and waits for what is missing. */
static void exchange_pump(struct conn *c)
{
	struct exchange *x = c->exchange;

	for (;;) {
		bool was_done;
		int r;

		if (!exchange_client(c) || (x->in_len > 0 && !exchange_server(c)))
			return;
		if (!exchange_flush(c, &x->down, &c->client, exchange_is_last(x)) ||
		    (c->server.fd >= 0 &&
		     !exchange_flush(c, &x->up, &c->server, /* is_last= */ false))) {
			conn_end(c);
			return;
		}
		was_done = x->answer.is_done;
		if (!exchange_next(c))
			return;
		if (was_done && !x->answer.is_done && c->in_len > 0)
			continue; /* the next request is already here */
		r = exchange_pending(c);
		if (r < 0)
			return;
		if (r == 0)
			break;
	}
	exchange_watch(c);
}

/* The server agreed to another protocol. */
static void exchange_switch(struct conn *c)
{
	struct exchange *x = c->exchange;
	bool is_searched = c->client.tls || (x->guard && x->guard->searches);

	/* What the server said beyond its head goes down first, as all that follows. */
	if ((!is_searched && !exchange_add(&x->down, x->in, x->in_len)) ||
	    !exchange_flush(c, &x->down, &c->client, /* is_last= */ false) || x->down.len > 0) {
		conn_end(c); /* a head does not fit into an empty socket: nobody reads there */
		return;
	}
	c->exchange = NULL;
	c->is_checked = true;
	if (is_searched)
		tunnel_start(c, x->in, x->in_len);
	else
		relay_start(c);
	exchange_free(x);
}

void exchange_event(struct conn *c, bool is_server, uint32_t events)
{
	struct exchange *x = c->exchange;

	/* What wants to write in order to read is asked at every event. */
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR) ||
	     stream_wants(is_server ? &c->server : &c->client)) &&
	    !(is_server ? exchange_hear_server(c) : exchange_hear_client(c)))
		return;
	if (is_server && !x->answer.has_head && x->in_len > 0 && x->is_upgrade) {
		struct http_slice method = {.p = x->method, .len = strlen(x->method)};
		struct http_head head;

		if (http_answer_parse(x->in, x->in_len, method, &head) > 0 && head.status == 101) {
			if (exchange_answer_head(c))
				exchange_switch(c);
			return;
		}
	}
	exchange_pump(c);
}

int exchange_speak(struct conn *c)
{
	struct exchange_out *up = &c->exchange->up;
	ssize_t n = up->len > up->sent
			    ? stream_write(&c->server, up->bytes + up->sent, up->len - up->sent)
			    : -EAGAIN;

	if (n <= 0)
		return n == 0 ? -EAGAIN : (int)n;
	up->sent += (size_t)n;
	return 1;
}

void exchange_dialled(struct conn *c)
{
	c->exchange->has_server = true;
	c->bytes += c->exchange->up.sent; /* by exchange_speak() */
	c->phase = CONN_HTTP;
	exchange_pump(c);
}

void exchange_start(struct conn *c)
{
	c->exchange = calloc(1, sizeof(*c->exchange));
	if (!c->exchange) {
		conn_end(c);
		return;
	}
	if (c->loop->boundary) {
		c->exchange->guard = guard_new(c->loop->boundary);
		if (!c->exchange->guard) {
			conn_end(c);
			return;
		}
	}
	c->exchange->is_fixed = c->has_target;
	c->exchange->has_server = c->has_target && c->server.fd >= 0;
	c->exchange->host = c->host;
	c->exchange->port = c->port;
	c->exchange->default_port = c->client.tls ? 443 : 80;
	c->way = CONN_REQUESTS;
	c->phase = CONN_HTTP;
	exchange_pump(c);
}
