/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of CKP's kind Policy: {rules, call, answer}. */
#include "core_fixture.h"

#include "policy/rules.h"

#define CKP(rules) "claw: \"0.3.0\"\nkind: Policy\nmetadata: {name: p}\nspec:\n  rules:\n" rules

#define ALLOW "  - {id: a, action: allow, scope: all}\n"
#define DENY "  - {id: d, action: deny, scope: all}\n"

struct call {
	const char *tool, *category, *path, *argument, *annotation;
};

static void evaluate(const struct policy *p, const struct call *c, struct rule_answer *ret)
{
	struct strv paths = {0}, arguments = {0}, annotations = {0};
	struct rule_call call = {.tool = c->tool,
				 .category = c->category,
				 .paths = &paths,
				 .arguments = &arguments,
				 .annotations = &annotations};

	if (c->path)
		assert_int_equal(strv_add(&paths, c->path), 0);
	if (c->argument)
		assert_int_equal(strv_add(&arguments, c->argument), 0);
	if (c->annotation)
		assert_int_equal(strv_add(&annotations, c->annotation), 0);
	rules_evaluate(p, &call, ret);
	strv_done(&paths);
	strv_done(&arguments);
	strv_done(&annotations);
}

static void test_rows(void **state)
{
	static const struct {
		const char *what, *yaml;
		struct call call;
		enum rule_action want;
	} rows[] = {
		{"no rules", "sandbox: {level: none}\n", {"T"}, RULE_ALLOW},
		{"first match allows", CKP(ALLOW DENY), {"T"}, RULE_ALLOW},
		{"first match denies", CKP(DENY ALLOW), {"T"}, RULE_DENY},
		{"no match denies",
		 CKP("  - {id: a, action: allow, scope: tool, match: {name: X}}\n"),
		 {"T"},
		 RULE_DENY},
		{"TV-L2-04: deny-all", CKP(DENY), {"destructive-tool"}, RULE_DENY},
		{"TV-L2-06: by name",
		 CKP("  - {id: s, action: require-approval, scope: tool, match: {name: shell}}\n" ALLOW),
		 {"shell"},
		 RULE_REQUIRE_APPROVAL},
		{"TV-L2-06: others",
		 CKP("  - {id: s, action: require-approval, scope: tool, match: {name: shell}}\n" ALLOW),
		 {"echo"},
		 RULE_ALLOW},
		{"TV-L2-09: by argument",
		 CKP("  - {id: m, action: deny, scope: tool, match: {arguments: {url: \"*169.254.*\"}}}\n" ALLOW),
		 {"network-tool", .argument = "url=http://169.254.169.254/metadata"},
		 RULE_DENY},
		{"another argument",
		 CKP("  - {id: m, action: deny, scope: tool, match: {arguments: {url: \"*169.254.*\"}}}\n" ALLOW),
		 {"network-tool", .argument = "url=http://example.org"},
		 RULE_ALLOW},
		{"an argument's name is whole",
		 CKP("  - {id: m, action: deny, scope: tool, match: {arguments: {url: \"*\"}}}\n" ALLOW),
		 {"t", .argument = "urls=x"},
		 RULE_ALLOW},
		{"glob of tools",
		 CKP("  - {id: s, action: allow, scope: tool, match: {tool: \"Re*\"}}\n"),
		 {"Read"},
		 RULE_ALLOW},
		{"glob of tools, another",
		 CKP("  - {id: s, action: allow, scope: tool, match: {tool: \"Re*\"}}\n"),
		 {"Write"},
		 RULE_DENY},
		{"category",
		 CKP("  - {id: c, action: allow, scope: category, match: {category: read}}\n"),
		 {"T", "read"},
		 RULE_ALLOW},
		{"another category",
		 CKP("  - {id: c, action: allow, scope: category, match: {category: read}}\n"),
		 {"T", "write"},
		 RULE_DENY},
		{"unknown category does not allow",
		 CKP("  - {id: c, action: allow, scope: category, match: {category: read}}\n"),
		 {"T"},
		 RULE_DENY},
		{"unknown category is denied",
		 CKP("  - {id: c, action: deny, scope: category, match: {category: write}}\n" ALLOW),
		 {"T"},
		 RULE_DENY},
		{"scope category without one never allows",
		 CKP("  - {id: c, action: allow, scope: category}\n"),
		 {"T", "x"},
		 RULE_DENY},
		{"inside",
		 CKP("  - {id: p, action: allow, scope: all, conditions: {path_within: /srv/p}}\n"),
		 {"T", .path = "/srv/p/x"},
		 RULE_ALLOW},
		{"the directory itself",
		 CKP("  - {id: p, action: allow, scope: all, conditions: {path_within: /srv/p}}\n"),
		 {"T", .path = "/srv/p"},
		 RULE_ALLOW},
		{"beside",
		 CKP("  - {id: p, action: allow, scope: all, conditions: {path_within: /srv/p}}\n"),
		 {"T", .path = "/srv/p2/x"},
		 RULE_DENY},
		{"no path known does not allow",
		 CKP("  - {id: p, action: allow, scope: all, conditions: {path_within: /srv/p}}\n"),
		 {"T"},
		 RULE_DENY},
		{"no path known is denied",
		 CKP("  - {id: p, action: deny, scope: all, conditions: {path_within: /etc}}\n" ALLOW),
		 {"T"},
		 RULE_DENY},
		{"outside of a deny",
		 CKP("  - {id: p, action: deny, scope: all, conditions: {path_within: /etc}}\n" ALLOW),
		 {"T", .path = "/srv/p"},
		 RULE_ALLOW},
		{"unknown condition does not allow",
		 CKP("  - {id: u, action: allow, scope: all, conditions: {moon: full}}\n"),
		 {"T"},
		 RULE_DENY},
		{"unknown condition denies",
		 CKP("  - {id: u, action: deny, scope: all, conditions: {moon: full}}\n" ALLOW),
		 {"T"},
		 RULE_DENY},
		{"annotations do not allow",
		 CKP("  - {id: n, action: allow, scope: tool, match: {annotations: {readOnlyHint: true}}}\n"),
		 {"T", .annotation = "readOnlyHint=true"},
		 RULE_DENY},
		{"annotations deny",
		 CKP("  - {id: n, action: deny, scope: tool, match: {annotations: {destructiveHint: true}}}\n" ALLOW),
		 {"T", .annotation = "destructiveHint=true"},
		 RULE_DENY},
		{"another annotation",
		 CKP("  - {id: n, action: deny, scope: tool, match: {annotations: {destructiveHint: true}}}\n" ALLOW),
		 {"T", .annotation = "destructiveHint=false"},
		 RULE_ALLOW},
		{"audit-only",
		 CKP("  - {id: o, action: audit-only, scope: all}\n"),
		 {"T"},
		 RULE_AUDIT_ONLY},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(policy_freep) struct policy *p = fixture_policy(rows[i].yaml);
		struct rule_answer answer;

		evaluate(p, &rows[i].call, &answer);
		if (answer.action != rows[i].want)
			fail_msg("%s: %s", rows[i].what,
				 names_word(&names_rule_action, (int)answer.action));
	}
}

