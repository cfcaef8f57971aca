/* SPDX-License-Identifier: Apache-2.0 */
/* See json.h. */
#include "base/json.h"

#include "base/darwin.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <assert.h>
#include <locale.h>
#include <math.h>
#include <string.h>

void json_quote(struct buf *b, const char *s, size_t len)
{
	size_t plain = 0, i = 0;

	buf_char(b, '"');
	while (i < len) {
		unsigned char c = (unsigned char)s[i];
		uint32_t code = c;
		size_t n = c < 0x80 ? 1 : utf8_decode(s + i, len - i, &code);

		/* DEL and C1 need no escape in JSON; they get one because --json may end on a terminal. */
		if (n > 0 && code >= 0x20 && code != '"' && code != '\\' &&
		    (code < 0x7f || code > 0x9f)) {
			i += n;
			continue;
		}
		if (i > plain)
			buf_add(b, s + plain, i - plain);
		if (n == 0)
			buf_str(b, "\xef\xbf\xbd");
		else if (code == '"' || code == '\\')
			buf_printf(b, "\\%c", (char)code);
		else if (code == '\n')
			buf_str(b, "\\n");
		else if (code == '\t')
			buf_str(b, "\\t");
		else if (code == '\r')
			buf_str(b, "\\r");
		else
			buf_printf(b, "\\u%04x", (unsigned)code);
		i += n ? n : 1;
		plain = i;
	}
	if (i > plain)
		buf_add(b, s + plain, i - plain);
	buf_char(b, '"');
}

static void json_newline(struct json *j)
{
	if (!j->pretty)
		return;
	buf_char(j->out, '\n');
	for (unsigned i = 0; i < j->depth; i++)
		buf_str(j->out, "  ");
}

static void json_lead(struct json *j, const char *name)
{
	if (j->depth > 0) {
		if (j->has_item[j->depth - 1])
			buf_char(j->out, ',');
		j->has_item[j->depth - 1] = true;
		json_newline(j);
	}
	if (name) {
		json_quote(j->out, name, strlen(name));
		buf_str(j->out, j->pretty ? ": " : ":");
	}
}

static void json_open(struct json *j, const char *name, char bracket)
{
	json_lead(j, name);
	buf_char(j->out, bracket);
	assert(j->depth < JSON_DEPTH_MAX); /* our own nesting, never the input's */
	j->has_item[j->depth++] = false;
}

static void json_close(struct json *j, char bracket)
{
	bool had;

	assert(j->depth > 0);
	had = j->has_item[--j->depth];
	if (had)
		json_newline(j);
	buf_char(j->out, bracket);
}

void json_object(struct json *j, const char *name)
{
	json_open(j, name, '{');
}

void json_array(struct json *j, const char *name)
{
	json_open(j, name, '[');
}

void json_end_object(struct json *j)
{
	json_close(j, '}');
}

void json_end_array(struct json *j)
{
	json_close(j, ']');
}

void json_strn(struct json *j, const char *name, const char *s, size_t len)
{
	json_lead(j, name);
	json_quote(j->out, s, len);
}

void json_str(struct json *j, const char *name, const char *s)
{
	if (s)
		json_strn(j, name, s, strlen(s));
	else
		json_null(j, name);
}

void json_stamp(struct json *j, const char *name, int64_t wall_ms)
{
	char stamp[CLOCK_STAMP_LEN];

	clock_stamp_of(wall_ms, stamp);
	json_str(j, name, wall_ms ? stamp : NULL);
}

void json_int(struct json *j, const char *name, int64_t v)
{
	json_lead(j, name);
	buf_printf(j->out, "%lld", (long long)v);
}

void json_double(struct json *j, const char *name, double v, int decimals)
{
	locale_t c_locale, old;

	if (!isfinite(v)) {
		json_null(j, name);
		return;
	}
	json_lead(j, name);
	/* Not the locale of the program that uses libcordon: its decimal point may be a comma. */
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	old = uselocale(c_locale);
	buf_printf(j->out, "%.*f", decimals, v);
	(void)uselocale(old);
	if (c_locale)
		freelocale(c_locale);
}

void json_bool(struct json *j, const char *name, bool v)
{
	json_lead(j, name);
	buf_str(j->out, v ? "true" : "false");
}

void json_null(struct json *j, const char *name)
{
	json_lead(j, name);
	buf_str(j->out, "null");
}

void json_raw(struct json *j, const char *name, const char *text, size_t len)
{
	json_lead(j, name);
	buf_add(j->out, text, len);
}
