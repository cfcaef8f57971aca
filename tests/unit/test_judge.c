/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text judged without running it: which kind it is read as, what a line of --jsonl may be, what a text that is too
 * long is, and the published decisions of CloneGuard's policy engine.
 */
#include "core_fixture.h"

#include "core/checkline.h"
#include "core/constrain.h"
#include "core/judge.h"
#include "inspect/kind.h"
#include "policy/rules.h"

/* Names that both headers have; the test needs none of them from jansson. */
#define json_object jansson_object
#define json_array jansson_array
#define json_null jansson_null
#include <jansson.h>
#undef json_object
#undef json_array
#undef json_null

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

static bool vector_paths(const struct policy *p, json_t *want)
{
	size_t n = 0, i;
	json_t *path;

	for (size_t k = 0; k < p->mounts.n; k++)
		n += ((const struct mount *)p->mounts.records[k])->permissions == PERMISSION_RW;
	json_array_foreach(want, i, path)
	{
		bool found = false;

		for (size_t k = 0; k < p->mounts.n; k++) {
			const struct mount *m = p->mounts.records[k];

			found |= m->permissions == PERMISSION_RW &&
				 strcmp(m->path, json_string_value(path)) == 0;
		}
		if (!found)
			return false;
	}
	return n == json_array_size(want);
}

static struct policy *vector_policy(json_t *root, json_t *row)
{
	json_t *given = json_object_get(row, "policy");
	json_t *vars = json_object_get(row, "vars");
	AUTO_FREE char *text = NULL;
	const char *project = json_string_value(json_object_get(vars, "PROJECT_DIR"));
	struct policy_sources s = {
		.workspace = project ? project : fixture_dir,
		.home = fixture_dir,
		.venv = json_string_value(json_object_get(vars, "VENV_DIR")),
		.config_dir = fixture_dir,
		.checks = &core_checks,
	};
	struct cordon_error err = {0};
	struct policy *p = NULL;

	if (json_is_string(given))
		given = json_object_get(root, json_string_value(given));
	text = json_dumps(given, 0); /* JSON is YAML */
	assert_non_null(text);
	(void)unlink(fixture_path(".cordon.yaml"));
	fixture_write("policy.yaml", text);
	if (policy_load(&s, &p, &err) < 0)
		fail_msg("%s", err.message);
	return p;
}

static void vector_case(json_t *root, json_t *row, size_t number)
{
	static const char *const verdicts[VERDICT_COUNT] = {"clean", "suspicious", "detected"};
	static const enum threat levels[VERDICT_COUNT] = {THREAT_NONE, THREAT_MEDIUM, THREAT_HIGH};
	AUTO(policy_freep) struct policy *p = vector_policy(root, row);
	AUTO(judgement_done) struct judgement j = {0};
	const char *tool = json_string_value(json_object_get(row, "tool"));
	json_t *dry_run = json_object_get(row, "expect_dry_run");
	json_t *writable = json_object_get(row, "expect_writable");
	struct finding f = {
		.rule = "vector",
		.confidence = json_number_value(json_object_get(row, "confidence")),
	};

	for (int i = 0; i < VERDICT_COUNT; i++)
		if (strcmp(verdicts[i], json_string_value(json_object_get(row, "verdict"))) == 0)
			f.level = levels[i];
	assert_int_equal(findings_add(&j.findings, &f), 0);
	judge_findings(p, tool, NULL, &j);
	if (strcmp(names_word(&names_action, (int)j.action),
		   json_string_value(json_object_get(row, "expect_action"))) != 0)
		fail_msg("case %zu: %s", number, names_word(&names_action, (int)j.action));
	if (dry_run)
		assert_int_equal(j.is_dry_run, json_is_true(dry_run));
	if (writable) {
		struct policy *c = NULL;

		/* What constraining grants is cut to what the policy grants anyway: there, all of it. */
		p->fs_mode = FS_FULL;
		assert_int_equal(constrain_policy(p, tool, &c, NULL), 0);
		if (!vector_paths(c, writable))
			fail_msg("case %zu: writable", number);
		policy_free(c);
	}
}

/* Texts of a policy: an empty one is the default, and what is not valid is an error, never a fallback. */
static void vector_text(json_t *row, size_t number)
{
	const char *text = json_string_value(json_object_get(row, "policy_text"));
	AUTO(policy_freep) struct policy *p = NULL;
	struct cordon_error err = {0};
	int r = fixture_load(text, NULL, NULL, &p, &err);
	double suspicious, malicious;

	if (json_object_get(row, "expect_error")) {
		if (r >= 0)
			fail_msg("case %zu is accepted", number);
		return;
	}
	assert_int_equal(r, 0);
	policy_thresholds(p, NULL, NULL, &suspicious, &malicious);
	assert_true(!policy_is_enforcing(p) && suspicious == 0.3 && malicious == 0.7);
}

static void test_vectors(void **state)
{
	const char *shared = getenv("SHARED");
	char path[4096];
	json_t *root, *row;
	size_t i, decided = 0, texts = 0;

	(void)state;
	if (!shared || !*shared) {
		print_message("# skip: ../shared not there\n");
		skip();
	}
	(void)snprintf(path, sizeof(path), "%s/spec/cloneguard/policy_vectors.json", shared);
	root = json_load_file(path, 0, NULL);
	assert_non_null(root);
	json_array_foreach(json_object_get(root, "cases"), i, row)
	{
		if (json_object_get(row, "policy_text")) {
			vector_text(row, i);
			texts++;
		} else if (json_object_get(row, "policy")) {
			vector_case(root, row, i);
			decided++;
		} else {
			/* A policy in the working tree: ours is read there, but may only tighten
			 * (test_policy_layers). */
			assert_non_null(json_object_get(row, "policy_location"));
		}
	}
	assert_true(decided >= 9 && texts >= 4);
	json_decref(root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),     cmocka_unit_test(test_lines),
		cmocka_unit_test(test_cut_lines), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_plan),      cmocka_unit_test(test_vectors),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