/* {user's rules, project's rules, answer}: the strictest of both. */
static void test_layers(void **state)
{
#define P "policy:\n  rules:\n"
#define ASK(id, more)                                                                              \
	"  - {id: " id                                                                             \
	", action: require-approval, scope: all, approval: {timeout_seconds: 1" more "}}\n"
	static const struct {
		const char *user, *project;
		enum rule_action want;
		const char *rule; /* that decides */
	} rows[] = {
		{P ALLOW, P ALLOW, RULE_ALLOW, "a"},
		{P ALLOW, P DENY, RULE_DENY, "d"},
		{P DENY, P ALLOW, RULE_DENY, "d"},
		{P ALLOW, P "  - {id: x, action: allow, scope: tool, match: {name: X}}\n",
		 RULE_DENY, NULL},
		{P ALLOW, P ASK("q", ""), RULE_REQUIRE_APPROVAL, "q"},
		{P ASK("q", ""), P DENY, RULE_DENY, "d"},
		{P ALLOW, P "  - {id: o, action: audit-only, scope: all}\n", RULE_AUDIT_ONLY, "o"},
		/* silence must not allow what one layer denies */
		{P ASK("yes", ", default_if_timeout: allow"), P ASK("no", ""),
		 RULE_REQUIRE_APPROVAL, "no"},
		{P ASK("no", ""), P ASK("yes", ", default_if_timeout: allow"),
		 RULE_REQUIRE_APPROVAL, "no"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(policy_freep) struct policy *p = NULL;
		struct cordon_error err = {0};
		struct rule_answer answer;
		const struct call call = {"T"};

		if (fixture_load(rows[i].user, rows[i].project, NULL, &p, &err) < 0)
			fail_msg("row %zu: %s", i, err.message);
		evaluate(p, &call, &answer);
		if (answer.action != rows[i].want || !answer.rule != !rows[i].rule ||
		    (answer.rule && strcmp(answer.rule->id, rows[i].rule) != 0))
			fail_msg("row %zu: %s by %s", i,
				 names_word(&names_rule_action, (int)answer.action),
				 answer.rule ? answer.rule->id : "no rule");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_layers),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
