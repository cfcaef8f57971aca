/* SPDX-License-Identifier: Apache-2.0 */
/* See approve.h. */
#include "core/approve.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/str.h"

#include <fcntl.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

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

enum approval approve_ask(const char *text, const char *reason, int64_t timeout_ms)
{
	AUTO_CLOSE int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct buf b = BUF_INIT(65536);
	char line[16];
	ssize_t n;

	if (tty < 0 || tcgetpgrp(tty) != getpgrp())
		return APPROVAL_NOBODY; /* a background job must not steal the terminal */
	buf_str(&b, "cordon: approval needed: ");
	str_escape(&b, text, strnlen(text, 8192));
	if (reason) {
		buf_str(&b, "\ncordon: because ");
		str_escape(&b, reason, strnlen(reason, 1024));
	}
	buf_str(&b, "\ncordon: run it? [y/N] ");
	/* What was typed before the question is no answer to it. */
	(void)tcflush(tty, TCIFLUSH);
	n = io_write(tty, buf_cstr(&b), b.len, clock_deadline(timeout_ms));
	buf_done(&b);
	if (n == 0)
		n = approve_read_line(tty, line, sizeof(line), clock_deadline(timeout_ms));
	if (n < 0)
		return APPROVAL_TIMED_OUT;
	return strcmp(line, "y") == 0 || strcmp(line, "yes") == 0 ? APPROVAL_GRANTED
								  : APPROVAL_DENIED;
}
