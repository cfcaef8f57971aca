/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon sandbox` but for exec and logs. */
#include "cli/sandbox.h"

#include "cli/body_run.h"
#include "cli/table.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "core/grants.h"
#include "core/sandbox_set.h"

#include <stdio.h>
#include <unistd.h>

int sandbox_door_open(struct sandbox_door *d, const char *cwd, struct cordon_error *err)
{
	int r = effective_init(cwd, &d->effective, err);

	return r < 0 ? r
		     : sandbox_manager_open(d->effective.state_dir, /* max= */ 0, &d->manager, err);
}

void sandbox_door_done(struct sandbox_door *d)
{
	sandbox_manager_done(&d->manager);
	effective_done(&d->effective);
}

static void sandbox_warn(const struct policy *p)
{
	AUTO(strv_done) struct strv warnings = {0};

	for (size_t i = 0; i < p->warnings.n; i++)
		log_warning("%s", p->warnings.v[i]);
	if (grants_warnings(p, &warnings) < 0)
		return; /* it was only to be said */
	for (size_t i = 0; i < warnings.n; i++)
		log_warning("%s", warnings.v[i]);
}

int cmd_sandbox_create_main(struct cli *cli, const struct sandbox_create_options *options)
{
	AUTO(policy_freep) struct policy *layer = policy_new();
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(sandbox_done) struct sandbox s = SANDBOX_NONE;
	struct cordon_error err = {0};
	struct sandbox_options so = {
		.name = options->name,
		.environ = environ,
		.idle_ms = options->idle_ms.is_given ? options->idle_ms.value : 0,
	};
	int r = layer ? sandbox_door_open(&d, options->run.cwd, &err) : cordon_nomem(&err);

	if (r == 0)
		r = run_layer(&d.effective.context, &options->run, layer, &err);
	if (r == 0)
		r = effective_load(&d.effective, &options->run.policies, layer, &err);
	if (r == 0) {
		sandbox_warn(d.effective.policy);
		so.policy = d.effective.policy;
		so.workspace = d.effective.workspace;
		so.home = d.effective.home;
		so.backend = options->run.backend;
		if (options->max.is_given)
			d.manager.max = options->max.value;
		r = sandbox_create(&d.manager, &so, &s, &err);
	}
	if (r < 0)
		return cli_fail(cli, &err);
	out_printf(&cli->out, "%s\n", s.row.id);
	return 0;
}

static void sandbox_json(struct json *j, const struct sandbox_row *row)
{
	json_object(j, NULL);
	json_str(j, "id", row->id);
	json_str(j, "name", row->name[0] ? row->name : NULL);
	json_str(j, "workspace", row->workspace);
	json_str(j, "state", sandbox_state_word(row->state));
	json_str(j, "why", row->why[0] ? row->why : NULL);
	json_stamp(j, "created", row->created_ms);
	json_stamp(j, "used", row->used_ms);
	json_stamp(j, "paused", row->paused_ms);
	json_stamp(j, "resumed", row->resumed_ms);
	if (row->keeper)
		json_int(j, "keeper", row->keeper);
	else
		json_null(j, "keeper");
	json_int(j, "idle_timeout_ms", row->idle_ms);
	json_str(j, "backend", row->backend[0] ? row->backend : NULL);
	guarantee_json(row->guarantees, "guarantees", j);
	guarantee_json(row->degraded, "degraded", j);
}

static int sandbox_list_json(struct cli *cli, const struct sandbox_list *all,
			     struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);

	json_object(&j, NULL);
	json_array(&j, "sandboxes");
	for (size_t i = 0; i < all->n; i++) {
		sandbox_json(&j, &all->rows[i]);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	return cli_print_line(cli, &b, err);
}

static enum out_style sandbox_style(enum sandbox_state state)
{
	return state == SANDBOX_RUNNING  ? OUT_GREEN
	       : state == SANDBOX_PAUSED ? OUT_YELLOW
	       : state == SANDBOX_ERROR  ? OUT_RED
					 : OUT_DIM;
}

static int sandbox_list_table(struct cli *cli, const struct sandbox_list *all,
			      struct cordon_error *err)
{
	static const char *const headings[] = {"ID", "NAME", "STATE", "LAST USED", "WORKSPACE"};
	struct table t;
	int r;

	table_init(&t, ARRAY_LEN(headings), headings);
	for (size_t i = 0; i < all->n; i++) {
		const struct sandbox_row *row = &all->rows[i];
		char stamp[CLOCK_STAMP_LEN];

		clock_stamp_of(row->used_ms, stamp);
		table_cell(&t, row->id);
		table_cell(&t, row->name);
		table_styled_cell(&t, sandbox_style(row->state), sandbox_state_word(row->state));
		table_cell(&t, stamp);
		table_cell(&t, row->workspace);
	}
	r = table_print(&t, &cli->out);
	table_done(&t);
	return r < 0 ? cordon_nomem(err) : 0;
}

int cmd_sandbox_list_main(struct cli *cli, const struct sandbox_list_options *options)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(sandbox_list_done) struct sandbox_list all = {0};
	struct cordon_error err = {0};
	int r = sandbox_door_open(&d, /* cwd= */ NULL, &err);

	if (r == 0)
		r = sandbox_manager_list(&d.manager, &all, &err);
	if (r == 0)
		r = options->json ? sandbox_list_json(cli, &all, &err)
				  : sandbox_list_table(cli, &all, &err);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

static void sandbox_line(struct out *o, const char *name, const char *value)
{
	out_printf(o, "%-11s ", name);
	out_escaped(o, value);
	out_str(o, "\n");
}

static void sandbox_time_line(struct out *o, const char *name, int64_t ms)
{
	char stamp[CLOCK_STAMP_LEN];

	if (!ms)
		return;
	clock_stamp_of(ms, stamp);
	sandbox_line(o, name, stamp);
}

static const char *sandbox_pauses_by(const struct sandbox *s)
{
	return s->freezer == CGROUP_FREEZER_V2   ? "cgroup2"
	       : s->freezer == CGROUP_FREEZER_V1 ? "cgroup1"
						 : "signals";
}

static void sandbox_text(struct out *o, const struct sandbox *s, const struct snap_list *snapshots)
{
	const struct sandbox_row *row = &s->row;
	struct buf set = BUF_INIT(4096);

	sandbox_line(o, "id", row->id);
	if (row->name[0])
		sandbox_line(o, "name", row->name);
	out_printf(o, "%-11s ", "state");
	out_styled(o, sandbox_style(row->state), sandbox_state_word(row->state));
	if (row->why[0]) {
		out_str(o, ": ");
		out_escaped(o, row->why);
	}
	out_str(o, "\n");
	sandbox_line(o, "workspace", row->workspace);
	if (row->backend[0])
		sandbox_line(o, "backend", row->backend);
	sandbox_time_line(o, "created", row->created_ms);
	sandbox_time_line(o, "used", row->used_ms);
	sandbox_time_line(o, "paused", row->paused_ms);
	sandbox_time_line(o, "resumed", row->resumed_ms);
	if (row->keeper)
		out_printf(o, "%-11s %lld\n%-11s %u\n%-11s %s\n", "keeper", (long long)row->keeper,
			   "calls", s->calls, "pauses by", sandbox_pauses_by(s));
	for (size_t i = 0; i < snapshots->n; i++)
		sandbox_line(o, "snapshot", snapshots->v[i].name);
	guarantee_list(row->guarantees, &set);
	sandbox_line(o, "guarantees", buf_cstr(&set));
	buf_done(&set);
}

int cmd_sandbox_status_main(struct cli *cli, const struct sandbox_list_options *options)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(sandbox_done) struct sandbox s = SANDBOX_NONE;
	AUTO(snap_closep) struct snap_store *store = NULL;
	AUTO(snap_list_done) struct snap_list snapshots = {0};
	struct cordon_error err = {0};
	int r;

	if (cli->n_words == 0)
		return cmd_sandbox_list_main(cli, options);
	r = sandbox_door_open(&d, /* cwd= */ NULL, &err);
	if (r == 0)
		r = sandbox_look_at(&d.manager, cli->words[0], &s, &err);
	if (r == 0)
		r = snap_open(d.manager.state_dir, &store, &err);
	if (r == 0)
		r = snap_list(store, s.row.id, &snapshots, /* ret_damaged= */ NULL, &err);
	if (r == 0 && options->json) {
		struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
		struct json j = JSON_INIT(&b);

		sandbox_json(&j, &s.row);
		json_int(&j, "calls", s.calls);
		json_int(&j, "idle_ms", s.idle_ms);
		json_str(&j, "pauses_by", s.row.keeper ? sandbox_pauses_by(&s) : NULL);
		json_array(&j, "snapshots");
		for (size_t i = 0; i < snapshots.n; i++)
			json_str(&j, NULL, snapshots.v[i].name);
		json_end_array(&j);
		json_end_object(&j);
		r = cli_print_line(cli, &b, &err);
	} else if (r == 0) {
		sandbox_text(&cli->out, &s, &snapshots);
	}
	return r < 0 ? cli_fail(cli, &err) : 0;
}

int cmd_sandbox_pause_main(struct cli *cli)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(sandbox_done) struct sandbox s = SANDBOX_NONE;
	struct cordon_error err = {0};
	int r = sandbox_door_open(&d, /* cwd= */ NULL, &err);

	if (r == 0)
		r = sandbox_acquire(&d.manager, cli->words[0], &s, &err);
	if (r == 0)
		r = sandbox_pause(&d.manager, &s, &err);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

int cmd_sandbox_resume_main(struct cli *cli)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(sandbox_done) struct sandbox s = SANDBOX_NONE;
	struct cordon_error err = {0};
	bool is_anew = false;
	int r = sandbox_door_open(&d, /* cwd= */ NULL, &err);

	if (r == 0)
		r = sandbox_acquire(&d.manager, cli->words[0], &s, &err);
	if (r == 0)
		r = sandbox_resume(&d.manager, &s, &is_anew, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	if (is_anew)
		log_warning(
			"sandbox '%s' was started again: its processes are gone, its files are as "
			"they were",
			s.row.id);
	return 0;
}

int cmd_sandbox_rm_main(struct cli *cli, const struct sandbox_rm_options *options)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	struct cordon_error err = {0};
	int r = sandbox_door_open(&d, /* cwd= */ NULL, &err);

	for (size_t i = 0; r == 0 && i < cli->n_words; i++) {
		AUTO(sandbox_done) struct sandbox s = SANDBOX_NONE;

		r = sandbox_acquire(&d.manager, cli->words[i], &s, &err);
		if (r == 0)
			r = sandbox_delete(&d.manager, &s, options->force, &err);
	}
	return r < 0 ? cli_fail(cli, &err) : 0;
}

int cmd_sandbox_cleanup_main(struct cli *cli, const struct sandbox_cleanup_options *options)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(strv_done) struct strv removed = {0};
	struct cordon_error err = {0};
	int r = sandbox_door_open(&d, /* cwd= */ NULL, &err);

	if (r == 0)
		r = sandbox_manager_cleanup(&d.manager, options->max_age_ms.value, &removed, &err);
	for (size_t i = 0; i < removed.n; i++)
		out_printf(&cli->out, "%s\n", removed.v[i]);
	return r < 0 ? cli_fail(cli, &err) : 0;
}
