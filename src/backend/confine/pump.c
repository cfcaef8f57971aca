/* SPDX-License-Identifier: Apache-2.0 */
/* See pump.h.  System calls only: this runs in the first process of a sandbox. */
#include "backend/confine/pump.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int pump_make(struct pump *p, int sink, int first, int *ret_write_end)
{
	int ends[2];
	int source;
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	source = fd_dup(ends[0], first);
	(void)fd_close(ends[0]);
	/* Ours alone: the command gets what blocks. */
	r = source < 0 ? source : fd_nonblock(source, true);
	if (r == 0)
		r = fd_nonblock(sink, true);
	if (r < 0) {
		(void)fd_close(source);
		(void)fd_close(ends[1]);
		return r;
	}
	p->source = source;
	p->sink = sink;
	p->from = p->to = 0;
	*ret_write_end = ends[1];
	return 0;
}

bool pump_is_done(const struct pump *p)
{
	return p->source < 0 && p->from == p->to;
}

/* Nobody reads any more: who writes next gets SIGPIPE. */
static void pump_break(struct pump *p)
{
	p->source = fd_close(p->source);
	p->from = p->to = 0;
}

void pump_poll(const struct pump *p, struct pollfd ret[static PUMP_POLLS])
{
	bool is_full = p->from < p->to;

	ret[0] = (struct pollfd){.fd = is_full ? -1 : p->source, .events = POLLIN};
	/* Without events: that the reader has gone is told all the same. */
	ret[1] = (struct pollfd){.fd = pump_is_done(p) ? -1 : p->sink,
				 .events = is_full ? POLLOUT : 0};
}

static void pump_read(struct pump *p)
{
	ssize_t n = read(p->source, p->data, sizeof(p->data));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		p->source = fd_close(p->source);
		return;
	}
	p->from = 0;
	p->to = (size_t)n;
}

static void pump_write(struct pump *p)
{
	ssize_t n = write(p->sink, p->data + p->from, p->to - p->from);

	if (n >= 0)
		p->from += (size_t)n;
	else if (errno != EAGAIN && errno != EINTR)
		pump_break(p);
}

void pump_move(struct pump *p, const struct pollfd polls[static PUMP_POLLS])
{
	if (polls[0].revents)
		pump_read(p);
	if (p->from < p->to)
		pump_write(p); /* at once, too, after a read: mostly there is room */
	else if (polls[1].revents & (POLLERR | POLLHUP | POLLNVAL))
		pump_break(p);
}
