/* SPDX-License-Identifier: Apache-2.0 */
/* See needle_form.h. */
#include "secrets/needle_form.h"

#include "base/limits.h"
#include "base/mem.h"
#include "secrets/needle.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define FORM_CODED_MIN 7 /* of a form in which letters stand for others */
#define FORM_LINE_MIN 20 /* of one line of a value of several */
#define FORM_ITEMS_MAX 65536
#define FORM_STRETCH 6 /* bytes that one becomes at most: "&quot;", "\u0000" */
/* Of what is coded, in one piece.  Codings that leave most bytes as they are begin alike: if their pieces ended at
 * different places, one of another form would be found inside of them, and the rest be seen. */
#define FORM_UNIT (LIMIT_NEEDLE_PIECE / FORM_STRETCH - NEEDLE_MIN)

static const char form_lower[] = "0123456789abcdef";
static const char form_upper[] = "0123456789ABCDEF";
static const char form_base64[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char form_base64_url[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* One value on its way into its forms. */
struct former {
	const unsigned char *value;
	size_t len;
	size_t secret;
	char *at;
	size_t left;
	struct form_list *list;
	size_t piece; /* the one at m->at, counted from the beginning of the form */
	size_t edge;  /* where it ends in the value; 0: not known yet */
	int error;
};

static void form_char(struct former *m, size_t *n, char c)
{
	if (*n >= m->left)
		m->error = -E2BIG;
	else
		m->at[(*n)++] = c;
}

static bool form_is_there(const struct former *m, const char *text, size_t len)
{
	for (size_t i = 0; i < m->list->n; i++)
		if (m->list->items[i].len == len && memcmp(m->list->items[i].text, text, len) == 0)
			return true;
	return false;
}

static void form_add(struct former *m, const char *text, size_t len, bool wraps)
{
	void *items = m->list->items;
	int r;

	if (m->error < 0 || form_is_there(m, text, len))
		return;
	r = mem_grow(&items, &m->list->cap, m->list->n + 1, sizeof(*m->list->items),
		     FORM_ITEMS_MAX);
	m->list->items = items;
	if (r < 0) {
		m->error = r;
		return;
	}
	m->list->items[m->list->n++] = (struct form){.text = text,
						     .len = len,
						     .secret = m->secret,
						     .wraps = wraps,
						     .goes_on = m->piece > 0};
}

/* The n bytes that were put at m->at, in pieces of about one size, each behind the other: what is found of one is
 * gone, so that a piece which began inside it would never be seen. */
static void form_keep(struct former *m, size_t n, size_t min, bool wraps)
{
	size_t parts = n < min ? 0 : (n + LIMIT_NEEDLE_PIECE - 1) / LIMIT_NEEDLE_PIECE;

	for (m->piece = 0; m->piece < parts; m->piece++) {
		size_t from = n * m->piece / parts;

		form_add(m, m->at + from, n * (m->piece + 1) / parts - from, wraps);
	}
	m->piece = 0;
	m->at += n;
	m->left -= n;
}

/* Where the piece ends that begins at from: at the end of a line, if there is one, since lines are looked for by
 * themselves; and never so that less than NEEDLE_MIN is left. */
static size_t form_next(const unsigned char *value, size_t len, size_t from)
{
	if (len - from <= FORM_UNIT + NEEDLE_MIN)
		return len;
	for (size_t i = from + FORM_UNIT; i >= from + NEEDLE_MIN; i--)
		if (value[i - 1] == '\n')
			return i;
	return from + FORM_UNIT;
}

/* Before byte i of the value is coded, or after the last one: keeps the n bytes at m->at when a piece of the value ends
 * there.  For codings that leave bytes as they are. */
static void form_edge(struct former *m, size_t i, size_t *n)
{
	if (m->edge == 0)
		m->edge = form_next(m->value, m->len, 0);
	if (i != m->edge)
		return;
	form_add(m, m->at, *n, /* wraps= */ false);
	m->at += *n;
	m->left -= *n;
	*n = 0;
	m->piece = i < m->len ? m->piece + 1 : 0;
	m->edge = i < m->len ? form_next(m->value, m->len, i) : 0;
}

static void form_plain(struct former *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->len; i++) {
		form_edge(m, i, &n);
		form_char(m, &n, (char)m->value[i]);
	}
	form_edge(m, m->len, &n);
	for (size_t i = m->len; i > 0; i--)
		form_char(m, &n, (char)m->value[i - 1]);
	form_keep(m, n, NEEDLE_MIN, /* wraps= */ false);
}

static void form_hex(struct former *m, const char *digits)
{
	size_t n = 0;

	for (size_t i = 0; i < m->len; i++) {
		form_char(m, &n, digits[m->value[i] >> 4]);
		form_char(m, &n, digits[m->value[i] & 15]);
	}
	form_keep(m, n, FORM_CODED_MIN, /* wraps= */ true);
}

/* `before` bytes that we do not know stand before the value in a group of three: only the characters that all
 * come of the value are looked for. */
static void form_64(struct former *m, const char *alphabet, size_t before)
{
	size_t bits = 8 * (before + m->len);
	size_t n = 0;

	for (size_t at = (8 * before + 5) / 6 * 6; at + 6 <= bits; at += 6) {
		unsigned v = 0;

		for (size_t b = at; b < at + 6; b++) {
			size_t i = b - 8 * before;

			v = v << 1 | (m->value[i / 8] >> (7 - i % 8) & 1u);
		}
		form_char(m, &n, alphabet[v]);
	}
	/* With the edges that it has when it is percent-encoded, too. */
	for (size_t from = 0, to; n >= FORM_CODED_MIN && from < n; from = to, m->piece++) {
		to = form_next((const unsigned char *)m->at, n, from);
		form_add(m, m->at + from, to - from, /* wraps= */ true);
	}
	m->piece = 0;
	m->at += n;
	m->left -= n;
}

enum form_url { URL_USUAL, URL_FORM, URL_PATH, URL_ALL, URL_COUNT };

static bool form_is_bare(unsigned char c, enum form_url how)
{
	if (how == URL_ALL)
		return false;
	return isalnum(c) || (c && strchr(how == URL_PATH ? "-_.~/:@!$&'()*+,;=" : "-_.~", c));
}

static void form_percent(struct former *m, const char *digits, enum form_url how)
{
	size_t n = 0;

	for (size_t i = 0; i < m->len; i++) {
		unsigned char c = m->value[i];

		form_edge(m, i, &n);
		if (form_is_bare(c, how)) {
			form_char(m, &n, (char)c);
		} else if (c == ' ' && how == URL_FORM) {
			form_char(m, &n, '+');
		} else {
			form_char(m, &n, '%');
			form_char(m, &n, digits[c >> 4]);
			form_char(m, &n, digits[c & 15]);
		}
	}
	form_edge(m, m->len, &n);
}

/* A JSON string as most write it. */
static void form_json(struct former *m)
{
	static const char from[] = "\"\\\n\r\t\b\f";
	static const char to[] = "\"\\nrtbf";
	size_t n = 0;

	for (size_t i = 0; i < m->len; i++) {
		unsigned char c = m->value[i];
		const char *special = c ? strchr(from, c) : NULL;

		form_edge(m, i, &n);
		if (special) {
			form_char(m, &n, '\\');
			form_char(m, &n, to[special - from]);
		} else if (c < 0x20) {
			for (const char *u = "\\u00"; *u; u++)
				form_char(m, &n, *u);
			form_char(m, &n, form_lower[c >> 4]);
			form_char(m, &n, form_lower[c & 15]);
		} else {
			form_char(m, &n, (char)c);
		}
	}
	form_edge(m, m->len, &n);
}

/* A line by itself, up to the edges of pieces that lie in it. */
static void form_line(struct former *m, size_t from, size_t end, size_t *edge)
{
	for (size_t to; from < end; from = to, m->piece++) {
		size_t n = 0;

		while (*edge <= from)
			*edge = form_next(m->value, m->len, *edge);
		to = *edge < end ? *edge : end;
		for (size_t k = from; to - from >= FORM_LINE_MIN && k < to; k++)
			form_char(m, &n, (char)m->value[k]);
		if (n > 0)
			form_add(m, m->at, n, /* wraps= */ false);
		m->at += n;
		m->left -= n;
	}
	m->piece = 0;
}

/* Several lines: as a terminal shows them, and each long one by itself. */
static void form_lines(struct former *m)
{
	size_t n = 0, start = 0, edge = 0;

	if (!memchr(m->value, '\n', m->len))
		return;
	for (size_t i = 0; i < m->len; i++) {
		form_edge(m, i, &n);
		if (m->value[i] == '\n')
			form_char(m, &n, '\r');
		form_char(m, &n, (char)m->value[i]);
	}
	form_edge(m, m->len, &n);
	for (size_t i = 0; i <= m->len; i++) {
		if (i < m->len && m->value[i] != '\n')
			continue;
		/* "-----BEGIN PRIVATE KEY-----" is no secret. */
		if (i - start >= FORM_LINE_MIN && memcmp(m->value + start, "-----", 5) != 0)
			form_line(m, start, i, &edge);
		start = i + 1;
	}
}

/* Every byte as an escape of JSON, or as a number of HTML. */
static void form_escaped(struct former *m, const char *before, bool is_decimal, const char *digits,
			 const char *after)
{
	size_t n = 0;

	for (size_t i = 0; i < m->len; i++) {
		unsigned char c = m->value[i];

		for (const char *p = before; *p; p++)
			form_char(m, &n, *p);
		if (is_decimal) {
			if (c >= 100)
				form_char(m, &n, (char)('0' + c / 100));
			if (c >= 10)
				form_char(m, &n, (char)('0' + c / 10 % 10));
			form_char(m, &n, (char)('0' + c % 10));
		} else {
			form_char(m, &n, digits[c >> 4]);
			form_char(m, &n, digits[c & 15]);
		}
		for (const char *p = after; *p; p++)
			form_char(m, &n, *p);
	}
	form_keep(m, n, NEEDLE_MIN, /* wraps= */ false);
}

/* As pages show it: programs differ about the apostrophe. */
static void form_html(struct former *m, const char *apostrophe)
{
	static const char special[] = "&<>\"'";
	const char *const written[] = {"&amp;", "&lt;", "&gt;", "&quot;", apostrophe};
	size_t n = 0;

	for (size_t i = 0; i < m->len; i++) {
		unsigned char c = m->value[i];
		const char *found = c ? strchr(special, c) : NULL;

		form_edge(m, i, &n);
		if (!found)
			form_char(m, &n, (char)c);
		for (const char *p = found ? written[found - special] : ""; *p; p++)
			form_char(m, &n, *p);
	}
	form_edge(m, m->len, &n);
}

/* The form that was made last, in further codings.  Percent-encoded hexadecimal is what it was. */
static void form_twice(struct former *m, const char *text, size_t len, bool has_marks)
{
	struct former inner = *m;

	if (len == 0 || m->error < 0)
		return;
	inner.value = (const unsigned char *)text;
	inner.len = len;
	form_hex(&inner, form_lower);
	form_hex(&inner, form_upper);
	for (size_t before = 0; before < 3; before++)
		form_64(&inner, form_base64, before);
	if (has_marks) {
		form_percent(&inner, form_upper, URL_USUAL);
		form_percent(&inner, form_lower, URL_USUAL);
	}
	m->at = inner.at;
	m->left = inner.left;
	m->error = inner.error;
}

static void form_doubles(struct former *m)
{
	static const char *const alphabets[] = {form_base64, form_base64_url};

	for (size_t before = 0; before < 3; before++)
		for (size_t i = 0; i < ARRAY_LEN(alphabets); i++) {
			const char *text = m->at;

			form_64(m, alphabets[i], before);
			form_twice(m, text, (size_t)(m->at - text), /* has_marks= */ true);
		}
	for (int i = 0; i < 2; i++) {
		const char *text = m->at;

		form_hex(m, i ? form_upper : form_lower);
		form_twice(m, text, (size_t)(m->at - text), /* has_marks= */ false);
	}
	form_html(m, "&#39;");
	form_html(m, "&#x27;");
	form_html(m, "&apos;");
	form_escaped(m, "&#", /* is_decimal= */ true, form_lower, ";");
	form_escaped(m, "&#x", /* is_decimal= */ false, form_lower, ";");
	form_escaped(m, "&#x", /* is_decimal= */ false, form_upper, ";");
	form_escaped(m, "\\u00", /* is_decimal= */ false, form_lower, "");
	form_escaped(m, "\\u00", /* is_decimal= */ false, form_upper, "");
}

int form_make(const char *value, size_t len, size_t secret, struct locked *memory,
	      struct form_list *ret)
{
	struct former m = {
		.value = (const unsigned char *)value,
		.len = len,
		.secret = secret,
		.at = memory->data,
		.left = memory->size,
		.list = ret,
	};

	if (len < NEEDLE_MIN)
		return 0;
	form_plain(&m);
	if (len <= FORM_DOUBLE_MAX) {
		form_doubles(&m);
	} else {
		form_hex(&m, form_lower);
		form_hex(&m, form_upper);
		for (size_t before = 0; before < 3; before++) {
			form_64(&m, form_base64, before);
			form_64(&m, form_base64_url, before);
		}
	}
	for (int how = 0; how < URL_COUNT; how++) {
		form_percent(&m, form_upper, (enum form_url)how);
		form_percent(&m, form_lower, (enum form_url)how);
	}
	form_json(&m);
	form_lines(&m);
	return m.error;
}
