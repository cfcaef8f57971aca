/* SPDX-License-Identifier: Apache-2.0 */
/* See mux.h.  One thread, one poll, one piece of memory. */
#include "backend/relay/mux.h"

#include "base/fd.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define MUX_HEAD 6
#define MUX_OUT (4 * (MUX_HEAD + MUX_FRAME))
#define MUX_ROOM_LEN 4

enum mux_kind { MUX_OPEN = 1, MUX_DATA, MUX_ROOM, MUX_END, MUX_GONE };

struct mux_stream {
	bool is_used;
	bool owes_open;
	bool is_ended; /* the socket says no more */
	bool has_told; /* and the other end knows */
	bool is_heard; /* the other end says no more */
	bool is_shut;  /* and the socket knows */
	bool is_gone;  /* there is no socket any more */
	bool has_left; /* GONE was sent */
	bool was_left; /* GONE has come */
	int fd;
	uint32_t room; /* that the other end has */
	uint32_t owed; /* room here that it does not know of */
	size_t from;   /* bytes for the socket: from .. to */
	size_t to;
	uint8_t bytes[MUX_WINDOW];
};

struct mux_state {
	const struct mux *mux;
	size_t n_streams;
	size_t out_from;
	size_t out_to;
	size_t in_len;
	struct pollfd polls[2 + MUX_STREAMS];
	uint8_t out[MUX_OUT];
	uint8_t in[MUX_HEAD + MUX_FRAME];
	struct mux_stream streams[MUX_STREAMS];
};

static bool mux_fits(const struct mux_state *s, size_t len)
{
	return sizeof(s->out) - s->out_to >= MUX_HEAD + len;
}

/* Where the frame's bytes go: there is room for them. */
static uint8_t *mux_frame(struct mux_state *s, enum mux_kind kind, size_t number, size_t len)
{
	uint8_t *head = s->out + s->out_to;

	head[0] = (uint8_t)kind;
	head[1] = 0;
	head[2] = (uint8_t)(number >> 8);
	head[3] = (uint8_t)number;
	head[4] = (uint8_t)(len >> 8);
	head[5] = (uint8_t)len;
	s->out_to += MUX_HEAD + len;
	return head + MUX_HEAD;
}

static void mux_drop_socket(struct mux_stream *t)
{
	t->fd = fd_close(t->fd);
	t->is_gone = true;
	t->from = t->to = 0;
}

/* A place for a connection.  The buffer is only written. */
static void mux_begin(struct mux_state *s, struct mux_stream *t, int fd)
{
	memset(t, 0, offsetof(struct mux_stream, bytes));
	t->is_used = true;
	t->fd = fd;
	t->is_gone = fd < 0;
	t->room = MUX_WINDOW;
	s->n_streams++;
}

/* Its number can be used again when both ends have left, and at once: the next frame may do so. */
static void mux_free(struct mux_state *s, struct mux_stream *t)
{
	if (t->has_left && t->was_left) {
		t->is_used = false;
		s->n_streams--;
	}
}

/* To the socket, what waits for it. */
static void mux_write(struct mux_stream *t)
{
	while (!t->is_gone && t->from < t->to) {
		ssize_t n = send(t->fd, t->bytes + t->from, t->to - t->from,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) {
			mux_drop_socket(t);
			return;
		}
		t->from += (size_t)n;
		t->owed += (uint32_t)n;
	}
	if (!t->is_gone && t->is_heard && !t->is_shut) {
		t->is_shut = true;
		if (shutdown(t->fd, SHUT_WR) < 0)
			mux_drop_socket(t);
	}
}

/* From the socket into a frame, if there is room on all sides. */
static void mux_read(struct mux_state *s, size_t number)
{
	struct mux_stream *t = &s->streams[number];
	size_t most = t->room < MUX_FRAME ? t->room : MUX_FRAME;
	ssize_t n;

	if (t->is_gone || t->is_ended || t->owes_open || most == 0 || !mux_fits(s, MUX_FRAME))
		return;
	n = recv(t->fd, s->out + s->out_to + MUX_HEAD, most, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		mux_drop_socket(t);
		return;
	}
	t->is_ended = n == 0;
	if (n > 0)
		(void)mux_frame(s, MUX_DATA, number, (size_t)n);
	t->room -= (uint32_t)n;
}

