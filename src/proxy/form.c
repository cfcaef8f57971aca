/* SPDX-License-Identifier: Apache-2.0 */
/* See form.h.  In a form with its three flags every byte can be read in one way only: there is nothing to go back to. */
#include "proxy/form.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define FORM_ENTITY_DIGITS 7 /* of a number, with the zeros before it */

/* What is written at a place: its bytes, and how many it took. */
struct form_token {
	unsigned char bytes[4];
	size_t n;
	unsigned char single; /* the same number as one byte, where it is one */
	bool has_single;
	size_t taken;
};

static int form_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* n digits.  1, 0 or -EAGAIN. */
static int form_number(const char *bytes, size_t len, size_t n, uint32_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < n; i++) {
		int digit;

		if (i == len)
			return -EAGAIN;
		digit = form_hex(bytes[i]);
		if (digit < 0)
			return 0;
		*ret = *ret << 4 | (uint32_t)digit;
	}
	return 1;
}

static void form_encode(uint32_t code, struct form_token *t)
{
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};

	t->has_single = code >= 0x80 && code < 0x100;
	t->single = (unsigned char)code;
	t->n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = t->n; i-- > 1; code >>= 6)
		t->bytes[i] = (unsigned char)(0x80 | (code & 0x3f));
	t->bytes[0] = (unsigned char)(first[t->n] | code);
}

/* What follows "\u".  1, 0 or -EAGAIN. */
static int form_unicode(const char *bytes, size_t len, struct form_token *t)
{
	uint32_t code;
	uint32_t low;
	int r = form_number(bytes, len, 4, &code);

	if (r <= 0)
		return r;
	t->taken = 6;
	if (code >= 0xd800 && code < 0xdc00) {
		if (len < 6)
			return memcmp(bytes + 4, "\\u", len - 4) == 0 ? -EAGAIN : 0;
		if (bytes[4] != '\\' || bytes[5] != 'u')
			return 0;
		r = form_number(bytes + 6, len - 6, 4, &low);
		if (r <= 0)
			return r;
		if (low < 0xdc00 || low > 0xdfff)
			return 0;
		code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
		t->taken = 12;
	}
	form_encode(code, t);
	return 1;
}

/* An escape.  1, 0 (it is none) or -EAGAIN. */
static int form_escape(const char *bytes, size_t len, struct form_token *t)
{
	static const char letters[] = "\"'\\/bfnrt";
	static const char meant[] = "\"'\\/\b\f\n\r\t";
	bool is_percent = bytes[0] == '%';
	const char *letter;
	uint32_t code;
	int r;

	if (len < 2)
		return -EAGAIN;
	if (!is_percent && bytes[1] == 'u')
		return form_unicode(bytes + 2, len - 2, t);
	t->n = 1;
	if (is_percent || bytes[1] == 'x') {
		size_t skip = is_percent ? 1 : 2;

		r = form_number(bytes + skip, len - skip, 2, &code);
		t->bytes[0] = (unsigned char)code;
		t->taken = skip + 2;
		return r;
	}
	letter = memchr(letters, bytes[1], sizeof(letters) - 1);
	if (!letter)
		return 0;
	t->bytes[0] = (unsigned char)meant[letter - letters];
	t->taken = 2;
	return 1;
}

/* An entity of HTML or XML.  As form_escape(). */
static int form_entity(const char *bytes, size_t len, struct form_token *t)
{
	static const struct {
		const char *name;
		char meant;
	} names[] = {
		{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
	bool is_hex = len > 2 && (bytes[2] == 'x' || bytes[2] == 'X');
	uint32_t code = 0;
	size_t from = is_hex ? 3 : 2;
	size_t n = from;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t all = strlen(names[i].name);

		if (memcmp(bytes, names[i].name, len < all ? len : all) != 0)
			continue;
		t->bytes[0] = (unsigned char)names[i].meant;
		t->n = 1;
		t->taken = all;
		return len < all ? -EAGAIN : 1;
	}
	if (len > 1 && bytes[1] != '#')
		return 0;
	for (; n < len && n < from + FORM_ENTITY_DIGITS; n++) {
		int digit = form_hex(bytes[n]);

		if (digit < 0 || (!is_hex && digit > 9))
			break;
		code = code * (is_hex ? 16 : 10) + (uint32_t)digit;
	}
	if (n >= len)
		return -EAGAIN;
	if (bytes[n] != ';' || n == from || code > 0x10ffff)
		return 0;
	form_encode(code, t);
	t->taken = n + 1;
	return 1;
}

static bool form_is_same(const struct form *f, char a, char b)
{
	return a == b || (f->is_hex && a >= 'A' && a <= 'F' && a - 'A' + 'a' == b);
}

/* Is what is written here the value from at on?  1 with the numbers of bytes of both, 0 or -EAGAIN. */
static int form_step(const struct form *f, size_t at, const char *bytes, size_t len,
		     size_t *ret_taken, size_t *ret_meant)
{
	struct form_token t = {0};
	char want = f->bytes[at];
	bool is_escaped = (want == '%' && f->escapes_percent) ||
			  (want == '&' && f->escapes_ampersand) ||
			  (want == '\\' && f->escapes_backslash);
	int r;

	*ret_taken = *ret_meant = 1;
	if (!is_escaped && (form_is_same(f, bytes[0], want) || (want == ' ' && bytes[0] == '+')))
		return 1;
	if (bytes[0] != '%' && bytes[0] != '\\' && bytes[0] != '&')
		return 0;
	r = bytes[0] == '&' ? form_entity(bytes, len, &t) : form_escape(bytes, len, &t);
	if (r <= 0)
		return r;
	*ret_taken = t.taken;
	*ret_meant = t.n;
	if (t.n <= f->len - at && memcmp(f->bytes + at, t.bytes, t.n) == 0)
		return 1;
	*ret_meant = 1;
	return t.has_single && (unsigned char)want == t.single;
}

/* The bytes of a break between digits, or -EAGAIN. */
static ssize_t form_break(const char *bytes, size_t len)
{
	size_t n = 0;

	while (n < FORM_BREAK) {
		if (n == len)
			return -EAGAIN;
		if (bytes[n] == '\r' || bytes[n] == '\n') {
			n++;
		} else if (bytes[n] == '\\') {
			if (n + 1 == len)
				return -EAGAIN;
			if (bytes[n + 1] != 'r' && bytes[n + 1] != 'n')
				break;
			n += 2;
		} else {
			break;
		}
	}
	return (ssize_t)n;
}

bool form_can_start(const struct form *f, char c)
{
	return form_is_same(f, c, f->bytes[0]) || c == '%' || c == '\\' || c == '&' ||
	       (f->bytes[0] == ' ' && c == '+');
}

ssize_t form_match(const struct form *f, const char *bytes, size_t len)
{
	size_t most = f->len * (f->is_digits ? FORM_DIGIT : FORM_STRETCH);
	size_t at = 0;
	size_t p = 0;

	while (at < f->len) {
		size_t taken = 1;
		size_t meant = 1;
		ssize_t gap;
		int r;

		if (p >= most)
			return 0;
		if (p == len)
			return -EAGAIN;
		if (f->is_digits) {
			gap = at > 0 ? form_break(bytes + p, len - p) : 0;
			if (gap < 0)
				return gap;
			p += (size_t)gap;
			if (p == len)
				return -EAGAIN;
		}
		r = form_step(f, at, bytes + p, len - p, &taken, &meant);
		if (r <= 0)
			return r;
		p += taken;
		at += meant;
	}
	return (ssize_t)p;
}
