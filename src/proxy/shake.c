/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The beginning of TLS that ends here: first with the client, who gets a certificate of the session's own authority
 * for exactly the host that was authorised; then, once its request was read and allowed, with the server, whose
 * certificate must be good for the same host.
 */
#include "proxy/conn.h"

#include <stdio.h>

bool shake_is_due(const struct conn *c)
{
	return c->loop->tls && authority_reads(c->loop->authority, &c->host, c->port);
}

static void shake_fail(struct conn *c, const struct source *s)
{
	char rule[256];

	if (s == &c->server) {
		(void)snprintf(rule, sizeof(rule), "the server's TLS: %.200s",
			       c->loop->tls->reason(s->tls));
		loop_record(c->loop, c->host.name, c->port, false, rule,
			    "the server needs a certificate for its name that this machine trusts",
			    0);
		conn_refuse(c, 502, "the server's TLS is not good", rule, "");
		return;
	}
	(void)snprintf(rule, sizeof(rule), "the client's TLS: %.200s",
		       c->loop->tls->reason(s->tls));
	loop_record(c->loop, c->host.name, c->port, false, rule,
		    "TLS to this host ends in the proxy; trust the bundle that SSL_CERT_FILE names",
		    0);
	conn_reset(c);
}

void shake_event(struct conn *c)
{
	struct source *s = c->server.tls ? &c->server : &c->client;
	int r = c->loop->tls->shake(s->tls);

	if (r < 0) {
		shake_fail(c, s);
		return;
	}
	if (r == 0) {
		struct source *other = s == &c->client ? &c->server : &c->client;

		if (loop_watch(s, c->loop->tls->wants(s->tls)) < 0 ||
		    (other->fd >= 0 && loop_watch(other, 0) < 0))
			conn_end(c);
		return;
	}
	if (s == &c->client)
		exchange_start(c);
	else
		exchange_dialled(c);
}

static void shake_start(struct conn *c, const struct source *s, int64_t ms)
{
	if (!s->tls) {
		conn_end(c);
		return;
	}
	c->phase = CONN_SHAKES;
	conn_touch(c, ms);
	shake_event(c);
}

void shake_client(struct conn *c)
{
	c->client.tls =
		c->loop->tls->accept(c->loop->tls_data, &c->host, c->client.fd, c->in, c->in_len);
	c->in_len = 0;
	shake_start(c, &c->client, c->loop->limits.handshake_ms);
}

void shake_server(struct conn *c)
{
	c->server.tls = c->loop->tls->connect(c->loop->tls_data, &c->host, c->server.fd);
	shake_start(c, &c->server, c->loop->limits.connect_ms);
}
