/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See bits.h.  Two characters are the bits, a third one may stand between bytes.  Which is which, and in what order the
 * bits come, is not known: what can be read is taken.  Runs of more kinds are padding, as mail has it.
 */
#include "inspect/text/bits.h"

#include "base/utf8.h"
#include "inspect/text/fold.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	BITS_LEAST = 32,     /* four bytes */
	BITS_MOST = 1 << 16, /* of one run that are looked at */
	BITS_KINDS = 3,
	BITS_BYTE = 8,
	BITS_DISTINCT = 3, /* a pattern that repeats is no text */
};

/* A run: for each character which kind it is. */
struct bits_run {
	struct buf digits;
	uint32_t codes[BITS_KINDS];
	size_t count[BITS_KINDS];
	unsigned kinds; /* one more than BITS_KINDS: too many */
};

static void bits_note(struct bits_run *r, uint32_t code)
{
	unsigned kind = 0;

	while (kind < r->kinds && kind < BITS_KINDS && r->codes[kind] != code)
		kind++;
	if (kind == BITS_KINDS) {
		r->kinds = BITS_KINDS + 1;
		return;
	}
	if (kind == r->kinds)
		r->codes[r->kinds++] = code;
	r->count[kind]++;
	if (r->digits.len < BITS_MOST)
		buf_char(&r->digits, (char)kind);
}

/* Bytes of eight bits, or of what is between two separators (-1: there is none). */
static void bits_bytes(const struct bits_run *r, int one, int separator, bool is_low_first,
		       struct buf *out)
{
	unsigned value = 0, n = 0;

	for (size_t i = 0; i < r->digits.len; i++) {
		int digit = r->digits.data[i];
		unsigned bit = digit == one;

		if (digit != separator) {
			value |= is_low_first && n < BITS_BYTE ? bit << n : 0;
			value = is_low_first ? value : (value << 1 | bit) & UINT8_MAX;
			n++;
		}
		if (digit == separator ? n > 0 : separator < 0 && n == BITS_BYTE) {
			buf_char(out, (char)value);
			value = n = 0;
		}
	}
	if (separator >= 0 && n > 0)
		buf_char(out, (char)value);
}

static bool bits_is_text(const struct buf *b)
{
	bool seen[UINT8_MAX + 1] = {false};
	size_t letters = 0, distinct = 0;

	for (size_t i = 0; i < b->len; i++) {
		unsigned char c = (unsigned char)b->data[i];

		if ((c < ' ' && c != '\n' && c != '\t' && c != '\r') || c >= 0x7f)
			return false;
		letters += (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
		letters += c == ' ';
		distinct += !seen[c];
		seen[c] = true;
	}
	return b->len * BITS_BYTE >= BITS_LEAST && letters * 100 >= b->len * 60 &&
	       distinct >= BITS_DISTINCT;
}

/* Each way to read it, until one gives a text. */
static void bits_spell(const struct bits_run *r, struct buf *out)
{
	struct buf text = BUF_INIT(BITS_MOST);
	int separator = -1;

	if (r->kinds == BITS_KINDS) {
		separator = 0;
		for (int i = 1; i < BITS_KINDS; i++)
			if (r->count[i] < r->count[separator])
				separator = i;
	}
	for (int way = 0; way < BITS_KINDS * 2; way++) {
		int one = way / 2;

		if (one == separator || one >= (int)r->kinds)
			continue;
		buf_clear(&text);
		bits_bytes(r, one, separator, /* is_low_first= */ way % 2 != 0, &text);
		if (buf_error(&text) == 0 && bits_is_text(&text)) {
			buf_add(out, text.data, text.len);
			break;
		}
	}
	buf_done(&text);
}

size_t bits_read(const char *s, size_t len, struct buf *out)
{
	struct bits_run r = {.digits = BUF_INIT(BITS_MOST + 1)};
	char to[FOLD_TO_MAX + 1];
	size_t at = 0;

	while (at < len) {
		uint32_t code = 0;
		size_t n = utf8_decode(s + at, len - at, &code);

		if (n == 0 || code < 0x80 || fold_char(code, to) != FOLD_ZERO_WIDTH)
			break;
		bits_note(&r, code);
		at += n;
	}
	if (r.digits.len >= BITS_LEAST && r.kinds > 1 && r.kinds <= BITS_KINDS &&
	    buf_error(&r.digits) == 0)
		bits_spell(&r, out);
	buf_done(&r.digits);
	return at;
}
