/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon sandbox exec` and `logs`. */
#include "cli/sandbox.h"

#include "cli/body_run.h"
#include "cli/denied_print.h"

#include "base/env.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/path.h"
#include "core/keeper_log.h"
#include "core/pipeline.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOGS_LOOK_MS 200
#define LOGS_CHUNK 65536

/* The sandbox's environment, with the caller's terminal and what -e NAME passes. */
static int exec_environment(const struct sandbox_row *row, const struct run_options *o,
			    struct strv *ret)
{
	static const char *const terminal[] = {"TERM", "COLORTERM", "NO_COLOR"};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(terminal); i++)
		if (env_get(terminal[i]))
			r = strv_addf(ret, "%s=%s", terminal[i], env_get(terminal[i]));
	for (size_t i = 0; r == 0 && i < o->env.n; i++)
		if (!strchr(o->env.v[i], '=') && env_get(o->env.v[i]))
			r = strv_addf(ret, "%s=%s", o->env.v[i], env_get(o->env.v[i]));
	/* Of two with one name the first counts (environment.c). */
	for (size_t i = 0; r == 0 && i < row->environment.n; i++)
		r = strv_add(ret, row->environment.v[i]);
	return r;
}

static int exec_policy(struct sandbox_door *d, const struct sandbox_row *row,
		       const struct run_options *o, struct policy **ret, struct cordon_error *err)
{
	AUTO(policy_freep) struct policy *layer = policy_new();
	struct policy_context c = d->effective.context;
	int r;

	if (!layer)
		return cordon_nomem(err);
	c.workspace = row->workspace;
	r = run_layer(&c, o, layer, err);
	return r < 0 ? r : sandbox_policy(row, d->effective.home, layer, ret, err);
}

static int exec_request(struct cli *cli, const struct sandbox_row *row, const struct run_options *o,
			struct request **ret, struct cordon_error *err)
{
	AUTO_FREE char *cwd = NULL;
	size_t skip = cli->n_words > 1 && strcmp(cli->words[1], "--") == 0 ? 2 : 1;
	struct request_options ro = {
		.tool = o->tool, .agent = o->agent, .session = o->session ? o->session : row->id};
	int r = path_join(row->workspace, o->cwd ? o->cwd : ".", &cwd);

	if (r < 0)
		return cordon_fail_leaf(err, r, "directory '%.200s'", o->cwd ? o->cwd : ".");
	ro.cwd = cwd;
	return o->command ? request_from_shell(o->command, &ro, ret, err)
			  : request_from_argv(cli->words + skip, &ro, ret, err);
}

static int exec_reply(struct cli *cli, const struct run_options *o, const struct report *report,
		      struct outfile *file, struct cordon_error *err)
{
	int r;

	findings_print(report, "exec");
	if (!report->is_refused)
		denied_print(report);
	r = run_write_report(report, file, o->json, err);
	return r < 0 ? cli_fail(cli, err) : report->exit_code;
}

static int exec_call(struct cli *cli, struct sandbox_door *d, const struct sandbox *s,
		     const struct run_options *o, struct cordon_error *err)
{
	AUTO(policy_freep) struct policy *policy = NULL;
	AUTO(request_freep) struct request *request = NULL;
	AUTO(strv_done) struct strv environment = {0};
	AUTO(outfile_done) struct outfile file = OUTFILE_NONE;
	AUTO(sandbox_way_done) struct sandbox_way way = {.sandbox = s, .keeper = -1};
	const struct plan_entry entry = {
		.reach = sandbox_reach, .channel = sandbox_channel, .data = &way};
	struct selection held = {0};
	struct pipeline_options po = {
		.state_dir = d->manager.state_dir,
		.captures = o->json,
		.is_quiet = o->json,
		.uses_terminal = true,
		.forwards_signals = true,
		.entry = &entry,
		.held = &held,
		.sandbox = s,
	};
	struct report report;
	int r = run_open_report(o->report, s->row.workspace, &file, err);
	int code;

	if (r == 0)
		r = sandbox_held(&s->row, &held, err);
	if (r == 0)
		r = exec_policy(d, &s->row, o, &policy, err);
	if (r == 0)
		r = exec_request(cli, &s->row, o, &request, err);
	if (r == 0 && exec_environment(&s->row, o, &environment) < 0)
		r = cordon_nomem(err);
	if (r < 0)
		return cli_fail(cli, err);
	po.environ = environment.v;
	r = pipeline_run(policy, request, &po, &report, err);
	if (r < 0 || report.is_refused || !report.result.is_started)
		(void)cli_fail(cli, err);
	code = r < 0 ? CLI_EXIT_FAILED : exec_reply(cli, o, &report, &file, err);
	report_done(&report);
	return code;
}

int cmd_sandbox_exec_main(struct cli *cli, const struct sandbox_exec_options *options)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(sandbox_done) struct sandbox s = SANDBOX_NONE;
	struct cordon_error err = {0};
	int r = sandbox_door_open(&d, /* cwd= */ NULL, &err);

	if (r == 0)
		r = sandbox_acquire(&d.manager, cli->words[0], &s, &err);
	if (r == 0)
		r = sandbox_use(&d.manager, &s, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	session_close(TAKE_PTR(d.manager.store));
	return exec_call(cli, &d, &s, &options->run, &err);
}

/* Prints from where it stopped; a file that became shorter is another one. */
static int logs_print(struct cli *cli, const char *dir, const char *name, ino_t *inode, off_t *at,
		      struct cordon_error *err)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *bytes = malloc(LOGS_CHUNK + 1);
	AUTO_CLOSE int fd = -1;
	struct stat st;
	ssize_t n;

	if (!bytes || path_join(dir, name, &path) < 0)
		return cordon_nomem(err);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return cordon_fail_errno(err, errno, "open '%.200s'", path);
	if (st.st_ino != *inode)
		*at = 0;
	*inode = st.st_ino;
	while ((n = pread(fd, bytes, LOGS_CHUNK, *at)) > 0) {
		*at += n;
		bytes[n] = '\0';
		out_add(&cli->out, bytes, (size_t)n);
	}
	return n < 0 ? cordon_fail_errno(err, errno, "read '%.200s'", path) : 0;
}

int cmd_sandbox_logs_main(struct cli *cli, const struct sandbox_logs_options *options)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(sandbox_done) struct sandbox s = SANDBOX_NONE;
	struct cordon_error err = {0};
	ino_t old = 0;
	ino_t inode = 0;
	off_t old_at = 0;
	off_t at = 0;
	pid_t pid;
	int r = sandbox_door_open(&d, /* cwd= */ NULL, &err);

	if (r == 0)
		r = sandbox_look_at(&d.manager, cli->words[0], &s, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	session_close(TAKE_PTR(d.manager.store));
	r = logs_print(cli, s.dir, KEEPER_LOG_OLD, &old, &old_at, &err);
	if (r == 0)
		r = logs_print(cli, s.dir, KEEPER_LOG, &inode, &at, &err);
	while (r == 0 && options->follow && cli->out.error == 0) {
		bool is_alive = keeper_find(s.dir, &pid) > 0;
		ino_t was = inode;

		out_flush(&cli->out);
		/* The file that we read may have become the old one. */
		old = inode;
		old_at = at;
		r = logs_print(cli, s.dir, KEEPER_LOG, &inode, &at, &err);
		if (r == 0 && inode != was) {
			off_t rest = at;

			at = old_at;
			r = logs_print(cli, s.dir, KEEPER_LOG_OLD, &old, &at, &err);
			at = rest;
		}
		if (!is_alive)
			break;
		(void)poll(NULL, 0, LOGS_LOOK_MS);
	}
	return r < 0 ? cli_fail(cli, &err) : 0;
}
