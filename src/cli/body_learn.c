/* SPDX-License-Identifier: Apache-2.0 */
/* The body of `cordon learn`: rounds through the corridor, and the manifest. */
#include "cli/body_run.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/denied_print.h"

#include "backend/confine/notify.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/path.h"
#include "core/learn.h"
#include "core/record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define LEARN_BACKEND "native"
#define LEARN_MANIFEST_MAX (4 * LIMIT_MANIFEST_BYTES)

struct lesson {
	struct cli *cli;
	const struct learn_options *options;
	struct effective *effective;
	struct learned learned;
	char *home; /* canonical, or NULL */
	struct outfile report;
	int exit_code; /* of the last round */
	struct cordon_error *err;
};

/* The policy of a round: as for run, and what was missing in earlier ones. */
static int learn_load(struct lesson *l)
{
	AUTO(policy_freep) struct policy *layer = policy_new();
	struct effective *e = l->effective;
	int r = layer ? run_layer(&e->context, &l->options->run, layer, l->err)
		      : cordon_nomem(l->err);

	for (size_t i = 0; r == 0 && i < l->learned.reads.n; i++)
		r = policy_option_mount(layer, &e->context, "--rounds", l->learned.reads.v[i],
					PERMISSION_RO, l->err);
	for (size_t i = 0; r == 0 && i < l->learned.writes.n; i++)
		r = policy_option_mount(layer, &e->context, "--rounds", l->learned.writes.v[i],
					PERMISSION_RW, l->err);
	if (r == 0) {
		policy_free(TAKE_PTR(e->policy));
		r = effective_load(e, &l->options->run.policies, layer, l->err);
		if (r < 0)
			(void)!record_rejected(e->state_dir, l->err, NULL);
	}
	if (r == 0 && e->policy->level == LEVEL_NONE)
		return cordon_fail(l->err, CORDON_E_INVALID,
				   "at level none nothing is denied, and nothing can be learned");
	return r;
}

static struct learn_input learn_in(const struct lesson *l)
{
	return (struct learn_input){
		.policy = l->effective->policy,
		.workspace = l->effective->workspace,
		.home = l->home,
		.state_dir = l->effective->state_dir,
	};
}

static int learn_cannot(struct lesson *l, const char *backend)
{
	return cordon_hint(l->err,
			   cordon_fail(l->err, CORDON_E_UNSUPPORTED,
				       "backend '%s' cannot tell what a command asks for", backend),
			   "--backend native, outside of another sandbox");
}

/* Before the command runs: only native hears of every path, and only with a listener. */
static int learn_check(struct lesson *l)
{
	const char *backend = l->options->run.backend;

	if (backend && strcmp(backend, "auto") != 0 && strcmp(backend, LEARN_BACKEND) != 0)
		return learn_cannot(l, backend);
	return notify_is_possible() ? 0 : learn_cannot(l, LEARN_BACKEND);
}

static int learn_judge(struct lesson *l, const struct report *report, size_t *ret_new)
{
	struct learn_input in = learn_in(l);

	if (!report->result.tells_paths)
		return learn_cannot(l, report->selection.backend->info->name);
	return learn_add(&in, report, &l->learned, ret_new, l->err);
}

/* One run.  *ret_new: what it missed that was not known. */
static int learn_round(struct lesson *l, size_t *ret_new, struct request **ret_request)
{
	const int stdio[] = {STDIN_FILENO, l->options->output ? STDOUT_FILENO : STDERR_FILENO,
			     STDERR_FILENO};
	struct pipeline_options po = {
		.backend = LEARN_BACKEND,
		.state_dir = l->effective->state_dir,
		.environ = environ,
		.uses_terminal = true,
		.forwards_signals = true,
		.rollback_on_failure = l->options->run.rollback_on_failure,
		.watches_paths = true,
		.stdio = stdio,
	};
	struct report report = {0};
	int r = learn_load(l);

	if (r == 0)
		r = run_request(l->cli, &l->options->run, l->effective, ret_request, l->err);
	if (r < 0)
		return r;
	r = pipeline_run(l->effective->policy, *ret_request, &po, &report, l->err);
	l->exit_code = report.exit_code;
	if (r == 0 && (report.is_refused || !report.result.is_started))
		r = l->err->code;
	else if (r == 0)
		r = learn_judge(l, &report, ret_new);
	if (r == 0) {
		denied_print(&report);
		r = run_write_report(&report, &l->report, /* on_stdout= */ false, l->err);
	}
	report_done(&report);
	return r;
}

static int learn_rounds(struct lesson *l, struct request **ret_request)
{
	uint64_t rounds = l->options->rounds.is_given ? (uint64_t)l->options->rounds.value : 1;
	size_t fresh = 1;
	int r = 0;

	for (uint64_t i = 0; r == 0 && fresh > 0 && i < rounds; i++) {
		request_free(TAKE_PTR(*ret_request));
		fresh = 0;
		r = learn_round(l, &fresh, ret_request);
		if (r == 0 && rounds > 1)
			log_info("learn: round %llu: exit code %d, %zu new",
				 (unsigned long long)i + 1, l->exit_code, fresh);
	}
	return r;
}

static int learn_output(struct lesson *l, const struct request *request, struct outfile *file)
{
	struct learn_input in = learn_in(l);
	struct buf b = BUF_INIT(LEARN_MANIFEST_MAX);
	int r;

	learn_write(&in, &l->learned, request, l->exit_code, &b);
	r = buf_error(&b);
	if (r == 0 && outfile_is_given(file))
		r = outfile_put(file, b.data, b.len);
	else if (r == 0)
		out_add(&l->cli->out, b.data, b.len);
	buf_done(&b);
	return r < 0 ? cordon_fail_leaf(l->err, r, "write the manifest") : 0;
}

int cmd_learn_main(struct cli *cli, const struct learn_options *options)
{
	AUTO(effective_done) struct effective e = {0};
	AUTO(request_freep) struct request *request = NULL;
	AUTO(outfile_done) struct outfile file = OUTFILE_NONE;
	struct cordon_error err = {0};
	struct lesson l = {.cli = cli,
			   .options = options,
			   .effective = &e,
			   .report = OUTFILE_NONE,
			   .err = &err};
	bool has_file = options->output && strcmp(options->output, "-") != 0;
	int r = effective_init(options->run.cwd, &e, &err);

	if (r == 0 && e.home)
		(void)!path_resolve(e.home, &l.home); /* without one nothing is below it */
	/* Before the command runs: a bad name must not cost a run. */
	if (r == 0 && has_file)
		r = outfile_open("--output", options->output, e.workspace, &file, &err);
	if (r == 0)
		r = run_open_report(options->run.report, e.workspace, &l.report, &err);
	if (r == 0)
		r = learn_check(&l);
	if (r == 0)
		r = learn_rounds(&l, &request);
	if (r == 0)
		r = learn_output(&l, request, &file);
	learned_done(&l.learned);
	free(l.home);
	outfile_done(&l.report);
	if (r == CORDON_E_REFUSED) {
		(void)cli_fail(cli, &err);
		return SUPERVISE_EXIT_REFUSED;
	}
	return r < 0 ? cli_fail(cli, &err) : 0;
}
