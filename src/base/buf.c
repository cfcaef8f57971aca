/* SPDX-License-Identifier: Apache-2.0 */
/* See buf.h. */
#include "base/buf.h"

#include "base/darwin.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void buf_done(struct buf *b)
{
	if (!b)
		return;
	if (b->is_secret && b->data)
		explicit_bzero(b->data, b->cap);
	free(b->data);
	*b = (struct buf){.max = b->max, .is_secret = b->is_secret};
}

void buf_clear(struct buf *b)
{
	if (!b)
		return;
	b->len = 0;
	b->error = 0;
	if (b->data)
		b->data[0] = '\0';
}

/* As mem_grow(), in new memory: realloc() may leave the old behind as it is. */
static int buf_move(struct buf *b, size_t need, size_t max)
{
	size_t cap = 0;
	void *p = NULL;
	int r = mem_grow(&p, &cap, need, 1, max);

	if (r < 0)
		return r;
	if (b->data) {
		memcpy(p, b->data, b->len + 1);
		explicit_bzero(b->data, b->cap);
		free(b->data);
	}
	b->data = p;
	b->cap = cap;
	return 0;
}

/* Makes room for len more bytes and the NUL. */
static int buf_reserve(struct buf *b, size_t len)
{
	size_t need, max = b->max < SIZE_MAX ? b->max : SIZE_MAX - 1; /* the NUL has to fit too */
	void *p = b->data;

	if (b->error)
		return b->error;
	/* Nearly always there is room. */
	if (len < b->cap - b->len && b->len + len <= max)
		return 0;
	if (__builtin_add_overflow(b->len, len, &need) || need > max) {
		b->error = -E2BIG;
		return b->error;
	}
	if (b->is_secret && need + 1 > b->cap) {
		b->error = buf_move(b, need + 1, max + 1);
		return b->error;
	}
	b->error = mem_grow(&p, &b->cap, need + 1, 1, max + 1);
	b->data = p;
	return b->error;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (buf_reserve(b, len) < 0)
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list probe;
	int n;

	va_copy(probe, ap);
	n = vsnprintf(NULL, 0, fmt, probe);
	va_end(probe);
	if (n < 0) {
		if (!b->error)
			b->error = errno == EOVERFLOW ? -E2BIG : -errno;
		return;
	}
	if (buf_reserve(b, (size_t)n) < 0)
		return;
	(void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_truncate(struct buf *b, size_t len)
{
	if (len >= b->len)
		return;
	b->len = len;
	b->data[len] = '\0';
}

const char *buf_cstr(const struct buf *b)
{
	return b->data ? b->data : "";
}

int buf_error(const struct buf *b)
{
	return b->error;
}

int buf_take(struct buf *b, char **ret_data, size_t *ret_len)
{
	if (b->error)
		return b->error;
	if (!b->data && buf_reserve(b, 0) < 0)
		return b->error;
	b->data[b->len] = '\0';
	*ret_data = TAKE_PTR(b->data);
	if (ret_len)
		*ret_len = b->len;
	b->len = b->cap = 0;
	return 0;
}
