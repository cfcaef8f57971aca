/* SPDX-License-Identifier: Apache-2.0 */
/* See progress.h. */
#include "cli/progress.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/io.h"
#include "base/log.h"
#include "base/str.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PROGRESS_WRITE_MS 1000 /* a stuck terminal does not hold up the work */

static void progress_write(const struct buf *b)
{
	if (buf_error(b) == 0 && b->len > 0)
		(void)!io_write(STDERR_FILENO, b->data, b->len, clock_deadline(PROGRESS_WRITE_MS));
}

static size_t progress_width(void)
{
	struct winsize size = {0};

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 20)
		return 79;
	return (size_t)size.ws_col - 1;
}

void progress_begin(struct progress *p)
{
	const char *term = env_get("TERM");

	*p = (struct progress){.is_shown = term && strcmp(term, "dumb") != 0 &&
					   log_level() > LOG_LEVEL_QUIET && isatty(STDERR_FILENO)};
}

void progress_step(struct progress *p, size_t n, size_t total, const char *what)
{
	struct buf text = BUF_INIT(4096);
	struct buf line = BUF_INIT(8192);
	size_t width;

	if (!p->is_shown)
		return;
	if (total > 0)
		buf_printf(&text, "[%zu/%zu] ", n, total);
	str_escape(&text, what, strnlen(what, 512));
	width = progress_width();
	if (text.len > width) {
		while (width > 0 && ((unsigned char)text.data[width] & 0xc0) == 0x80)
			width--; /* not through the middle of a character */
		buf_truncate(&text, width);
	}
	buf_printf(&line, "\r%s\033[K", buf_cstr(&text));
	progress_write(&line);
	p->has_line = true;
	buf_done(&line);
	buf_done(&text);
}

void progress_clear(struct progress *p)
{
	struct buf line = BUF_INIT(16);

	if (!p->has_line)
		return;
	buf_str(&line, "\r\033[K");
	progress_write(&line);
	p->has_line = false;
	buf_done(&line);
}
