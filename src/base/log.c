/* SPDX-License-Identifier: Apache-2.0 */
/* See log.h. */
#include "base/log.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum log_level log_current = LOG_LEVEL_NORMAL;

void log_set_level(enum log_level level)
{
	log_current = level;
}

enum log_level log_level(void)
{
	return log_current;
}

enum { LOG_TEXT_MAX = 8192 }; /* of one message, before escaping */

/* One write() per line, so that lines of several processes do not mix.  A text that is too long is cut,
 * never dropped: who can make a message long must not be able to silence it. */
static void log_line(const char *label, const char *text)
{
	struct buf b = BUF_INIT(4 * LOG_TEXT_MAX + 256); /* a byte becomes four at most */
	size_t len = strlen(text);
	bool is_cut = len > LOG_TEXT_MAX;

	buf_printf(&b, "cordon: %s", label);
	str_escape(&b, text, is_cut ? LOG_TEXT_MAX : len);
	buf_str(&b, is_cut ? "...\n" : "\n");
	if (buf_error(&b) == 0)
		(void)!io_write(STDERR_FILENO, b.data, b.len,
				clock_deadline(2000)); /* nowhere to report to */
	buf_done(&b);
}

static void log_format(enum log_level from, const char *label, const char *fmt, va_list ap)
	CORDON_PRINTF(3, 0);

/* from: the level at which it is said. */
static void log_format(enum log_level from, const char *label, const char *fmt, va_list ap)
{
	char text[LOG_TEXT_MAX +
		  2]; /* one byte more than log_line() shows, so that it sees the cut */

	if (log_current < from)
		return;
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		text[0] = '\0';
	log_line(label, text);
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_format(LOG_LEVEL_QUIET, "", fmt, ap);
	va_end(ap);
}

void log_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_format(LOG_LEVEL_NORMAL, "warning: ", fmt, ap);
	va_end(ap);
}

void log_notice(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_format(LOG_LEVEL_NORMAL, "", fmt, ap);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_format(LOG_LEVEL_VERBOSE, "", fmt, ap);
	va_end(ap);
}

void log_cordon_error(const struct cordon_error *err)
{
	log_line("", err->message);
	if (err->hint[0])
		log_line("hint: ", err->hint);
}
