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
static int strv_take(struct strv *s, char *str, size_t max)
{
	void *p = s->v;
	int r;

	if (!str)
		return -ENOMEM;
	r = mem_grow(&p, &s->cap, s->n + 2, sizeof(char *), max + 1);
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
	return strv_take(s, strdup(str), LIMIT_ARGV);
}

int strv_add_max(struct strv *s, const char *str, size_t max)
{
	return strv_take(s, strdup(str), max);
}

int strv_addf(struct strv *s, const char *fmt, ...)
{
	struct buf b = BUF_INIT(LIMIT_ARG_BYTES);
	char *str = NULL;
	va_list ap;
	int r;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	r = buf_take(&b, &str, NULL);
	buf_done(&b);
	return r < 0 ? r : strv_take(s, str, LIMIT_ARGV);
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

/* Code points that are shown as escapes: controls, separators of lines, and what Unicode calls
 * Default_Ignorable_Code_Point (marks of direction, joiners, fillers, variation selectors, tags): they
 * are invisible, reorder what a person reads, or carry hidden text. */
static const struct {
	uint32_t first, last;
} str_hidden[] = {
	{0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
	{0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
	{0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
	{0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
	{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static bool str_is_hidden(uint32_t c)
{
	for (size_t i = 0; i < ARRAY_LEN(str_hidden); i++)
		if (c <= str_hidden[i].last)
			return c >= str_hidden[i].first;
	return false;
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

/* Would a shell read the word as an assignment or as one of its own words where a command may stand? */
static bool str_is_shell_word(const char *s)
{
	static const char *const reserved[] = {
		"case", "do", "done", "elif", "else",   "esac",  "fi",    "for",    "function",
		"if",   "in", "then", "time", "select", "until", "while", "coproc",
	};

	if (*s != '-' && strchr(s, '='))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
		if (strcmp(s, reserved[i]) == 0)
			return true;
	return false;
}

void str_shell_quote(struct buf *b, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./:=@%+,";

	if (*s && s[strspn(s, plain)] == '\0' && !str_is_shell_word(s)) {
		buf_str(b, s);
		return;
	}
	buf_char(b, '\'');
	for (; *s; s++) {
		/* Between quotes fish takes a backslash before either of them for an escape; outside all shells agree. */
		if (*s == '\'' || *s == '\\') {
			buf_str(b, "'\\");
			buf_char(b, *s);
			buf_char(b, '\'');
		} else {
			buf_char(b, *s);
		}
	}
	buf_char(b, '\'');
}

size_t str_distance(const char *a, const char *b, size_t max)
{
	size_t row[64];
	size_t n = strlen(a), m = strlen(b);

	if (strcmp(a, b) == 0)
		return 0;
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
