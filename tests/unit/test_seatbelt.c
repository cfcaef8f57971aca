/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles for macOS's sandbox.  There is no macOS here, so a reader of the language (lists, strings, words; the last rule
 * that fits decides) answers what a profile lets through.  It knows only what our profiles use, and fails on the rest.
 */
#include "backend/seatbelt/sbpl.h"
#include "backend/seatbelt/seatbelt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define READER_DEPTH 8
#define READER_TEXT 512

struct reader {
	const char *at;
};

static void reader_blank(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\n')
		r->at++;
}

static void reader_want(struct reader *r, char c)
{
	reader_blank(r);
	if (*r->at != c)
		fail_msg("wanted '%c' at '%.40s'", c, r->at);
	r->at++;
}

/* A word, or a string with its escapes taken out. */
static void reader_atom(struct reader *r, char ret[static READER_TEXT])
{
	size_t n = 0;

	reader_blank(r);
	if (*r->at != '"') {
		while (*r->at && !strchr(" \n()\"", *r->at) && n < READER_TEXT - 1)
			ret[n++] = *r->at++;
		ret[n] = '\0';
		assert_true(n > 0);
		return;
	}
	for (r->at++; *r->at != '"'; r->at++) {
		if (*r->at == '\\')
			r->at++;
		assert_true((unsigned char)*r->at >= ' ' && n < READER_TEXT - 1);
		ret[n++] = *r->at;
	}
	r->at++;
	ret[n] = '\0';
}

static bool reader_is_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	if (strcmp(top, "/") == 0)
		return true;
	return strncmp(path, top, len) == 0 && (!path[len] || path[len] == '/');
}

/* Does the filter fit the path?  NULL as path: only read over it. */
static bool reader_filter(struct reader *r, const char *path, int depth)
{
	char word[READER_TEXT];
	char text[READER_TEXT];
	bool fits = true;

	assert_true(depth < READER_DEPTH);
	reader_want(r, '(');
	reader_atom(r, word);
	if (strcmp(word, "require-all") == 0) {
		for (reader_blank(r); *r->at == '('; reader_blank(r))
			fits &= reader_filter(r, path, depth + 1);
	} else if (strcmp(word, "require-not") == 0) {
		fits = !reader_filter(r, path, depth + 1);
	} else {
		reader_atom(r, text);
		if (strcmp(word, "literal") == 0)
			fits = path && strcmp(path, text) == 0;
		else if (strcmp(word, "subpath") == 0)
			fits = path && reader_is_below(path, text);
		else if (strcmp(word, "target") == 0 || strcmp(word, "global-name") == 0)
			fits = false;
		else
			fail_msg("filter '%s' is not known", word);
	}
	reader_want(r, ')');
	return fits;
}

/* "file-read*" fits file-read-data. */
static bool reader_is_operation(const char *pattern, const char *operation)
{
	size_t len = strlen(pattern);

	if (len > 0 && pattern[len - 1] == '*')
		return strncmp(pattern, operation, len - 1) == 0;
	return strcmp(pattern, operation) == 0;
}

/* What the profile says to the operation on the path. */
static bool profile_allows(const char *profile, const char *operation, const char *path)
{
	struct reader r = {profile};
	bool allows = true;
	bool has_version = false;

	for (reader_blank(&r); *r.at; reader_blank(&r)) {
		char act[READER_TEXT];
		char word[READER_TEXT];
		bool fits = false;
		bool filter_fits = true;

		reader_want(&r, '(');
		reader_atom(&r, act);
		if (strcmp(act, "version") == 0) {
			reader_atom(&r, word);
			assert_string_equal(word, "1");
			has_version = true;
		} else {
			assert_true(has_version);
			assert_true(strcmp(act, "allow") == 0 || strcmp(act, "deny") == 0);
			for (reader_blank(&r); *r.at != ')' && *r.at != '('; reader_blank(&r)) {
				reader_atom(&r, word);
				fits |= strcmp(word, "default") == 0 ||
					reader_is_operation(word, operation);
			}
			if (*r.at == '(')
				filter_fits = reader_filter(&r, path, 0);
			if (fits && filter_fits)
				allows = strcmp(act, "allow") == 0;
		}
		reader_want(&r, ')');
	}
	return allows;
}

