/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans with the databases of match_patterns.c: what is found and where, in one piece and in pieces cut
 * at every place, and what a stopped scan says.
 */
#include "base/mem.h"
#include "match/match.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

MATCH_DB(test_block);
MATCH_DB(test_stream);

struct seen {
	char text[256];
	size_t n;
	unsigned stop_at;
};

static int seen_add(void *data, unsigned id, uint64_t from, uint64_t to)
{
	struct seen *seen = data;

	seen->n += (size_t)snprintf(seen->text + seen->n, sizeof(seen->text) - seen->n,
				    "%u:%llu-%llu ", id, (unsigned long long)from,
				    (unsigned long long)to);
	assert_true(seen->n < sizeof(seen->text));
	return id == seen->stop_at;
}

static const struct {
	const char *what, *text, *want;
} rows[] = {
	{"nothing", "plain words", ""},
	{"empty", "", ""},
	{"a literal, twice", "needle needle", "1:0-6 1:0-13 "},
	{"a literal minds the case", "Needle", ""},
	{"but not when told", "aNY.cASE", "2:0-8 "},
	{"a literal's dot is a dot", "anyxcase", ""},
	{"the start", "xx k1234z", "3:3-9 "},
	{"anchors", "begin last", "4:0-5 5:0-10 "},
	{"anchors elsewhere", " begin last ", ""},
	{"first only", "once once", "6:0-4 "},
	{"over lines", "a\nb", "7:0-3 "},
};

static void test_block(void **state)
{
	struct match *m = NULL;

	(void)state;
	assert_int_equal(match_is_usable(), 0);
	assert_int_equal(match_new(&match_db_test_block, &m), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct seen seen = {0};

		assert_int_equal(match_scan(m, rows[i].text, strlen(rows[i].text), seen_add, &seen),
				 0);
		if (strcmp(seen.text, rows[i].want) != 0)
			fail_msg("%s: got '%s', want '%s'", rows[i].what, seen.text, rows[i].want);
	}
	match_free(m);
	match_free(NULL);
}

static void test_stream_cut_anywhere(void **state)
{
	struct match *m = NULL;

	(void)state;
	assert_int_equal(match_new(&match_db_test_stream, &m), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t len = strlen(rows[i].text);

		for (size_t cut = 0; cut <= len; cut++) {
			struct seen seen = {0};

			assert_int_equal(match_feed(m, rows[i].text, cut, seen_add, &seen), 0);
			assert_int_equal(
				match_feed(m, rows[i].text + cut, len - cut, seen_add, &seen), 0);
			assert_int_equal(match_end(m, seen_add, &seen), 0);
			if (strcmp(seen.text, rows[i].want) != 0)
				fail_msg("%s, cut at %zu: got '%s', want '%s'", rows[i].what, cut,
					 seen.text, rows[i].want);
		}
	}
	match_free(m);
}

static void test_stop(void **state)
{
	struct seen seen = {.stop_at = 1};
	struct match *m = NULL;

	(void)state;
	assert_int_equal(match_new(&match_db_test_block, &m), 0);
	assert_int_equal(match_scan(m, "needle needle", 13, seen_add, &seen), -ECANCELED);
	assert_string_equal(seen.text, "1:0-6 ");
	match_free(m);
	/* An open stream is freed with the rest, and reports nothing more. */
	assert_int_equal(match_new(&match_db_test_stream, &m), 0);
	assert_int_equal(match_feed(m, "last", 4, seen_add, &seen), 0);
	match_free(m);
	assert_string_equal(seen.text, "1:0-6 ");
}

static void test_modes_are_not_mixed(void **state)
{
	struct seen seen = {0};
	struct match *m = NULL;

	(void)state;
	assert_int_equal(match_new(&match_db_test_block, &m), 0);
	assert_int_equal(match_feed(m, "needle", 6, seen_add, &seen), -EINVAL);
	match_free(m);
	assert_int_equal(match_new(&match_db_test_stream, &m), 0);
	assert_int_equal(match_scan(m, "needle", 6, seen_add, &seen), -EINVAL);
	match_free(m);
	assert_string_equal(seen.text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_block),
		cmocka_unit_test(test_stream_cut_anywhere),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_modes_are_not_mixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
