/* SPDX-License-Identifier: Apache-2.0 */
/* libcordon: requests, runs and reports; what a run leaves of the process; two threads at once. */
#include "lib_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

/* A policy of level none with further text. */
static struct cordon_policy *policy_with(const char *text)
{
	struct cordon_policy_options *o = place_options();
	struct cordon_policy *p = NULL;
	struct cordon_error err;

	if (text)
		assert_ok(cordon_policy_options_text(o, text, strlen(text), "test.yaml", &err));
	assert_ok(cordon_policy_options_level(o, "none", &err));
	assert_ok(cordon_policy_load(o, &p, &err));
	cordon_policy_options_free(o);
	return p;
}

static struct cordon_request *shell(const char *command)
{
	const struct cordon_request_options o = {.struct_size = sizeof(o), .cwd = place_ws};
	struct cordon_request *r = NULL;
	struct cordon_error err;

	assert_ok(cordon_request_shell(command, &o, &r, &err));
	return r;
}

/* Runs, and frees policy and request: the report must not need them. */
static struct cordon_report *run(struct cordon_policy *p, struct cordon_request *request,
				 const struct cordon_run_options *o)
{
	struct cordon_report *report = NULL;
	struct cordon_error err;

	assert_ok(cordon_run(p, request, o, &report, &err));
	assert_int_equal(err.code, 0);
	cordon_policy_free(p);
	cordon_request_free(request);
	return report;
}

static void test_requests(void **state)
{
	static const char *const words[] = {"echo", "a b", NULL}, *const none[] = {NULL},
				 *const empty[] = {"", NULL};
	static const char json[] = "{\"command\":\"echo x\",\"tool\":\"T\",\"id\":\"7\"}";
	struct cordon_request_options o = {.struct_size = sizeof(o), .cwd = place_ws};
	struct cordon_request *r = NULL;
	struct cordon_error err;

	(void)state;
	assert_ok(cordon_request_argv(words, NULL, &r, &err));
	assert_string_equal(cordon_request_text(r), "echo a b");
	assert_int_equal(strlen(cordon_request_id(r)), 18);
	cordon_request_free(r);
	assert_ok(cordon_request_json(json, sizeof(json) - 1, place_ws, &r, &err));
	assert_string_equal(cordon_request_text(r), "echo x");
	cordon_request_free(r);
	r = NULL;
	assert_code(cordon_request_argv(NULL, NULL, &r, &err), CORDON_E_INVALID);
	assert_code(cordon_request_argv(none, NULL, &r, &err), CORDON_E_INVALID);
	assert_code(cordon_request_argv(empty, &o, &r, &err), CORDON_E_INVALID);
	assert_code(cordon_request_argv(words, &o, NULL, &err), CORDON_E_INVALID);
	assert_code(cordon_request_shell(NULL, &o, &r, &err), CORDON_E_INVALID);
	assert_code(cordon_request_shell("", &o, &r, &err), CORDON_E_INVALID);
	assert_code(cordon_request_json(NULL, 0, NULL, &r, &err), CORDON_E_INVALID);
	assert_code(cordon_request_json("{}", 2, NULL, &r, &err), CORDON_E_INVALID);
	assert_code(cordon_request_json("{\"x\":1}", 7, NULL, &r, &err), CORDON_E_INVALID);
	assert_code(cordon_request_json("{", 1, NULL, NULL, &err), CORDON_E_INVALID);
	assert_code(cordon_request_json("{", 1, "/nonexistent", &r, &err), CORDON_E_NOT_FOUND);
	o.tool = "\xc0";
	assert_code(cordon_request_shell("x", &o, &r, &err), CORDON_E_INVALID);
	o.tool = NULL;
	o.cwd = "/nonexistent";
	assert_code(cordon_request_shell("x", &o, &r, &err), CORDON_E_NOT_FOUND);
	o.struct_size = 1;
	assert_code(cordon_request_shell("x", &o, &r, &err), CORDON_E_INVALID);
	assert_null(r);
	assert_null(cordon_request_id(NULL));
	assert_null(cordon_request_text(NULL));
	cordon_request_free(NULL);
}

static bool has_guarantee(const struct cordon_report *r, const char *name)
{
	const char *given;

	for (size_t i = 0; (given = cordon_report_guarantee(r, i)); i++)
		if (strcmp(given, name) == 0)
			return true;
	return false;
}