static const struct plan_op plan_ops[] = {
	{.kind = PLAN_OP_SYSTEM, .path = "/usr"},
	{.kind = PLAN_OP_TMPFS, .path = "/tmp"},
	{.kind = PLAN_OP_TMPFS, .path = "/Users/u"},
	{.kind = PLAN_OP_FILE, .path = "/Users/u/.gitconfig", .text = "x"},
	{.kind = PLAN_OP_BIND_RO, .path = "/Users/u/tools"},
	{.kind = PLAN_OP_BIND_RW, .path = "/Users/u/w \"x\" \\ (y"},
	{.kind = PLAN_OP_BIND_RW, .path = "/Users/u/data", .is_noexec = true},
	{.kind = PLAN_OP_DENY, .path = "/Users/u/w \"x\" \\ (y/deep/key"},
	{.kind = PLAN_OP_PROTECT,
	 .path = "/Users/u/w \"x\" \\ (y/.claude",
	 .except = "worktrees",
	 .is_dir = true},
};

#define WORK "/Users/u/w \"x\" \\ (y"

static const struct {
	const char *operation;
	const char *path;
	bool strict;
	bool moderate;
} allow_rows[] = {
	{"file-read-data", "/usr/bin/true", true, true},
	{"process-exec", "/usr/bin/true", true, true},
	{"file-write-data", "/usr/bin/true", false, false},
	{"file-read-data", "/private/tmp/x", false, false},
	{"file-write-create", "/private/tmp/x", false, false},
	{"file-read-data", "/Users/u/.ssh/id", false, false},
	{"file-read-data", "/Users/u/.gitconfig", false, false},
	{"file-read-data", "/Users/other/file", false, true},
	{"file-read-metadata", "/Users/other/file", false, true},
	{"file-write-data", "/Users/other/file", false, false},
	{"file-read-data", "/Users/u/tools/t", true, true},
	{"process-exec", "/Users/u/tools/t", true, true},
	{"file-write-data", "/Users/u/tools/t", false, false},
	{"file-read-data", WORK "/f", true, true},
	{"file-write-create", WORK "/f", true, true},
	{"process-exec", WORK "/f", true, true},
	{"file-read-data", WORK "z/f", false, false},
	{"file-read-metadata", "/Users", true, true},
	{"file-write-data", "/Users/u/data/f", true, true},
	{"process-exec", "/Users/u/data/f", false, false},
	{"file-read-data", WORK "/deep/key", false, false},
	{"file-write-create", WORK "/deep/key", false, false},
	{"file-read-data", WORK "/deep/key2", true, true},
	{"file-write-unlink", WORK "/deep", false, false},
	{"file-write-unlink", WORK "/deep2", true, true},
	{"file-read-data", WORK "/.claude/s", true, true},
	{"file-write-data", WORK "/.claude/s", false, false},
	{"file-write-create", WORK "/.claude", false, false},
	{"file-write-create", WORK "/.claude/worktrees/f", true, true},
	{"network-outbound", NULL, false, false},
	{"mach-lookup", NULL, false, false},
	{"process-fork", NULL, true, true},
	{"sysctl-read", NULL, true, true},
	{"sysctl-write", NULL, false, false},
	{"file-write-data", "/dev/null", true, true},
	{"file-read-data", "/dev/disk0", false, true},
	{"iokit-open", NULL, false, false},
};

