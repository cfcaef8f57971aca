/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reads a text quickly finds what would be found byte by byte: in random bytes, in bytes that are chosen to stand
 * near edges, and where one part of a text ends and the next begins.
 */
#include "inspect/text/layers.h"
#include "inspect/text/model.h"
#include "inspect/text/normal.h"
#include "inspect/text/spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

static uint64_t state = 0x2545f4914f6cdd1dU;

static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % below;
}

/* Alphabets from all bytes to little else than what long runs, names, cut words and sentences are made of. */
static const char *const alphabets[] = {
	NULL,
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789      ,.-;:!?\n",
	"abcdefgh ",
	"aA0_. \n",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ",
	"\xc3\xa9\xe2\x80\x8b"
	"aB1 .",
	"abcdef0123456789+/=ABCDEF",
	":@<>[]#$.;!?_\n\"=Zz\\^`{AZaz/09:&%\x7f\x1f\t\r\x80\xff",
};

enum { ALPHABETS = sizeof(alphabets) / sizeof(alphabets[0]) };

static void fill(char *s, size_t n, unsigned alphabet)
{
	const char *of = alphabets[alphabet];

	for (size_t i = 0; i < n; i++)
		s[i] = of ? of[draw((uint32_t)strlen(of))] : (char)draw(256);
}

/* A copy that ends where its memory does, so that a sanitizer sees a byte too much being read. */
static char *exact(const char *s, size_t n)
{
	char *copy = malloc(n > 0 ? n : 1);

	assert_non_null(copy);
	memcpy(copy, s, n);
	return copy;
}

/* ---- bits ---- */

static void assert_block(const char *s)
{
	struct spans_block a = spans_block(s), b = spans_block_plain(s);

	assert_true(a.words == b.words);
	assert_true(a.digits == b.digits);
	assert_true(a.marks == b.marks);
	assert_true(spans_base64(s) == spans_base64_plain(s));
	assert_true(spans_special(s) == spans_special_plain(s));
}

static void test_blocks(void **unused)
{
	char s[SPANS_BITS];

	(void)unused;
	for (unsigned c = 0; c < 256; c++)
		for (unsigned at = 0; at < SPANS_BITS; at++) {
			memset(s, at % 2 ? 'a' : ' ', sizeof(s));
			s[at] = (char)c;
			assert_block(s);
		}
	for (unsigned i = 0; i < 20000; i++) {
		fill(s, sizeof(s), i % ALPHABETS);
		assert_block(s);
	}
}

static void test_plain(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 4000; i++) {
		char buffer[300];
		size_t n = draw(sizeof(buffer) + 1);
		struct normal normal = {0};
		char *s;
		bool is_plain;

		fill(buffer, n, i % ALPHABETS);
		s = exact(buffer, n);
		is_plain = normal_is_plain(s, n);
		assert_int_equal(normal_make(&normal, s, n), 0);
		/* What is plain is its own normal form. */
		if (is_plain) {
			assert_int_equal(normal.text.len, n);
			assert_true(n == 0 || memcmp(normal.text.data, s, n) == 0);
		}
		normal_done(&normal);
		free(s);
	}
}

/* ---- runs ---- */

static int digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

static int hex(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *p = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;

	return p ? (int)(p - digits) : -1;
}

/* Decodes all of a run, then looks.  Returns how many bytes, or 0 for what is not to be read. */
static size_t decoded(const char *s, size_t n, char *out)
{
	bool is_hex = true;
	size_t len = 0, good = 0, letters = 0;
	unsigned bits = 0, have = 0;

	for (size_t i = 0; i < n; i++)
		is_hex &= hex(s[i]) >= 0;
	for (size_t i = 0; i < n; i++) {
		bits = bits << (is_hex ? 4 : 6) | (unsigned)(is_hex ? hex(s[i]) : digit(s[i]));
		have += is_hex ? 4 : 6;
		if (have >= 8) {
			have -= 8;
			out[len++] = (char)(bits >> have & 0xff);
		}
	}
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)out[i], low = c | 0x20;

		good += (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t' || c == '\r';
		letters += (low >= 'a' && low <= 'z') || c == ' ';
	}
	return len >= 8 && good * 100 >= len * 95 && letters * 100 >= len * 60 ? len : 0;
}

static void assert_layers(const char *s, size_t n)
{
	struct buf out = BUF_INIT(1 << 16);
	struct text_layer layer;
	char want[4096];
	size_t pos = 0, end;

	for (size_t start = 0; start < n; start = end + 1) {
		size_t len;

		for (end = start; end < n && digit(s[end]) >= 0; end++)
			;
		if (end - start < 20 || (len = decoded(s + start, end - start, want)) == 0)
			continue;
		assert_true(layers_next(s, n, &pos, &layer, &out));
		assert_int_equal(layer.start, start);
		assert_int_equal(layer.end, end);
		assert_int_equal(out.len, len);
		assert_memory_equal(out.data, want, len);
	}
	assert_false(layers_next(s, n, &pos, &layer, &out));
	buf_done(&out);
}

