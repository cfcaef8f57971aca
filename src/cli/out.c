/* SPDX-License-Identifier: Apache-2.0 */
/* See out.h. */
#include "cli/out.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/io.h"
#include "base/str.h"
#include "run/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const out_styles[] = {
	[OUT_PLAIN] = "",         [OUT_BOLD] = "\033[1m",    [OUT_DIM] = "\033[2m",
	[OUT_GREEN] = "\033[32m", [OUT_YELLOW] = "\033[33m", [OUT_RED] = "\033[31m",
};
enum { OUT_PIECE_BYTES = 16384 }; /* filtered at once */
_Static_assert(ARRAY_LEN(out_styles) == OUT_STYLE_COUNT, "a style without its sequence");

bool out_fd_has_colour(int fd)
{
	const char *term = env_get("TERM");

	return term && strcmp(term, "dumb") != 0 && !env_get("NO_COLOR") && isatty(fd);
}

bool out_has_colour(struct out *o)
{
	if (!o->was_asked) {
		o->has_colour = out_fd_has_colour(o->fd);
		o->was_asked = true;
	}
	return o->has_colour;
}

const char *out_style_begin(enum out_style style, bool has_colour)
{
	return has_colour && style < OUT_STYLE_COUNT ? out_styles[style] : "";
}

const char *out_style_end(enum out_style style, bool has_colour)
{
	return has_colour && style != OUT_PLAIN ? "\033[0m" : "";
}

/* 0 or -errno: without its filter nothing goes to a terminal. */
static int out_set_up_filter(struct out *o)
{
	if (o->was_looked_at)
		return 0;
	o->was_looked_at = true;
	if (isatty(o->fd) != 1)
		return 0;
	o->filter = malloc(sizeof(*o->filter));
	if (!o->filter)
		return -ENOMEM;
	vtfilter_init(o->filter, terminal_is_utf8());
	o->filter->is_deaf = true; /* the next to read the terminal is the shell */
	return 0;
}

static int out_write_filtered(struct out *o)
{
	AUTO_FREE char *text = malloc(VTFILTER_ROOM(OUT_PIECE_BYTES));
	int r = text ? 0 : -ENOMEM;

	for (size_t at = 0; r == 0 && at < o->buffer.len; at += OUT_PIECE_BYTES) {
		size_t left = o->buffer.len - at;
		size_t n = left < OUT_PIECE_BYTES ? left : OUT_PIECE_BYTES;

		n = vtfilter_feed(o->filter, o->buffer.data + at, n, text);
		r = io_write(o->fd, text, n, CLOCK_NEVER);
	}
	return r;
}

void out_flush(struct out *o)
{
	if (o->error == 0)
		o->error = buf_error(&o->buffer);
	if (o->error == 0 && o->buffer.len > 0)
		o->error = out_set_up_filter(o);
	if (o->error == 0 && o->buffer.len > 0)
		o->error = o->filter ? out_write_filtered(o)
				     : io_write(o->fd, o->buffer.data, o->buffer.len, CLOCK_NEVER);
	buf_clear(&o->buffer);
}

/* What a text left changed is put back. */
static void out_end_filter(struct out *o)
{
	char end[VTFILTER_END_MAX];

	if (o->filter && o->error == 0)
		o->error = io_write(o->fd, end, vtfilter_end(o->filter, end), CLOCK_NEVER);
	free(o->filter);
	o->filter = NULL;
}

static void out_flush_if_full(struct out *o)
{
	if (o->buffer.len >= OUT_BUFFER_BYTES || buf_error(&o->buffer) < 0)
		out_flush(o);
}

void out_add(struct out *o, const void *data, size_t len)
{
	buf_add(&o->buffer, data, len);
	out_flush_if_full(o);
}

void out_str(struct out *o, const char *s)
{
	out_add(o, s, strlen(s));
}

void out_printf(struct out *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&o->buffer, fmt, ap);
	va_end(ap);
	out_flush_if_full(o);
}

void out_escaped(struct out *o, const char *s)
{
	str_escape(&o->buffer, s, strlen(s));
	out_flush_if_full(o);
}

void out_reviewed(struct out *o, const char *text, size_t len)
{
	if (!isatty(o->fd)) {
		out_add(o, text, len);
		return;
	}
	for (size_t at = 0; at < len;) {
		size_t n = 0;

		while (at + n < len && text[at + n] != '\n' && text[at + n] != '\t')
			n++;
		str_escape(&o->buffer, text + at, n);
		at += n;
		if (at < len)
			out_add(o, text + at++, 1);
	}
	out_flush_if_full(o);
}

void out_styled(struct out *o, enum out_style style, const char *s)
{
	out_str(o, out_style_begin(style, out_has_colour(o)));
	out_escaped(o, s);
	out_str(o, out_style_end(style, out_has_colour(o)));
}

int out_finish(struct out *o)
{
	out_flush(o);
	out_end_filter(o);
	buf_done(&o->buffer);
	return o->error;
}
