/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule of a scan hits its example and leaves its counter-example alone; and .gitignore as git reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/jsonc.h"
#include "base/mem.h"
#include "base/parse.h"
#include "scan/document.h"
#include "scan/gitindex.h"
#include "scan/ignore.h"
#include "scan/rules.h"
#include "scan/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int parse_depth(const char *text)
{
	int64_t value = 0;

	assert_int_equal(parse_int(text, 0, 1000, &value), 0);
	return (int)value;
}

/* A tree on the disk: a link, or directories inside one another. */
static bool finds_in_tree(const struct scan_rule *rule, const char *example)
{
	struct scan_options o = {0};
	struct scan_report report = {0};
	struct cordon_error err = {0};
	char dir[] = "/tmp/cordon-scan-XXXXXX";
	char path[1024];
	int depth = rule->example == SCAN_BY_DEPTH ? parse_depth(example) : 0;
	bool found = false;

	assert_non_null(mkdtemp(dir));
	assert_return_code(chdir(dir), 0);
	if (rule->example == SCAN_BY_REAL_LINK)
		assert_return_code(symlink(example, rule->path), 0);
	for (int i = 0; i < depth; i++) {
		assert_return_code(mkdir(rule->path, 0700), 0);
		assert_return_code(chdir(rule->path), 0);
	}
	assert_int_equal(scan_tree(dir, &o, &report, &err), 0);
	for (size_t i = 0; i < report.n; i++)
		found |= strcmp(report.hits[i].finding.rule, rule->id) == 0;
	assert_int_equal(report.is_cut, found && strcmp(rule->id, "SCAN-LIMIT") == 0);
	scan_report_done(&report);
	for (int i = 0; i < depth; i++) {
		assert_return_code(chdir(".."), 0);
		assert_return_code(rmdir(rule->path), 0);
	}
	(void)snprintf(path, sizeof(path), "%s/%s", dir, rule->path);
	(void)unlink(path);
	assert_return_code(chdir("/"), 0);
	assert_return_code(rmdir(dir), 0);
	return found;
}

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

	if (rule->example == SCAN_BY_REAL_LINK || rule->example == SCAN_BY_DEPTH)
		return finds_in_tree(rule, example);
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

/* An index of git's with the paths given, as git writes it. */
static void index_make(struct buf *out, unsigned version, size_t hash, const char *const *paths,
		       const char *extension)
{
	const char zeros[64] = {0};
	unsigned n = 0;

	while (paths[n])
		n++;
	buf_add(out, "DIRC\0\0\0", 7);
	buf_char(out, (char)version);
	buf_add(out, zeros, 3);
	buf_char(out, (char)n);
	for (unsigned i = 0; i < n; i++) {
		size_t start = out->len, same = 0, before = i ? strlen(paths[i - 1]) : 0;

		buf_add(out, zeros, 40);
		buf_add(out, zeros, hash);
		buf_add(out, zeros, 2);
		if (version == 4) {
			while (i && same < before && paths[i][same] == paths[i - 1][same])
				same++;
			buf_char(out, (char)(before - same));
		}
		buf_add(out, paths[i] + same, strlen(paths[i] + same) + 1);
		while (version < 4 && (out->len - start) % 8)
			buf_char(out, '\0');
	}
	if (extension) {
		buf_add(out, extension, 4);
		buf_add(out, "\0\0\0\4abcd", 8);
	}
	buf_add(out, zeros, hash);
}

static void test_gitindex(void **state)
{
	static const char *const paths[] = {"a.c", "lib/a.c", "lib/inner/b.c", "vendor/x", NULL};
	static const size_t hashes[] = {20, 32};

	(void)state;
	for (unsigned version = 2; version <= 4; version++) {
		for (size_t h = 0; h < ARRAY_LEN(hashes); h++) {
			struct buf text = BUF_INIT(1 << 16);
			struct gitindex index;

			index_make(&text, version, hashes[h], paths, "TREE");
			assert_int_equal(gitindex_read(text.data, text.len, &index), 0);
			assert_false(index.is_partial);
			assert_true(gitindex_has(&index, "lib/inner/b.c"));
			assert_false(gitindex_has(&index, "inner/b.c"));
			assert_false(gitindex_has(&index, "lib/inner"));
			assert_true(gitindex_may_have_below(&index, "vendor"));
			assert_false(gitindex_may_have_below(&index, "inner"));
			gitindex_done(&index);
			/* Cut in its entries it is not whole, and then everything may be there. */
			for (size_t cut = 0; cut < text.len - 12 - hashes[h]; cut++) {
				assert_int_equal(gitindex_read(text.data, cut, &index), 0);
				assert_true(index.is_partial);
				assert_true(gitindex_may_have_below(&index, "inner"));
				gitindex_done(&index);
			}
			buf_clear(&text);
			index_make(&text, version, hashes[h], paths, "link");
			assert_int_equal(gitindex_read(text.data, text.len, &index), 0);
			assert_true(index.is_partial);
			gitindex_done(&index);
			buf_done(&text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_gitindex),
		cmocka_unit_test(test_ignore),
		cmocka_unit_test(test_jsonc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
