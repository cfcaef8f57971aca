/* SPDX-License-Identifier: Apache-2.0 */
/* See relay.h. */
#include "run/relay.h"

#include "base/fd.h"
#include "run/terminal.h"
#include "run/vtfilter.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The descriptor that we got is shared with others (the shell, the next command), so it must not be
 * made non-blocking.  A pipe or terminal opened anew has flags of its own; a regular file would also
 * get an offset of its own, and does not block anyway. */
static int relay_open_sink(struct relay *r, int fd)
{
	struct stat st;
	int own;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) < 0)
		return -errno;
	r->sink = fd;
	if (S_ISSOCK(st.st_mode)) {
		r->sink_kind = RELAY_SINK_SOCKET;
		return 0;
	}
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode)) {
		r->sink_kind = RELAY_SINK_FILE;
		return 0;
	}
	own = fd_reopen(fd, O_WRONLY | O_NONBLOCK | O_NOCTTY);
	r->sink_kind = own < 0 ? RELAY_SINK_SHARED : RELAY_SINK_PIPE;
	if (own >= 0) {
		r->sink = own;
		r->owns_sink = true;
	}
	return 0;
}

int relay_init(struct relay *r, int sink_fd, struct buf *capture, struct relay_budget *budget,
	       int *ret_write_end)
{
	int ends[2];
	int result;

	*r = RELAY_NONE;
	r->capture = capture;
	r->budget = budget;
	r->chunk = malloc(RELAY_CHUNK_BYTES);
	if (!r->chunk)
		return -ENOMEM;
	result = relay_open_sink(r, sink_fd);
	if (result == 0 && pipe2(ends, O_CLOEXEC) < 0)
		result = -errno;
	if (result < 0) {
		relay_done(r);
		return result;
	}
	r->source = ends[0];
	result = fd_nonblock(r->source, true); /* only our end: flags belong to the open file */
	if (result < 0) {
		(void)fd_close(ends[1]);
		relay_done(r);
		return result;
	}
	*ret_write_end = ends[1];
	return 0;
}

int relay_init_terminal(struct relay *r, int master, int sink_fd, struct buf *capture,
			struct relay_budget *budget, struct vtfilter *filter)
{
	int result;

	static_assert(VTFILTER_ROOM(RELAY_TERMINAL_BYTES) + VTFILTER_END_MAX <= RELAY_CHUNK_BYTES,
		      "what was read fits, filtered and ended");
	*r = RELAY_NONE;
	r->source = master;
	r->capture = capture;
	r->budget = budget;
	r->filter = filter;
	r->chunk = malloc(RELAY_CHUNK_BYTES);
	r->raw = malloc(RELAY_TERMINAL_BYTES);
	result = r->chunk && r->raw ? fd_nonblock(master, true) : -ENOMEM;
	if (result == 0)
		result = relay_open_sink(r, sink_fd);
	if (result < 0)
		relay_done(r);
	return result;
}

int relay_init_filtered(struct relay *r, int sink_fd, struct buf *capture,
			struct relay_budget *budget, struct vtfilter *filter, int *ret_write_end)
{
	int ends[2];
	int result;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	vtfilter_init(filter, terminal_is_utf8());
	filter->is_deaf =
		true; /* who has a pipe for output reads no answer: it would be typed into the shell */
	result = relay_init_terminal(r, ends[0], sink_fd, capture, budget, filter);
	if (result < 0)
		(void)fd_close(ends[1]);
	else
		*ret_write_end = ends[1];
	return result;
}

bool relay_wants_pipe(int fd)
{
	struct stat st;
	int own;

	if (isatty(fd) == 1)
		return true;
	if (fstat(fd, &st) < 0)
		return false;
	if (!S_ISFIFO(st.st_mode))
		return S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode);
	own = fd_reopen(fd, O_WRONLY | O_NONBLOCK);
	(void)fd_close(own);
	return own == -EACCES; /* somebody else's */
}

/* The last of a filter, once, behind what is pending. */
static void relay_end_filter(struct relay *r)
{
	if (r->pending_from == r->pending_to)
		r->pending_from = r->pending_to = 0;
	if (r->filter && r->sink >= 0 && RELAY_CHUNK_BYTES - r->pending_to >= VTFILTER_END_MAX)
		r->pending_to += vtfilter_end(r->filter, r->chunk + r->pending_to);
	r->filter = NULL;
}

/* Puts what was staged into the chunk, a part at a time: the filter needs room.  The filter's own end comes behind
 * the last of it. */
