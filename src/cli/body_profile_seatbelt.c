/* SPDX-License-Identifier: Apache-2.0 */
/* The body of `cordon profile seatbelt`. */
#include "cli/cli.h"
#include "cli/commands.h"

#include "backend/seatbelt/sbpl.h"
#include "backend/seatbelt/seatbelt.h"
#include "core/effective.h"
#include "core/fsplan.h"
#include "policy/names.h"
#include "request/request.h"

#include <unistd.h>

/* The plan of a call in the workspace, as far as a profile can say it. */
static int profile_seatbelt_text(const struct effective *e, struct buf *out,
				 struct cordon_error *err)
{
	static char word[] = "true";
	char *argv[] = {word, NULL};
	struct request *request = NULL;
	struct fsplan view = {0};
	struct fsplan_input in = {
		.policy = e->policy,
		.envp = environ,
		.state_dir = e->state_dir,
		.config_dir = e->config_dir,
		.is_root = geteuid() == 0,
	};
	struct plan plan = {
		.net = e->policy->net_mode == NET_ALLOW_ALL ? PLAN_NET_HOST : PLAN_NET_NONE,
		.seatbelt = e->policy->seatbelt_profile,
	};
	int r = request_from_argv(argv, &(struct request_options){.cwd = e->workspace}, &request,
				  err);

	in.request = request;
	if (r == 0)
		r = fsplan_build(&in, &view, err);
	plan.ops = view.ops;
	plan.op_count = view.n;
	if (r == 0)
		r = seatbelt_profile(&plan, out, err);
	fsplan_done(&view);
	request_free(request);
	return r;
}

int cmd_profile_seatbelt_main(struct cli *cli, const struct policy_options *options)
{
	AUTO(effective_done) struct effective e = {0};
	AUTO(buf_done) struct buf b = BUF_INIT(SBPL_MAX);
	struct cordon_error err = {0};
	int r = effective_init(options->cwd, &e, &err);

	if (r == 0)
		r = effective_load(&e, &options->policies, /* options= */ NULL, &err);
	if (r == 0)
		r = profile_seatbelt_text(&e, &b, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	out_add(&cli->out, buf_cstr(&b), b.len);
	return 0;
}
