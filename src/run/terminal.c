/* SPDX-License-Identifier: Apache-2.0 */
/* See terminal.h. */
#include "run/terminal.h"

#include "base/env.h"
#include "base/fd.h"
#include "base/mem.h"
#include "run/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Signals that end us without a chance to put the terminal back, but for a handler. */
static const int terminal_deadly[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGABRT,
				      SIGSYS,  SIGTRAP, SIGALRM, SIGUSR1, SIGUSR2};

/* What the handler needs. */
static struct {
	volatile sig_atomic_t fd; /* -1: nothing to put back */
	struct termios settings;
	struct sigaction old[ARRAY_LEN(terminal_deadly)];
} terminal_guard = {.fd = -1};

static void terminal_on_death(int sig)
{
	if (terminal_guard.fd >= 0)
		(void)tcsetattr(terminal_guard.fd, TCSANOW, &terminal_guard.settings);
	(void)raise(sig); /* SA_RESETHAND: what it does by default, once we return */
}

static void terminal_guard_set(const struct terminal *t)
{
	struct sigaction action = {.sa_handler = terminal_on_death, .sa_flags = (int)SA_RESETHAND};

	if (terminal_guard.fd >= 0)
		return;
	terminal_guard.settings = t->saved;
	for (size_t i = 0; i < ARRAY_LEN(terminal_deadly); i++) {
		if (sigaction(terminal_deadly[i], NULL, &terminal_guard.old[i]) < 0 ||
		    terminal_guard.old[i].sa_handler != SIG_DFL)
			continue; /* somebody else looks after it */
		(void)sigaction(terminal_deadly[i], &action, NULL); /* valid signals */
	}
	terminal_guard.fd = t->tty;
}

static void terminal_guard_clear(void)
{
	if (terminal_guard.fd < 0)
		return;
	terminal_guard.fd = -1;
	for (size_t i = 0; i < ARRAY_LEN(terminal_deadly); i++)
		(void)sigaction(terminal_deadly[i], &terminal_guard.old[i], NULL);
}

/* Terminals show UTF-8 unless the locale names another encoding. */
bool terminal_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *value = NULL;
	const char *dot;

	for (size_t i = 0; !value && i < ARRAY_LEN(names); i++)
		value = env_get(names[i]);
	dot = value ? strchr(value, '.') : NULL;
	return !dot || strncasecmp(dot, ".utf-8", 6) == 0 || strncasecmp(dot, ".utf8", 5) == 0;
}

/* Flags belong to the open file, which others share: ours is opened anew.  A terminal that was handed over
 * by another user cannot be; then it is read when poll() says so. */
int terminal_reopen(int fd, bool *ret_is_own)
{
	int own = fd_reopen(fd, O_RDWR | O_NONBLOCK | O_NOCTTY);

	*ret_is_own = own >= 0;
	return own >= 0 ? own : fd;
}

int terminal_init(struct terminal *t, const struct plan *plan, bool takes_output, bool has_own)
{
	const int fds[3] = {plan->stdin_fd, plan->stdout_fd, plan->stderr_fd};
	int found = -1;

	*t = TERMINAL_NONE;
	for (int i = 2; i >= 0; i--) {
		t->plan.streams[i] = (i == 0 || takes_output) && isatty(fds[i]) == 1;
		if (t->plan.streams[i])
			found = fds[i];
	}
	if (found < 0 || (!has_own && !(t->plan.streams[0] && t->plan.streams[1])))
		return 0;
	if (tcgetattr(found, &t->plan.settings) < 0)
		return -errno;
	if (ioctl(found, TIOCGWINSZ, &t->plan.size) < 0)
		t->plan.size = (struct winsize){0};
	t->tty = terminal_reopen(found, &t->owns_tty);
	vtfilter_init(&t->filter, terminal_is_utf8());
	t->plan.is_foreground = t->plan.streams[0] && t->plan.streams[1] &&
				terminal_is_foreground(t);
	if (!has_own && !t->plan.is_foreground) {
		terminal_done(t);
		return 0;
	}
	t->is_wanted = t->plan.is_foreground;
	t->is_plain = !t->plan.is_foreground;
	if (t->is_plain)
		t->plan.settings.c_oflag &= ~(tcflag_t)OPOST;
	t->is_used = true;
	return 0;
}

int terminal_open_host(struct terminal *t, int *ret_slave)
{
	int slave;
	int r = pty_open(&t->master, &slave);

	if (r < 0)
		return r;
	if (tcsetattr(slave, TCSANOW, &t->plan.settings) < 0 ||
	    ioctl(slave, TIOCSWINSZ, &t->plan.size) < 0) {
		r = -errno;
		(void)fd_close(slave);
		return r;
	}
	*ret_slave = slave;
	return 0;
}

