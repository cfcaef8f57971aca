/* SPDX-License-Identifier: Apache-2.0 */
/* See approve.h. */
#include "core/approve.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum {
	APPROVE_LOOK_MS = 200, /* between looks at signals for us */
	APPROVE_SHOWN_MAX = 256 * 1024,
};

static const char *const approval_words[APPROVAL_COUNT] = {"granted", "denied", "timed out",
							   "nobody to ask"};

const char *approval_name(enum approval a)
{
	return a < APPROVAL_COUNT ? approval_words[a] : "?";
}

/* Reads one line of at most max - 1 bytes.  The length, or -errno. */
static ssize_t approve_read_line(int tty, char *line, size_t max, int64_t deadline)
{
	size_t n = 0;

	while (n + 1 < max) {
		ssize_t got = io_read(tty, line + n, 1, deadline);

		if (got < 0)
			return got;
		if (got == 0 || line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
	return (ssize_t)n;
}

/* Something that ends us is waiting to be handled. */
static bool approve_is_interrupted(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t pending;

	if (sigpending(&pending) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (sigismember(&pending, ends[i]) == 1)
			return true;
	return false;
}

/* A line of the terminal, for as long as the command runs.  0 or -errno. */
static int approve_wait(int tty, int command_pidfd, int64_t deadline)
{
	for (;;) {
		struct pollfd polls[] = {{.fd = tty, .events = POLLIN},
					 {.fd = command_pidfd, .events = POLLIN}};
		int left = clock_poll_timeout(deadline);

		if (poll(polls, 2, left < 0 || left > APPROVE_LOOK_MS ? APPROVE_LOOK_MS : left) <
			    0 &&
		    errno != EINTR)
			return -errno;
		if (polls[1].revents || approve_is_interrupted())
			return -ECANCELED;
		if (polls[0].revents)
			return 0;
		if (clock_poll_timeout(deadline) == 0)
			return -ETIMEDOUT;
	}
}

static enum approval approve_scope_of(const char *line, bool has_session, enum approval_scope *ret)
{
	if (strcmp(line, "o") == 0 || strcmp(line, "once") == 0)
		*ret = APPROVAL_ONCE;
	else if (has_session && (strcmp(line, "s") == 0 || strcmp(line, "session") == 0))
		*ret = APPROVAL_SESSION;
	else if (strcmp(line, "p") == 0 || strcmp(line, "project") == 0)
		*ret = APPROVAL_PROJECT;
	else
		return APPROVAL_DENIED;
	return APPROVAL_GRANTED;
}

enum approval approve_ask_host(const char *host, bool has_session, int64_t deadline,
			       int command_pidfd, enum approval_scope *ret_scope,
			       char ret_who[static APPROVAL_WHO_MAX])
{
	AUTO_CLOSE int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct buf b = BUF_INIT(APPROVE_SHOWN_MAX);
	char name[APPROVAL_WHO_MAX / 2];
	char line[16] = "";
	ssize_t n;

	if (tty < 0 || tcgetpgrp(tty) != getpgrp())
		return APPROVAL_NOBODY; /* a background job must not steal the terminal */
	if (ttyname_r(tty, name, sizeof(name)) != 0)
		(void)snprintf(name, sizeof(name), "a terminal");
	(void)snprintf(ret_who, APPROVAL_WHO_MAX, "uid %u on %s", (unsigned)getuid(), name);
	buf_str(&b, "\r\ncordon: the command wants to connect to ");
	str_escape(&b, host, strlen(host));
	buf_printf(&b,
		   ", which is on no list\ncordon: allow it? o: once%s, p: this project for %d "
		   "days [N] ",
		   has_session ? ", s: this session" : "",
		   (int)(APPROVAL_PROJECT_MS / (INT64_C(24) * 60 * 60 * 1000)));
	/* What was typed before the question is no answer to it. */
	(void)tcflush(tty, TCIFLUSH);
	n = buf_error(&b);
	if (n == 0)
		n = io_write(tty, b.data, b.len, deadline);
	buf_done(&b);
	if (n == 0)
		n = approve_wait(tty, command_pidfd, deadline);
	if (n == 0)
		n = approve_read_line(tty, line, sizeof(line), deadline);
	if (n == -ETIMEDOUT)
		return APPROVAL_TIMED_OUT;
	return n < 0 ? APPROVAL_DENIED : approve_scope_of(line, has_session, ret_scope);
}

enum approval approve_ask(const struct approve_call *call, const char *reason, int64_t timeout_ms)
{
	AUTO_CLOSE int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct buf b = BUF_INIT(APPROVE_SHOWN_MAX);
	int64_t deadline = clock_deadline(timeout_ms);
	char line[16] = "";
	ssize_t n;

	if (tty < 0 || tcgetpgrp(tty) != getpgrp())
		return APPROVAL_NOBODY; /* a background job must not steal the terminal */
	n = approve_question(call, reason, &b, /* err= */ NULL); /* what cannot be shown is a no */
	/* What was typed before the question is no answer to it. */
	(void)tcflush(tty, TCIFLUSH);
	if (n == 0)
		n = io_write(tty, b.data, b.len, deadline);
	buf_done(&b);
	if (n == 0)
		n = approve_read_line(tty, line, sizeof(line), deadline);
	if (n == -ETIMEDOUT)
		return APPROVAL_TIMED_OUT;
	if (n < 0)
		return APPROVAL_DENIED;
	return strcmp(line, "y") == 0 || strcmp(line, "yes") == 0 ? APPROVAL_GRANTED
								  : APPROVAL_DENIED;
}