static void relay_refill(struct relay *r)
{
	while (r->pending_from == r->pending_to && r->staged_from < r->staged.len) {
		size_t left = r->staged.len - r->staged_from;
		size_t len = left < RELAY_TERMINAL_BYTES ? left : RELAY_TERMINAL_BYTES;
		const char *from = r->staged.data + r->staged_from;

		r->staged_from += len;
		r->pending_from = r->pending_to = 0;
		if (r->sink < 0)
			continue;
		if (r->filter) {
			r->pending_to = vtfilter_feed(r->filter, from, len, r->chunk);
		} else {
			memcpy(r->chunk, from, len);
			r->pending_to = len;
		}
	}
	if (r->source < 0 && r->filter && r->staged_from == r->staged.len)
		relay_end_filter(r);
}

static int relay_capture(struct relay *r, const char *from, size_t len)
{
	size_t room;

	if (!r->capture)
		return 0;
	room = r->capture->max - r->capture->len;
	if (len > room) {
		r->is_cut = true; /* the rest is dropped, the command runs on */
		len = room;
	}
	buf_add(r->capture, from, len);
	return buf_error(r->capture);
}

/* What the stage let through goes where everything goes.  A stage that failed lets nothing through. */
static int relay_staged(struct relay *r, int result)
{
	if (result < 0) {
		buf_clear(&r->staged);
		r->is_cut = true;
	}
	r->staged_from = 0;
	r->quiet_at = r->source >= 0 && r->stage->held(r->stage->data) > 0
			      ? clock_deadline(RELAY_QUIET_MS)
			      : CLOCK_NEVER;
	if (r->reader && r->staged.len > 0)
		message_feed(r->reader, r->staged.data, r->staged.len);
	result = r->staged.len > 0 ? relay_capture(r, r->staged.data, r->staged.len) : 0;
	relay_refill(r);
	return result;
}

static int relay_staged_end(struct relay *r)
{
	size_t before = r->staged.len;
	int result = r->is_over_budget ? r->stage->cut(r->stage->data, &r->staged)
				       : r->stage->end(r->stage->data, &r->staged);
	const char *from = buf_cstr(&r->staged) + before;

	r->quiet_at = CLOCK_NEVER;
	if (result < 0 || buf_error(&r->staged) < 0) {
		buf_truncate(&r->staged, before);
		return -EIO;
	}
	if (r->reader && r->staged.len > before)
		message_feed(r->reader, from, r->staged.len - before);
	result = r->staged.len > before ? relay_capture(r, from, r->staged.len - before) : 0;
	relay_refill(r);
	return result;
}

void relay_stop(struct relay *r)
{
	bool is_last = r->source >= 0 && r->chunk;

	r->source = fd_close(r->source);
	if (is_last && r->stage) {
		/* What is staged and waits stays in front. */
		if (relay_staged_end(r) < 0)
			r->is_cut = true;
	} else if (is_last) {
		relay_end_filter(r);
	}
}

/* Whose output somebody searches may print what nobody should find here. */
static void relay_wipe(struct relay *r)
{
	if (!r->stage)
		return;
	if (r->chunk)
		explicit_bzero(r->chunk, RELAY_CHUNK_BYTES);
	if (r->raw)
		explicit_bzero(r->raw, RELAY_TERMINAL_BYTES);
	if (r->staged.data)
		explicit_bzero(r->staged.data, r->staged.cap);
}

void relay_drop(struct relay *r)
{
	bool is_more = r->staged_from < r->staged.len;

	relay_wipe(r);
	r->filter = NULL;
	r->stage = NULL;
	r->quiet_at = CLOCK_NEVER; /* nobody would put it off any more */
	relay_stop(r);
	if (r->pending_to > r->pending_from || is_more)
		r->is_cut = true;
	r->pending_from = r->pending_to = 0;
	buf_clear(&r->staged);
	r->staged_from = 0;
}

void relay_done(struct relay *r)
{
	relay_stop(r);
	if (r->owns_sink)
		(void)fd_close(r->sink);
	relay_wipe(r);
	free(r->chunk);
	free(r->raw);
	r->raw = NULL;
	buf_done(&r->staged);
	r->sink = -1;
	r->owns_sink = false;
	r->chunk = NULL;
}

bool relay_is_finished(const struct relay *r)
{
	return r->source < 0 && r->pending_from == r->pending_to && r->staged_from == r->staged.len;
}

struct pollfd relay_poll(const struct relay *r)
{
	if (r->pending_to > r->pending_from)
		return (struct pollfd){.fd = r->sink, .events = POLLOUT};
	return (struct pollfd){.fd = r->source, .events = POLLIN};
}

void relay_drain(struct relay *r)
{
	int left = 0;

	if (r->source < 0 || r->drain.is_given)
		return;
	if (ioctl(r->source, FIONREAD, &left) < 0 || left <= 0) {
		relay_stop(r);
		return;
	}
	r->drain = PLAN_LIMIT((uint64_t)left);
}

