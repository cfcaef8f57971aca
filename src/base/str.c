/* SPDX-License-Identifier: Apache-2.0 */
/* See str.h. */
#include "base/str.h"

#include "base/limits.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void strv_done(struct strv *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct strv){0};
}

/* Takes str, also on failure. */
static int strv_take(struct strv *s, char *str)
{
	void *p = s->v;
	int r;

	if (!str)
		return -ENOMEM;
	r = mem_grow(&p, &s->cap, s->n + 2, sizeof(char *), LIMIT_ARGV + 1);
	s->v = p;
	if (r < 0) {
		free(str);
		return r;
	}
	s->v[s->n++] = str;
	s->v[s->n] = NULL;
	return 0;
}

int strv_add(struct strv *s, const char *str)
{
	return strv_take(s, strdup(str));
}

int strv_addf(struct strv *s, const char *fmt, ...)
{
	char *str = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&str, fmt, ap);
	va_end(ap);
	return n < 0 ? -ENOMEM : strv_take(s, str);
}

bool strv_has(const struct strv *s, const char *str)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i], str) == 0)
			return true;
	return false;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

/* Code points that are shown as escapes: they are invisible or reorder what a person reads. */
static bool str_is_hidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || c == 0x180e ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

void str_escape(struct buf *b, const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i = 0;

	while (i < len) {
		uint32_t c = 0;
		size_t n = utf8_decode(s + i, len - i, &c);

		if (n == 0) {
			buf_printf(b, "\\x%02x", p[i]);
			i++;
		} else {
			if (c == '\n')
				buf_str(b, "\\n");
			else if (c == '\t')
				buf_str(b, "\\t");
			else if (!str_is_hidden(c))
				buf_add(b, s + i, n);
			else if (c < 0x80)
				buf_printf(b, "\\x%02x", (unsigned)c);
			else
				buf_printf(b, "\\u{%x}", (unsigned)c);
			i += n;
		}
	}
}

void str_shell_quote(struct buf *b, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./:=@%+,";

	if (*s && s[strspn(s, plain)] == '\0') {
		buf_str(b, s);
		return;
	}
	buf_char(b, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_str(b, "'\\''");
		else
			buf_char(b, *s);
	}
	buf_char(b, '\'');
}

size_t str_distance(const char *a, const char *b, size_t max)
{
	size_t row[64];
	size_t n = strlen(a), m = strlen(b);

	if (n >= ARRAY_LEN(row) || m >= ARRAY_LEN(row))
		return max + 1;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[m] > max ? max + 1 : row[m];
}