int terminal_sink(const struct terminal *t)
{
	return t->tty;
}

/* A terminal that is not ours to control has no foreground that we could be outside of. */
bool terminal_has_foreground(int tty)
{
	pid_t group = tcgetpgrp(tty);

	return group < 0 || group == getpgrp();
}

bool terminal_is_foreground(const struct terminal *t)
{
	return terminal_has_foreground(t->tty);
}

int terminal_lend(struct terminal *t, int (*fn)(void *data, int64_t deadline, int until),
		  void *data, int64_t deadline, int until)
{
	bool was_raw = t->is_raw;
	int r;

	terminal_leave(t);
	r = fn(data, deadline, until);
	if (was_raw)
		terminal_enter(t);
	return r;
}

/* Into the background: what the command set stays; only whose job carriage returns are changes. */
void terminal_background(struct terminal *t)
{
	struct termios now;

	t->is_raw = false; /* not ours to change now */
	if (t->is_plain || tcgetattr(t->master, &now) < 0)
		return;
	now.c_oflag &= ~(tcflag_t)OPOST;
	t->is_plain = tcsetattr(t->master, TCSANOW, &now) == 0;
}

/* Settings of the near end are those of the far end.  A job that was started in the background saw those
 * of the shell's own line editing: now they are right. */
static void terminal_foreground(struct terminal *t)
{
	struct termios now;

	if (!t->is_plain || tcgetattr(t->master, &now) < 0)
		return;
	if (!t->is_wanted)
		now = t->saved;
	now.c_oflag |= t->saved.c_oflag & OPOST;
	t->is_plain = tcsetattr(t->master, TCSANOW, &now) < 0;
}

void terminal_enter(struct terminal *t)
{
	struct termios raw;

	if (!t->is_used)
		return;
	if (!t->is_raw && tcgetattr(t->tty, &t->saved) < 0)
		return; /* it is gone; its SIGHUP is on its way */
	terminal_foreground(t);
	t->is_wanted = true;
	raw = t->saved;
	cfmakeraw(&raw);
	if (!t->owns_tty)
		raw.c_cc[VMIN] = 0;
	terminal_guard_set(t);
	t->is_raw = tcsetattr(t->tty, TCSADRAIN, &raw) == 0;
	terminal_resize(t);
}

void terminal_leave(struct terminal *t)
{
	if (!t->is_raw)
		return;
	t->is_raw = false;
	/* Late answers of the terminal must not be typed into the caller's shell. */
	if (t->filter.has_asked)
		(void)tcflush(t->tty, TCIFLUSH);
	(void)tcsetattr(t->tty, TCSANOW, &t->saved); /* fails only when it is gone */
	terminal_guard_clear();
}

void terminal_done(struct terminal *t)
{
	terminal_leave(t);
	if (t->owns_tty)
		(void)fd_close(t->tty);
	(void)fd_close(t->master);
	*t = TERMINAL_NONE;
}

void terminal_resize(const struct terminal *t)
{
	struct winsize size;

	if (t->master >= 0 && ioctl(t->tty, TIOCGWINSZ, &size) == 0)
		(void)ioctl(t->master, TIOCSWINSZ, &size); /* fails only when it is gone */
}

void terminal_poll(const struct terminal *t, struct pollfd polls[static 2])
{
	bool is_full = t->input_to > t->input_from;

	polls[0] = (struct pollfd){.fd = -1};
	polls[1] = (struct pollfd){.fd = -1};
	if (!t->is_used || t->master < 0)
		return;
	if (is_full)
		polls[1] = (struct pollfd){.fd = t->master, .events = POLLOUT};
	else if (t->is_raw && !t->has_ended)
		polls[0] = (struct pollfd){.fd = t->tty, .events = POLLIN};
}

void terminal_move(struct terminal *t, const struct pollfd polls[static 2])
{
	ssize_t n;

	if (polls[0].revents) {
		n = read(t->tty, t->input, sizeof(t->input));
		if (n > 0) {
			t->input_from = 0;
			t->input_to = (size_t)n;
		} else if ((n < 0 && errno != EAGAIN && errno != EINTR) ||
			   (n == 0 && (t->owns_tty || polls[0].revents & POLLHUP))) {
			t->has_ended = true;
		}
	}
	if (t->input_to == t->input_from)
		return;
	n = write(t->master, t->input + t->input_from, t->input_to - t->input_from);
	if (n >= 0)
		t->input_from += (size_t)n;
	else if (errno != EAGAIN && errno != EINTR)
		t->input_from = t->input_to; /* nobody is there to read it */
}
