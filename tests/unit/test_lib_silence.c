/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcordon never prints, never exits, and leaves the process as it was.  A child with pipes in the
 * place of its standard descriptors calls every function with bad arguments, and then goes through a
 * whole run; tests/lib/symbols.bats checks that no exported function is missing here.
 */
#include "lib_helper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { SILENT = 42 };

static int see_value(void *data, const struct cordon_policy_value *v)
{
	(void)data;
	return v == NULL;
}

static int see_backend(void *data, const struct cordon_backend_info *b)
{
	(void)data;
	return b == NULL;
}

static int see_record(void *data, const struct cordon_audit_record *r)
{
	(void)data;
	return r == NULL;
}

/* Shared with the child: the line of the first call that did not see that it was wrong. */
static int *wrong;

static void expect(bool claim, int line)
{
	if (!claim && !*wrong)
		*wrong = line;
}

#define EXPECT(claim) expect(claim, __LINE__)
#define BAD(call) EXPECT((call) < 0)

static void abuse_options(void)
{
	struct cordon_policy_options *o = NULL;
	struct cordon_policy_places places = {0};
	struct cordon_config config = {0};
	struct cordon_policy *p = NULL;
	char **argv = NULL;

	BAD(cordon_policy_options_new("/nonexistent", &o, NULL));
	BAD(cordon_policy_options_new_at(&places, &o, NULL));
	o = place_options();
	BAD(cordon_policy_options_flags(o, ~0u, NULL));
	BAD(cordon_policy_options_file(o, "", NULL));
	BAD(cordon_policy_options_text(o, NULL, 7, NULL, NULL));
	BAD(cordon_policy_options_set(o, "nothing", "x", NULL));
	BAD(cordon_policy_options_level(o, "\x1b[31m", NULL));
	BAD(cordon_policy_options_backend(o, "x", NULL));
	BAD(cordon_policy_options_fs(o, "x", NULL));
	BAD(cordon_policy_options_read(o, "$x", NULL));
	BAD(cordon_policy_options_write(o, "*", NULL));
	BAD(cordon_policy_options_deny(o, "[", NULL));
	BAD(cordon_policy_options_net(o, "x", NULL));
	BAD(cordon_policy_options_allow_host(o, "*", NULL));
	BAD(cordon_policy_options_env(o, "", "", NULL));
	BAD(cordon_policy_options_memory(o, UINT64_MAX, NULL));
	BAD(cordon_policy_options_cpu_shares(o, INT64_MIN, NULL));
	BAD(cordon_policy_options_cpu_percent(o, -1, NULL));
	BAD(cordon_policy_options_max_processes(o, INT64_MAX, NULL));
	BAD(cordon_policy_options_max_open_files(o, 0, NULL));
	BAD(cordon_policy_options_max_output(o, UINT64_MAX, NULL));
	BAD(cordon_policy_options_timeout_ms(o, INT64_MIN, NULL));
	BAD(cordon_policy_options_enforce(NULL, 1, NULL));
	BAD(cordon_policy_options_mode(o, "none", NULL));
	BAD(cordon_policy_options_config(o, &config, NULL));
	BAD(cordon_config_default(&config, NULL));
	BAD(cordon_policy_from_config(&config, NULL, &p, NULL));
	BAD(cordon_policy_load(o, &p, NULL));
	BAD(cordon_wrap_command("x", o, &argv, NULL));
	EXPECT(cordon_policy_options_get_mode(o) == NULL);
	cordon_policy_options_free(o);
	cordon_policy_options_free(NULL);
	cordon_free(argv);
}

static void abuse_policy(void)
{
	struct cordon_thresholds t = {0};
	struct cordon_policy *p = NULL;
	char *text = NULL;

	BAD(cordon_policy_parse("a: [", 4, "n", NULL, &p, NULL));
	BAD(cordon_policy_get(p, "x", &text, NULL));
	BAD(cordon_policy_explain(p, see_value, NULL, NULL));
	BAD(cordon_policy_show_json(p, &text, NULL, NULL));
	BAD(cordon_policy_thresholds(p, NULL, NULL, &t, NULL));
	BAD(cordon_policy_schema(NULL, NULL, NULL));
	EXPECT(cordon_policy_workspace(p) == NULL);
	EXPECT(cordon_policy_warning(p, 0) == NULL);
	cordon_policy_free(p);
}

