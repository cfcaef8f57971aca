/* SPDX-License-Identifier: Apache-2.0 */
/* See tls.h. */
#include "proxy/tls.h"

#include "proxy/loop.h"

#include <errno.h>
#include <sys/socket.h>

ssize_t stream_read(struct source *s, char *bytes, size_t max)
{
	ssize_t n;

	if (s->tls)
		return s->loop->tls->read(s->tls, bytes, max);
	do
		n = recv(s->fd, bytes, max, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t stream_send(struct source *s, const char *bytes, size_t len, int flags)
{
	ssize_t n;

	if (s->tls)
		return s->loop->tls->write(s->tls, bytes, len);
	do
		n = send(s->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT | flags);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t stream_write(struct source *s, const char *bytes, size_t len)
{
	return stream_send(s, bytes, len, 0);
}

ssize_t stream_write_last(struct source *s, const char *bytes, size_t len)
{
	return stream_send(s, bytes, len, MSG_MORE);
}

bool stream_has_pending(const struct source *s)
{
	return s->tls && s->loop->tls->has_pending(s->tls);
}

bool stream_is_quiet(struct source *s)
{
	char byte;

	if (s->tls)
		return s->loop->tls->is_quiet(s->tls);
	return recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

uint32_t stream_wants(const struct source *s)
{
	/* To be read it is watched where somebody wants to read. */
	return s->tls ? s->loop->tls->wants(s->tls) & EPOLLOUT : 0;
}

void stream_bye(struct source *s)
{
	if (s->tls)
		s->loop->tls->bye(s->tls);
	(void)shutdown(s->fd, SHUT_WR); /* the other side may be gone already */
}

void stream_drop(struct source *s)
{
	if (s->tls)
		s->loop->tls->free(s->tls);
	s->tls = NULL;
}