static void test_capture(void **state)
{
	struct cordon_request *request = shell("echo out; echo err >&2; cat; exit 7");
	struct cordon_report *r;
	struct cordon_denied denied = {.struct_size = sizeof(denied)};
	struct cordon_error err;
	char id[32], *json = NULL;
	size_t len = 0;

	(void)state;
	(void)snprintf(id, sizeof(id), "%s", cordon_request_id(request));
	r = run(policy_with(NULL), request, NULL);
	assert_string_equal(cordon_report_id(r), id);
	assert_int_equal(cordon_report_exit_code(r), 7);
	assert_string_equal(cordon_report_stdout(r, &len), "out\n");
	assert_int_equal(len, 4);
	assert_string_equal(cordon_report_stderr(r, NULL), "err\n");
	assert_int_equal(cordon_report_verdict(r), CORDON_VERDICT_SAFE);
	assert_int_equal(cordon_report_action(r), CORDON_ACTION_ALLOW);
	assert_true(cordon_report_confidence(r) == 0);
	assert_true(cordon_report_dry_run(r));
	assert_false(cordon_report_refused(r));
	assert_int_equal(cordon_report_error(r)->code, 0);
	assert_string_equal(cordon_report_backend(r), "noop");
	assert_string_equal(cordon_report_level(r), "none");
	assert_true(has_guarantee(r, "open-files"));
	assert_false(has_guarantee(r, "net-deny"));
	assert_null(cordon_report_guarantee(r, 64));
	assert_null(cordon_report_degraded(r, 0));
	assert_int_equal(cordon_report_signal(r), 0);
	assert_false(cordon_report_timed_out(r) || cordon_report_output_truncated(r));
	assert_true(cordon_report_duration_ms(r) > 0);
	assert_int_equal(cordon_findings_count(cordon_report_findings(r)), 0);
	assert_int_equal(cordon_report_denied(r, 0, &denied, &err), 0);
	assert_ok(cordon_report_json(r, &json, &len, &err));
	assert_int_equal(strlen(json), len);
	assert_non_null(strstr(json, id));
	assert_non_null(strstr(json, "\"exit_code\":7"));
	assert_non_null(strstr(json, "\"stdout\":\"out\\n\""));
	cordon_free(json);
	cordon_report_free(r);
}

static void test_endings(void **state)
{
	static const struct {
		const char *what, *policy, *command;
		int exit_code, signal, timed_out, truncated, denials;
	} rows[] = {
		{"killed", NULL, "kill -9 $$", 137, 9, 0, 0, 0},
		{"timeout", "cordon: 1\nsandbox: {resource_limits: {timeout_ms: 100}}\n",
		 "sleep 20", 124, 15, 1, 0, 1},
		{"output", "cordon: 1\nsandbox: {resource_limits: {max_output_bytes: 10}}\n",
		 "yes | head -c 10000000; sleep 20", 143, 15, 0, 1, 1},
		{"not found", NULL, "exec /nonexistent", 127, 0, 0, 0, 0},
	};
	struct cordon_error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cordon_denied denied = {.struct_size = sizeof(denied)};
		struct cordon_report *r =
			run(policy_with(rows[i].policy), shell(rows[i].command), NULL);

		if (cordon_report_exit_code(r) != rows[i].exit_code ||
		    cordon_report_signal(r) != rows[i].signal ||
		    cordon_report_timed_out(r) != rows[i].timed_out ||
		    cordon_report_output_truncated(r) != rows[i].truncated)
			fail_msg("%s: exit %d, signal %d, timed out %d, truncated %d", rows[i].what,
				 cordon_report_exit_code(r), cordon_report_signal(r),
				 cordon_report_timed_out(r), cordon_report_output_truncated(r));
		assert_int_equal(cordon_report_denied(r, 0, &denied, &err), rows[i].denials);
		if (rows[i].denials)
			assert_string_equal(denied.kind, "limit");
		cordon_report_free(r);
	}
}

