/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule of a scan hits its example and leaves its counter-example alone; and .gitignore as git reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/jsonc.h"
#include "base/mem.h"
#include "scan/document.h"
#include "scan/ignore.h"
#include "scan/rules.h"

#include <string.h>

static bool finds(const struct scan_rule *rule, const char *example)
{
	AUTO(findings_done) struct findings found = {0};
	struct scan_source s = {
		.path = rule->path,
		.text = example,
		.len = strlen(example),
		.is_tracked = rule->example == SCAN_BY_TRACKED,
	};
	struct cordon_error err = {0};
	int r;

	if (rule->example == SCAN_BY_LINK)
		r = scan_link(&s, example, example[0] == '/' || strncmp(example, "../../", 6) == 0,
			      &found, &err);
	else
		r = scan_document(&s, &found, &err);
	if (r < 0)
		print_error("%s: %s\n", rule->id, err.message);
	assert_int_equal(r, 0);
	for (size_t i = 0; i < found.n; i++)
		if (strcmp(found.items[i].rule, rule->id) == 0)
			return true;
	return false;
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < SCAN_RULE_COUNT; i++) {
		const struct scan_rule *rule = &scan_rules[i];

		assert_non_null(rule->id);
		assert_true(rule->reason[0] && rule->hit[0] && rule->miss[0]);
		assert_true(rule->confidence > 0 && rule->confidence <= 1);
		if (!finds(rule, rule->hit))
			fail_msg("%s does not hit its example", rule->id);
		if (finds(rule, rule->miss))
			fail_msg("%s hits its counter-example", rule->id);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(scan_rules[k].id, rule->id);
	}
}

static const struct {
	const char *what, *dir, *text, *path;
	bool is_dir, want;
} ignored[] = {
	{"a name anywhere", "", "*.o\n", "a/b/c.o", false, true},
	{"another name", "", "*.o\n", "a/b/c.c", false, false},
	{"tied to its place", "", "/build\n", "build", true, true},
	{"tied, deeper", "", "/build\n", "a/build", true, false},
	{"a slash in the middle ties too", "", "doc/x\n", "a/doc/x", false, false},
	{"only directories", "", "out/\n", "out", false, false},
	{"only directories, one", "", "out/\n", "a/out", true, true},
	{"taken back", "", "*.log\n!keep.log\n", "keep.log", false, false},
	{"the last one wins", "", "!keep.log\n*.log\n", "keep.log", false, true},
	{"of a directory below", "sub", "*.c\n", "sub/a.c", false, true},
	{"of a directory below, beside it", "sub", "*.c\n", "a.c", false, false},
	{"of a directory below, alike", "sub", "*.c\n", "subs/a.c", false, false},
	{"tied below", "sub", "/a.c\n", "sub/a.c", false, true},
	{"tied below, deeper", "sub", "/a.c\n", "sub/x/a.c", false, false},
	{"comment", "", "# *.c\n", "a.c", false, false},
	{"quoted comment", "", "\\#a\n", "#a", false, true},
	{"quoted exclamation", "", "\\!a\n", "!a", false, true},
	{"blanks at the end", "", "a.c  \n", "a.c", false, true},
	{"carriage return", "", "a.c\r\n", "a.c", false, true},
	{"two stars in front", "", "**/foo\n", "a/b/foo", false, true},
	{"two stars behind", "", "abc/**\n", "abc/d/e", false, true},
	{"two stars between", "", "a/**/b\n", "a/x/y/b", false, true},
	{"two stars between, none", "", "a/**/b\n", "a/b", false, true},
	{"a star stops at a slash", "", "a/*\n", "a/b/c", false, false},
	{"a set", "", "*.[oa]\n", "x.a", false, true},
	{"a set that is not closed hides nothing", "", "*.[oa\n", "x.[oa", false, false},
	{"empty", "", "\n/\n!\n", "a", false, false},
};

static void test_ignore(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++) {
		struct ignore *g = NULL;
		struct cordon_error err = {0};
		bool got;

		assert_int_equal(ignore_new(&g, &err), 0);
		assert_int_equal(ignore_add(g, ignored[i].dir, ignored[i].text,
					    strlen(ignored[i].text), &err),
				 0);
		got = ignore_match(g, ignored[i].path, ignored[i].is_dir);
		ignore_drop(g, 0);
		assert_false(ignore_match(g, ignored[i].path, ignored[i].is_dir));
		ignore_free(g);
		if (got != ignored[i].want)
			fail_msg("%s", ignored[i].what);
	}
}

static const struct {
	const char *in, *out;
} jsonc[] = {
	{"{\"a\": 1} // x", "{\"a\": 1}     "},
	{"{/* x */\"a\": 1}", "{       \"a\": 1}"},
	{"{\"a\": \"// no\", }", "{\"a\": \"// no\"  }"},
	{"[1, 2 , ]", "[1, 2   ]"},
	{"[1, // x\n]", "[1      \n]"},
	{"\"a\\\"//\" /", "\"a\\\"//\" /"},
	{"/*", "  "},
	{"/", "/"},
};

static void test_jsonc(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(jsonc); i++) {
		char text[64] = "";

		memcpy(text, jsonc[i].in, strlen(jsonc[i].in));
		jsonc_blank(text, strlen(text), JSONC_COMMENTS | JSONC_TRAILING_COMMAS);
		assert_string_equal(text, jsonc[i].out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_ignore),
		cmocka_unit_test(test_jsonc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
