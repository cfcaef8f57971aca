/* SPDX-License-Identifier: Apache-2.0 */
/* See spans.h. */
#include "inspect/text/spans.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static bool spans_is_mark(unsigned char c)
{
	return c == '\n' || (c != '\0' && strchr(":@<>[]#$.;!?_", c) != NULL);
}

struct spans_block spans_block_plain(const char text[static SPANS_BITS])
{
	struct spans_block b = {0};

	for (unsigned i = 0; i < SPANS_BITS; i++) {
		unsigned char c = (unsigned char)text[i], low = c | 0x20;
		bool is_digit = c >= '0' && c <= '9';

		b.words |= (uint64_t)(is_digit || (low >= 'a' && low <= 'z') || c >= 0x80) << i;
		b.digits |= (uint64_t)is_digit << i;
		b.marks |= (uint64_t)spans_is_mark(c) << i;
	}
	return b;
}

uint64_t spans_base64_plain(const char text[static SPANS_BITS])
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < SPANS_BITS; i++) {
		unsigned char c = (unsigned char)text[i], low = c | 0x20;

		bits |= (uint64_t)((c >= '0' && c <= '9') || (low >= 'a' && low <= 'z') ||
				   c == '+' || c == '/')
			<< i;
	}
	return bits;
}

uint64_t spans_special_plain(const char text[static SPANS_BITS])
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < SPANS_BITS; i++) {
		unsigned char c = (unsigned char)text[i];

		bits |= (uint64_t)(c >= 0x7f || (c < 0x20 && c != '\n' && c != '\t' && c != '\r') ||
				   c == '&' || c == '%' || c == '\\')
			<< i;
	}
	return bits;
}

#ifdef __SSE2__
static inline uint64_t spans_mask(__m128i v)
{
	return (uint64_t)(unsigned)_mm_movemask_epi8(v);
}

static inline __m128i spans_is(__m128i v, char c)
{
	return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}

/* Bytes from first to first + n - 1.  The comparison is of signed numbers: the last of them is made the largest. */
static inline __m128i spans_between(__m128i v, char first, char n)
{
	return _mm_cmpgt_epi8(_mm_add_epi8(v, _mm_set1_epi8((char)(127 - first - n + 1))),
			      _mm_set1_epi8((char)(127 - n)));
}

/* ! # $ but not ", and : ; < > ? @ but not =. */
static inline __m128i spans_marks(__m128i v)
{
	__m128i most = _mm_or_si128(spans_between(v, '!', 4), spans_between(v, ':', 7));
	__m128i not_these = _mm_or_si128(spans_is(v, '"'), spans_is(v, '='));
	__m128i ends = _mm_or_si128(spans_is(v, '.'), spans_is(v, '\n'));
	__m128i rest =
		_mm_or_si128(_mm_or_si128(spans_is(v, '['), spans_is(v, ']')), spans_is(v, '_'));

	return _mm_or_si128(_mm_andnot_si128(not_these, most), _mm_or_si128(ends, rest));
}

struct spans_block spans_block(const char text[static SPANS_BITS])
{
	struct spans_block b = {0};

	for (unsigned i = 0; i < SPANS_BITS; i += sizeof(__m128i)) {
		__m128i v = _mm_loadu_si128((const __m128i_u *)(text + i));
		__m128i digit = spans_between(v, '0', 10);
		__m128i letter = spans_between(_mm_or_si128(v, _mm_set1_epi8(0x20)), 'a', 26);

		/* The highest bit is that of a byte that is not ASCII, too. */
		b.words |= spans_mask(_mm_or_si128(_mm_or_si128(letter, digit), v)) << i;
		b.digits |= spans_mask(digit) << i;
		b.marks |= spans_mask(spans_marks(v)) << i;
	}
	return b;
}

uint64_t spans_base64(const char text[static SPANS_BITS])
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < SPANS_BITS; i += sizeof(__m128i)) {
		__m128i v = _mm_loadu_si128((const __m128i_u *)(text + i));
		__m128i word =
			_mm_or_si128(spans_between(v, '0', 10),
				     spans_between(_mm_or_si128(v, _mm_set1_epi8(0x20)), 'a', 26));
		__m128i rest = _mm_or_si128(spans_is(v, '+'), spans_is(v, '/'));

		bits |= spans_mask(_mm_or_si128(word, rest)) << i;
	}
	return bits;
}

uint64_t spans_special(const char text[static SPANS_BITS])
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < SPANS_BITS; i += sizeof(__m128i)) {
		__m128i v = _mm_loadu_si128((const __m128i_u *)(text + i));
		/* What is not ASCII is below zero. */
		__m128i below = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
		__m128i blank = _mm_or_si128(_mm_or_si128(spans_is(v, '\n'), spans_is(v, '\t')),
					     spans_is(v, '\r'));
		__m128i start = _mm_or_si128(_mm_or_si128(spans_is(v, '&'), spans_is(v, '%')),
					     _mm_or_si128(spans_is(v, '\\'), spans_is(v, 0x7f)));

		bits |= spans_mask(_mm_or_si128(_mm_andnot_si128(blank, below), start)) << i;
	}
	return bits;
}
#else
uint64_t spans_base64(const char text[static SPANS_BITS])
{
	return spans_base64_plain(text);
}

uint64_t spans_special(const char text[static SPANS_BITS])
{
	return spans_special_plain(text);
}

struct spans_block spans_block(const char text[static SPANS_BITS])
{
	return spans_block_plain(text);
}
#endif

uint64_t spans_of(uint64_t (*fn)(const char *), const char *text, size_t n)
{
	char rest[SPANS_BITS];

	if (n >= SPANS_BITS)
		return fn(text);
	memset(rest, ' ', sizeof(rest));
	memcpy(rest, text, n);
	return fn(rest);
}

void spans_begin(struct spans *s, const char *text, size_t len)
{
	s->text = text;
	s->len = len;
	s->low = s->high = 0;
}

void spans_need(struct spans *s, size_t from, size_t more)
{
	uint64_t before = 0; /* is the byte before one of a word? */
	size_t n, at = 0, i = 0;

	if (from >= s->low && (s->high == s->len || (from <= s->high && s->high - from >= more)))
		return;
	s->low = from;
	n = s->len - from < SPANS_BYTES ? s->len - from : SPANS_BYTES;
	s->high = from + n;
	for (; at < n; at += SPANS_BITS, i++) {
		char rest[SPANS_BITS];
		const char *text = s->text + from + at;
		struct spans_block b;

		if (n - at < SPANS_BITS) {
			memset(rest, 0, sizeof(rest));
			text = memcpy(rest, text, n - at);
		}
		b = spans_block(text);
		s->words[i] = b.words;
		s->digits[i] = b.digits;
		s->events[i] = (b.words & ~(b.words << 1 | before)) | b.marks;
		before = b.words >> (SPANS_BITS - 1);
	}
	for (size_t end = i + 2; i < end; i++)
		s->words[i] = s->digits[i] = s->events[i] = 0;
}
