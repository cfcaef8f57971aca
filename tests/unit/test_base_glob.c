/* SPDX-License-Identifier: Apache-2.0 */
/* Globs: what matches, what is ill-formed, and that no pattern takes long. */
#include "base/clock.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct match_row {
	const char *pattern;
	const char *text;
	bool path; /* glob_match() */
	bool name; /* glob_match_text() */
};

static const struct match_row match_rows[] = {
	{"", "", true, true},
	{"", "a", false, false},
	{"a", "a", true, true},
	{"a", "ab", false, false},
	{"ab", "a", false, false},
	/* one component */
	{"*", "", true, true},
	{"*", "abc", true, true},
	{"*", ".hidden", true, true},
	{"*", "a/b", false, true},
	{"a*c", "ac", true, true},
	{"a*c", "abbc", true, true},
	{"a*c", "abcd", false, false},
	{"a*c", "a/c", false, true},
	{"*.txt", "x.txt", true, true},
	{"*.txt", "d/x.txt", false, true},
	{"?", "a", true, true},
	{"?", "", false, false},
	{"?", "/", false, true},
	{"a?c", "abc", true, true},
	{"a?c", "ac", false, false},
	{"*a*b*", "xxaxxbxx", true, true},
	{"*a*b*", "xxbxxaxx", false, false},
	/* ** in the middle */
	{"a/**/b", "a/b", true, true},
	{"a/**/b", "a/x/b", true, true},
	{"a/**/b", "a/x/y/b", true, true},
	{"a/**/b", "ab", false, false},
	{"a/**/b", "axb", false, false},
	{"a/**/b", "a/xb", false, false},
	{"a/**/b", "ax/b", false, false},
	{"a/**/b", "a/x/yb", false, false},
	{"a/**/b", "a//b", true, true},
	{"a/**/b/**/c", "a/b/c", true, true},
	{"a/**/b/**/c", "a/x/b/y/c", true, true},
	{"a/**/b/**/c", "a/x/c", false, false},
	{"a/**/*.c", "a/x.c", true, true},
	{"a/**/*.c", "a/d/e/x.c", true, true},
	{"a/**/**/b", "a/b", true, true},
	{"a/**/**/b", "a/x/b", true, true},
	{"a/**/**/b", "a/x/y/b", true, true},
	{"a/**/**/b", "ab", false, false},
	/* a state that is reached by consuming and by entering keeps the right to skip */
	{"**/a/**/b", "a/a/b", true, true},
	{"/**/**/b", "//b", true, true},
	{"a/**/**/**/b", "a/x/b", true, true},
	/* in front */
	{"**/b", "b", true, true},
	{"**/b", "a/b", true, true},
	{"**/b", "a/c/b", true, true},
	{"**/b", "/b", true, true},
	{"**/b", "ab", false, false},
	{"**/b", "a/cb", false, false},
	{"**/**/b", "b", true, true},
	{"**/**/b", "x/b", true, true},
	{"**/**/b", "xb", false, false},
	{"/**/b", "/b", true, true},
	{"/**/b", "b", false, false},
	/* at the end */
	{"a/**", "a/", true, true},
	{"a/**", "a/x", true, true},
	{"a/**", "a/x/y", true, true},
	{"a/**", "a", false, false},
	{"a/**", "ab", false, false},
	{"a/**/", "a/", true, true},
	{"a/**/", "a/x/", true, true},
	{"a/**/", "a/x", false, false},
	{"/**", "/", true, true},
	{"**", "", true, true},
	{"**", "a/b/c", true, true},
	{"**/", "", true, true},
	{"**/", "a/", true, true},
	{"**/**", "", true, true},
	/* ** that is not a component of its own */
	{"a**b", "ab", true, true},
	{"a**b", "a/x/b", true, true},
	{"a**/b", "a/b", true, true},
	{"a**/b", "ab", false, false},
	{"a/**b", "a/b", true, true},
	{"a/**b", "a/x/yb", true, true},
	{"***", "a/b", true, true},
	{"a/***/b", "a/b", true, true},
	/* sets */
	{"[abc]", "b", true, true},
	{"[abc]", "d", false, false},
	{"[a-c]x", "bx", true, true},
	{"[a-c]x", "dx", false, false},
	{"[!a-c]", "d", true, true},
	{"[!a-c]", "b", false, false},
	{"[^a-c]", "d", true, true},
	{"[^a-c]", "b", false, false},
	{"[!a]", "", false, false},
	{"a[!b]c", "a/c", false, true},
	{"a[.-0]c", "a/c", false, true}, /* the range holds the slash */
	{"a[/]c", "a/c", false, true},
	{"[]a]", "]", true, true},
	{"[]a]", "a", true, true},
	{"[!]a]", "]", false, false},
	{"[!]a]", "b", true, true},
	{"[a-]", "-", true, true},
	{"[-a]", "-", true, true},
	{"[a!]", "!", true, true},
	{"[*]", "*", true, true},
	{"[*]", "x", false, false},
	{"[\\]]", "]", true, true},
	{"[\\]]", "\\", false, false},
	{"[a\\-z]", "-", true, true},
	{"[a\\-z]", "m", false, false},
	{"[\\\\]", "\\", true, true},
	{"[\\[:]", ":", true, true},
	/* quoting */
	{"\\*", "*", true, true},
	{"\\*", "x", false, false},
	{"\\[a]", "[a]", true, true},
	{"a\\/**/b", "a/b", true, true},
	{"\\a", "a", true, true},
	/* characters, not bytes */
	{"?", "\xc3\xa9", true, true},
	{"??", "\xc3\xa9", false, false},
	{"n?ve", "n\xc3\xafve", true, true},
	{"[\xc3\xa9]", "\xc3\xa9", true, true},
	{"[\xc3\xa9]", "\xc3\xa8", false, false},
	{"[\xc3\xa0-\xc3\xbf]", "\xc3\xa8", true, true},
	{"[!a]", "\xf0\x9f\x98\x80", true, true},
	{"?", "\xff", true, true},
	{"\xff", "\xff", true, true},
	{"\xff", "\xfe", false, false},
	{"\\\xc3\xa9", "\xc3\xa9", true, true},
	{"*", "\xc3\xff\x80", true, true},
};