static void test_plan(void **state)
{
	struct plan plan = {.ops = plan_ops, .op_count = ARRAY_LEN(plan_ops)};
	AUTO(buf_done) struct buf strict = BUF_INIT(SBPL_MAX);
	AUTO(buf_done) struct buf moderate = BUF_INIT(SBPL_MAX);
	AUTO(buf_done) struct buf open_net = BUF_INIT(SBPL_MAX);

	(void)state;
	assert_int_equal(seatbelt_profile(&plan, &strict, NULL), 0);
	plan.seatbelt = SEATBELT_MODERATE;
	assert_int_equal(seatbelt_profile(&plan, &moderate, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(allow_rows); i++) {
		if (profile_allows(buf_cstr(&strict), allow_rows[i].operation,
				   allow_rows[i].path) != allow_rows[i].strict)
			fail_msg("strict: %s %s", allow_rows[i].operation, allow_rows[i].path);
		if (profile_allows(buf_cstr(&moderate), allow_rows[i].operation,
				   allow_rows[i].path) != allow_rows[i].moderate)
			fail_msg("moderate: %s %s", allow_rows[i].operation, allow_rows[i].path);
	}
	plan.seatbelt = SEATBELT_STRICT;
	plan.net = PLAN_NET_HOST;
	assert_int_equal(seatbelt_profile(&plan, &open_net, NULL), 0);
	assert_true(profile_allows(buf_cstr(&open_net), "network-outbound", NULL));
}

static const struct {
	const char *what;
	struct plan_op op;
	struct plan plan;
	const char *want;
} refused_rows[] = {
	{"a change set", {.kind = PLAN_OP_COW, .path = "/w", .text = "/c"}, {0}, "needs one"},
	{"a cache", {.kind = PLAN_OP_CACHE, .path = "/w", .text = "/c"}, {0}, "needs one"},
	{"a socket", {.kind = PLAN_OP_SOCKET, .path = "/w"}, {0}, "needs one"},
	{"an unknown step", {.kind = PLAN_OP_COUNT, .path = "/w"}, {0}, "needs one"},
	{"a relative path", {.kind = PLAN_OP_BIND_RO, .path = "w"}, {0}, "not absolute"},
	{"a line break", {.kind = PLAN_OP_BIND_RO, .path = "/w\n)(allow default"}, {0}, "control"},
	{"no UTF-8", {.kind = PLAN_OP_BIND_RO, .path = "/w\xff"}, {0}, "UTF-8"},
	{"a proxy", {.kind = PLAN_OP_BIND_RO, .path = "/w"}, {.net = PLAN_NET_PROXY}, "network"},
	{"moderate, and a scope",
	 {.kind = PLAN_OP_BIND_RO, .path = "/w"},
	 {.seatbelt = SEATBELT_MODERATE, .needs = GUARANTEE_BIT(READ_SCOPE)},
	 "read-scope"},
	{"one's own, and a scope",
	 {.kind = PLAN_OP_BIND_RO, .path = "/w"},
	 {.seatbelt = "/w/own.sb", .needs = GUARANTEE_BIT(WRITE_SCOPE)},
	 "write-scope"},
	{"one's own that is not there",
	 {.kind = PLAN_OP_BIND_RO, .path = "/w"},
	 {.seatbelt = "/no/such.sb"},
	 "/no/such.sb"},
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused_rows); i++) {
		struct plan plan = refused_rows[i].plan;
		AUTO(buf_done) struct buf out = BUF_INIT(SBPL_MAX);
		struct cordon_error err = {0};

		plan.ops = &refused_rows[i].op;
		plan.op_count = 1;
		assert_true(seatbelt_profile(&plan, &out, &err) < 0);
		if (!strstr(err.message, refused_rows[i].want))
			fail_msg("%s: %s", refused_rows[i].what, err.message);
	}
}

static void test_line(void **state)
{
	char *argv[] = {(char[]){"-x"}, (char[]){"a b"}, NULL};
	AUTO(strv_done) struct strv words = {0};
	static const char *const want[] = {
		"/usr/bin/sandbox-exec", "-p", "(version 1)", "--", "-x", "a b"};

	(void)state;
	assert_int_equal(seatbelt_line(want[0], want[2], argv, &words), 0);
	assert_int_equal(words.n, ARRAY_LEN(want));
	for (size_t i = 0; i < words.n; i++)
		assert_string_equal(words.v[i], want[i]);
}

/* The reader itself turns red. */
static void test_reader(void **state)
{
	(void)state;
	assert_true(profile_allows("(version 1)(deny default)(allow file-read* (subpath \"/a\"))",
				   "file-read-data", "/a/b"));
	assert_false(profile_allows("(version 1)(allow file-read* (subpath \"/a\"))(deny default)",
				    "file-read-data", "/a/b"));
	assert_false(profile_allows("(version 1)(deny default)(allow file-read* (literal \"/a\"))",
				    "file-read-data", "/a/b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
