/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of a connection that was not let through: a reason in the client's own protocol, where it has one. */
#include "proxy/boundary.h"
#include "proxy/conn.h"

#include "base/buf.h"
#include "base/json.h"
#include "net/httpclaim.h"
#include "net/socks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define CONN_LAST_MS 2000 /* for last words to arrive */

void conn_reset(struct conn *c)
{
	struct linger now = {.l_onoff = 1};

	(void)setsockopt(c->client.fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	conn_end(c);
}

void conn_leave(struct conn *c)
{
	while (c->last_len > 0) {
		ssize_t n = stream_write(&c->client, c->last, c->last_len);

		if (n == -EAGAIN) {
			if (loop_watch(&c->client, EPOLLOUT) < 0)
				conn_end(c);
			return;
		}
		if (n < 0) {
			conn_end(c);
			return;
		}
		c->last_len -= (size_t)n;
		memmove(c->last, c->last + n, c->last_len);
	}
	/* Unread bytes would make the kernel reset it, and the words would be lost. */
	stream_bye(&c->client);
	for (int i = 0; i < 16; i++) {
		char sink[4096];
		ssize_t n = recv(c->client.fd, sink, sizeof(sink), MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN)) {
			conn_end(c);
			return;
		}
		if (n < 0)
			break;
	}
	if (loop_watch(&c->client, EPOLLIN) < 0)
		conn_end(c);
}

void conn_say(struct conn *c, const void *bytes, size_t len)
{
	free(c->last);
	c->last = malloc(len);
	if (!c->last) {
		conn_end(c);
		return;
	}
	memcpy(c->last, bytes, len);
	c->last_len = len;
	c->phase = CONN_LEAVES;
	conn_touch(c, CONN_LAST_MS);
	conn_leave(c);
}

static const char *conn_status_text(unsigned status)
{
	switch (status) {
	case 400:
		return "Bad Request";
	case 403:
		return "Forbidden";
	case 414:
		return "URI Too Long";
	case 413:
		return "Content Too Large";
	case 421:
		return "Misdirected Request";
	case 417:
		return "Expectation Failed";
	case 431:
		return "Request Header Fields Too Large";
	case 501:
		return "Not Implemented";
	case 502:
		return "Bad Gateway";
	case 504:
		return "Gateway Timeout";
	case 505:
		return "HTTP Version Not Supported";
	default:
		return "Error";
	}
}

/* A field of a head holds no controls. */
static void conn_field_text(const char *text, char *out, size_t size)
{
	size_t n = 0;

	for (; *text && n + 1 < size; text++)
		out[n++] = (unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f ? '?' : *text;
	out[n] = '\0';
}

static void conn_say_http(struct conn *c, unsigned status, const char *what, const char *rule,
			  const char *remedy)
{
	struct buf body = BUF_INIT(8192);
	struct buf all = BUF_INIT(16384);
	char host[HOST_FORMAT_SIZE] = "";
	char field[600];

	if (c->has_target) {
		struct host h = c->host;

		h.port = c->port;
		host_format(&h, host);
	}
	buf_str(&body, "{\"error\":");
	json_quote(&body, what, strlen(what));
	buf_str(&body, ",\"host\":");
	json_quote(&body, host, strlen(host));
	buf_str(&body, ",\"rule\":");
	json_quote(&body, rule, strlen(rule));
	buf_str(&body, ",\"remedy\":");
	json_quote(&body, remedy, strlen(remedy));
	buf_str(&body, "}\n");
	conn_field_text(rule[0] ? rule : what, field, sizeof(field));
	buf_printf(&all,
		   "HTTP/1.1 %u %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		   "Connection: close\r\nx-proxy-error: %s",
		   status, conn_status_text(status), body.len, field);
	if (remedy[0]) {
		conn_field_text(remedy, field, sizeof(field));
		buf_printf(&all, "; remedy: %s", field);
	}
	buf_printf(&all, "\r\n\r\n%s", buf_cstr(&body));
	if (buf_error(&body) < 0 || buf_error(&all) < 0)
		conn_end(c);
	else
		conn_say(c, all.data, all.len);
	buf_done(&body);
	buf_done(&all);
}

void conn_log(struct conn *c, unsigned status, const char *rule, const char *remedy)
{
	static const char *const words[] = {[CONN_UNKNOWN] = "",
					    [CONN_TRANSPARENT] = "TCP",
					    [CONN_CONNECT] = "CONNECT",
					    [CONN_SOCKS] = "SOCKS5",
					    [CONN_REQUESTS] = "HTTP"};
	const char *method = c->exchange ? exchange_method(c->exchange) : "";

	if (c->loop->log && proxy_log_add(c->loop->log, method[0] ? method : words[c->way],
					  c->has_target ? c->host.name : "",
					  c->has_target ? c->port : 0, status, rule, remedy))
		loop_ring(c->loop);
}

void conn_refuse(struct conn *c, unsigned status, const char *what, const char *rule,
		 const char *remedy)
{
	uint8_t answer[10];

	conn_log(c, status, rule[0] ? rule : what, remedy);
	loop_close(&c->server);
	if (c->way == CONN_SOCKS && !c->is_checked && c->phase != CONN_RELAYS && c->server.fd < 0 &&
	    c->tried == 0) {
		socks_answer(status == 403   ? SOCKS_FORBIDDEN
			     : status == 502 ? SOCKS_UNREACHABLE
					     : SOCKS_FAILED,
			     answer);
		conn_say(c, answer, sizeof(answer));
	} else if (c->way == CONN_REQUESTS || (c->way == CONN_CONNECT && c->tried == 0) ||
		   c->way == CONN_UNKNOWN) {
		conn_say_http(c, status, what, rule, remedy);
	} else {
		conn_reset(c);
	}
}

static void conn_refuse_request(struct conn *c, const char *what, const char *rule,
				const char *remedy)
{
	loop_record(c->loop, c->host.name, c->port, false, rule, remedy, 0);
	conn_refuse(c, 403, what, rule, remedy);
}

bool conn_overrides(struct conn *c, const struct http_head *head, const char *method,
		    const char *path, bool reads)
{
	const struct boundary *b = c->loop->boundary;
	bool is_narrow = b && boundary_is_narrow(b, &c->host, c->port);
	const char *name = reads || is_narrow ? httpclaim_field(head) : NULL;
	struct authority_answer answer;
	char rule[128];

	if (!name && (is_narrow || authority_names_methods(c->loop->authority, &c->host, c->port)))
		name = httpclaim_query(head->path);
	if (name) {
		(void)snprintf(rule, sizeof(rule),
			       "%s: another method, path or host than the one that was judged",
			       name);
		conn_refuse_request(c, "a field or a query that names another request", rule,
				    "send the method and the path in the request line");
		return true;
	}
	if (!reads || head->body == HTTP_BODY_NONE)
		return false;
	authority_body(c->loop->authority, &c->host, c->port, method, path, &answer);
	if (!answer.is_allowed)
		conn_refuse_request(c, "the policy does not allow a body here", answer.rule,
				    answer.remedy);
	return !answer.is_allowed;
}