static void test_layers(void **unused)
{
	static const char *const runs[] = {
		"aWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnM",
		"69676e6f726520616c6c2070726576696f757320696e737472756374696f6e73",
		"SWdub3JlIHRoZSB0ZXh0IGFib3Zl"};

	(void)unused;
	for (unsigned i = 0; i < 6000; i++) {
		char buffer[600];
		size_t n = draw(sizeof(buffer) + 1);
		char *s;

		fill(buffer, n, i % ALPHABETS);
		for (unsigned k = 0; k < 3; k++) { /* real ones, at every place, cut and joined */
			const char *run = runs[draw(3)];
			size_t at = draw(sizeof(buffer)), len = draw((uint32_t)strlen(run) + 1);

			if (at + len <= n)
				memcpy(buffer + at, run, len);
		}
		s = exact(buffer, n);
		assert_layers(s, n);
		free(s);
	}
}

/* ---- sentences ---- */

static bool is_word(char c)
{
	unsigned char u = (unsigned char)c, low = u | 0x20;

	return (u >= '0' && u <= '9') || (low >= 'a' && low <= 'z') || u >= 0x80;
}

static bool is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Where the sentence from start on ends, and how many words of letters it has. */
static size_t sentence(const char *s, size_t n, size_t start, unsigned *ret_words)
{
	size_t i = start;

	size_t before = 0, before_len = 0; /* the word before, when nothing is between */

	*ret_words = 0;
	while (i < n && i - start < MODEL_SENTENCE_MAX) {
		size_t at = i;
		bool has_digit = false, is_again;

		for (; i < n && i - at < WANTED_WORD && is_word(s[i]); i++)
			has_digit |= s[i] >= '0' && s[i] <= '9';
		if (i > at) {
			/* Shouting is a word of its own before each. */
			is_again = before_len == i - at &&
				   strncasecmp(s + before, s + at, i - at) == 0 &&
				   !(i - at > 2 && is_capital(s[at]) && is_capital(s[i - 1]));
			*ret_words += !has_digit && i - at > 1 && !is_again;
			before = at;
			before_len = has_digit || i - at == WANTED_WORD ? 0 : i - at;
			continue;
		}
		if (s[at] && strchr(":@<>[]#$!?", s[at]))
			before_len = 0;
		i++;
		if (s[at] == '\n')
			break;
		if (s[at] && strchr(".;!?", s[at]) && (i >= n || strchr(" \n\"'", s[i])) &&
		    (i >= n || s[i]))
			break;
	}
	return i;
}

/* A text at the end of its memory, in the middle of other bytes, and read before: the same sentences. */
static void assert_sentences(struct model *m, struct model *fresh, const char *s, size_t n)
{
	char *alone = exact(s, n);
	struct model_sentence a, b;
	size_t pos = 0, other = 0;

	model_begin(m, s, n);
	model_begin(fresh, alone, n);
	m->keys_before = fresh->keys_before = m->hints_before = fresh->hints_before = 0;
	while (model_next(m, &pos, &a)) {
		unsigned words;
		size_t from = 0;

		assert_true(model_next(fresh, &other, &b));
		assert_int_equal(a.end, sentence(s, n, a.start, &words));
		assert_int_equal(a.words, words);
		assert_int_equal(a.start, b.start);
		assert_int_equal(a.end, b.end);
		assert_int_equal(a.sum, b.sum);
		assert_int_equal(a.n, b.n);
		assert_int_equal(a.words, b.words);
		assert_int_equal(a.keys, b.keys);
		assert_int_equal(a.is_worth, b.is_worth);
		assert_int_equal(a.hints, b.hints);
		assert_int_equal(a.is_order, b.is_order);
		assert_true(model_judge(m, &a, &from) == model_judge(fresh, &b, &from));
	}
	assert_false(model_next(fresh, &other, &b));
	free(alone);
}

static void test_sentences(void **unused)
{
	static struct model m, fresh;
	enum { SIZE = 3 * SPANS_BYTES };
	static char buffer[SIZE + 64];

	(void)unused;
	assert_int_equal(model_init(&m, SIZE, 0.3), 0);
	for (unsigned i = 0; i < 400; i++) {
		/* Long ones cross from one part of a text to the next. */
		size_t n = i % 10 == 0 ? draw(SIZE + 1) : draw(1500);

		fill(buffer, n, i % ALPHABETS);
		memset(buffer + n, draw(2) ? 'a' : '0', 64);
		assert_int_equal(model_init(&fresh, 1, 0.3), 0);
		assert_sentences(&m, &fresh, buffer, n);
		model_done(&fresh);
	}
	model_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
