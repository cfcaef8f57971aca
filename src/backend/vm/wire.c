/* SPDX-License-Identifier: Apache-2.0 */
/* See wire.h. */
#include "backend/vm/wire.h"

#include "base/fd.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* A pipe that can be written takes this much without waiting. */
#define WIRE_CHUNK 4096
/* Small frames of every stream and signals always find room: sources leave it. */
#define WIRE_SPARE 4096

int vm_link_next(struct vm_link *l, struct vm_frame *ret)
{
	struct vm_head *head = &ret->head;
	size_t want = sizeof(*head);

	for (;;) {
		ssize_t n;

		if (l->in_len >= sizeof(*head)) {
			memcpy(head, l->in, sizeof(*head));
			if (head->type >= VM_TYPE_COUNT || head->len > VM_FRAME_MAX || head->zero)
				return -EPROTO;
			want = sizeof(*head) + head->len;
		}
		if (l->in_len == want) {
			ret->data = l->in + sizeof(*head);
			l->in_len = 0;
			return 1;
		}
		n = read(l->fd, l->in + l->in_len, want - l->in_len);
		if (n == 0)
			return -EPIPE;
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		l->in_len += (size_t)n;
	}
}

bool vm_link_has_room(const struct vm_link *l, size_t len)
{
	return l->out_len + sizeof(struct vm_head) + len <= sizeof(l->out);
}

short vm_link_events(const struct vm_link *l)
{
	return (short)((vm_link_has_room(l, VM_FRAME_MAX) ? POLLIN : 0) |
		       (l->out_len > 0 ? POLLOUT : 0));
}

void vm_link_put(struct vm_link *l, enum vm_type type, unsigned stream, const void *data,
		 size_t len)
{
	const struct vm_head head = {
		.type = (uint8_t)type, .stream = (uint8_t)stream, .len = (uint32_t)len};

	memcpy(l->out + l->out_len, &head, sizeof(head));
	if (len > 0)
		memcpy(l->out + l->out_len + sizeof(head), data, len);
	l->out_len += sizeof(head) + len;
}

int vm_link_flush(struct vm_link *l)
{
	while (l->out_len > 0) {
		ssize_t n = write(l->fd, l->out, l->out_len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		l->out_len -= (size_t)n;
		memmove(l->out, l->out + n, l->out_len);
	}
	return 0;
}

void vm_stream_init(struct vm_end_of_stream *s, int fd, bool is_source)
{
	s->fd = fd;
	s->is_source = is_source;
	s->is_finished = s->is_gone = false;
	s->credit = is_source ? VM_WINDOW : 0;
	s->begin = s->len = 0;
}

static bool stream_has_room(const struct vm_link *l)
{
	return vm_link_has_room(l, WIRE_CHUNK + WIRE_SPARE);
}

short vm_stream_events(const struct vm_end_of_stream *s, const struct vm_link *l)
{
	if (s->fd < 0)
		return 0;
	if (!s->is_source)
		return s->len > 0 ? POLLOUT : 0;
	return s->credit > 0 && stream_has_room(l) ? POLLIN : 0;
}

static void stream_read(struct vm_end_of_stream *s, unsigned number, struct vm_link *l)
{
	char data[WIRE_CHUNK];
	ssize_t n;

	/* It was asked before poll(), and another stream came first. */
	if (!stream_has_room(l))
		return;
	n = read(s->fd, data, s->credit < sizeof(data) ? s->credit : sizeof(data));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		s->credit -= (uint32_t)n;
		vm_link_put(l, VM_DATA, number, data, (size_t)n);
		return;
	}
	s->fd = fd_close(s->fd);
	s->is_finished = true;
	vm_link_put(l, VM_EOF, number, NULL, 0);
}

/* Gives credit back for what was taken; nothing is lost while there is no room for it. */
static void stream_credit(struct vm_end_of_stream *s, unsigned number, struct vm_link *l)
{
	if (s->credit < VM_CREDIT_STEP || !vm_link_has_room(l, sizeof(s->credit)))
		return;
	vm_link_put(l, VM_CREDIT, number, &s->credit, sizeof(s->credit));
	s->credit = 0;
}

static void stream_close(struct vm_end_of_stream *s)
{
	if (s->is_finished && s->len == 0)
		s->fd = fd_close(s->fd);
}

static void stream_write(struct vm_end_of_stream *s, unsigned number, struct vm_link *l)
{
	size_t part = sizeof(s->data) - s->begin;
	ssize_t n;

	part = s->len < part ? s->len : part;
	n = write(s->fd, s->data + s->begin, part < WIRE_CHUNK ? part : WIRE_CHUNK);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		s->error = errno == EPIPE ? 0 : errno;
		s->fd = fd_close(s->fd);
		s->credit += (uint32_t)s->len;
		s->len = 0;
		s->is_gone = true;
		if (!s->is_finished && vm_link_has_room(l, 0))
			vm_link_put(l, VM_GONE, number, NULL, 0);
	} else {
		s->begin = (s->begin + (size_t)n) % sizeof(s->data);
		s->len -= (size_t)n;
		s->credit += (uint32_t)n;
	}
	stream_credit(s, number, l);
	stream_close(s);
}

void vm_stream_move(struct vm_end_of_stream *s, unsigned number, struct vm_link *l)
{
	if (s->is_source)
		stream_read(s, number, l);
	else
		stream_write(s, number, l);
}

static int stream_data(struct vm_end_of_stream *s, unsigned number, const struct vm_frame *f,
		       struct vm_link *l)
{
	if (s->is_source || s->is_finished || f->head.len > sizeof(s->data) - s->len)
		return -EPROTO;
	if (s->is_gone) {
		s->credit += f->head.len;
		stream_credit(s, number, l);
		return 0;
	}
	for (size_t i = 0; i < f->head.len; i++)
		s->data[(s->begin + s->len + i) % sizeof(s->data)] = f->data[i];
	s->len += f->head.len;
	return 0;
}

int vm_stream_take(struct vm_end_of_stream *s, unsigned number, const struct vm_frame *f,
		   struct vm_link *l)
{
	uint32_t more;

	switch ((enum vm_type)f->head.type) {
	case VM_DATA:
		return stream_data(s, number, f, l);
	case VM_EOF:
		if (s->is_source || s->is_finished)
			return -EPROTO;
		s->is_finished = true;
		stream_close(s);
		return 0;
	case VM_CREDIT:
		if (!s->is_source || f->head.len != sizeof(more))
			return -EPROTO;
		memcpy(&more, f->data, sizeof(more));
		if (more > VM_WINDOW - s->credit)
			return -EPROTO;
		s->credit += more;
		return 0;
	case VM_GONE:
		if (!s->is_source)
			return -EPROTO;
		if (s->is_finished)
			return 0; /* they met on the way */
		if (!vm_link_has_room(l, 0))
			return -ENOBUFS;
		vm_link_put(l, VM_EOF, number, NULL, 0);
		s->fd = fd_close(s->fd);
		s->is_finished = true;
		return 0;
	case VM_READY:
	case VM_CALL:
	case VM_SIGNAL:
	case VM_STAGE:
	case VM_END:
	case VM_TOLD:
	case VM_SIZE:
	case VM_TYPE_COUNT:
		break;
	}
	return -EPROTO;
}

bool vm_stream_is_over(const struct vm_end_of_stream *s)
{
	return s->is_finished && (s->is_source || s->is_gone || s->len == 0);
}