/* The sink is gone: with the pipe closed the command gets SIGPIPE or EPIPE in its turn. */
static void relay_break(struct relay *r)
{
	r->is_broken = true;
	relay_drop(r);
}

static int relay_write(struct relay *r)
{
	size_t len = r->pending_to - r->pending_from;
	const char *from = r->chunk + r->pending_from;
	ssize_t n;

	if (r->sink_kind == RELAY_SINK_SHARED && len > PIPE_BUF)
		len = PIPE_BUF; /* poll() promises room for this much in a pipe */
	if (r->sink_kind == RELAY_SINK_SOCKET)
		n = send(r->sink, from, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	else
		n = write(r->sink, from, len);
	if (n >= 0) {
		r->pending_from += (size_t)n;
		if (r->stage)
			relay_refill(r);
		return 0;
	}
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	if (errno == EPIPE || errno == ECONNRESET || errno == EIO) {
		relay_break(r);
		return 0;
	}
	return -errno;
}

/* Takes at most what the budget has left.  Returns how much of len passes. */
static size_t relay_charge(struct relay *r, size_t len)
{
	struct relay_budget *b = r->budget;

	if (!b->left.is_given)
		return len;
	if (len > b->left.value) {
		len = (size_t)b->left.value;
		b->is_exceeded = true;
		r->is_cut = true;
		r->is_over_budget = true;
	}
	b->left.value -= len;
	return len;
}

/* len bytes were read; all of what was staged before is gone. */
static int relay_read_stage(struct relay *r, size_t len)
{
	int result;

	buf_clear(&r->staged);
	result = r->stage->feed(r->stage->data, r->raw ? r->raw : r->chunk, len, &r->staged);
	result = relay_staged(r, result);
	if (r->drain.is_given && r->drain.value == 0)
		relay_stop(r);
	return result;
}

int relay_wait_ms(const struct relay *streams, size_t n, int ms)
{
	for (size_t i = 0; i < n; i++) {
		int next = clock_poll_timeout(streams[i].quiet_at);

		if (next >= 0 && (ms < 0 || next < ms))
			ms = next;
	}
	return ms;
}

void relay_rest(struct relay *streams, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct relay *r = &streams[i];

		if (!r->stage || r->quiet_at == CLOCK_NEVER || clock_ms() < r->quiet_at)
			continue;
		/* With something pending the reader is slow, not the command: we look again. */
		if (r->pending_to > r->pending_from || r->staged_from < r->staged.len) {
			r->quiet_at = clock_deadline(RELAY_QUIET_MS);
			continue;
		}
		buf_clear(&r->staged);
		if (relay_staged(r, r->stage->quiet(r->stage->data, &r->staged)) < 0)
			r->is_cut = true; /* as at the end of a full capture */
		r->quiet_at = CLOCK_NEVER;
	}
}

static int relay_read(struct relay *r)
{
	size_t want = r->raw ? RELAY_TERMINAL_BYTES : RELAY_CHUNK_BYTES;
	size_t len;
	ssize_t n;

	if (r->drain.is_given && r->drain.value < want)
		want = (size_t)r->drain.value;
	n = want ? read(r->source, r->raw ? r->raw : r->chunk, want) : 0;
	if (n < 0 && errno == EIO && r->raw)
		n = 0; /* how a pty says that nobody has its far end open any more */
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0) {
		relay_stop(r);
		return 0;
	}
	if (r->drain.is_given)
		r->drain.value -= (uint64_t)n;
	len = relay_charge(r, (size_t)n);
	r->pending_from = 0;
	r->pending_to = 0;
	if (r->stage)
		return relay_read_stage(r, len);
	if (r->reader)
		message_feed(r->reader, r->raw ? r->raw : r->chunk, len);
	if (r->sink >= 0)
		r->pending_to = r->filter ? vtfilter_feed(r->filter, r->raw, len, r->chunk) : len;
	n = relay_capture(r, r->raw ? r->raw : r->chunk, len);
	if (r->drain.is_given && r->drain.value == 0)
		relay_stop(r);
	return (int)n;
}

int relay_move(struct relay *r, short revents)
{
	int result = 0;

	if (!revents)
		return 0;
	if (r->pending_to == r->pending_from)
		result = relay_read(r);
	/* Most sinks take it at once: try before polling again.  A shared one must be asked first. */
	if (result == 0 && r->pending_to > r->pending_from &&
	    (r->sink_kind != RELAY_SINK_SHARED || revents & (POLLOUT | POLLERR)))
		result = relay_write(r);
	return result;
}
