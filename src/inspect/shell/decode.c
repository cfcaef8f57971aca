/* SPDX-License-Identifier: Apache-2.0 */
/* See decode.h. */
#include "inspect/shell/decode.h"

#include "base/parse.h"
#include "base/str.h"

#include <stdint.h>
#include <string.h>

static int decode_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool decode_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int decode_base32_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	return c >= '2' && c <= '7' ? c - '2' + 26 : -1;
}

static bool decode_bits(const char *s, size_t len, int (*digit)(char), unsigned width,
			struct buf *out)
{
	uint32_t bits = 0;
	unsigned n = 0;
	size_t digits = 0;

	for (size_t i = 0; i < len; i++) {
		int d = digit(s[i]);

		if (s[i] == '=')
			break;
		if (d < 0 && !decode_is_blank(s[i]))
			return false;
		if (d < 0)
			continue;
		digits++;
		bits = bits << width | (uint32_t)d;
		n += width;
		if (n >= 8) {
			n -= 8;
			buf_char(out, (char)(bits >> n & 0xff));
		}
	}
	return digits > 1;
}

bool decode_base64(const char *s, size_t len, struct buf *out)
{
	return decode_bits(s, len, parse_base64_digit, 6, out);
}

bool decode_base32(const char *s, size_t len, struct buf *out)
{
	return decode_bits(s, len, decode_base32_digit, 5, out);
}

bool decode_hex(const char *s, size_t len, struct buf *out)
{
	int high = -1;

	for (size_t i = 0; i < len; i++) {
		int d = decode_hex_digit(s[i]);

		if (s[i] == '\\' || s[i] == 'x' || decode_is_blank(s[i]) || s[i] == ',')
			continue;
		if (d < 0)
			return false;
		if (high >= 0)
			buf_char(out, (char)(high << 4 | d));
		high = high >= 0 ? -1 : d;
	}
	return len > 1;
}

static void decode_utf8(uint32_t c, struct buf *out)
{
	if (c < 0x80) {
		buf_char(out, (char)c);
	} else if (c < 0x800) {
		buf_char(out, (char)(0xc0 | c >> 6));
		buf_char(out, (char)(0x80 | (c & 0x3f)));
	} else {
		if (c >= 0x10000) {
			buf_char(out, (char)(0xf0 | (c >> 18 & 7)));
			buf_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
		} else {
			buf_char(out, (char)(0xe0 | c >> 12));
		}
		buf_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_char(out, (char)(0x80 | (c & 0x3f)));
	}
}

/* Digits of base 8 or 16 from s[*i] on, at most max of them. */
static uint32_t decode_number(const char *s, size_t len, size_t *i, unsigned base, unsigned max)
{
	uint32_t value = 0;

	for (unsigned n = 0; n < max && *i < len; n++, (*i)++) {
		int d = decode_hex_digit(s[*i]);

		if (d < 0 || d >= (int)base)
			break;
		value = value * base + (uint32_t)d;
	}
	return value;
}

void decode_escapes(const char *s, size_t len, bool is_ansi, struct buf *out)
{
	static const char from[] = "abefnrtv", to[] = "\a\b\033\f\n\r\t\v";

	for (size_t i = 0; i < len;) {
		char c = s[i++];
		const char *p;

		if (c != '\\' || i >= len) {
			buf_char(out, c);
			continue;
		}
		c = s[i++];
		p = strchr(from, c);
		if (c == 'x') {
			buf_char(out, (char)decode_number(s, len, &i, 16, 2));
		} else if (c == 'u' || c == 'U') {
			decode_utf8(decode_number(s, len, &i, 16, c == 'u' ? 4 : 8) & 0x1fffff,
				    out);
		} else if (c >= '0' && c <= '7') {
			i -= c != '0' || is_ansi ? 1 : 0;
			buf_char(out, (char)decode_number(s, len, &i, 8, 3));
		} else if (is_ansi && c == 'c' && i < len) {
			buf_char(out, (char)(s[i++] & 0x1f));
		} else if (c && p) {
			buf_char(out, to[p - from]);
		} else if (c == '\\' || c == '"' || c == '?' || (is_ansi && c == '\'')) {
			buf_char(out, c);
		} else {
			buf_char(out, '\\');
			buf_char(out, c);
		}
	}
}

static void decode_spec(char c, const char *arg, struct buf *out)
{
	if (c == 'b') {
		decode_escapes(arg, strlen(arg), false, out);
	} else if (c == 'c') {
		if (*arg)
			buf_char(out, *arg);
	} else {
		buf_str(out, arg);
	}
}

static size_t decode_format(const char *f, size_t len, const char *const *args, size_t n,
			    struct buf *out)
{
	size_t used = 0;

	for (size_t i = 0; i < len;) {
		size_t k = i;

		if (f[i] != '%') {
			while (k < len && f[k] != '%')
				k++;
			decode_escapes(f + i, k - i, false, out);
			i = k;
			continue;
		}
		k++;
		while (k < len && strchr("-+ #0123456789.*hlLqjzt", f[k]) && f[k])
			k++;
		if (k >= len)
			break;
		if (f[k] == '%')
			buf_char(out, '%');
		else
			decode_spec(f[k], used < n ? args[used] : "", out);
		used += f[k] != '%';
		i = k + 1;
	}
	return used;
}

void decode_printf(const char *format, size_t len, const char *const *args, size_t n,
		   struct buf *out)
{
	do {
		size_t used = decode_format(format, len, args, n, out);

		if (used == 0)
			return;
		args += used < n ? used : n;
		n -= used < n ? used : n;
	} while (n > 0 && buf_error(out) == 0);
}

void decode_reverse(const char *s, size_t len, struct buf *out)
{
	bool has_end = len > 0 && s[len - 1] == '\n';

	for (size_t i = len - has_end; i > 0; i--)
		buf_char(out, s[i - 1]);
	if (has_end)
		buf_char(out, '\n');
}

/* "a-z" and escapes to a list of at most 512 bytes. */
static size_t decode_set(const char *set, unsigned char ret[static 512])
{
	struct buf plain = BUF_INIT(512);
	size_t n = 0;

	decode_escapes(set, strlen(set), false, &plain);
	for (size_t i = 0; i < plain.len && n < 512; i++) {
		unsigned char a = (unsigned char)plain.data[i];

		if (i + 2 < plain.len && plain.data[i + 1] == '-') {
			unsigned char b = (unsigned char)plain.data[i + 2];

			for (unsigned c = a; c <= b && n < 512; c++)
				ret[n++] = (unsigned char)c;
			i += 2;
		} else {
			ret[n++] = a;
		}
	}
	buf_done(&plain);
	return n;
}

void decode_translate(const char *s, size_t len, const char *from, const char *to, bool is_delete,
		      struct buf *out)
{
	unsigned char a[512], b[512];
	int map[256];
	size_t n = decode_set(from, a);
	size_t m = is_delete ? 0 : decode_set(to, b);

	for (unsigned i = 0; i < 256; i++)
		map[i] = (int)i;
	for (size_t i = n; i > 0; i--)
		map[a[i - 1]] = is_delete || m == 0 ? -1 : b[i - 1 < m ? i - 1 : m - 1];
	for (size_t i = 0; i < len; i++)
		if (map[(unsigned char)s[i]] >= 0)
			buf_char(out, (char)map[(unsigned char)s[i]]);
}