static void test_refused(void **state)
{
	static const char policy[] =
		"cordon: 1\nsandbox:\n  capabilities:\n    shell:\n"
		"      mode: restricted\n      blocked_commands: [\"rm -rf *\"]\n";
	static const char *const missing[] = {"/nonexistent/program", NULL};
	struct cordon_denied denied = {.struct_size = sizeof(denied)};
	struct cordon_request *request = NULL;
	struct cordon_report *r = run(policy_with(policy), shell("rm -rf /tmp/x"), NULL);
	struct cordon_error err;
	char *json = NULL;

	(void)state;
	assert_int_equal(cordon_report_exit_code(r), 126);
	assert_true(cordon_report_refused(r));
	assert_int_equal(cordon_report_error(r)->code, CORDON_E_REFUSED);
	assert_int_equal(cordon_report_denied(r, 0, &denied, &err), 1);
	assert_string_equal(denied.kind, "command");
	assert_non_null(strstr(denied.rule, "test.yaml:6:"));
	assert_true(denied.remedy[0]);
	assert_null(cordon_report_backend(r));
	assert_null(cordon_report_level(r));
	assert_string_equal(cordon_report_stdout(r, NULL), "");
	assert_ok(cordon_report_json(r, &json, NULL, &err));
	assert_non_null(strstr(json, "\"result\":null"));
	cordon_free(json);
	denied.struct_size = 0;
	assert_code(cordon_report_denied(r, 0, &denied, &err), CORDON_E_INVALID);
	assert_code(cordon_report_denied(r, 0, NULL, &err), CORDON_E_INVALID);
	cordon_report_free(r);

	assert_ok(cordon_request_argv(missing, NULL, &request, &err));
	r = run(policy_with(NULL), request, NULL);
	assert_int_equal(cordon_report_exit_code(r), 127);
	assert_false(cordon_report_refused(r));
	assert_int_equal(cordon_report_error(r)->code, CORDON_E_NOT_FOUND);
	cordon_report_free(r);
}

static void test_findings(void **state)
{
	static const char enforcing[] = "cordon: 1\nenforcement: {enabled: true, dry_run: false}\n";
	const struct cordon_finding finding = {
		.struct_size = sizeof(finding),
		.rule = "mine-1",
		.type = "data_leak",
		.level = CORDON_THREAT_CRITICAL,
		.confidence = 0.9,
		.message = "told",
	};
	struct cordon_finding got = {.struct_size = sizeof(got)};
	struct cordon_run_options o = {.struct_size = sizeof(o)};
	struct cordon_findings *f = NULL;
	struct cordon_report *r;
	struct cordon_error err;

	(void)state;
	assert_ok(cordon_findings_new(&f, &err));
	assert_ok(cordon_findings_add(f, &finding, &err));
	o.findings = f;
	r = run(policy_with(NULL), shell("echo ran"), &o); /* dry run: told, and run */
	assert_int_equal(cordon_report_verdict(r), CORDON_VERDICT_MALICIOUS);
	assert_int_equal(cordon_report_action(r), CORDON_ACTION_BLOCK);
	assert_true(cordon_report_dry_run(r));
	assert_true(cordon_report_confidence(r) > 0.89);
	assert_string_equal(cordon_report_stdout(r, NULL), "ran\n");
	cordon_report_free(r);

	r = run(policy_with(enforcing), shell("echo ran"), &o);
	cordon_findings_free(f); /* the report has its own */
	assert_false(cordon_report_dry_run(r));
	assert_true(cordon_report_refused(r));
	assert_int_equal(cordon_report_exit_code(r), 126);
	assert_string_equal(cordon_report_stdout(r, NULL), "");
	assert_int_equal(cordon_findings_count(cordon_report_findings(r)), 1);
	assert_ok(cordon_findings_get(cordon_report_findings(r), 0, &got, &err));
	assert_string_equal(got.rule, "mine-1");
	cordon_report_free(r);
}

static enum cordon_approval approve(void *data, const char *command, const char *reason,
				    int64_t timeout_ms)
{
	assert_string_equal(command, "echo asked");
	assert_string_equal(reason, "look first");
	assert_int_equal(timeout_ms, 5000);
	return *(enum cordon_approval *)data;
}

static void test_approval(void **state)
{
	static const char policy[] =
		"cordon: 1\npolicy:\n  rules:\n    - id: ask\n      action: require-approval\n"
		"      scope: all\n      reason: look first\n"
		"      approval: {timeout_seconds: 5, default_if_timeout: deny}\n";
	static const struct {
		const char *what;
		bool is_asked;
		int answer;
		int exit_code;
	} rows[] = {
		{"nobody", false, 0, 126},
		{"granted", true, CORDON_APPROVAL_GRANTED, 0},
		{"denied", true, CORDON_APPROVAL_DENIED, 126},
		{"timed out", true, CORDON_APPROVAL_TIMED_OUT, 126},
		{"no answer", true, 77, 126},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		enum cordon_approval answer = (enum cordon_approval)rows[i].answer;
		struct cordon_run_options o = {
			.struct_size = sizeof(o),
			.approve = rows[i].is_asked ? approve : NULL,
			.approve_data = &answer,
		};
		struct cordon_report *r = run(policy_with(policy), shell("echo asked"), &o);

		if (cordon_report_exit_code(r) != rows[i].exit_code)
			fail_msg("%s: exit code %d", rows[i].what, cordon_report_exit_code(r));
		cordon_report_free(r);
	}
}

