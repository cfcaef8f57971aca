/* SPDX-License-Identifier: Apache-2.0 */
/* See form.h.  In a form with its two flags every byte can be read in one way only: there is nothing to go back to. */
#include "proxy/form.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

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

/* Is what is written here the value from at on?  1 with the numbers of bytes of both, 0 or -EAGAIN. */
static int form_step(const struct form *f, size_t at, const char *bytes, size_t len,
		     size_t *ret_taken, size_t *ret_meant)
{
	struct form_token t = {0};
	char want = f->bytes[at];
	bool is_escaped = (want == '%' && f->escapes_percent) ||
			  (want == '\\' && f->escapes_backslash);
	int r;

	*ret_taken = *ret_meant = 1;
	if (!is_escaped && (bytes[0] == want || (want == ' ' && bytes[0] == '+')))
		return 1;
	if (bytes[0] != '%' && bytes[0] != '\\')
		return 0;
	r = form_escape(bytes, len, &t);
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
			r = bytes[p] == f->bytes[at];
		} else {
			r = form_step(f, at, bytes + p, len - p, &taken, &meant);
		}
		if (r <= 0)
			return r;
		p += taken;
		at += meant;
	}
	return (ssize_t)p;
}
