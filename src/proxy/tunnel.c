/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes both ways after an upgrade inside of TLS that ends here.  They are copied, since they are decrypted and
 * encrypted anyway; values of secrets in what the server says are covered, byte for byte, so that frames stay frames.
 * What the client says is not changed: a placeholder in it goes on as the worthless thing that it is.
 */
#include "proxy/conn.h"
#include "proxy/guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TUNNEL_PIECE 16384
#define TUNNEL_MAX (BOUNDARY_VALUE_MAX * 8 + TUNNEL_PIECE)
#define TUNNEL_ROUNDS 8 /* at one event, so that others get their turn */

struct tunnel_way {
	struct buf bytes; /* on their way */
	size_t sent;
	bool is_ended; /* nothing more comes */
	bool is_shut;  /* and that was passed on */
};

struct tunnel {
	struct tunnel_way up;
	struct tunnel_way down;
	bool searches;
	struct boundary_stream stream;
};

void tunnel_free(struct tunnel *t)
{
	if (!t)
		return;
	buf_done(&t->up.bytes);
	buf_done(&t->down.bytes);
	boundary_stream_done(&t->stream);
	free(t);
}

static bool tunnel_is_empty(const struct tunnel_way *w)
{
	return w->sent == w->bytes.len;
}

/* Puts what was read on its way.  0 or -ENOMEM. */
static int tunnel_add(struct conn *c, struct tunnel_way *w, const char *bytes, size_t len)
{
	struct tunnel *t = c->tunnel;

	if (w == &t->down && t->searches)
		return boundary_redact(c->loop->boundary, &t->stream, bytes, len, w->is_ended,
				       /* keeps_length= */ true, &w->bytes) < 0
			       ? -ENOMEM
			       : 0;
	buf_add(&w->bytes, bytes, len);
	return buf_error(&w->bytes);
}

/* One step of one way.  1: something moved, 0: nothing can, -errno: broken. */
static int tunnel_step(struct conn *c, struct tunnel_way *w, struct source *from, struct source *to)
{
	char piece[TUNNEL_PIECE];
	int moved = 0;
	ssize_t n;

	if (tunnel_is_empty(w) && !w->is_ended) {
		buf_clear(&w->bytes);
		w->sent = 0;
		n = stream_read(from, piece, sizeof(piece));
		if (n < 0 && n != -EAGAIN)
			return (int)n;
		if (n >= 0) {
			w->is_ended = n == 0;
			moved = 1;
			if (tunnel_add(c, w, piece, (size_t)n) < 0)
				return -ENOMEM;
		}
	}
	while (!tunnel_is_empty(w)) {
		n = stream_write(to, w->bytes.data + w->sent, w->bytes.len - w->sent,
				 /* is_last= */ false);
		if (n == -EAGAIN)
			break;
		if (n < 0)
			return (int)n;
		w->sent += (size_t)n;
		c->bytes += (uint64_t)n;
		moved = 1;
	}
	if (tunnel_is_empty(w) && w->is_ended && !w->is_shut) {
		w->is_shut = true;
		stream_bye(to);
		moved = 1;
	}
	return moved;
}

static uint32_t tunnel_wants(const struct tunnel_way *reads, const struct tunnel_way *writes)
{
	return (!reads->is_ended && tunnel_is_empty(reads) ? EPOLLIN : 0u) |
	       (!tunnel_is_empty(writes) ? EPOLLOUT : 0u);
}

void tunnel_event(struct conn *c)
{
	struct tunnel *t = c->tunnel;
	int moved = 1;

	for (int i = 0; i < TUNNEL_ROUNDS && moved > 0; i++) {
		int a = tunnel_step(c, &t->up, &c->client, &c->server);
		int b = a < 0 ? a : tunnel_step(c, &t->down, &c->server, &c->client);

		moved = b < 0 ? b : a | b;
		if (moved > 0)
			conn_touch(c, c->loop->limits.idle_ms);
	}
	if (moved < 0 || (t->up.is_shut && t->down.is_shut)) {
		conn_end(c);
		return;
	}
	/* With more to do that no event tells of we are asked again at once. */
	if (loop_watch(&c->client, tunnel_wants(&t->up, &t->down) | stream_wants(&c->client) |
					   (moved > 0 ? (uint32_t)EPOLLOUT : 0u)) < 0 ||
	    loop_watch(&c->server, tunnel_wants(&t->down, &t->up) | stream_wants(&c->server)) < 0)
		conn_end(c);
}

void tunnel_start(struct conn *c, const char *first, size_t len)
{
	struct tunnel *t = calloc(1, sizeof(*t));

	c->tunnel = t;
	if (!t) {
		conn_end(c);
		return;
	}
	t->up.bytes = BUF_INIT(CONN_IN_MAX);
	t->down.bytes = BUF_INIT(TUNNEL_MAX);
	t->stream = BOUNDARY_STREAM;
	t->searches = c->loop->boundary && boundary_has_host(c->loop->boundary, &c->host, c->port);
	buf_add(&t->up.bytes, c->in, c->in_len);
	c->in_len = 0;
	c->phase = CONN_RELAYS;
	if (buf_error(&t->up.bytes) < 0 || tunnel_add(c, &t->down, first, len) < 0)
		conn_end(c);
	else
		tunnel_event(c);
}
