/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans with the database of match_patterns.c: what is found and where, and what a stopped scan says.
 */
#include "base/mem.h"
#include "match/match.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

MATCH_DB(test);

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
	assert_int_equal(match_new(&match_db_test, &m), 0);
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

static void test_stop(void **state)
{
	struct seen seen = {.stop_at = 1};
	struct match *m = NULL;

	(void)state;
	assert_int_equal(match_new(&match_db_test, &m), 0);
	assert_int_equal(match_scan(m, "needle needle", 13, seen_add, &seen), -ECANCELED);
	assert_string_equal(seen.text, "1:0-6 ");
	match_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_block),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