static void abuse_calls(void)
{
	static const char *const argv[] = {"", NULL};
	struct cordon_request *q = NULL;
	struct cordon_report *r = NULL;
	struct cordon_denied denied = {0};
	size_t len = 1;
	char *text = NULL;

	BAD(cordon_request_argv(argv, NULL, &q, NULL));
	BAD(cordon_request_shell("", NULL, &q, NULL));
	BAD(cordon_request_json("[", 1, NULL, &q, NULL));
	EXPECT(cordon_request_id(q) == NULL);
	EXPECT(cordon_request_text(q) == NULL);
	cordon_request_free(q);
	BAD(cordon_run(NULL, q, NULL, &r, NULL));
	BAD(cordon_report_denied(r, 0, &denied, NULL));
	BAD(cordon_report_json(r, &text, NULL, NULL));
	EXPECT(cordon_report_exit_code(r) == 125);
	EXPECT(cordon_report_id(r) == NULL);
	EXPECT(cordon_report_verdict(r) == CORDON_VERDICT_SAFE);
	EXPECT(cordon_report_confidence(r) < 1);
	EXPECT(cordon_report_action(r) == CORDON_ACTION_ALLOW);
	EXPECT(cordon_report_dry_run(r) == 0);
	EXPECT(cordon_report_refused(r) == 0);
	EXPECT(cordon_report_error(r) == NULL);
	EXPECT(cordon_report_backend(r) == NULL);
	EXPECT(cordon_report_level(r) == NULL);
	EXPECT(cordon_report_guarantee(r, 0) == NULL);
	EXPECT(cordon_report_degraded(r, 0) == NULL);
	EXPECT(cordon_report_signal(r) == 0);
	EXPECT(cordon_report_timed_out(r) == 0);
	EXPECT(cordon_report_output_truncated(r) == 0);
	EXPECT(cordon_report_duration_ms(r) < 1);
	EXPECT(*cordon_report_stdout(r, &len) == '\0');
	EXPECT(*cordon_report_stderr(r, &len) == '\0');
	EXPECT(cordon_report_findings(r) == NULL);
	cordon_report_free(r);
}

static void abuse_parts(void)
{
	struct cordon_finding finding = {0};
	struct cordon_decision decision = {0};
	struct cordon_selection selection = {0};
	struct cordon_audit_result result = {0};
	struct cordon_host_answer answer = {0};
	struct cordon_host host = {0};

	BAD(cordon_findings_new(NULL, NULL));
	BAD(cordon_findings_add(NULL, &finding, NULL));
	BAD(cordon_findings_get(NULL, 3, &finding, NULL));
	EXPECT(cordon_findings_count(NULL) == 0);
	cordon_findings_free(NULL);
	BAD(cordon_inspect(NULL, 3, NULL, NULL, NULL));
	BAD(cordon_inspect_adversary(NULL, 3, NULL, NULL));
	BAD(cordon_inspect_egress(NULL, NULL, 3, NULL, NULL));
	BAD(cordon_inspect_secrets(NULL, 3, NULL, NULL));
	EXPECT(cordon_findings_threat(NULL) == CORDON_THREAT_NONE);
	BAD(cordon_verifier_new(NULL, NULL));
	BAD(cordon_verifier_add(NULL, CORDON_VERIFIER_MODULES, "x", NULL));
	BAD(cordon_verifier_add_blocked_module(NULL, "x", NULL));
	BAD(cordon_verifier_add_blocked_function(NULL, "x", NULL));
	BAD(cordon_verifier_add_blocked_pattern(NULL, "x", NULL));
	BAD(cordon_verifier_clear(NULL, CORDON_VERIFIER_PATHS, NULL));
	EXPECT(cordon_verifier_get(NULL, CORDON_VERIFIER_PATHS, 0) == NULL);
	BAD(cordon_verify(NULL, NULL, 3, NULL, NULL, NULL));
	EXPECT(cordon_verification_safe(NULL) == 0);
	EXPECT(cordon_verification_count(NULL) == 0);
	EXPECT(*cordon_verification_language(NULL) == '\0');
	EXPECT(cordon_verification_warning(NULL, 0) == NULL);
	BAD(cordon_verification_get(NULL, 0, NULL, NULL));
	BAD(cordon_verification_format(NULL, NULL, NULL));
	cordon_verification_free(NULL);
	cordon_verifier_free(NULL);
	BAD(cordon_verdict_decide(NULL, NULL, NULL, &decision, NULL));
	EXPECT(*cordon_verdict_name((enum cordon_verdict)77) == '?');
	EXPECT(*cordon_threat_name((enum cordon_threat)77) == '?');
	EXPECT(*cordon_action_name((enum cordon_action)77) == '?');
	EXPECT(*cordon_error_text(77) == 'n');
	EXPECT(*cordon_error_name(77) == 'C');
	EXPECT(*cordon_version() != '\0');
	EXPECT(cordon_backends(see_backend, NULL, NULL) == 0);
	BAD(cordon_backend_available("x", NULL));
	EXPECT(cordon_available() == cordon_is_available());
	EXPECT(cordon_docker_available() >= 0);
	EXPECT(cordon_gvisor_available() >= 0);
	EXPECT(cordon_gvisor_docker_args() != NULL);
	EXPECT(cordon_landlock_available() >= 0);
	EXPECT(cordon_seatbelt_available() >= 0);
	BAD(cordon_seatbelt_default("x", NULL, NULL));
	BAD(cordon_seatbelt_profile(NULL, NULL, NULL));
	BAD(cordon_seatbelt_command(NULL, NULL, NULL, NULL));
	BAD(cordon_select("x", &selection, NULL));
	BAD(cordon_host_parse("\n", 1, &host, NULL));
	BAD(cordon_host_allowed(NULL, "x", 1, &answer, NULL));
	BAD(cordon_audit_verify("/dev/null/x", 0, "x", &result, NULL));
	BAD(cordon_audit_each(NULL, NULL, NULL, NULL, NULL));
	EXPECT(cordon_audit_each("/nonexistent", NULL, see_record, NULL, NULL) == 0);
}

