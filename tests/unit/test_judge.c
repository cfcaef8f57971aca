/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text judged without running it: which kind it is read as, what a line of --jsonl may be, what a text that is too
 * long is, how strictly a file is read.
 */
#include "core_fixture.h"

#include "core/checkline.h"
#include "core/constrain.h"
#include "core/judge.h"
#include "inspect/kind.h"

static void test_kinds(void **state)
{
	static const struct {
		const char *text, *path;
		enum inspect_kind want;
	} rows[] = {
		{"", NULL, INSPECT_AUTO},
		{"ls -l", NULL, INSPECT_AUTO},
		{"rm -rf /", NULL, INSPECT_AUTO},
		{"rm -rf /", "x.sh", INSPECT_BASH},
		{"rm -rf /", "README.md", INSPECT_TEXT},
		{"#!/bin/sh\nrm x\n", NULL, INSPECT_BASH},
		{"#!/usr/bin/env python3\nx\n", NULL, INSPECT_PYTHON},
		{"#!/usr/bin/env ruby\nx\n", NULL, INSPECT_AUTO},
		{"import os\nos.system('x')\n", NULL, INSPECT_PYTHON},
		{"import os, sys as s\r\n", NULL, INSPECT_PYTHON},
		{"import the goods into the country\n", NULL, INSPECT_AUTO},
		{"from os import path\n", NULL, INSPECT_PYTHON},
		{"def f(x):\n  pass\n", NULL, INSPECT_PYTHON},
		{"package main\n\nimport \"os\"\n", NULL, INSPECT_GO},
		{"package main\n\nfunc main() {}\n", NULL, INSPECT_GO},
		{"package deal for the func of it\n", NULL, INSPECT_AUTO},
		{"The weather in Paris is fine today.\n", NULL, INSPECT_TEXT},
		{"# Title\n\nSome words about the thing.\n", NULL, INSPECT_TEXT},
		{"FOO=1 BAR=2 make -j4 all", NULL, INSPECT_AUTO},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		enum inspect_kind got =
			kind_guess(rows[i].text, strlen(rows[i].text), rows[i].path);

		if (got != rows[i].want)
			fail_msg("'%s': %s", rows[i].text, inspect_kind_name(got));
	}
}

static void test_lines(void **state)
{
	static const struct {
		const char *line, *id, *text;
		size_t text_len;
		int code;
	} rows[] = {
		{"{\"id\":1,\"text\":\"a\"}", "1", "a", 1, 0},
		{"{\"text\":\"\"}", NULL, "", 0, 0},
		{"{\"id\":\"x\",\"text\":\"a\\u0000b\",\"label\":\"z\"}", "\"x\"", "a", 3, 0},
		{"{\"id\":[1,{}],\"text\":\"a\",\"kind\":null}", "[1,{}]", "a", 1, 0},
		{"{\"id\":2}", "2", NULL, 0, CORDON_E_INVALID},
		{"{\"id\":2,\"text\":7}", "2", NULL, 0, CORDON_E_INVALID},
		{"{\"id\":2,\"text\":\"a\",\"kind\":7}", "2", NULL, 0, CORDON_E_INVALID},
		{"{\"id\":1,\"id\":2,\"text\":\"a\"}", NULL, NULL, 0, CORDON_E_INVALID},
		{"[1]", NULL, NULL, 0, CORDON_E_INVALID},
		{"", NULL, NULL, 0, CORDON_E_INVALID},
		{"{\"text\":\"\xff\"}", NULL, NULL, 0, CORDON_E_INVALID},
		{"{\"text\":\"a\"} x", NULL, NULL, 0, CORDON_E_INVALID},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(checkline_done) struct checkline c = {0};
		struct cordon_error err = {0};
		int r = checkline_parse(rows[i].line, strlen(rows[i].line), &c, &err);

		if (r != rows[i].code || !c.id != !rows[i].id ||
		    (c.id && strcmp(c.id, rows[i].id) != 0) ||
		    (r == 0 &&
		     (c.text_len != rows[i].text_len || strcmp(c.text, rows[i].text) != 0)))
			fail_msg("%s: %d %s", rows[i].line, r, err.message);
	}
}