static void test_stdio(void **state)
{
	static const char *const environment[] = {"PATH=/usr/bin:/bin", "LANG=C", "SECRET=x", NULL};
	struct cordon_run_options o = {.struct_size = sizeof(o), .environment = environment};
	int in[2], out[2], stdio[3];
	struct cordon_report *r;
	char text[64] = {0};

	(void)state;
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(write(in[1], "fed", 3), 3);
	close(in[1]);
	stdio[0] = in[0];
	stdio[1] = stdio[2] = out[1];
	o.stdio = stdio;
	o.output = CORDON_OUTPUT_BOTH;
	r = run(policy_with(NULL), shell("cat; echo \" $LANG $SECRET $CORDON_SANDBOX\""), &o);
	assert_string_equal(cordon_report_stdout(r, NULL), "fed C  1\n");
	assert_int_equal(read(out[0], text, sizeof(text)), 9);
	assert_string_equal(text, "fed C  1\n");
	cordon_report_free(r);
	o.output = CORDON_OUTPUT_PASS;
	r = run(policy_with(NULL), shell("echo passed"), &o);
	assert_string_equal(cordon_report_stdout(r, NULL), "");
	assert_int_equal(read(out[0], text, sizeof(text)), 7);
	cordon_report_free(r);
	close(in[0]);
	close(out[0]);
	close(out[1]);
}

static void test_bad_options(void **state)
{
	static const int bad_fds[] = {0, 1, -1};
	struct cordon_request *request = shell("true");
	struct cordon_policy *p = policy_with(NULL);
	struct cordon_report *r = NULL;
	struct cordon_error err;
	const struct cordon_run_options good = {.struct_size = sizeof(good)};
	struct cordon_run_options o;
	struct {
		struct cordon_run_options known;
		char unknown;
	} newer = {.known = {.struct_size = sizeof(newer)}, .unknown = 0};

	(void)state;
	assert_code(cordon_run(NULL, request, NULL, &r, &err), CORDON_E_INVALID);
	assert_code(cordon_run(p, NULL, NULL, &r, &err), CORDON_E_INVALID);
	assert_code(cordon_run(p, request, NULL, NULL, &err), CORDON_E_INVALID);
	o = good;
	o.struct_size = 0;
	assert_code(cordon_run(p, request, &o, &r, &err), CORDON_E_INVALID);
	o = good;
	o.flags = 1u << 20;
	assert_code(cordon_run(p, request, &o, &r, &err), CORDON_E_UNSUPPORTED);
	o = good;
	o.output = (enum cordon_output)9;
	assert_code(cordon_run(p, request, &o, &r, &err), CORDON_E_INVALID);
	o = good;
	o.state_dir = "relative";
	assert_code(cordon_run(p, request, &o, &r, &err), CORDON_E_INVALID);
	o = good;
	o.stdio = bad_fds;
	assert_code(cordon_run(p, request, &o, &r, &err), CORDON_E_INVALID);
	o = good;
	o.backend = "dokcer";
	assert_code(cordon_run(p, request, &o, &r, &err), CORDON_E_INVALID);
	o.backend = "firecracker";
	assert_code(cordon_run(p, request, &o, &r, &err), CORDON_E_NO_BACKEND);
	o = good;
	o.flags = CORDON_RUN_ROLLBACK_ON_FAILURE; /* noop cannot */
	o.backend = "noop";
	assert_code(cordon_run(p, request, &o, &r, &err), CORDON_E_NO_BACKEND);
	o = good;
	o.state_dir = "/dev/null/x"; /* what cannot be recorded does not run */
	assert_true(cordon_run(p, request, &o, &r, &err) < 0);
	assert_null(r);
	/* A program made for a newer library: fine as long as it asks for nothing new. */
	assert_ok(cordon_run(p, request, &newer.known, &r, &err));
	cordon_report_free(r);
	r = NULL;
	newer.unknown = 1;
	assert_code(cordon_run(p, request, &newer.known, &r, &err), CORDON_E_UNSUPPORTED);
	assert_null(r);
	cordon_policy_free(p);
	cordon_request_free(request);
}

