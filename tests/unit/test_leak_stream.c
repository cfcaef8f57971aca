/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaks of a stream: the same however it is cut, over the borders of the window too, with bounded
 * memory; and the stage that takes them out, which must hold back what may become one and nothing
 * more.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "leak_example.h"
#include "secrets/leak.h"
#include "secrets/leak_redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct seen {
	struct buf text;
	size_t n;
};

static void seen_add(void *data, const struct leak *leak)
{
	struct seen *seen = data;

	buf_printf(&seen->text, "%s %llu %llu %.2f\n", leak->rule, (unsigned long long)leak->start,
		   (unsigned long long)leak->end, leak->confidence);
	seen->n++;
}

static void scan(const struct buf *text, size_t piece, bool is_flushed, struct seen *seen)
{
	struct leak_scanner *s = NULL;

	buf_clear(&seen->text);
	seen->n = 0;
	assert_int_equal(leak_scanner_new(seen_add, seen, &s, NULL), 0);
	for (size_t at = 0; at < text->len; at += piece) {
		size_t n = text->len - at < piece ? text->len - at : piece;

		assert_int_equal(leak_feed(s, text->data + at, n, NULL), 0);
		if (is_flushed)
			assert_int_equal(leak_flush(s, NULL), 0);
	}
	assert_int_equal(leak_end(s, NULL), 0);
	leak_scanner_free(s);
	assert_int_equal(buf_error(&seen->text), 0);
}

/* One of each rule, with lines between. */
static void all_rules(struct buf *out, uint64_t seed)
{
	struct buf one = BUF_INIT(1 << 20);

	for (size_t i = 0; i < leak_rules_n; i++) {
		example_text(&one, &leak_rules[i], seed + i, true);
		buf_add(out, one.data, one.len);
		buf_str(out, i % 7 == 0 ? " " : "\n");
	}
	buf_done(&one);
}

static void test_cut_anywhere(void **state)
{
	static const size_t pieces[] = {1, 2, 3, 7, 64, 1000, 4096, 100000};
	struct buf text = BUF_INIT(1 << 24);
	struct seen whole = {.text = BUF_INIT(1 << 24)}, cut = {.text = BUF_INIT(1 << 24)};

	(void)state;
	all_rules(&text, 11);
	scan(&text, text.len, false, &whole);
	assert_true(whole.n > 400);
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		for (int is_flushed = 0; is_flushed < 2; is_flushed++) {
			scan(&text, pieces[i], is_flushed, &cut);
			if (strcmp(buf_cstr(&whole.text), buf_cstr(&cut.text)) != 0)
				fail_msg("pieces of %zu, flushed %d:\n%s\n%s", pieces[i],
					 is_flushed, buf_cstr(&whole.text), buf_cstr(&cut.text));
		}
	buf_done(&text);
	buf_done(&whole.text);
	buf_done(&cut.text);
}

/* Tokens and a private key around the border of the window, byte by byte. */
static void test_window_border(void **state)
{
	struct buf text = BUF_INIT(1 << 24), secret = BUF_INIT(4096);
	struct seen seen = {.text = BUF_INIT(1 << 20)};

	(void)state;
	for (size_t shift = 0; shift < 400; shift += 3) {
		size_t before = LIMIT_LEAK_LEAD + LIMIT_LEAK_WINDOW - 200 + shift;

		buf_clear(&text);
		buf_clear(&secret);
		example_shape(&secret, "glpat-%b{20}", shift + 1, false);
		for (size_t i = 0; i < before; i++)
			buf_char(&text, i % 80 == 79 && shift % 2 ? '\n' : ' ');
		buf_add(&text, secret.data, secret.len);
		buf_str(&text, "\n-----BEGIN PRIVATE KEY-----\n");
		example_form(&text, "%%%\n%%%\n%%%\n", shift);
		buf_str(&text, "-----END PRIVATE KEY-----\n");
		for (int i = 0; i < 100; i++)
			buf_str(&text, "the rest of the text\n");
		scan(&text, 65536, false, &seen);
		if (seen.n != 2)
			fail_msg("shift %zu: %s", shift, buf_cstr(&seen.text));
	}
	buf_done(&text);
	buf_done(&secret);
	buf_done(&seen.text);
}

static void redact(const struct buf *text, size_t piece, bool is_quiet, struct buf *out)
{
	struct leak_redactor *r = NULL;
	size_t most = 0;

	buf_clear(out);
	assert_int_equal(leak_redactor_new(&r, NULL), 0);
	for (size_t at = 0; at < text->len; at += piece) {
		size_t n = text->len - at < piece ? text->len - at : piece;

		assert_int_equal(leak_redact_feed(r, text->data + at, n, out, NULL), 0);
		if (is_quiet)
			assert_int_equal(leak_redact_quiet(r, out, NULL), 0);
		most = leak_held(r) > most ? leak_held(r) : most;
	}
	assert_int_equal(leak_redact_end(r, out, NULL), 0);
	assert_int_equal(leak_held(r), 0);
	if (most > 2 * LIMIT_LEAK_SPAN + LIMIT_LEAK_LEAD)
		fail_msg("%zu bytes were held back", most);
	leak_redactor_free(r);
	assert_int_equal(buf_error(out), 0);
}