/* The words that are due about one connection, as far as they fit. */
static void mux_tell(struct mux_state *s, size_t number)
{
	struct mux_stream *t = &s->streams[number];

	if (t->owes_open && mux_fits(s, 0)) {
		(void)mux_frame(s, MUX_OPEN, number, 0);
		t->owes_open = false;
	}
	if (t->owes_open)
		return;
	/* Not for every few bytes, and not when no more can come. */
	if (t->owed >= MUX_WINDOW / 4 && !t->is_heard && !t->is_gone && mux_fits(s, MUX_ROOM_LEN)) {
		const uint8_t room[MUX_ROOM_LEN] = {(uint8_t)(t->owed >> 24),
						    (uint8_t)(t->owed >> 16),
						    (uint8_t)(t->owed >> 8), (uint8_t)t->owed};

		memcpy(mux_frame(s, MUX_ROOM, number, sizeof(room)), room, sizeof(room));
		t->owed = 0;
	}
	if (t->is_ended && !t->has_told && !t->is_gone && mux_fits(s, 0)) {
		(void)mux_frame(s, MUX_END, number, 0);
		t->has_told = true;
	}
	if (t->was_left || (t->has_told && t->is_shut)) {
		if (!t->is_gone && t->from == t->to)
			mux_drop_socket(t);
	}
	if (t->is_gone && !t->has_left && mux_fits(s, 0)) {
		(void)mux_frame(s, MUX_GONE, number, 0);
		t->has_left = true;
	}
	mux_free(s, t);
}

static int mux_opened(struct mux_state *s, size_t number)
{
	struct mux_stream *t = &s->streams[number];

	if (t->is_used || s->mux->listener >= 0)
		return -EPROTO;
	mux_begin(s, t, s->mux->dial(s->mux->data));
	return 0;
}

static int mux_data(struct mux_stream *t, const uint8_t *bytes, size_t len)
{
	if (t->is_heard)
		return -EPROTO;
	if (t->is_gone)
		return 0; /* it does not know yet */
	memmove(t->bytes, t->bytes + t->from, t->to - t->from);
	t->to -= t->from;
	t->from = 0;
	if (len == 0 || len + t->to + t->owed > MUX_WINDOW)
		return -EPROTO;
	memcpy(t->bytes + t->to, bytes, len);
	t->to += len;
	mux_write(t);
	return 0;
}

static int mux_room(struct mux_stream *t, const uint8_t *bytes, size_t len)
{
	uint32_t more;

	if (len != MUX_ROOM_LEN)
		return -EPROTO;
	more = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
	if (more > MUX_WINDOW - t->room)
		return -EPROTO;
	t->room += more;
	return 0;
}

/* One frame of the other end's. */
static int mux_take(struct mux_state *s, uint8_t kind, size_t number, const uint8_t *bytes,
		    size_t len)
{
	struct mux_stream *t = &s->streams[number];

	if (kind != MUX_OPEN && (!t->is_used || t->was_left))
		return -EPROTO;
	switch (kind) {
	case MUX_OPEN:
		return len > 0 ? -EPROTO : mux_opened(s, number);
	case MUX_DATA:
		return mux_data(t, bytes, len);
	case MUX_ROOM:
		return mux_room(t, bytes, len);
	case MUX_END:
		if (len > 0 || t->is_heard)
			return -EPROTO;
		t->is_heard = true;
		mux_write(t);
		return 0;
	case MUX_GONE:
		if (len > 0)
			return -EPROTO;
		t->was_left = true;
		/* What came before goes to the socket still; nothing is read from it. */
		t->is_heard = t->is_ended = true;
		mux_write(t);
		mux_free(s, t);
		return 0;
	default:
		return -EPROTO;
	}
}