/* The filter has no arguments to get wrong and cannot be taken off: it is tried in a process of its own. */
static bool seccomp_is_silent(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(cordon_seccomp_apply(NULL) == 0 ? SILENT : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == SILENT;
}

static void abuse_confine(void)
{
	struct cordon_landlock *l = NULL;
	void *bytes = NULL;

	BAD(cordon_seccomp_profile(&bytes, NULL, NULL));
	EXPECT(seccomp_is_silent());
	BAD(cordon_landlock_new("", &l, NULL));
	BAD(cordon_landlock_add_read_only(l, "/", NULL));
	BAD(cordon_landlock_add_read_write(l, "/", NULL));
	BAD(cordon_landlock_apply(l, NULL));
	cordon_landlock_free(l);
	EXPECT(cordon_landlock_new("/nonexistent", &l, NULL) == 0);
	BAD(cordon_landlock_add_read_only(l, "", NULL));
	BAD(cordon_landlock_apply(l, NULL));
	cordon_landlock_free(l);
}

static void abuse_adapter(void)
{
	const char *const relative[] = {"relative", NULL};
	const char *const hosts[] = {"a.example", NULL};
	const char *const calls[] = {"no_such_call", NULL};
	struct cordon_adapter *a = NULL;
	struct cordon_report *report = NULL;
	char *text = NULL;

	BAD(cordon_adapter_new("nothing", &a, NULL));
	BAD(cordon_adapter_new(NULL, NULL, NULL));
	BAD(cordon_adapter_restrict_filesystem(a, NULL, NULL, NULL, NULL));
	BAD(cordon_adapter_restrict_network(a, NULL, NULL));
	BAD(cordon_adapter_restrict_syscalls(a, NULL, NULL));
	BAD(cordon_adapter_apply_restrictions(a, NULL));
	BAD(cordon_adapter_run(a, NULL, NULL, &report, NULL));
	BAD(cordon_adapter_snapshot(a, &text, NULL));
	BAD(cordon_adapter_rollback(a, "x", NULL));
	BAD(cordon_adapter_get_audit_log(a, &text, NULL, NULL));
	EXPECT(cordon_adapter_name(a) == NULL);
	cordon_adapter_free(a);
	EXPECT(cordon_adapter_new("noop", &a, NULL) == 0);
	BAD(cordon_adapter_restrict_filesystem(a, relative, NULL, NULL, NULL));
	BAD(cordon_adapter_restrict_network(a, hosts, NULL));
	BAD(cordon_adapter_restrict_syscalls(a, calls, NULL));
	BAD(cordon_adapter_apply_restrictions(a, NULL));
	cordon_adapter_free(a);
}

static void abuse_proxy(void)
{
	const char *const hosts[] = {"a.example", "http://b.example/", NULL};
	struct cordon_proxy_config config = {.struct_size = sizeof(config)};
	struct cordon_proxy_config odd = {0};
	struct cordon_proxy_answer answer = {0};
	struct cordon_proxy_entry entry = {0};
	struct cordon_proxy_stats stats = {0};
	struct cordon_proxy *p = NULL;
	char **env = NULL;

	BAD(cordon_proxy_default_development(&odd, NULL));
	BAD(cordon_proxy_new(&odd, &p, NULL));
	config.mode = "shut";
	BAD(cordon_proxy_new(&config, &p, NULL));
	config.mode = "allowlist";
	config.allowed = hosts;
	BAD(cordon_proxy_new(&config, &p, NULL));
	BAD(cordon_proxy_start(p, NULL));
	BAD(cordon_proxy_env(p, &env, NULL));
	BAD(cordon_proxy_is_allowed(p, "x", 1, &answer, NULL));
	BAD(cordon_proxy_get_log(p, &entry, NULL));
	BAD(cordon_proxy_get_stats(p, &stats, NULL));
	EXPECT(cordon_proxy_address(p) == NULL);
	EXPECT(cordon_proxy_requests(p, "x") == 0);
	cordon_proxy_stop(p);
	cordon_proxy_free(p);
	config.allowed = NULL;
	config.listen = "0.0.0.0:0";
	EXPECT(cordon_proxy_new(&config, &p, NULL) == 0);
	BAD(cordon_proxy_start(p, NULL));
	BAD(cordon_proxy_env(p, &env, NULL));
	BAD(cordon_proxy_is_allowed(p, "a b", 1, NULL, NULL));
	cordon_proxy_free(p);
}

static void abuse_container(void)
{
	const char *const dirs[] = {"/proc", NULL};
	struct cordon_policy_options *o = place_options();
	struct cordon_policy *p = NULL;
	struct cordon_container *c = NULL;
	struct cordon_devenv *d = NULL;
	struct cordon_report *report = NULL;
	char *image = NULL;

	BAD(cordon_container_new(NULL, NULL, NULL, &c, NULL));
	BAD(cordon_devenv_new(NULL, NULL, NULL, NULL, &d, NULL));
	EXPECT(cordon_policy_load(o, &p, NULL) == 0);
	EXPECT(cordon_container_new(p, "no-engine", dirs, &c, NULL) == 0);
	EXPECT(cordon_devenv_new(p, "no-engine", NULL, NULL, &d, NULL) == 0);
	BAD(cordon_container_start(c, NULL));
	BAD(cordon_container_start(NULL, NULL));
	BAD(cordon_container_stop(c, NULL));
	BAD(cordon_container_hot_swap(c, NULL));
	BAD(cordon_container_running(c, NULL));
	BAD(cordon_container_build(c, "/etc/passwd", NULL));
	BAD(cordon_container_exec(c, "true", -1, &report, NULL));
	BAD(cordon_container_exec(c, NULL, 0, &report, NULL));
	BAD(cordon_container_set_image(NULL, "x", NULL));
	EXPECT(cordon_container_set_image(c, "x", NULL) == 0);
	EXPECT(strcmp(cordon_container_image(c), "x") == 0);
	EXPECT(strcmp(cordon_container_id(NULL), "") == 0);
	BAD(cordon_devenv_get_or_build(d, NULL, &image, NULL));
	BAD(cordon_devenv_get_or_build(d, NULL, NULL, NULL));
	BAD(cordon_devenv_rebuild_and_force_swap(NULL, NULL, &image, NULL));
	BAD(cordon_devenv_is_stale(d, NULL, NULL));
	BAD(cordon_devenv_invalidate(d, NULL));
	cordon_devenv_free(d);
	cordon_devenv_free(NULL);
	cordon_container_free(c);
	cordon_container_free(NULL);
	cordon_policy_free(p);
	cordon_policy_options_free(o);
}

static void abuse_sandbox(void)
{
	struct cordon_sandbox_state odd = {0};
	struct cordon_sandbox_options options = {0};
	struct cordon_sandbox_manager *m = NULL;
	struct cordon_report *report = NULL;
	char **words = NULL;
	char *text = NULL;

	BAD(cordon_sandbox_manager_new("relative", 0, &m, NULL));
	BAD(cordon_sandbox_manager_new(NULL, 0, NULL, NULL));
	EXPECT(cordon_sandbox_manager_new("/proc/nowhere", 0, &m, NULL) == 0);
	BAD(cordon_sandbox_create(m, NULL, &options, &odd, NULL));
	BAD(cordon_sandbox_create(NULL, NULL, NULL, NULL, NULL));
	BAD(cordon_sandbox_exec(m, "x", NULL, NULL, &report, NULL));
	BAD(cordon_sandbox_get(m, "x", &odd, NULL));
	BAD(cordon_sandbox_env(m, "x", &words, NULL));
	BAD(cordon_sandbox_pause(m, "x", NULL));
	BAD(cordon_sandbox_resume(m, NULL, NULL));
	BAD(cordon_sandbox_snapshot(m, "x", "y", &text, NULL));
	BAD(cordon_sandbox_restore(m, "x", "y", NULL));
	BAD(cordon_sandbox_diff(m, "x", &words, NULL));
	BAD(cordon_sandbox_commit(m, "x", 1, NULL));
	BAD(cordon_sandbox_discard(m, "x", NULL));
	BAD(cordon_sandbox_remove(m, "x", 1, NULL));
	BAD(cordon_sandbox_list(m, &odd, 1, NULL));
	BAD(cordon_sandbox_list(m, NULL, 1, NULL));
	BAD(cordon_sandbox_cleanup(m, -1, NULL));
	BAD(cordon_sandbox_format_status(m, NULL, NULL));
	EXPECT(strcmp(cordon_sandbox_status_name((enum cordon_sandbox_status)99), "error") == 0);
	cordon_sandbox_manager_free(m);
	cordon_sandbox_manager_free(NULL);
}

/* A run of a command that writes, which the library keeps to itself. */
static int whole_run(void)
{
	struct cordon_policy_options *o = place_options();
	struct cordon_policy *p = NULL;
	struct cordon_request *q = NULL;
	struct cordon_report *r = NULL;
	char *text = NULL;
	int e = cordon_policy_options_level(o, "none", NULL);

	if (e == 0)
		e = cordon_policy_load(o, &p, NULL);
	if (e == 0)
		e = cordon_request_shell("echo loud; echo louder >&2; cat", NULL, &q, NULL);
	if (e == 0)
		e = cordon_run(p, q, NULL, &r, NULL);
	if (e == 0)
		e = cordon_report_json(r, &text, NULL, NULL);
	if (e == 0 && strcmp(cordon_report_stdout(r, NULL), "loud\n") != 0)
		e = -1;
	cordon_free(text);
	cordon_report_free(r);
	cordon_request_free(q);
	cordon_policy_free(p);
	cordon_policy_options_free(o);
	return e;
}

/* What of the process could be changed behind its back. */
struct process {
	struct sigaction actions[NSIG];
	sigset_t mask;
	char cwd[512];
	mode_t umask_bits;
	char **environment;
	char *last_variable;
	int next_fd;
};

static void process_look(struct process *p)
{
	size_t n = 0;

	memset(p, 0, sizeof(*p));
	for (int sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, NULL, &p->actions[sig]); /* libc keeps two for itself */
	(void)pthread_sigmask(SIG_BLOCK, NULL, &p->mask);
	if (!getcwd(p->cwd, sizeof(p->cwd)))
		_exit(10);
	p->umask_bits = umask(0);
	(void)umask(p->umask_bits);
	p->environment = environ;
	while (environ[n + 1])
		n++;
	p->last_variable = environ[n];
	p->next_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(p->next_fd);
}

static bool process_is_same(const struct process *a, const struct process *b)
{
	for (int sig = 1; sig < NSIG; sig++)
		if (a->actions[sig].sa_handler != b->actions[sig].sa_handler ||
		    a->actions[sig].sa_flags != b->actions[sig].sa_flags ||
		    sigismember(&a->mask, sig) != sigismember(&b->mask, sig))
			return false;
	return strcmp(a->cwd, b->cwd) == 0 && a->umask_bits == b->umask_bits &&
	       a->environment == b->environment && a->last_variable == b->last_variable &&
	       a->next_fd == b->next_fd;
}

static void child(int in, int out)
{
	static struct process before, after;

	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(11);
	process_look(&before);
	abuse_options();
	abuse_policy();
	abuse_calls();
	abuse_parts();
	abuse_confine();
	abuse_adapter();
	abuse_proxy();
	abuse_container();
	abuse_sandbox();
	if (whole_run() != 0)
		_exit(13);
	process_look(&after);
	_exit(process_is_same(&before, &after) ? SILENT : 14);
}

static void test_silence(void **state)
{
	int in[2], out[2], status = 0;
	char text[4096] = {0};
	pid_t pid;

	(void)state;
	wrong = mmap(NULL, sizeof(*wrong), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	assert_true(wrong != MAP_FAILED);
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(write(in[1], "input of the host program", 25), 25);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		child(in[0], out[1]);
	close(out[1]);
	assert_true(read(out[0], text, sizeof(text) - 1) >= 0);
	assert_string_equal(text, "");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status)); /* it still lived */
	assert_int_equal(WEXITSTATUS(status), SILENT);
	assert_int_equal(*wrong, 0);
	/* The command did not get what was meant for the host program. */
	assert_int_equal(read(in[0], text, sizeof(text)), 25);
	close(in[0]);
	close(in[1]);
	close(out[0]);
	assert_int_equal(munmap(wrong, sizeof(*wrong)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silence),
	};

	return cmocka_run_group_tests(tests, place_setup, place_teardown);
}