static void test_match(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(match_rows); i++) {
		const struct match_row *row = &match_rows[i];

		if (glob_check(row->pattern) != 0)
			fail_msg("'%s' is ill-formed", row->pattern);
		if (glob_match(row->pattern, row->text) != row->path)
			fail_msg("path '%s' ~ '%s': want %d", row->pattern, row->text, row->path);
		if (glob_match_text(row->pattern, row->text) != row->name)
			fail_msg("text '%s' ~ '%s': want %d", row->pattern, row->text, row->name);
	}
}

static void test_ill_formed(void **state)
{
	static const struct {
		const char *what;
		const char *pattern;
		const char *text; /* what a careless reader would match */
	} rows[] = {
		{"an open set", "[", "["},
		{"an open set with members", "[ab", "a"},
		{"an empty set", "[]", "[]"},
		{"an empty negated set", "[!]", "[!]"},
		{"a set closed by a quoted bracket", "[a\\]", "a"},
		{"a backslash at the end", "a\\", "a\\"},
		{"a backslash at the end of a set", "[a\\", "a"},
		{"a range from high to low", "[z-a]", "b"},
		{"a range without an end", "[a-", "a"},
		{"a class", "[[:digit:]]", "1]"},
		{"an equivalence", "[[=a=]]", "a]"},
		{"a collating symbol", "[[.a.]]", "a]"},
		{"an error after a match", "*[", "abc"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int r = glob_check(rows[i].pattern);

		if (r != -EINVAL)
			fail_msg("%s: got %d", rows[i].what, r);
		if (glob_match(rows[i].pattern, rows[i].text) ||
		    glob_match_text(rows[i].pattern, rows[i].text))
			fail_msg("%s: matches", rows[i].what);
	}
}

static void test_length(void **state)
{
	static char pattern[LIMIT_GLOB_BYTES + 2];

	(void)state;
	memset(pattern, 'a', LIMIT_GLOB_BYTES);
	assert_int_equal(glob_check(pattern), 0);
	assert_true(glob_match(pattern, pattern));
	pattern[LIMIT_GLOB_BYTES] = 'a';
	assert_int_equal(glob_check(pattern), -E2BIG);
	assert_false(glob_match(pattern, pattern));
	memset(pattern, '*', sizeof(pattern) - 1);
	assert_int_equal(glob_check(pattern), -E2BIG);
}

static void test_magic(void **state)
{
	static const struct {
		const char *s;
		bool want;
	} rows[] = {
		{"", false},     {"/a/b.c", false}, {"a*", true},     {"a?", true},
		{"[a]", true},   {"[", true},       {"a]", false},    {"\\*", false},
		{"\\\\*", true}, {"a\\", false},    {"\\[a]", false}, {"\\?x?", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (glob_has_magic(rows[i].s) != rows[i].want)
			fail_msg("'%s': want %d", rows[i].s, rows[i].want);
}

/* 4096 bytes of pattern against 64 KiB of text: 2^28 steps at most, a second or so; backtracking would
 * not end in the life of the machine.  The limit leaves room for sanitizers and a busy machine. */
static void test_hostile(void **state)
{
	static const struct {
		const char *what;
		const char *piece;
		char last;
		size_t text_len;
	} rows[] = {
		{"stars", "*a", 'b', 65536},      {"globstars", "**a", 'b', 8192},
		{"sets", "*[a]", 'b', 8192},      {"questions", "*?", '/', 8192},
		{"components", "**/", 'b', 8192},
	};
	static char pattern[LIMIT_GLOB_BYTES + 1], text[65536 + 1];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n = strlen(rows[i].piece), used = 0;
		int64_t start = clock_ms();

		while (used + n < LIMIT_GLOB_BYTES) {
			memcpy(pattern + used, rows[i].piece, n);
			used += n;
		}
		pattern[used] = rows[i].last;
		pattern[used + 1] = '\0';
		memset(text, rows[i].piece[n - 1] == '/' ? '/' : 'a', rows[i].text_len);
		text[rows[i].text_len] = '\0';
		assert_int_equal(glob_check(pattern), 0);
		if (glob_match(pattern, text))
			fail_msg("%s: matches", rows[i].what);
		if (clock_ms() - start > 60000)
			fail_msg("%s: %lld ms", rows[i].what, (long long)(clock_ms() - start));
		print_message("%s: %lld ms\n", rows[i].what, (long long)(clock_ms() - start));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),   cmocka_unit_test(test_ill_formed),
		cmocka_unit_test(test_length),  cmocka_unit_test(test_magic),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