/* What is asked for and cannot be had is refused, with the reason. */
static void test_fail_closed(void **state)
{
	struct cordon_policy_options *o = place_options();
	struct cordon_config config = {.struct_size = sizeof(config)};
	struct cordon_request *request = shell("true");
	struct cordon_policy *p = NULL;
	struct cordon_report *r = NULL;
	struct cordon_error err;

	(void)state;
	assert_ok(cordon_policy_options_level(o, "none", &err));
	assert_ok(cordon_policy_options_backend(o, "noop", &err));
	assert_ok(cordon_policy_options_net(o, "deny", &err));
	assert_ok(cordon_policy_load(o, &p, &err));
	assert_code(cordon_run(p, request, NULL, &r, &err), CORDON_E_NO_BACKEND);
	assert_non_null(strstr(err.message, "net-deny"));
	cordon_policy_free(p);
	cordon_policy_options_free(o);

	assert_ok(cordon_config_default(&config, &err));
	config.enabled = 1;
	config.type = "seatbelt"; /* the backend goes with the policy */
	assert_ok(cordon_policy_from_config(&config, place_ws, &p, &err));
	assert_code(cordon_run(p, request,
			       &(struct cordon_run_options){
				       .struct_size = sizeof(struct cordon_run_options),
				       .state_dir = place_state},
			       &r, &err),
		    CORDON_E_NO_BACKEND);
	assert_non_null(strstr(err.message, "seatbelt"));
	assert_null(r);
	cordon_policy_free(p);
	cordon_request_free(request);
}

static void test_sigchld(void **state)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct cordon_request *request = shell("true");
	struct cordon_policy *p = policy_with(NULL);
	struct cordon_report *r = NULL;
	struct sigaction old, now;
	struct cordon_error err;

	(void)state;
	assert_int_equal(sigaction(SIGCHLD, &ignore, &old), 0);
	assert_code(cordon_run(p, request, NULL, &r, &err), CORDON_E_UNSUPPORTED);
	assert_true(err.hint[0]);
	assert_int_equal(sigaction(SIGCHLD, &old, &now), 0);
	assert_true(now.sa_handler == SIG_IGN); /* nothing was changed */
	assert_null(r);
	cordon_policy_free(p);
	cordon_request_free(request);
}

static void *thread_runs(void *data)
{
	size_t *good = data;

	for (int i = 0; i < 20; i++) {
		char command[64];
		struct cordon_report *r;

		(void)snprintf(command, sizeof(command), "echo %p-%d; exit %d", data, i, i);
		r = run(policy_with(NULL), shell(command), NULL);
		(void)snprintf(command, sizeof(command), "%p-%d\n", data, i);
		*good += cordon_report_exit_code(r) == i &&
			 strcmp(cordon_report_stdout(r, NULL), command) == 0;
		cordon_report_free(r);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct cordon_audit_result audit = {.struct_size = sizeof(audit)};
	pthread_t threads[2];
	size_t good[2] = {0};
	struct cordon_error err;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread_runs, &good[i]), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(good[0] + good[1], 40);
	assert_ok(cordon_audit_verify(place_state, 0, NULL, &audit, &err));
	assert_true(audit.intact);
	assert_true(audit.records >= 80);
}

static void test_nulls(void **state)
{
	struct cordon_denied denied = {.struct_size = sizeof(denied)};
	struct cordon_error err;
	char *json = NULL;
	size_t len = 5;

	(void)state;
	cordon_report_free(NULL);
	assert_int_equal(cordon_report_exit_code(NULL), 125);
	assert_null(cordon_report_id(NULL));
	assert_int_equal(cordon_report_verdict(NULL), CORDON_VERDICT_SAFE);
	assert_int_equal(cordon_report_action(NULL), CORDON_ACTION_ALLOW);
	assert_true(cordon_report_confidence(NULL) == 0 && cordon_report_duration_ms(NULL) == 0);
	assert_false(cordon_report_dry_run(NULL) || cordon_report_refused(NULL));
	assert_null(cordon_report_error(NULL));
	assert_null(cordon_report_backend(NULL));
	assert_null(cordon_report_level(NULL));
	assert_null(cordon_report_guarantee(NULL, 0));
	assert_null(cordon_report_degraded(NULL, 0));
	assert_false(cordon_report_signal(NULL) || cordon_report_timed_out(NULL) ||
		     cordon_report_output_truncated(NULL));
	assert_string_equal(cordon_report_stdout(NULL, &len), "");
	assert_int_equal(len, 0);
	assert_string_equal(cordon_report_stderr(NULL, NULL), "");
	assert_null(cordon_report_findings(NULL));
	assert_code(cordon_report_denied(NULL, 0, &denied, &err), CORDON_E_INVALID);
	assert_code(cordon_report_json(NULL, &json, NULL, &err), CORDON_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),    cmocka_unit_test(test_capture),
		cmocka_unit_test(test_endings),     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_findings),    cmocka_unit_test(test_approval),
		cmocka_unit_test(test_stdio),       cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_fail_closed), cmocka_unit_test(test_sigchld),
		cmocka_unit_test(test_threads),     cmocka_unit_test(test_nulls),
	};

	return cmocka_run_group_tests(tests, place_setup, place_teardown);
}
