/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The corridor with findings put in: verdict × enforcing × action, with a file as the proof that the
 * command ran or did not, and the audit trail beside it.  Only noop is counted on.
 */
#include "core_fixture.h"

#include "audit/verify.h"
#include "base/env.h"
#include "core/pipeline.h"
#include "core/constrain.h"

/* Names that both headers have; the test needs none of them from jansson. */
#define json_object jansson_object
#define json_array jansson_array
#define json_null jansson_null
#include <jansson.h>
#undef json_object
#undef json_array
#undef json_null

#include <sys/wait.h>

#define NONE "sandbox: {level: none}\n"
#define ENFORCE "enforcement: {enabled: true"

static const char *const audit_files[] = {"audit.ndjson", "audit.lock", "rate"};

/* A fresh state directory, and no file "ran". */
static void fresh(void)
{
	char state[64] = "state";

	(void)mkdir(fixture_path(state), 0700);
	for (size_t i = 0; i < ARRAY_LEN(audit_files); i++) {
		(void)snprintf(state, sizeof(state), "state/%s", audit_files[i]);
		(void)unlink(fixture_path(state));
	}
	(void)unlink(fixture_path("ran"));
}

struct run {
	const char *yaml;
	enum threat level; /* of the one finding; THREAT_NONE: none */
	double confidence;
	const char *command; /* NULL: touch the file "ran" */
	const char *tool;
	const char *agent;
	bool captures;
};

static int run(const struct run *row, struct report *report, struct cordon_error *err)
{
	static char *const environment[] = {NULL};
	AUTO(policy_freep) struct policy *p = fixture_policy(row->yaml);
	static struct request *request;
	struct request_options ro = {.cwd = fixture_dir, .tool = row->tool, .agent = row->agent};
	struct findings findings = {0};
	struct finding one = {.rule = "test.rule",
			      .type = FINDING_EGRESS,
			      .level = row->level,
			      .confidence = row->confidence,
			      .message = "put in by the test"};
	char state_dir[1024];
	struct pipeline_options o = {.state_dir = state_dir,
				     .environ = environment,
				     .findings = &findings,
				     .captures = row->captures,
				     .is_quiet = row->captures};
	int r;

	(void)snprintf(state_dir, sizeof(state_dir), "%s/state", fixture_dir);
	request_free(request);
	request = NULL;
	assert_int_equal(request_from_shell(row->command ? row->command : "echo > ran", &ro,
					    &request, NULL),
			 0);
	if (row->level != THREAT_NONE)
		assert_int_equal(findings_add(&findings, &one), 0);
	memset(err, 0, sizeof(*err));
	r = pipeline_run(p, request, &o, report, err);
	findings_done(&findings);
	return r;
}

/* The last audit record of a type, parsed; NULL when there is none. */
static json_t *record_of(const char *type)
{
	AUTO_FREE char *text = fixture_read("state/audit.ndjson");
	json_t *found = NULL;
	char *save = text, *line;

	while ((line = strsep(&save, "\n"))) {
		json_t *row = *line ? json_loads(line, 0, NULL) : NULL;
		const char *is = json_string_value(json_object_get(row, "type"));

		if (is && strcmp(is, type) == 0) {
			json_decref(found);
			found = row;
		} else {
			json_decref(row);
		}
	}
	return found;
}

static const char *at(json_t *o, const char *a, const char *b)
{
	const char *s =
		json_string_value(json_object_get(b ? json_object_get(o, a) : o, b ? b : a));

	return s ? s : "";
}

