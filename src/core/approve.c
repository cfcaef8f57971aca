/* SPDX-License-Identifier: Apache-2.0 */
/* See approve.h. */
#include "core/approve.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum {
	APPROVE_TEXT_MAX = 8192, /* of the call that is shown, before escaping */
	APPROVE_REASON_MAX = 1024,
	APPROVE_SHOWN_MAX = 16 * (APPROVE_TEXT_MAX + APPROVE_REASON_MAX),
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

void approve_text(const struct request *request, struct buf *out)
{
	struct buf quoted = BUF_INIT((size_t)8 * LIMIT_ARG_BYTES);
	const char *text = request->text;
	size_t len = request->text_len;

	/* Words are shown with their edges: `rm "a b"` is not `rm a b`. */
	if (request->kind == REQUEST_ARGV) {
		for (size_t i = 0; i < request->argv.n; i++) {
			if (i > 0)
				buf_char(&quoted, ' ');
			str_shell_quote(&quoted, request->argv.v[i]);
		}
		text = buf_cstr(&quoted);
		len = quoted.len;
	}
	str_escape(out, text, len < APPROVE_TEXT_MAX ? len : APPROVE_TEXT_MAX);
	if (len > APPROVE_TEXT_MAX)
		buf_printf(out, "\ncordon: and %zu MORE BYTES that are not shown",
			   len - APPROVE_TEXT_MAX);
	buf_done(&quoted);
}

enum approval approve_ask(const struct request *request, const char *reason, int64_t timeout_ms)
{
	AUTO_CLOSE int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct buf b = BUF_INIT(APPROVE_SHOWN_MAX);
	int64_t deadline = clock_deadline(timeout_ms);
	char line[16] = "";
	ssize_t n;

	if (tty < 0 || tcgetpgrp(tty) != getpgrp())
		return APPROVAL_NOBODY; /* a background job must not steal the terminal */
	buf_str(&b, "cordon: approval needed: ");
	approve_text(request, &b);
	if (reason) {
		buf_str(&b, "\ncordon: because ");
		str_escape(&b, reason, strnlen(reason, APPROVE_REASON_MAX));
	}
	buf_str(&b, "\ncordon: run it? [y/N] ");
	/* What was typed before the question is no answer to it. */
	(void)tcflush(tty, TCIFLUSH);
	n = buf_error(&b);
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
