/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See layers.h.  A run shorter than LAYER_MIN is not looked at; where longer ones begin is found for 64 bytes at a
 * time.
 */
#include "inspect/text/layers.h"

#include "base/mem.h"
#include "inspect/text/spans.h"

#include <string.h>
#include <strings.h>

enum { LAYER_MIN = 20, LAYER_LOOK_BACK = 60, LAYER_TEXT_MIN = 8, LAYER_CHUNK = 64 };

/* The alphabet of RFC 4648 §4; with that of §5, every long name_with_underscores would be a run. */
static inline int layer_digit(unsigned char c)
{
	/* Number plus one, so that what is not named is none. */
	static const signed char numbers[256] = {
		['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,
		['H'] = 8,  ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14,
		['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21,
		['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28,
		['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35,
		['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
		['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49,
		['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
		['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63,
		['/'] = 64,
	};

	return numbers[c] - 1;
}

static int layer_hex(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes to out.  Is it something to read: nearly all printable, with letters?  Where it cannot be any more, which is
 * soon in what is only a name or a number, the rest is not decoded. */
static bool layer_decode(const char *s, size_t len, bool is_hex, struct buf *out)
{
	unsigned width = is_hex ? 4 : 6, bits = 0, have = 0, n = 0;
	size_t total = len * width / 8, bad = 0, letters = 0;
	char chunk[LAYER_CHUNK];

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		bits = bits << width | (unsigned)(is_hex ? layer_hex(c) : layer_digit(c));
		have += width;
		if (have < 8)
			continue;
		have -= 8;
		c = (unsigned char)(bits >> have & 0xff);
		bad += (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c >= 0x7f;
		letters += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ';
		if (bad * 100 > total * 5)
			return false;
		chunk[n++] = (char)c;
		if (n == sizeof(chunk)) {
			buf_add(out, chunk, n);
			n = 0;
		}
	}
	buf_add(out, chunk, n);
	return total >= LAYER_TEXT_MIN && letters * 100 >= total * 60;
}

static bool layer_is_called(const char *text, size_t start)
{
	static const char *const calls[] = {"b64decode",       "atob",        "base64 -d",
					    "base64 --decode", "buffer.from", "fromhex",
					    "unhexlify",       "frombase64",  "decodestring",
					    "base64_decode",   "xxd -r"};
	char line[LAYER_LOOK_BACK + 1];
	size_t n = start < LAYER_LOOK_BACK ? start : LAYER_LOOK_BACK;

	memcpy(line, text + start - n, n);
	line[n] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (strcasestr(line, calls[i]))
			return true;
	return false;
}

/* Where n ones in a row begin, n being LAYER_MIN. */
static unsigned __int128 layer_rows(unsigned __int128 bits)
{
	_Static_assert(LAYER_MIN == 16 + 4, "of which the last step takes four");
	for (unsigned n = 1; n < 16; n *= 2)
		bits &= bits >> n;
	return bits & bits >> 4;
}

/* Where the next run of at least LAYER_MIN starts, or len. */
static size_t layer_start(const char *text, size_t len, size_t from)
{
	uint64_t bits = from < len ? spans_of(spans_base64, text + from, len - from) : 0;

	for (size_t at = from; at < len; at += SPANS_BITS) {
		size_t left = len - at;
		uint64_t next = left > SPANS_BITS ? spans_of(spans_base64, text + at + SPANS_BITS,
							     left - SPANS_BITS)
						  : 0;
		uint64_t rows = (uint64_t)layer_rows((unsigned __int128)next << SPANS_BITS | bits);

		if (rows)
			return at + (size_t)__builtin_ctzll(rows);
		bits = next;
	}
	return len;
}

bool layers_next(const char *text, size_t len, size_t *pos, struct text_layer *ret, struct buf *out)
{
	size_t end = *pos, start;

	while ((start = layer_start(text, len, end)) < len) {
		bool is_hex = true;

		for (end = start; end < len && layer_digit((unsigned char)text[end]) >= 0; end++)
			is_hex &= layer_hex((unsigned char)text[end]) >= 0;
		buf_clear(out);
		if (!layer_decode(text + start, end - start, is_hex, out))
			continue;
		*ret = (struct text_layer){is_hex ? "hexadecimal" : "base64", start, end,
					   layer_is_called(text, start)};
		*pos = end;
		return true;
	}
	*pos = len;
	return false;
}