static void test_actions(void **state)
{
	static const struct {
		const char *what;
		struct run run;
		int exit_code; /* 125: an error */
		bool ran;
		const char *action; /* of the report */
		const char *would;  /* would_apply of the record, NULL: action there */
	} rows[] = {
		{"SAFE", {NONE}, 0, true, "allow", "allow"},
		{"SAFE, enforcing", {NONE ENFORCE "}\n"}, 0, true, "allow", NULL},
		{"SUSPICIOUS, dry run",
		 {NONE, THREAT_MEDIUM, 0.5},
		 0,
		 true,
		 "constrain",
		 "constrain"},
		{"MALICIOUS, dry run", {NONE, THREAT_HIGH, 0.9}, 0, true, "block", "block"},
		{"MALICIOUS, disabled",
		 {NONE "enforcement: {enabled: false}\n", THREAT_HIGH, 0.9},
		 0,
		 true,
		 "block",
		 "block"},
		{"MALICIOUS, dry_run: true beats enabled",
		 {NONE ENFORCE ", dry_run: true}\n", THREAT_HIGH, 0.9},
		 0,
		 true,
		 "block",
		 "block"},
		{"MALICIOUS, enforcing",
		 {NONE ENFORCE "}\n", THREAT_HIGH, 0.9},
		 126,
		 false,
		 "block",
		 NULL},
		{"MALICIOUS, the code's shape",
		 {"version: \"1\"\ndry_run: false\n", THREAT_HIGH, 0.9},
		 126,
		 false,
		 "block",
		 NULL},
		{"MALICIOUS -> log",
		 {NONE ENFORCE ", actions: {SUSPICIOUS: log, MALICIOUS: log}}\n", THREAT_HIGH, 0.9},
		 0,
		 true,
		 "log",
		 NULL},
		{"MALICIOUS -> allow",
		 {NONE ENFORCE ", actions: {SUSPICIOUS: allow, MALICIOUS: allow}}\n", THREAT_HIGH,
		  0.9},
		 0,
		 true,
		 "allow",
		 NULL},
		{"SUSPICIOUS -> block",
		 {NONE ENFORCE ", actions: {SUSPICIOUS: block}}\n", THREAT_MEDIUM, 0.5},
		 126,
		 false,
		 "block",
		 NULL},
		{"SUSPICIOUS -> allow",
		 {NONE ENFORCE ", actions: {SUSPICIOUS: allow}}\n", THREAT_MEDIUM, 0.5},
		 0,
		 true,
		 "allow",
		 NULL},
		{"below the floor", {NONE ENFORCE "}\n", THREAT_HIGH, 0.29}, 0, true, "allow", NULL},
		{"a tool's floor",
		 {NONE ENFORCE
		  ", overrides: {tool_name: {T: {suspicious_floor: 0.1, malicious_floor: 0.2}}}}\n",
		  THREAT_HIGH, 0.25, NULL, "T"},
		 126,
		 false,
		 "block",
		 NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct report report;
		struct cordon_error err;
		json_auto_t *record = NULL;
		int r;

		fresh();
		r = run(&rows[i].run, &report, &err);
		if (r != 0 || report.exit_code != rows[i].exit_code ||
		    fixture_has("ran") != rows[i].ran ||
		    strcmp(names_word(&names_action, (int)report.action), rows[i].action) != 0)
			fail_msg("%s: %d, exit %d, %s", rows[i].what, r, report.exit_code,
				 err.message);
		assert_int_equal(report.is_refused, rows[i].exit_code == 126);
		record = record_of(rows[i].ran ? "start" : "refused");
		if (!record)
			fail_msg("%s: no record", rows[i].what);
		assert_string_equal(at(record, "verdict", "would_apply"),
				    rows[i].would ? rows[i].would : "");
		assert_string_equal(at(record, "verdict", "action"),
				    rows[i].would ? "" : rows[i].action);
		assert_string_equal(at(record, "decision", NULL),
				    !rows[i].ran ? "deny"
				    : rows[i].would && strcmp(rows[i].would, "allow") != 0
					    ? "dry-run"
					    : rows[i].action);
		report_done(&report);
	}
}

/* With noop alone nobody can constrain: the call is refused, and fallback: noop lists what is missing. */
static void test_constrain(void **state)
{
	static const struct run
		refuse = {NONE ENFORCE ", adapter: noop}\n", THREAT_MEDIUM, 0.5},
		fallback = {NONE ENFORCE ", adapter: noop, fallback: noop}\n", THREAT_MEDIUM, 0.5},
		process = {"sandbox: {level: vm}\n" ENFORCE ", adapter: noop, fallback: noop}\n",
			   THREAT_MEDIUM, 0.5},
		limited = {"sandbox: {level: none, capabilities: {network: {mode: deny}}}\n" ENFORCE
			   ", adapter: noop, fallback: noop}\n",
			   THREAT_MEDIUM, 0.5};
	struct report report;
	struct cordon_error err;
	json_auto_t *record = NULL;
	json_t *degraded;

	(void)state;
	fresh();
	assert_int_equal(run(&refuse, &report, &err), CORDON_E_NO_BACKEND);
	assert_int_equal(report.exit_code, 125);
	assert_false(fixture_has("ran"));
	report_done(&report);
	fresh();
	assert_int_equal(run(&fallback, &report, &err), 0);
	assert_int_equal(report.exit_code, 0);
	assert_true(fixture_has("ran"));
	assert_true(report.selection.degraded & GUARANTEE_BIT(NET_DENY));
	assert_true(report.selection.degraded & GUARANTEE_BIT(WRITE_SCOPE));
	assert_true(report.selection.degraded & GUARANTEE_BIT(READ_SCOPE));
	record = record_of("start");
	degraded = json_object_get(json_object_get(record, "isolation"), "degraded");
	assert_true(json_array_size(degraded) >= 3);
	assert_string_equal(at(record, "decision", NULL), "constrain");
	report_done(&report);
	/* What the policy asks for anyway is not given up: a SUSPICIOUS call never gets less than a SAFE one. */
	fresh();
	assert_true(run(&process, &report, &err) < 0);
	assert_false(fixture_has("ran"));
	report_done(&report);
	fresh();
	if (run(&limited, &report, &err) == 0)
		assert_true(report.selection.guarantees & GUARANTEE_BIT(NET_DENY));
	else
		assert_false(fixture_has("ran"));
	report_done(&report);
}

/* A detector is not asked about what the manifest itself says: dry run does not soften it. */
static void test_gate_and_rules(void **state)
{
	static const struct {
		const char *yaml;
		int exit_code;
		const char *rule;
	} rows[] = {
		{NONE, 0, NULL},
		{"sandbox: {level: none, capabilities: {shell: {mode: deny}}}\n", 126,
		 "shell.mode"},
		{"sandbox: {level: none, capabilities: {shell: {blocked_commands: [\"echo > ran\"]}}}\n",
		 126, "blocked_commands"},
		{NONE "policy: {rules: [{id: no, action: deny, scope: all, reason: because}]}\n",
		 126, "policy.rules 'no'"},
		{NONE "policy: {rules: [{id: x, action: allow, scope: tool, match: {name: X}}]}\n",
		 126, "no rule matches"},
		{NONE "policy: {rules: [{id: yes, action: allow, scope: all}]}\n", 0,
		 "policy.rules 'yes'"},
		{NONE "policy: {rules: [{id: log, action: audit-only, scope: all}]}\n", 0,
		 "policy.rules 'log'"},
		{NONE
		 "policy: {rules: [{id: in, action: allow, scope: all, conditions: {path_within: /}}]}\n",
		 126, "no rule matches"}, /* of a shell string no path is known */
		{NONE "policy: {rate_limits: {tool_calls_per_minute: 0}}\n", 126,
		 "tool_calls_per_minute"},
		{NONE "policy: {input_validation: {max_size_bytes: 3}}\n", 126, "max_size_bytes"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct run one = {rows[i].yaml};
		json_auto_t *record = NULL;
		struct report report;
		struct cordon_error err;

		fresh();
		if (run(&one, &report, &err) != 0 || report.exit_code != rows[i].exit_code ||
		    fixture_has("ran") != (rows[i].exit_code == 0))
			fail_msg("%s: exit %d, %s", rows[i].yaml, report.exit_code, err.message);
		record = record_of(rows[i].exit_code ? "refused" : "start");
		assert_non_null(record);
		if (rows[i].rule && !strstr(at(record, "rule", NULL), rows[i].rule))
			fail_msg("%s: recorded as '%s'", rows[i].yaml, at(record, "rule", NULL));
		if (rows[i].exit_code) {
			assert_int_equal(report.n_denied, 1);
			assert_true(report.denied[0].remedy[0] && err.message[0] && err.hint[0]);
		}
		report_done(&report);
	}
}

/* No secret in the trail, with inputs and outputs kept; and nothing but hashes without. */
static void test_no_secret(void **state)
{
	static const char command[] =
		"PASSWORD=pl4nted5ecret; echo \"token: pl4nted5ecret\"; echo plainword >&2";
	static const struct run kept = {NONE
					"policy: {audit: {log_inputs: true, log_outputs: true}}\n",
					.command = command, .captures = true},
				hashes = {NONE, .command = command, .captures = true};
	struct report report;
	struct cordon_error err;

	(void)state;
	for (int i = 0; i < 2; i++) {
		AUTO_FREE char *text = NULL;

		fresh();
		assert_int_equal(run(i ? &hashes : &kept, &report, &err), 0);
		assert_int_equal(report.exit_code, 0);
		assert_non_null(strstr(buf_cstr(&report.result.stdout_data), "pl4nted5ecret"));
		text = fixture_read("state/audit.ndjson");
		assert_null(strstr(text, "pl4nted5ecret"));
		assert_non_null(strstr(text, "argv_hash"));
		assert_int_equal(strstr(text, "PASSWORD=[redacted]") != NULL, i == 0);
		assert_int_equal(strstr(text, "plainword") != NULL, i == 0);
		report_done(&report);
	}
}

/* What cannot be recorded does not run. */
static void test_no_record_no_run(void **state)
{
	static const struct run one = {NONE};
	struct report report;
	struct cordon_error err;

	(void)state;
	fresh();
	assert_int_equal(run(&one, &report, &err), 0);
	report_done(&report);
	fresh();
	fixture_write("state/audit.ndjson", "not a record\n");
	assert_true(run(&one, &report, &err) < 0);
	assert_false(fixture_has("ran"));
	report_done(&report);
}

static void vector_check(json_t *full, json_t *c)
{
	json_t *policy = json_object_get(c, "policy");
	const char *verdict = at(c, "verdict", NULL);
	AUTO_FREE char *yaml = json_dumps(json_is_string(policy) ? full : policy, 0);
	const struct run one = {
		.yaml = yaml,
		.level = strcmp(verdict, "detected") == 0     ? THREAT_HIGH
			 : strcmp(verdict, "suspicious") == 0 ? THREAT_MEDIUM
							      : THREAT_NONE,
		.confidence = json_number_value(json_object_get(c, "confidence")),
		.tool = *at(c, "tool", NULL) ? at(c, "tool", NULL) : NULL,
	};
	json_t *dry_run = json_object_get(c, "expect_dry_run"),
	       *writable = json_object_get(c, "expect_writable");
	struct report report;
	struct cordon_error err;

	(void)run(&one, &report, &err); /* whether it runs depends on the machine's backends */
	if (strcmp(names_word(&names_action, (int)report.action), at(c, "expect_action", NULL)) !=
	    0)
		fail_msg("%s %.2f %s: %s", verdict, one.confidence, at(c, "tool", NULL),
			 names_word(&names_action, (int)report.action));
	if (dry_run)
		assert_int_equal(report.is_dry_run, json_is_true(dry_run));
	report_done(&report);
	if (json_array_size(writable) > 0) {
		AUTO(policy_freep) struct policy *p = fixture_policy(yaml);
		const struct constraint *held = p->constraints.records[0];

		assert_int_equal(held->writable.n, json_array_size(writable));
		assert_string_equal(held->writable.items[0].text, fixture_dir); /* for /proj */
		assert_string_equal(held->writable.items[1].text, "/tmp");
	} else if (writable) {
		AUTO(policy_freep) struct policy *p = fixture_policy(yaml);
		AUTO(policy_freep) struct policy *tight = NULL;

		assert_int_equal(constrain_policy(p, one.tool, "auto", &tight, NULL), 0);
		assert_int_equal(tight->mounts.n, 0);
		assert_int_equal(tight->fs_mode, FS_DENY);
	}
}

static void test_vectors(void **state)
{
	const char *shared = env_get("SHARED");
	json_auto_t *root = NULL;
	char path[1024];
	json_t *c;
	size_t i, n = 0;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/spec/cloneguard/policy_vectors.json",
		       shared ? shared : "");
	root = shared ? json_load_file(path, 0, NULL) : NULL;
	if (!root) {
		printf("# skip: ../shared not there\n");
		skip();
		return;
	}
	json_array_foreach(json_object_get(root, "cases"), i, c)
	{
		const char *text = json_string_value(json_object_get(c, "policy_text"));
		struct cordon_error err = {0};
		struct policy *p = NULL;
		int r;

		fresh();
		n++;
		if (json_object_get(c, "policy")) {
			vector_check(json_object_get(root, "FULL"), c);
		} else if (text) {
			r = fixture_load(text, NULL, NULL, &p, &err);
			assert_int_equal(r < 0, json_object_get(c, "expect_error") != NULL);
			if (r == 0)
				assert_false(policy_is_enforcing(p));
			policy_free(p);
		}
	}
	assert_true(n >= 14);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_actions),          cmocka_unit_test(test_constrain),
		cmocka_unit_test(test_gate_and_rules),   cmocka_unit_test(test_no_secret),
		cmocka_unit_test(test_no_record_no_run), cmocka_unit_test(test_vectors),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