/* 1, 0 at the end of the channel, or -errno. */
static int mux_hear(struct mux_state *s)
{
	ssize_t n = read(s->mux->channel, s->in + s->in_len, sizeof(s->in) - s->in_len);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 1 : -errno;
	if (n == 0)
		return 0;
	s->in_len += (size_t)n;
	while (s->in_len >= MUX_HEAD) {
		size_t number = (size_t)s->in[2] << 8 | s->in[3];
		size_t len = (size_t)s->in[4] << 8 | s->in[5];
		int r;

		if (s->in[1] != 0 || number >= MUX_STREAMS || len > MUX_FRAME)
			return -EPROTO;
		if (s->in_len < MUX_HEAD + len)
			return 1;
		r = mux_take(s, s->in[0], number, s->in + MUX_HEAD, len);
		if (r < 0)
			return r;
		s->in_len -= MUX_HEAD + len;
		memmove(s->in, s->in + MUX_HEAD + len, s->in_len);
	}
	return 1;
}

static int mux_flush(struct mux_state *s)
{
	while (s->out_from < s->out_to) {
		ssize_t n = write(s->mux->channel, s->out + s->out_from, s->out_to - s->out_from);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n < 0)
			return -errno;
		s->out_from += (size_t)n;
	}
	memmove(s->out, s->out + s->out_from, s->out_to - s->out_from);
	s->out_to -= s->out_from;
	s->out_from = 0;
	return 0;
}

static void mux_accept(struct mux_state *s)
{
	for (size_t i = 0; i < MUX_STREAMS && s->n_streams < MUX_STREAMS; i++) {
		int fd;

		if (s->streams[i].is_used)
			continue;
		fd = accept4(s->mux->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return;
		mux_begin(s, &s->streams[i], fd);
		s->streams[i].owes_open = true;
	}
}

/* What is waited for.  Who wants nothing is left out, or an end would be told for ever. */
static void mux_wants(struct mux_state *s)
{
	bool has_room = mux_fits(s, MUX_FRAME);
	struct pollfd *p = s->polls;

	p[0] = (struct pollfd){.fd = s->mux->channel,
			       .events = (short)(POLLIN | (s->out_to > 0 ? POLLOUT : 0))};
	p[1] = (struct pollfd){.fd = s->n_streams < MUX_STREAMS ? s->mux->listener : -1,
			       .events = POLLIN};
	for (size_t i = 0; i < MUX_STREAMS; i++) {
		const struct mux_stream *t = &s->streams[i];
		bool reads = has_room && !t->is_ended && !t->owes_open && t->room > 0;
		bool writes = t->from < t->to;

		p[2 + i] = (struct pollfd){
			.fd = t->is_used && !t->is_gone && (reads || writes) ? t->fd : -1,
			.events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)),
		};
	}
}

/* Every connection in its turn, beginning with another one each time: what does not fit now is first later. */
static void mux_round(struct mux_state *s, size_t first)
{
	for (size_t i = 0; i < MUX_STREAMS; i++) {
		size_t at = (first + i) % MUX_STREAMS;
		struct mux_stream *t = &s->streams[at];

		if (!t->is_used)
			continue;
		if (s->polls[2 + at].revents & (POLLOUT | POLLERR | POLLHUP))
			mux_write(t);
		if (s->polls[2 + at].revents & (POLLIN | POLLERR | POLLHUP))
			mux_read(s, at);
		mux_tell(s, at);
	}
}

static int mux_run(struct mux_state *s)
{
	for (size_t turn = 0;; turn++) {
		int r = mux_flush(s);

		if (r < 0)
			return r;
		mux_wants(s);
		if (poll(s->polls, ARRAY_LEN(s->polls), -1) < 0) {
			if (errno != EINTR)
				return -errno;
			continue;
		}
		if (s->polls[0].revents & (POLLIN | POLLHUP | POLLERR)) {
			r = mux_hear(s);
			if (r <= 0)
				return r;
		}
		if (s->polls[1].revents & POLLIN)
			mux_accept(s);
		mux_round(s, turn);
	}
}

int mux_serve(const struct mux *m)
{
	struct mux_state *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r;

	if (s == MAP_FAILED)
		return -errno;
	s->mux = m;
	r = fd_nonblock(m->channel, true);
	if (r == 0)
		r = mux_run(s);
	for (size_t i = 0; i < MUX_STREAMS; i++)
		if (s->streams[i].is_used && !s->streams[i].is_gone)
			(void)fd_close(s->streams[i].fd);
	(void)munmap(s, sizeof(*s));
	return r;
}