/* Of a line that is too long only the beginning is known. */
static void test_cut_lines(void **state)
{
	static const struct {
		const char *start, *id;
	} rows[] = {
		{"{\"id\":\"big\",\"text\":\"aaa", "\"big\""},
		{" { \"id\" : 12 , \"te", "12"},
		{"{\"id\":\"a\\\"b\",", "\"a\\\"b\""},
		{"{\"id\":\"cut", NULL},
		{"{\"text\":\"aaa", NULL},
		{"{\"id\":{\"a\":1},", NULL},
		{"{\"id\":--,", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FREE char *id = NULL;

		assert_int_equal(checkline_id(rows[i].start, strlen(rows[i].start), &id), 0);
		if (!id != !rows[i].id || (id && strcmp(id, rows[i].id) != 0))
			fail_msg("%s: %s", rows[i].start, id ? id : "none");
	}
}

/* What was not read is never SAFE. */
static void test_cut(void **state)
{
	AUTO(policy_freep) struct policy *p = fixture_policy("sandbox: {level: process}\n");
	struct judge_input in = {.policy = p, .kind = INSPECT_TEXT};

	(void)state;
	for (int cut = 0; cut < 2; cut++) {
		AUTO(judgement_done) struct judgement j = {0};

		in.is_cut = cut;
		assert_int_equal(judge_text(&in, "The sky is blue.", 16, &j, NULL), 0);
		assert_int_equal(j.verdict.kind, cut ? VERDICT_SUSPICIOUS : VERDICT_SAFE);
		assert_int_equal(j.action, cut ? ACTION_CONSTRAIN : ACTION_ALLOW);
		assert_true(j.is_dry_run);
	}
}

/* The tighter plan: no network, nothing that the policy did not grant, some backend. */
static void test_plan(void **state)
{
	AUTO(policy_freep)
	struct policy *p =
		fixture_policy("sandbox: {capabilities: {network: {mode: allow-all}}}\n");
	struct constrained c = {0};
	struct cordon_error err = {0};

	(void)state;
	if (constrain_plan(p, "Bash", NULL, NULL, &c, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(c.policy->net_mode, NET_DENY);
	assert_int_equal(c.policy->fs_mode, FS_DENY);
	assert_string_equal(c.requested, "strongest");
	assert_true(c.selection.backend || c.problem[0]);
	constrained_done(&c);
	/* A backend that is not there is said, and is no error. */
	assert_int_equal(constrain_plan(p, "Bash", NULL, "firecracker", &c, &err), 0);
	assert_true(!c.selection.backend && c.problem[0]);
	constrained_done(&c);
}

static void test_modes(void **state)
{
	AUTO(policy_freep)
	struct policy *p = fixture_policy(
		"enforcement: {scan_modes: {\"**/docs/**\": lenient, README.md: strict}}\n");
	static const struct {
		const char *path;
		enum fuse_mode want;
	} rows[] = {
		{NULL, FUSE_STANDARD},
		{"src/main.c", FUSE_STANDARD},
		{"CLAUDE.md", FUSE_STRICT},
		{"sub/AGENTS.md", FUSE_STRICT},
		{"/w/.claude/commands/x.md", FUSE_STRICT},
		{"tests/bad.txt", FUSE_LENIENT},
		{"a/fixtures/b/c", FUSE_LENIENT},
		{"contest/x", FUSE_STANDARD},
		/* the policy's word comes first */
		{"docs/CLAUDE.md", FUSE_LENIENT},
		{"tests/README.md", FUSE_STRICT},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (judge_mode(p, "/w", rows[i].path) != rows[i].want)
			fail_msg("%s: %d", rows[i].path, judge_mode(p, "/w", rows[i].path));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),     cmocka_unit_test(test_lines),
		cmocka_unit_test(test_cut_lines), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_plan),      cmocka_unit_test(test_modes),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
