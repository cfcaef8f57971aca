/* SPDX-License-Identifier: Apache-2.0 */
/* The body of `cordon run`: options to a policy layer, the corridor, the reply. */
#include "cli/body_run.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/denied_print.h"

#include "backend/cgroup/cgroup.h"
#include "backend/native/ahead.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/parse.h"
#include "core/effective.h"
#include "core/grants.h"
#include "core/pipeline.h"
#include "core/record.h"
#include "run/show.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define RUN_FILES_MIN 32 /* open at one time */

/* Options whose text goes to one row of the policy as it is. */
struct run_text_row {
	const char *option;
	enum policy_row row;
	const char *text;
};

struct run_list_row {
	const char *option;
	enum policy_row row;
	const struct strv *texts;
};

struct run_number_row {
	const char *option;
	enum policy_row row;
	struct option_number number;
};

static int run_texts(struct policy *layer, const struct policy_context *c,
		     const struct run_options *o, struct cordon_error *err)
{
	const struct run_text_row texts[] = {
		{"--level", POLICY_LEVEL, o->level},
		{"--net", POLICY_NET_MODE, o->net},
		{"--fs", POLICY_FS_MODE, o->fs},
		{"--workspace", POLICY_WORKSPACE, o->workspace},
		{"--image", POLICY_IMAGE, o->image},
	};
	const struct run_list_row lists[] = {
		{"--deny", POLICY_DENIED, &o->deny},
		{"--allow-host", POLICY_ALLOWED_HOSTS, &o->allow_host},
		{"--allow-private", POLICY_ALLOW_PRIVATE, &o->allow_private},
		{"--allow-socket", POLICY_SOCKETS, &o->allow_socket},
		{"--publish", POLICY_PUBLISH, &o->publish},
		{"--allow-port", POLICY_PORTS, &o->allow_port},
		{"--cache", POLICY_CACHES, &o->cache},
		{"--device", POLICY_DEVICES, &o->device},
		{"--exec", POLICY_EXECUTABLE, &o->exec},
		{"--submount", POLICY_SUBMOUNTS, &o->submount},
		{"--deny-syscall", POLICY_DENIED_SYSCALLS, &o->deny_syscall},
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(texts); i++)
		if (texts[i].text)
			r = policy_option_text(layer, texts[i].row, c, texts[i].option,
					       texts[i].text, err);
	for (size_t l = 0; r == 0 && l < ARRAY_LEN(lists); l++)
		for (size_t i = 0; r == 0 && i < lists[l].texts->n; i++)
			r = policy_option_text(layer, lists[l].row, c, lists[l].option,
					       lists[l].texts->v[i], err);
	return r;
}

static int run_numbers(struct policy *layer, const struct run_options *o, struct cordon_error *err)
{
	const struct run_number_row rows[] = {
		{"--memory", POLICY_MEMORY, o->memory_bytes},
		{"--cpu-shares", POLICY_CPU_SHARES, o->cpu_shares},
		{"--cpu-percent", POLICY_CPU_PERCENT, o->cpu_percent},
		{"--max-processes", POLICY_PROCESSES, o->max_processes},
		{"--max-open-files", POLICY_OPEN_FILES, o->max_open_files},
		{"--timeout", POLICY_TIMEOUT, o->timeout_ms},
		{"--grace", POLICY_GRACE, o->grace_ms},
		{"--max-output", POLICY_OUTPUT, o->max_output_bytes},
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(rows); i++)
		if (rows[i].number.is_given)
			r = policy_option_int(layer, rows[i].row, rows[i].option,
					      (int64_t)rows[i].number.value, err);
	if (r == 0 && o->gpu)
		r = policy_option_int(layer, POLICY_GPU, "--gpu", 1, err);
	if (r == 0 && o->ask_hosts)
		r = policy_option_int(layer, POLICY_NET_ASK, "--ask-hosts", 1, err);
	if (r == 0 && o->allow_debug)
		r = policy_option_int(layer, POLICY_DEBUG, "--allow-debug", 1, err);
	if (r == 0 && o->write_xor_execute)
		r = policy_option_int(layer, POLICY_WRITE_XOR_EXECUTE, "--write-xor-execute", 1,
				      err);
	if (r == 0 && o->enforcement == RUN_ENFORCE) {
		r = policy_option_int(layer, POLICY_ENABLED, "--enforce", 1, err);
		if (r == 0)
			r = policy_option_int(layer, POLICY_DRY_RUN, "--enforce", 0, err);
	} else if (r == 0 && o->enforcement == RUN_DRY_RUN) {
		r = policy_option_int(layer, POLICY_DRY_RUN, "--dry-run", 1, err);
	}
	return r;
}