static void test_redact(void **state)
{
	static const size_t pieces[] = {1, 5, 64, 4096, 300000};
	struct buf text = BUF_INIT(1 << 24), whole = BUF_INIT(1 << 24), cut = BUF_INIT(1 << 24);
	struct seen seen = {.text = BUF_INIT(1 << 24)};

	(void)state;
	all_rules(&text, 5);
	for (int i = 0; i < 3000; i++)
		buf_str(&text, "ordinary output that goes on and on\n");
	redact(&text, text.len, false, &whole);
	/* What is left is clean, and what is no secret is all there. */
	scan(&whole, whole.len, false, &seen);
	for (char *line = seen.text.data; line && *line; line = strchr(line, '\n') + 1)
		if (strncmp(line, "SECRET-", 7) == 0 && seen.n > 3)
			fail_msg("left over: %s", line);
	assert_non_null(memmem(whole.data, whole.len, "ordinary output that goes on", 28));
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		redact(&text, pieces[i], false, &cut);
		if (strcmp(buf_cstr(&whole), buf_cstr(&cut)) != 0)
			fail_msg("pieces of %zu", pieces[i]);
	}
	buf_done(&text);
	buf_done(&whole);
	buf_done(&cut);
	buf_done(&seen.text);
}

/* Nothing but short beginnings of words goes out early, and nothing of the secret. */
static void test_redact_quiet(void **state)
{
	struct buf text = BUF_INIT(1 << 20), secret = BUF_INIT(4096), out = BUF_INIT(1 << 20);

	(void)state;
	example_shape(&secret, "ghp_%w{36}", 9, false);
	for (size_t piece = 1; piece < 60; piece++) {
		buf_clear(&text);
		buf_printf(&text, "a prompt: %s and token=%s\nthen\n", buf_cstr(&secret),
			   buf_cstr(&secret));
		redact(&text, piece, true, &out);
		/* Half of it must not be there, wherever the stream paused. */
		for (size_t at = 0; at + 12 <= secret.len; at++)
			if (memmem(out.data, out.len, secret.data + at, 12))
				fail_msg("pieces of %zu: %s", piece, buf_cstr(&out));
		if (!strstr(buf_cstr(&out), "a prompt: ") || !strstr(buf_cstr(&out), "\nthen\n"))
			fail_msg("pieces of %zu: %s", piece, buf_cstr(&out));
	}
	buf_done(&text);
	buf_done(&secret);
	buf_done(&out);
}

static void test_prompt_goes_out(void **state)
{
	struct leak_redactor *r = NULL;
	struct buf out = BUF_INIT(4096);

	(void)state;
	assert_int_equal(leak_redactor_new(&r, NULL), 0);
	assert_int_equal(leak_redact_feed(r, "Password: ", 10, &out, NULL), 0);
	assert_int_equal(out.len, 0);
	assert_int_equal(leak_redact_quiet(r, &out, NULL), 0);
	assert_string_equal(buf_cstr(&out), "Password: ");
	assert_int_equal(leak_redact_feed(r, "\nok> ", 5, &out, NULL), 0);
	assert_int_equal(leak_redact_quiet(r, &out, NULL), 0);
	assert_string_equal(buf_cstr(&out), "Password: \nok> ");
	assert_int_equal(leak_redacted(r), 0);
	assert_int_equal(leak_redact_end(r, &out, NULL), 0);
	leak_redactor_free(r);
	buf_done(&out);
}

/* Lines without an end, and nothing but the beginnings of keys. */
static void test_odd_streams(void **state)
{
	static const char *const units[] = {"-----BEGIN PRIVATE KEY-----\n",
					    "eyJhbGciOiJIUzI1NiJ9.",
					    "password=",
					    "://a:bcd@",
					    "a",
					    "ghp_",
					    "\n",
					    "key: ",
					    "AKIA"};
	struct buf text = BUF_INIT(1 << 24), out = BUF_INIT(1 << 26);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		buf_clear(&text);
		while (text.len < 512 * 1024)
			buf_str(&text, units[i]);
		redact(&text, 65536, false, &out);
		redact(&text, 99991, true, &out);
		assert_true(out.len <= 4 * text.len);
	}
	buf_done(&text);
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_anywhere),    cmocka_unit_test(test_window_border),
		cmocka_unit_test(test_redact),          cmocka_unit_test(test_redact_quiet),
		cmocka_unit_test(test_prompt_goes_out), cmocka_unit_test(test_odd_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
