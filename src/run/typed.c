/* SPDX-License-Identifier: Apache-2.0 */
/* See typed.h. */
#include "run/typed.h"

#include "base/fd.h"
#include "run/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int typed_init(struct typed *t, int tty, int *ret_read_end)
{
	int ends[2];
	int r;

	*t = TYPED_NONE;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	r = fd_nonblock(ends[1], true); /* only our end: flags belong to the open file */
	if (r < 0) {
		(void)fd_close(ends[0]);
		(void)fd_close(ends[1]);
		return r;
	}
	t->pipe = ends[1];
	t->tty = terminal_reopen(tty, &t->owns_tty);
	*ret_read_end = ends[0];
	return 0;
}

/* Nothing more is read of the terminal. */
static void typed_stop(struct typed *t)
{
	if (t->owns_tty)
		(void)fd_close(t->tty);
	t->tty = -1;
	t->owns_tty = false;
}

void typed_done(struct typed *t)
{
	typed_stop(t);
	(void)fd_close(t->pipe);
	*t = TYPED_NONE;
}

void typed_poll(const struct typed *t, struct pollfd polls[static 2])
{
	bool is_full = t->to > t->from;

	polls[0] = (struct pollfd){.fd = -1, .events = POLLIN};
	/* Without an event it still tells that nobody reads any more. */
	polls[1] = (struct pollfd){.fd = t->pipe, .events = is_full ? POLLOUT : 0};
	/* In the background keys are for others; to read them would also stop us. */
	if (t->tty >= 0 && !is_full && terminal_has_foreground(t->tty))
		polls[0].fd = t->tty;
}

int typed_wait_ms(const struct typed *t, int ms)
{
	if (t->tty < 0 || terminal_has_foreground(t->tty))
		return ms;
	return ms < 0 || ms > TYPED_LOOK_MS ? TYPED_LOOK_MS : ms;
}

void typed_move(struct typed *t, const struct pollfd polls[static 2])
{
	ssize_t n;

	if (polls[1].revents & (POLLERR | POLLNVAL)) {
		typed_done(t); /* nobody reads them: what is typed from now on is the shell's */
		return;
	}
	if (polls[0].revents && terminal_has_foreground(t->tty)) {
		n = read(t->tty, t->data, sizeof(t->data));
		if (n > 0) {
			t->from = 0;
			t->to = (size_t)n;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			typed_stop(t); /* Ctrl-D, or it hung up */
		}
	}
	if (t->to > t->from) {
		n = write(t->pipe, t->data + t->from, t->to - t->from);
		if (n >= 0)
			t->from += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			typed_done(t);
	}
	if (t->tty < 0 && t->from == t->to)
		t->pipe = fd_close(t->pipe); /* the command sees the end */
}