static int run_environment(struct policy *layer, const struct policy_context *c,
			   const struct run_options *o, struct cordon_error *err)
{
	for (size_t i = 0; i < o->env.n; i++) {
		const char *equals = strchr(o->env.v[i], '=');
		AUTO_FREE char *name = NULL;
		int r;

		if (!equals) {
			r = policy_option_text(layer, POLICY_ENV_PASS, c, "--env", o->env.v[i],
					       err);
		} else {
			name = strndup(o->env.v[i], (size_t)(equals - o->env.v[i]));
			r = name ? policy_option_env(layer, name, equals + 1, err)
				 : cordon_nomem(err);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static int run_secrets(struct policy *layer, const struct policy_context *c,
		       const struct run_options *o, struct cordon_error *err)
{
	for (size_t i = 0; i < o->secrets.n; i++) {
		int r = policy_option_secret(layer, c, o->secrets.v[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* With less something fails that nobody expects to, and the reason that is given is a wrong one. */
static int run_check_files(struct cordon_error *err)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= RUN_FILES_MIN)
		return 0;
	return cordon_hint(
		err,
		cordon_fail(err, CORDON_E_LIMIT,
			    "only %llu files may be open at one time: too few for a sandbox",
			    (unsigned long long)files.rlim_cur),
		"raise the limit of open files: ulimit -n 1024");
}

int run_layer(const struct policy_context *c, const struct run_options *o, struct policy *layer,
	      struct cordon_error *err)
{
	int r = run_check_files(err);

	if (r == 0)
		r = run_texts(layer, c, o, err);
	for (size_t i = 0; r == 0 && i < o->read.n; i++)
		r = policy_option_mount(layer, c, "--read", o->read.v[i], PERMISSION_RO, err);
	for (size_t i = 0; r == 0 && i < o->write.n; i++)
		r = policy_option_mount(layer, c, "--write", o->write.v[i], PERMISSION_RW, err);
	if (r == 0)
		r = run_numbers(layer, o, err);
	if (r == 0)
		r = run_environment(layer, c, o, err);
	return r == 0 ? run_secrets(layer, c, o, err) : r;
}

int run_open_report(const char *report, const char *workspace, struct outfile *ret,
		    struct cordon_error *err)
{
	return report ? outfile_open("--report", report, workspace, ret, err) : 0;
}

static int run_report_text(const struct report *report, struct buf *b)
{
	struct json j = JSON_INIT(b);

	report_json(report, &j);
	buf_char(b, '\n');
	return buf_error(b);
}

int run_write_report(const struct report *report, struct outfile *file, bool on_stdout,
		     struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	int r = 0;

	if (outfile_is_given(file) || on_stdout)
		r = run_report_text(report, &b);
	if (r == 0 && outfile_is_given(file))
		r = outfile_put(file, b.data, b.len);
	if (r == 0 && on_stdout)
		r = show_write(STDOUT_FILENO, b.data, b.len, CLOCK_NEVER);
	buf_done(&b);
	return r < 0 ? cordon_fail_leaf(err, r, "write the report") : 0;
}

int run_request(const struct cli *cli, const struct run_options *o, const struct effective *e,
		struct request **ret, struct cordon_error *err)
{
	struct request_options ro = {
		.cwd = e->workspace, .tool = o->tool, .agent = o->agent, .session = o->session};

	return o->command ? request_from_shell(o->command, &ro, ret, err)
			  : request_from_argv(cli->words, &ro, ret, err);
}

/* With -v: what the caches have grown to. */
static void run_say_caches(const struct cli *cli, const struct effective *e)
{
	AUTO(strv_done) struct strv lines = {0};

	if (cli->common.verbosity != LOG_LEVEL_VERBOSE ||
	    grants_describe_caches(e->policy, e->workspace, e->state_dir, &lines) < 0)
		return; /* it was only to be said */
	for (size_t i = 0; i < lines.n; i++)
		log_info("%s", lines.v[i]);
}

/* What became of the changes, where they are not in the workspace already. */
static void run_say_changes(const struct report *report)
{
	size_t n = changes_count(&report->changes);

	if (report->sandbox[0])
		log_notice("%zu change%s kept apart as %s: 'cordon sandbox diff %s' shows %s, "
			   "'commit' and 'discard' end it",
			   n, n == 1 ? " is" : "s are", report->sandbox, report->sandbox,
			   n == 1 ? "it" : "them");
	if (report->is_rolled_back && n > 0)
		log_notice("the command failed: %zu change%s undone", n, n == 1 ? " is" : "s are");
	for (size_t i = 0; i < report->left_out.n; i++)
		log_warning("not committed: %s", report->left_out.v[i]);
}

static int run_call(struct cli *cli, const struct run_options *o, const struct effective *e,
		    const struct request *request, struct cordon_error *err)
{
	AUTO(outfile_done) struct outfile file = OUTFILE_NONE;
	struct pipeline_options po = {
		.backend = o->backend,
		.state_dir = e->state_dir,
		.environ = environ,
		.captures = o->json,
		.is_quiet = o->json,
		.uses_terminal = true,
		.forwards_signals = true,
		.rollback_on_failure = o->rollback_on_failure,
		.constrains = o->constrain,
		.watches_paths = log_level() == LOG_LEVEL_VERBOSE,
	};
	struct report report;
	int code, r;

	r = run_open_report(o->report, e->workspace, &file, err);
	if (r == 0 && o->json && cli->out.fd < 0)
		r = cordon_fail(err, CORDON_E_INVALID, "--json: standard output is closed");
	if (r < 0)
		return cli_fail(cli, err);
	r = pipeline_run(e->policy, request, &po, &report, err);
	code = r < 0 ? CLI_EXIT_FAILED : report.exit_code;
	if (r < 0 || report.is_refused || !report.result.is_started)
		(void)cli_fail(cli, err);
	if (r == 0) {
		findings_print(&report, "run");
		if (!report.is_refused)
			denied_print(&report);
		run_say_changes(&report);
		r = run_write_report(&report, &file, o->json, err);
		if (r < 0)
			code = cli_fail(cli, err);
	}
	run_say_caches(cli, e);
	report_done(&report);
	return code;
}

static int run_main(struct cli *cli, const struct run_options *options)
{
	AUTO(policy_freep) struct policy *layer = policy_new();
	AUTO(request_freep) struct request *request = NULL;
	AUTO(effective_done) struct effective e = {0};
	AUTO(strv_done) struct strv warnings = {0};
	struct cordon_error err = {0};
	int r;

	if (!layer)
		return cli_fail(cli, (cordon_nomem(&err), &err));
	r = effective_init(options->cwd, &e, &err);
	if (r == 0)
		r = run_layer(&e.context, options, layer, &err);
	if (r == 0) {
		r = effective_load(&e, &options->policies, layer, &err);
		/* The policy's error is what the caller must hear; nothing runs either way. */
		if (r < 0)
			(void)!record_rejected(e.state_dir, &err, NULL);
	}
	if (r == 0)
		r = run_request(cli, options, &e, &request, &err);
	native_ahead_meet();
	if (r < 0)
		return cli_fail(cli, &err);
	for (size_t i = 0; i < e.policy->warnings.n; i++)
		log_warning("%s", e.policy->warnings.v[i]);
	if (grants_warnings(e.policy, &warnings) < 0)
		return cli_fail(cli, (cordon_nomem(&err), &err));
	for (size_t i = 0; i < warnings.n; i++)
		log_warning("%s", warnings.v[i]);
	return run_call(cli, options, &e, request, &err);
}

/* Is this a call that most likely runs under native, in no control group or in one that it can be born in?  If
 * not, nothing is lost but a process that is made and killed. */
static bool run_may_be_native(const struct run_options *o)
{
	bool is_limited = o->memory_bytes.is_given || o->cpu_shares.is_given ||
			  o->cpu_percent.is_given || o->max_processes.is_given;

	return (!o->level || strcmp(o->level, "process") == 0) &&
	       (!o->backend || strcmp(o->backend, "auto") == 0 ||
		strcmp(o->backend, "native") == 0) &&
	       (!o->net || strcmp(o->net, "allow-all") != 0) &&
	       (!is_limited || cgroup_is_unified());
}

int cmd_run_main(struct cli *cli, const struct run_options *options)
{
	int code;

	if (run_may_be_native(options))
		native_ahead_start();
	else
		native_ahead_done();
	code = run_main(cli, options);
	native_ahead_end();
	return code;
}
