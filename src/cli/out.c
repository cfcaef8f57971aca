/* SPDX-License-Identifier: Apache-2.0 */
/* See out.h. */
#include "cli/out.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/io.h"
#include "base/str.h"

#include <string.h>
#include <unistd.h>

static const char *const out_styles[] = {
	[OUT_PLAIN] = "",         [OUT_BOLD] = "\033[1m",    [OUT_DIM] = "\033[2m",
	[OUT_GREEN] = "\033[32m", [OUT_YELLOW] = "\033[33m", [OUT_RED] = "\033[31m",
};
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

void out_flush(struct out *o)
{
	if (o->error == 0)
		o->error = buf_error(&o->buffer);
	if (o->error == 0 && o->buffer.len > 0)
		o->error = io_write(o->fd, o->buffer.data, o->buffer.len, CLOCK_NEVER);
	buf_clear(&o->buffer);
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

void out_styled(struct out *o, enum out_style style, const char *s)
{
	out_str(o, out_style_begin(style, out_has_colour(o)));
	out_escaped(o, s);
	out_str(o, out_style_end(style, out_has_colour(o)));
}

int out_finish(struct out *o)
{
	out_flush(o);
	buf_done(&o->buffer);
	return o->error;
}
