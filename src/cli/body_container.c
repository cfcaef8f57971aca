/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon container` and `cordon image`. */
#include "cli/body_run.h"
#include "cli/cli.h"
#include "cli/container.h"
#include "cli/denied_print.h"
#include "cli/progress.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "core/devenv.h"
#include "core/pipeline.h"

#include <stdio.h>
#include <unistd.h>

static void container_step(void *data, uint32_t n, uint32_t total, const char *text)
{
	progress_step(data, n, total, text);
}

static int container_json(struct cli *cli, const struct devenv_status *s, struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);

	json_object(&j, NULL);
	json_str(&j, "image", s->image[0] ? s->image : NULL);
	json_str(&j, "hash", s->hash[0] ? s->hash : NULL);
	if (s->wanted[0]) {
		json_str(&j, "wanted", s->wanted);
		json_bool(&j, "stale", s->is_stale);
	}
	json_bool(&j, "built", s->was_built);
	json_bool(&j, "running", s->is_running);
	json_str(&j, "container", s->container[0] ? s->container : NULL);
	json_str(&j, "runs", s->runs[0] ? s->runs : NULL);
	json_end_object(&j);
	return cli_print_line(cli, &b, err);
}

/* Does it.  text says what a person gets to see. */
static int container_do(struct cli *cli, const struct container_options *o, enum devenv_verb verb,
			bool builds, bool looks,
			void (*text)(struct cli *cli, const struct devenv_status *s))
{
	AUTO(effective_done) struct effective e = {0};
	AUTO(devenv_room_done) struct devenv_room room = {0};
	struct devenv_status status = {0};
	struct progress progress = {0};
	struct cordon_error err = {0};
	const struct devenv_options options = {
		.engine = o->engine, .dockerfile = o->file, .writes = &o->writes};
	const struct devenv_ask ask = {
		.image = o->image,
		.is_forced = o->is_forced || builds,
		.builds = builds,
		.looks = looks,
		.step = container_step,
		.data = &progress,
	};
	int r = effective_init(o->policy.cwd, &e, &err);

	if (r == 0)
		r = effective_load(&e, &o->policy.policies, /* options= */ NULL, &err);
	if (r == 0)
		r = devenv_room_open(&e, &options, &room, &err);
	if (r == 0) {
		progress_begin(&progress);
		r = devenv_do(&room.devenv, verb, &ask, &status, &err);
		progress_clear(&progress);
	}
	if (r == 0 && o->policy.json)
		r = container_json(cli, &status, &err);
	else if (r == 0)
		text(cli, &status);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

static void container_say_id(struct cli *cli, const struct devenv_status *s)
{
	out_printf(&cli->out, "%s\n", s->container);
}

static void container_say_image(struct cli *cli, const struct devenv_status *s)
{
	out_printf(&cli->out, "%s\n", s->image);
}

static void container_say_nothing(struct cli *cli, const struct devenv_status *s)
{
	(void)cli;
	(void)s;
}

static void container_say_status(struct cli *cli, const struct devenv_status *s)
{
	if (!s->is_running)
		out_str(&cli->out, "not running\n");
	else
		out_printf(&cli->out, "running: %s\nimage: %s\n", s->container, s->runs);
}

static void container_say_stale(struct cli *cli, const struct devenv_status *s)
{
	if (!s->image[0])
		out_str(&cli->out, "not built\n");
	else
		out_printf(&cli->out, "%s: %s\n", s->is_stale ? "stale" : "current", s->image);
}

int cmd_container_start_main(struct cli *cli, const struct container_options *options)
{
	return container_do(cli, options, DEVENV_START, /* builds= */ false, /* looks= */ false,
			    container_say_id);
}

int cmd_container_stop_main(struct cli *cli, const struct container_options *options)
{
	return container_do(cli, options, DEVENV_STOP, /* builds= */ false, /* looks= */ false,
			    container_say_nothing);
}

int cmd_container_swap_main(struct cli *cli, const struct container_options *options)
{
	return container_do(cli, options, DEVENV_SWAP, /* builds= */ false, /* looks= */ false,
			    container_say_id);
}

int cmd_container_status_main(struct cli *cli, const struct container_options *options)
{
	return container_do(cli, options, DEVENV_STATUS, /* builds= */ false, /* looks= */ false,
			    container_say_status);
}

int cmd_image_build_main(struct cli *cli, const struct container_options *options)
{
	return container_do(cli, options, DEVENV_BUILD, /* builds= */ false, /* looks= */ false,
			    container_say_image);
}

int cmd_image_status_main(struct cli *cli, const struct container_options *options)
{
	return container_do(cli, options, DEVENV_STATUS, /* builds= */ false, /* looks= */ true,
			    container_say_stale);
}

int cmd_image_invalidate_main(struct cli *cli, const struct container_options *options)
{
	return container_do(cli, options, DEVENV_INVALIDATE, /* builds= */ false,
			    /* looks= */ false, container_say_nothing);
}

int cmd_image_swap_main(struct cli *cli, const struct container_options *options)
{
	return container_do(cli, options, DEVENV_SWAP, /* builds= */ true, /* looks= */ false,
			    container_say_id);
}

static int container_call(struct cli *cli, const struct run_options *o, const struct effective *e,
			  const struct request *request, struct devenv_room *room,
			  struct cordon_error *err)
{
	static char *const none[] = {NULL};
	AUTO(outfile_done) struct outfile file = OUTFILE_NONE;
	struct plan_entry entry;
	struct selection held;
	struct pipeline_options po = {
		.state_dir = e->state_dir,
		.environ = o->env.n > 0 ? environ : none,
		.captures = o->json,
		.is_quiet = o->json,
		.forwards_signals = true,
		.entry = &entry,
		.held = &held,
	};
	struct report report;
	int r = run_open_report(o->report, e->workspace, &file, err);
	int code;

	devenv_room_enter(room, &entry, &held);
	if (r < 0)
		return cli_fail(cli, err);
	r = pipeline_run(e->policy, request, &po, &report, err);
	if (r < 0 || report.is_refused || !report.result.is_started)
		(void)cli_fail(cli, err);
	code = r < 0 ? CLI_EXIT_FAILED : report.exit_code;
	if (r == 0 && !report.is_refused)
		denied_print(&report);
	if (r == 0)
		r = run_write_report(&report, &file, o->json, err);
	report_done(&report);
	return r < 0 && code != CLI_EXIT_FAILED ? cli_fail(cli, err) : code;
}

/* The shell of -c is the image's. */
static int container_request(const struct cli *cli, const struct run_options *o,
			     const struct effective *e, struct request **ret,
			     struct cordon_error *err)
{
	AUTO(strv_done) struct strv words = {0};
	const struct request_options ro = {
		.tool = o->tool ? o->tool : RUN_TOOL_DEFAULT,
		.session = o->session,
		.cwd = e->workspace,
	};

	if (!o->command)
		return request_from_argv(cli->words, &ro, ret, err);
	if (strv_add(&words, "/bin/sh") < 0 || strv_add(&words, "-c") < 0 ||
	    strv_add(&words, o->command) < 0)
		return cordon_nomem(err);
	return request_from_argv(words.v, &ro, ret, err);
}

int cmd_container_exec_main(struct cli *cli, const struct run_options *options)
{
	AUTO(policy_freep) struct policy *layer = policy_new();
	AUTO(request_freep) struct request *request = NULL;
	AUTO(effective_done) struct effective e = {0};
	AUTO(devenv_room_done) struct devenv_room room = {0};
	struct run_options call = *options;
	struct cordon_error err = {0};
	int r = layer ? run_check_words(cli, options, &err) : cordon_nomem(&err);

	call.backend = NULL; /* the engine, not how to run a call */
	if (r == 0)
		r = run_options_check(options, &err);
	if (r == 0)
		r = effective_init(options->cwd, &e, &err);
	if (r == 0)
		r = run_layer(&e.context, &call, layer, &err);
	if (r == 0)
		r = effective_load(&e, &options->policies, layer, &err);
	if (r == 0)
		r = container_request(cli, &call, &e, &request, &err);
	if (r == 0)
		r = devenv_room_open(&e, &(struct devenv_options){.engine = options->backend},
				     &room, &err);
	return r < 0 ? cli_fail(cli, &err) : container_call(cli, &call, &e, request, &room, &err);
}
