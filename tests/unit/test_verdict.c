/* SPDX-License-Identifier: Apache-2.0 */
/* Findings to verdicts, thresholds by tool and agent, and the published decision vectors. */
#include "core_fixture.h"

#include "base/env.h"
#include "base/limits.h"
#include "core/constrain.h"
#include "policy/rules.h"
#include "verdict/fuse.h"
#include "verdict/verdict.h"

#include <math.h>

static const struct thresholds usual = {.suspicious = 0.3, .malicious = 0.7};

static void add(struct findings *f, enum threat level, double confidence)
{
	struct finding one = {.rule = "r", .level = level, .confidence = confidence};

	assert_int_equal(findings_add(f, &one), 0);
}

static void test_lattice(void **state)
{
	static const struct {
		struct {
			enum threat level;
			double confidence;
		} f[3];
		enum verdict_kind want;
		double confidence;
		const char *matched;
	} rows[] = {
		{{{THREAT_NONE, 0}}, VERDICT_SAFE, 0, "safe"},
		{{{THREAT_NONE, 1}}, VERDICT_SAFE, 0, "safe"},
		{{{THREAT_LOW, 0.29}}, VERDICT_SAFE, 0, "safe"},
		{{{THREAT_LOW, 0.3}},
		 VERDICT_SUSPICIOUS,
		 0.3,
		 "suspicious(tool=Bash, confidence=0.30)"},
		{{{THREAT_LOW, 1}}, VERDICT_SUSPICIOUS, 1, "suspicious(tool=Bash, confidence=1.00)"},
		{{{THREAT_MEDIUM, 0.9}}, VERDICT_SUSPICIOUS, 0.9, NULL},
		{{{THREAT_HIGH, 0.1}}, VERDICT_SAFE, 0, "safe"},
		{{{THREAT_HIGH, 0.5}},
		 VERDICT_SUSPICIOUS,
		 0.5,
		 "suspicious(tool=Bash, confidence=0.50)"},
		{{{THREAT_HIGH, 0.7}}, VERDICT_MALICIOUS, 0.7, "malicious(confidence=0.70)"},
		{{{THREAT_CRITICAL, 0.9}}, VERDICT_MALICIOUS, 0.9, "malicious(confidence=0.90)"},
		{{{THREAT_LOW, 0.95}, {THREAT_HIGH, 0.8}}, VERDICT_MALICIOUS, 0.8, NULL},
		{{{THREAT_HIGH, 0.8}, {THREAT_LOW, 0.95}}, VERDICT_MALICIOUS, 0.8, NULL},
		{{{THREAT_HIGH, 0.75}, {THREAT_HIGH, 0.9}}, VERDICT_MALICIOUS, 0.9, NULL},
		{{{THREAT_LOW, 0.1}, {THREAT_NONE, 1}, {THREAT_LOW, 0.2}}, VERDICT_SAFE, 0, "safe"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct findings f = {0};
		struct verdict v;

		for (size_t k = 0; k < 3; k++)
			if (rows[i].f[k].level || rows[i].f[k].confidence > 0)
				add(&f, rows[i].f[k].level, rows[i].f[k].confidence);
		verdict_of(&f, &usual, "Bash", &v);
		if (v.kind != rows[i].want || fabs(v.confidence - rows[i].confidence) > 1e-9 ||
		    (rows[i].matched && strcmp(v.matched, rows[i].matched) != 0))
			fail_msg("row %zu: %s %s", i, verdict_name(v.kind), v.matched);
		findings_done(&f);
	}
}

/* More findings never lower a verdict. */
static void test_monotone(void **state)
{
	struct findings f = {0};
	struct verdict v, before = {.kind = VERDICT_SAFE};
	unsigned seed = 7;

	(void)state;
	for (int i = 0; i < 200; i++) {
		seed = seed * 1103515245 + 12345;
		add(&f, (enum threat)(seed >> 16) % THREAT_COUNT, (double)(seed >> 8 & 255) / 255);
		f.items[f.n - 1].signal = (enum signal_kind)(seed >> 4) % SIGNAL_COUNT;
		verdict_of(&f, &usual, NULL, &v);
		assert_true(v.kind >= before.kind);
		assert_true(v.kind > before.kind || v.confidence >= before.confidence - 1e-12);
		before = v;
	}
	assert_int_equal(v.kind, VERDICT_MALICIOUS);
	findings_done(&f);
}

/* Two kinds of evidence together reach what neither reaches alone; two of one kind do not. */
static void test_fusion(void **state)
{
	static const struct {
		struct {
			enum signal_kind signal;
			enum threat level;
			double confidence;
		} f[3];
		size_t n;
		enum fuse_mode mode;
		enum verdict_kind want;
		double confidence;
	} rows[] = {
		{{{SIGNAL_PATTERN, THREAT_HIGH, 0.6}}, 1, FUSE_STANDARD, VERDICT_SUSPICIOUS, 0.6},
		{{{SIGNAL_PATTERN, THREAT_HIGH, 0.6}, {SIGNAL_PATTERN, THREAT_HIGH, 0.6}},
		 2,
		 FUSE_STANDARD,
		 VERDICT_SUSPICIOUS,
		 0.6},
		{{{SIGNAL_PATTERN, THREAT_HIGH, 0.6}, {SIGNAL_MODEL, THREAT_HIGH, 0.65}},
		 2,
		 FUSE_STANDARD,
		 VERDICT_MALICIOUS,
		 0.65 + 0.35 * 0.4 * 0.6},
		/* who claims less supports, but does not lead */
		{{{SIGNAL_PATTERN, THREAT_MEDIUM, 0.9}, {SIGNAL_MODEL, THREAT_LOW, 0.9}},
		 2,
		 FUSE_STANDARD,
		 VERDICT_SUSPICIOUS,
		 0.9 + 0.1 * 0.4 * 0.9},
		{{{SIGNAL_PATTERN, THREAT_HIGH, 0.6}, {SIGNAL_SEQUENCE, THREAT_LOW, 0.5}},
		 2,
		 FUSE_STANDARD,
		 VERDICT_SUSPICIOUS,
		 0.6 + 0.4 * 0.2 * 0.5},
		/* in a document that agents obey the model weighs more, in a fixture less */
		{{{SIGNAL_PATTERN, THREAT_HIGH, 0.6}, {SIGNAL_MODEL, THREAT_LOW, 0.55}},
		 2,
		 FUSE_STRICT,
		 VERDICT_SUSPICIOUS,
		 0.6 + 0.4 * (0.52 / 1.16) * 0.55},
		{{{SIGNAL_PATTERN, THREAT_HIGH, 0.6}, {SIGNAL_MODEL, THREAT_LOW, 0.55}},
		 2,
		 FUSE_LENIENT,
		 VERDICT_SUSPICIOUS,
		 0.6 + 0.4 * (0.28 / 0.8) * 0.55},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct thresholds t = usual;
		struct findings f = {0};
		struct verdict v;

		t.mode = rows[i].mode;
		for (size_t k = 0; k < rows[i].n; k++) {
			add(&f, rows[i].f[k].level, rows[i].f[k].confidence);
			f.items[k].signal = rows[i].f[k].signal;
		}
		verdict_of(&f, &t, "Bash", &v);
		if (v.kind != rows[i].want || fabs(v.confidence - rows[i].confidence) > 1e-9)
			fail_msg("row %zu: %s %f", i, verdict_name(v.kind), v.confidence);
		findings_done(&f);
	}
	for (unsigned m = 0; m < FUSE_MODE_COUNT; m++) {
		double sum = 0;

		for (unsigned k = 0; k < SIGNAL_COUNT; k++)
			sum += fuse_weight((enum signal_kind)k, (enum fuse_mode)m);
		assert_true(fabs(sum - 1) < 1e-9);
	}
}

static void test_no_number(void **state)
{
	(void)state;
	assert_int_equal(verdict_of_claim(VERDICT_MALICIOUS, (double)NAN, &usual),
			 VERDICT_MALICIOUS);
	assert_int_equal(verdict_of_claim(VERDICT_SUSPICIOUS, (double)NAN, &usual),
			 VERDICT_SUSPICIOUS);
	assert_int_equal(verdict_of_claim(VERDICT_SAFE, 1, &usual), VERDICT_SAFE);
}

static void test_too_many(void **state)
{
	struct findings f = {0};
	struct verdict v;
	size_t strong = 0;

	(void)state;
	for (size_t i = 0; i < LIMIT_FINDINGS + 50; i++)
		add(&f, THREAT_LOW, 0.1);
	add(&f, THREAT_CRITICAL, 0.99);
	for (size_t i = 0; i < 300; i++)
		add(&f, THREAT_LOW, 0.2);
	add(&f, THREAT_CRITICAL, 0.98);
	assert_int_equal(f.n, LIMIT_FINDINGS);
	assert_true(f.is_cut);
	for (size_t i = 0; i < f.n; i++)
		strong += f.items[i].level == THREAT_CRITICAL;
	assert_int_equal(strong, 2);
	verdict_of(&f, &usual, NULL, &v);
	assert_int_equal(v.kind, VERDICT_MALICIOUS);
	assert_true(v.confidence > 0.985);
	findings_done(&f);
}

static void test_thresholds(void **state)
{
	static const char yaml[] =
		"enforcement:\n  thresholds: {suspicious_floor: 0.4, malicious_floor: 0.8}\n"
		"  overrides:\n"
		"    tool_name: {Bash: {suspicious_floor: 0.2, malicious_floor: 0.6}, Half: {suspicious_floor: 0.1}}\n"
		"    agent_type: {g: {suspicious_floor: 0.3, malicious_floor: 0.7}}\n";
	static const struct {
		const char *tool, *agent;
		double suspicious, malicious;
	} rows[] = {
		{"X", NULL, 0.4, 0.8},   {"Bash", NULL, 0.2, 0.6}, {"X", "g", 0.3, 0.7},
		{"Bash", "g", 0.2, 0.6}, {"Half", NULL, 0.1, 0.8}, {"Half", "g", 0.1, 0.7},
		{"bash", "G", 0.4, 0.8}, {NULL, NULL, 0.4, 0.8},
	};
	AUTO(policy_freep) struct policy *p = fixture_policy(yaml);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		double s, m;

		policy_thresholds(p, rows[i].tool, rows[i].agent, &s, &m);
		assert_true(fabs(s - rows[i].suspicious) < 1e-9 &&
			    fabs(m - rows[i].malicious) < 1e-9);
	}
}

static void test_enforcing(void **state)
{
	static const struct {
		const char *yaml;
		bool want;
	} rows[] = {
		{NULL, false}, /* a new installation only records */
		{"sandbox: {level: none}\n", false},
		/* ours and the guide's shape */
		{"enforcement: {enabled: true}\n", true},
		{"enforcement: {enabled: false}\n", false},
		{"enforcement: {enabled: true, dry_run: true}\n", false},
		{"enforcement: {enabled: true, dry_run: false}\n", true},
		{"enforcement: {enabled: false, dry_run: false}\n", false},
		{"enforcement: {adapter: noop}\n", false},
		/* the code's shape */
		{"version: \"1\"\n", false},
		{"version: \"1\"\ndry_run: true\n", false},
		{"version: \"1\"\ndry_run: false\n", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(policy_freep) struct policy *p = fixture_policy(rows[i].yaml);

		if (policy_is_enforcing(p) != rows[i].want)
			fail_msg("%s", rows[i].yaml);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lattice),   cmocka_unit_test(test_monotone),
		cmocka_unit_test(test_no_number), cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_fusion),    cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_enforcing),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
