/* SPDX-License-Identifier: Apache-2.0 */
/* See value.h: the arena, and the encodings that literals are hidden in. */
#include "inspect/code/value.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <ctype.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 * 1024)

struct code_chunk {
	struct code_chunk *next;
	size_t size, used;
	max_align_t data[];
};

void code_arena_done(struct code_arena *a)
{
	while (a->chunks) {
		struct code_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
	*a = (struct code_arena){.max = a->max};
}

void *code_arena_take(struct code_arena *a, size_t size)
{
	struct code_chunk *c = a->chunks;
	void *p;

	size = (size + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
	if (!c || c->size - c->used < size) {
		size_t want = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		if (a->is_full || want > a->max - a->used)
			c = NULL;
		else
			c = calloc(1, sizeof(*c) + want);
		if (!c) {
			a->is_full = true;
			return NULL;
		}
		a->used += want;
		c->size = want;
		c->next = a->chunks;
		a->chunks = c;
	}
	p = (char *)c->data + c->used;
	c->used += size;
	return p;
}

char *code_arena_copy(struct code_arena *a, const char *s, size_t len)
{
	char *p = code_arena_take(a, len + 1);

	if (p)
		memcpy(p, s, len);
	return p;
}

void code_text_add(struct code_text *t, const char *s, size_t len)
{
	if (t->is_broken || len > LIMIT_CODE_STRING - t->len) {
		t->is_broken = true;
		return;
	}
	if (t->len + len > t->cap) {
		size_t cap = t->cap ? t->cap : 64;
		char *p;

		while (cap < t->len + len)
			cap *= 2;
		p = code_arena_take(t->arena, cap);
		if (!p) {
			t->is_broken = true;
			return;
		}
		if (t->len)
			memcpy(p, t->data, t->len);
		t->data = p;
		t->cap = cap;
	}
	if (len)
		memcpy(t->data + t->len, s, len);
	t->len += len;
}

void code_text_char(struct code_text *t, char c)
{
	code_text_add(t, &c, 1);
}

void code_text_rune(struct code_text *t, uint32_t rune, bool as_byte)
{
	if (rune < 0x80 || (as_byte && rune < 0x100)) {
		code_text_char(t, (char)rune);
	} else if (rune < 0x800) {
		code_text_char(t, (char)(0xc0 | rune >> 6));
		code_text_char(t, (char)(0x80 | (rune & 0x3f)));
	} else if (rune < 0x10000) {
		code_text_char(t, (char)(0xe0 | rune >> 12));
		code_text_char(t, (char)(0x80 | (rune >> 6 & 0x3f)));
		code_text_char(t, (char)(0x80 | (rune & 0x3f)));
	} else if (rune < 0x110000) {
		code_text_char(t, (char)(0xf0 | rune >> 18));
		code_text_char(t, (char)(0x80 | (rune >> 12 & 0x3f)));
		code_text_char(t, (char)(0x80 | (rune >> 6 & 0x3f)));
		code_text_char(t, (char)(0x80 | (rune & 0x3f)));
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads up to max digits of a base; the number of them in *ret_n. */
static uint32_t escape_digits(const char *s, size_t len, size_t max, int base, size_t *ret_n)
{
	uint32_t rune = 0;
	size_t n = 0;

	while (n < max && n < len && hex_digit(s[n]) >= 0 && hex_digit(s[n]) < base)
		rune = rune * (uint32_t)base + (uint32_t)hex_digit(s[n++]);
	*ret_n = n;
	return rune;
}

void code_unescape(struct code_text *t, const char *s, size_t len, bool is_bytes)
{
	static const char from[] = "abfnrtv\\'\"", to[] = "\a\b\f\n\r\t\v\\'\"";
	size_t i = 0;

	while (i < len) {
		const char *slash = memchr(s + i, '\\', len - i);
		size_t plain = slash ? (size_t)(slash - s) - i : len - i;
		const char *at;
		size_t n = 0;
		char c;

		code_text_add(t, s + i, plain);
		i += plain;
		if (i + 1 >= len)
			break;
		c = s[i + 1];
		i += 2;
		at = c ? strchr(from, c) : NULL;
		if (at) {
			code_text_char(t, to[at - from]);
		} else if (c == 'x') {
			code_text_rune(t, escape_digits(s + i, len - i, 2, 16, &n), true);
		} else if ((c == 'u' || c == 'U') && !is_bytes) {
			code_text_rune(t, escape_digits(s + i, len - i, c == 'u' ? 4 : 8, 16, &n),
				       false);
		} else if (c >= '0' && c <= '7') {
			code_text_rune(t, escape_digits(s + i - 1, len - i + 1, 3, 8, &n), true);
			n -= n > 0;
		} else if (c != '\n') {
			code_text_char(t, '\\');
			code_text_char(t, c);
		}
		i += n;
	}
}

static bool decode_bits(struct code_text *t, const char *s, size_t len, const char *alphabet,
			unsigned bits)
{
	uint32_t hold = 0;
	unsigned have = 0;

	for (size_t i = 0; i < len; i++) {
		char c = s[i];
		const char *at;

		if (c == '=' || c == '\n' || c == '\r' || c == ' ')
			continue;
		if (c == '-')
			c = '+';
		else if (c == '_')
			c = '/';
		at = c ? strchr(alphabet, c) : NULL;
		if (!at)
			return false;
		hold = hold << bits | (uint32_t)(at - alphabet);
		have += bits;
		if (have >= 8) {
			have -= 8;
			code_text_char(t, (char)(hold >> have & 0xff));
		}
	}
	return !t->is_broken;
}

bool code_decode_base64(struct code_text *t, const char *s, size_t len)
{
	return decode_bits(t, s, len,
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6);
}

bool code_decode_base32(struct code_text *t, const char *s, size_t len)
{
	return decode_bits(t, s, len, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5);
}

bool code_decode_hex(struct code_text *t, const char *s, size_t len)
{
	int high = -1;

	for (size_t i = 0; i < len; i++) {
		int d = hex_digit(s[i]);

		if (isspace((unsigned char)s[i]) && high < 0)
			continue;
		if (d < 0)
			return false;
		if (high < 0) {
			high = d;
			continue;
		}
		code_text_char(t, (char)(high << 4 | d));
		high = -1;
	}
	return high < 0 && !t->is_broken;
}

void code_decode_rot13(struct code_text *t, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (isalpha((unsigned char)c)) {
			char base = isupper((unsigned char)c) ? 'A' : 'a';

			c = (char)(base + (c - base + 13) % 26);
		}
		code_text_char(t, c);
	}
}

/* The mathematical alphabets follow one another in blocks of 26 capitals and 26 small letters. */
static uint32_t plain_rune(uint32_t c)
{
	static const struct {
		uint32_t rune;
		char letter;
	} letterlike[] = {{0x210e, 'h'}, {0x212f, 'e'}, {0x210a, 'g'}, {0x2134, 'o'},
			  {0x2113, 'l'}, {0x212f, 'e'}, {0x2139, 'i'}, {0x1d62, 'i'},
			  {0x2148, 'i'}, {0x2147, 'e'}, {0x2146, 'd'}, {0x17f, 's'}};

	if (c >= 0x1d400 && c < 0x1d6a4) {
		uint32_t k = (c - 0x1d400) % 52;

		return k < 26 ? 'A' + k : 'a' + k - 26;
	}
	if (c >= 0x1d7ce && c <= 0x1d7ff)
		return '0' + (c - 0x1d7ce) % 10;
	if (c >= 0xff01 && c <= 0xff5e)
		return c - 0xff01 + '!';
	for (size_t i = 0; i < ARRAY_LEN(letterlike); i++)
		if (letterlike[i].rune == c)
			return (uint32_t)letterlike[i].letter;
	return c;
}

void code_plain_name(struct code_text *t, const char *s, size_t len)
{
	while (len) {
		uint32_t rune = 0;
		size_t n = utf8_decode(s, len, &rune);

		if (n == 0)
			rune = (unsigned char)*s, n = 1;
		code_text_rune(t, plain_rune(rune), false);
		s += n;
		len -= n;
	}
}

bool code_number(const char *s, size_t len, int64_t *ret)
{
	int64_t value = 0;
	int base = 10;

	if (len > 1 && s[0] == '0') {
		char c = (char)(s[1] | 0x20);

		base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
		if (c == 'x' || c == 'b' || c == 'o')
			s += 2, len -= 2;
	}
	if (len == 0)
		return false;
	for (size_t i = 0; i < len; i++) {
		int d = hex_digit(s[i]);

		if (s[i] == '_')
			continue;
		if (d < 0 || d >= base || value > (INT64_MAX - d) / base)
			return false;
		value = value * base + d;
	}
	*ret = value;
	return true;
}
