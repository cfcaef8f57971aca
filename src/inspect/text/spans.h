/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of a text as bits, one for each byte: what belongs to words, what is a digit, and where a reader of words
 * has something to do.  Words are then found by counting bits, which costs less than to ask of every byte what
 * it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SPANS_BITS = 64,
	SPANS_BYTES = 8192, /* of a text, known at one time */
	SPANS_MARGIN = 32,  /* bits that spans_window() gives */
	SPANS_NUMBERS = SPANS_BYTES / SPANS_BITS,
};

/* 64 bytes.  Words are of letters, digits and all that is not ASCII; marks are : @ < > [ ] # $ . ; ! ? _ and ends of
 * lines. */
struct spans_block {
	uint64_t words, digits, marks;
};

struct spans {
	const char *text;
	size_t len;
	size_t low, high; /* what is known */
	/* Two more than there are bytes for: a window may begin at the very end. */
	uint64_t words[SPANS_NUMBERS + 2], digits[SPANS_NUMBERS + 2];
	uint64_t events[SPANS_NUMBERS + 2]; /* marks, and where words begin */
};

void spans_begin(struct spans *s, const char *text, size_t len);
/* Makes known what is between from and from + more (at most SPANS_BYTES), or the text's end. */
void spans_need(struct spans *s, size_t from, size_t more);
/* All of these twice: as fast as this processor can, and byte by byte, for those that cannot and for tests. */
struct spans_block spans_block(const char text[static SPANS_BITS]);
struct spans_block spans_block_plain(const char text[static SPANS_BITS]);
/* Letters, digits, + and /: the alphabet of RFC 4648 §4. */
uint64_t spans_base64(const char text[static SPANS_BITS]);
uint64_t spans_base64_plain(const char text[static SPANS_BITS]);
/* & % \ and all that is neither printable ASCII nor an end of a line nor a tab. */
uint64_t spans_special(const char text[static SPANS_BITS]);
uint64_t spans_special_plain(const char text[static SPANS_BITS]);
/* One of the above for the n bytes at text, of which there may be fewer than 64; those that are not there are spaces. */
uint64_t spans_of(uint64_t (*fn)(const char *), const char *text, size_t n);

/* The bits of a place that is known and of those behind it. */
static inline uint64_t spans_window(const uint64_t *bits, size_t at)
{
	size_t i = at / SPANS_BITS, shift = at % SPANS_BITS;

	return bits[i] >> shift | bits[i + 1] << 1 << (SPANS_BITS - 1 - shift);
}
