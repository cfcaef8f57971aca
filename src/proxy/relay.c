/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes from one socket to the other through a pipe, without copying them to here.  Each way is its own: one side may
 * end while the other still speaks.
 */
#include "proxy/conn.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define RELAY_PIECE 65536 /* that is copied where there is no pipe */
#define RELAY_ROUNDS 8    /* at one event, so that others get their turn */

/* Without a pipe: nothing is held here, what is not sent stays with the sender.  Returns as relay_step(). */
static int relay_copy(struct conn *c, struct flow *f, int from, int to)
{
	static char piece[RELAY_PIECE];
	ssize_t n = recv(from, piece, sizeof(piece), MSG_PEEK | MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0) {
		f->is_ended = true;
		return 1;
	}
	n = send(to, piece, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0) {
		f->is_stuck = errno == EAGAIN;
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	}
	c->bytes += (uint64_t)n;
	return recv(from, piece, (size_t)n, MSG_DONTWAIT) == n ? 1 : -EPROTO;
}

/* One step of one way.  1: something moved, 0: nothing can, -errno: the connection is broken. */
static int relay_step(struct conn *c, struct flow *f, int from, int to)
{
	ssize_t n;
	int moved = 0;

	f->is_stuck = false;
	if (f->held == 0 && !f->is_ended && f->pipe[0] < 0 &&
	    loop_pipe_take(c->loop, f->pipe) < 0) {
		moved = relay_copy(c, f, from, to);
		if (moved < 0)
			return moved;
	} else if (f->held == 0 && !f->is_ended) {
		n = splice(from, NULL, f->pipe[1], NULL, LOOP_PIPE_BYTES,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n == 0)
			f->is_ended = true;
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		else if (n > 0)
			f->held = (size_t)n;
		moved = n >= 0;
	}
	if (f->held > 0) {
		n = splice(f->pipe[0], NULL, to, NULL, f->held, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n > 0) {
			f->held -= (size_t)n;
			c->bytes += (uint64_t)n;
			moved = 1;
		}
	}
	if (f->held == 0 && f->pipe[0] >= 0)
		loop_pipe_give(c->loop, f->pipe);
	if (f->held == 0 && f->is_ended && !f->is_shut) {
		f->is_shut = true;
		(void)shutdown(to, SHUT_WR); /* the other side may be gone already */
		moved = 1;
	}
	return moved;
}

/* What the client said before the server was there. */
static int relay_first(struct conn *c)
{
	while (c->in_len > 0) {
		ssize_t n = send(c->server.fd, c->in, c->in_len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		c->bytes += (uint64_t)n;
		c->in_len -= (size_t)n;
		memmove(c->in, c->in + n, c->in_len);
	}
	free(c->in);
	c->in = NULL;
	return 1;
}

static uint32_t relay_wants(const struct flow *reads, const struct flow *writes)
{
	return (!reads->is_ended && reads->held == 0 && !reads->is_stuck ? EPOLLIN : 0u) |
	       (writes->held > 0 || writes->is_stuck ? EPOLLOUT : 0u);
}

/* An urgent byte stops splice() for good, and poll() does not say so. */
static bool relay_is_at_mark(int fd)
{
	int at = 0;

	return ioctl(fd, SIOCATMARK, &at) == 0 && at;
}

void relay_event(struct conn *c)
{
	uint64_t before = c->bytes;
	bool has_moved = false;
	bool has_first;
	int r;

	if (c->tunnel) {
		tunnel_event(c);
		return;
	}
	/* Who said nothing at first is heard before what it says passes; the server's words pass meanwhile. */
	if (c->is_unheard && conn_hear_late(c) < 0)
		return;
	r = c->in && !c->is_unheard ? relay_first(c) : 1;
	has_first = r == 0;

	/* A way where nothing moved is not tried again in this event. */
	for (int i = 0, a = c->is_unheard ? 0 : r, b = r; i < RELAY_ROUNDS && r > 0; i++) {
		if (a > 0)
			a = relay_step(c, &c->up, c->client.fd, c->server.fd);
		if (a >= 0 && b > 0)
			b = relay_step(c, &c->down, c->server.fd, c->client.fd);
		r = a < 0 ? a : b < 0 ? b : a | b;
		has_moved = has_moved || r > 0;
	}
	if (has_first) {
		/* The answer may come meanwhile. */
		r = relay_step(c, &c->down, c->server.fd, c->client.fd);
	}
	has_moved = has_moved || c->bytes != before;
	if (!has_moved && !has_first &&
	    (relay_is_at_mark(c->client.fd) || relay_is_at_mark(c->server.fd)))
		r = -EPROTO;
	if (r < 0 || (c->up.is_shut && c->down.is_shut)) {
		conn_end(c);
		return;
	}
	if (has_moved)
		conn_touch(c, c->loop->limits.idle_ms);
	if (loop_watch(&c->client, has_first
					   ? relay_wants(&(struct flow){.is_ended = true}, &c->down)
					   : relay_wants(&c->up, &c->down)) < 0 ||
	    loop_watch(&c->server, relay_wants(&c->down, &c->up) | (has_first ? EPOLLOUT : 0u)) < 0)
		conn_end(c);
}

void relay_start(struct conn *c)
{
	c->phase = CONN_RELAYS;
	conn_touch(c, c->loop->limits.idle_ms);
	if (c->in && c->in_len == 0) {
		free(c->in);
		c->in = NULL;
	}
	relay_event(c);
}
