/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon sandbox` that work with what a sandbox changed. */
#include "cli/sandbox.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/path.h"
#include "core/sandbox_set.h"

#include <string.h>

#define SET_DIFF_BYTES (256 * 1024 * 1024)

static void set_say_anew(const struct sandbox *s, bool is_anew)
{
	if (is_anew)
		log_notice("sandbox '%s' was started again: its processes were ended", s->row.id);
}

static int set_open(struct cli *cli, struct sandbox_door *d, struct sandbox *s,
		    struct cordon_error *err)
{
	int r = sandbox_door_open(d, /* cwd= */ NULL, err);

	return r < 0 ? r : sandbox_acquire(&d->manager, cli->words[0], s, err);
}

/* What was written to these is not in the set. */
static int set_tell_mounts(const struct sandbox_door *d, const struct sandbox *s,
			   struct cordon_error *err)
{
	AUTO(strv_done) struct strv mounts = {0};
	struct cow cow = COW_NONE;
	int r = cow_open(d->manager.state_dir, s->row.id, COW_SHARED, &cow, err);

	if (r == 0)
		r = cow_mounts(&cow, &mounts, err);
	cow_close(&cow);
	for (size_t i = 0; r == 0 && i < mounts.n; i++)
		log_notice("'%s' is a mount and no part of the change set", mounts.v[i]);
	return r;
}

int cmd_sandbox_diff_main(struct cli *cli, const struct sandbox_diff_options *options)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(sandbox_done) struct sandbox s = SANDBOX_NONE;
	struct buf text = BUF_INIT(SET_DIFF_BYTES);
	struct cordon_error err = {0};
	int r = set_open(cli, &d, &s, &err);

	if (r == 0)
		r = sandbox_diff(&d.manager, &s, options->unified, &text, &err);
	if (r == 0)
		r = set_tell_mounts(&d, &s, &err);
	out_reviewed(&cli->out, buf_cstr(&text), text.len);
	buf_done(&text);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

/* The paths as the change set has them: relative to the workspace. */
static int set_paths(const struct cli *cli, const struct sandbox *s, struct strv *ret,
		     struct cordon_error *err)
{
	for (size_t i = 1; i < cli->n_words; i++) {
		AUTO_FREE char *full = NULL;
		int r = path_join(s->row.workspace, cli->words[i], &full);

		if (r < 0)
			return cordon_fail_leaf(err, r, "path '%.200s'", cli->words[i]);
		if (!path_is_within(full, s->row.workspace) || strcmp(full, s->row.workspace) == 0)
			return cordon_fail(err, CORDON_E_INVALID,
					   "'%.200s' is not in the workspace '%.200s'",
					   cli->words[i], s->row.workspace);
		if (strv_add(ret, full + strlen(s->row.workspace) + 1) < 0)
			return cordon_nomem(err);
	}
	return 0;
}

int cmd_sandbox_commit_main(struct cli *cli, const struct sandbox_commit_options *options)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(sandbox_done) struct sandbox s = SANDBOX_NONE;
	AUTO(strv_done) struct strv paths = {0};
	struct commit_options o = {.is_forced = options->force};
	struct commit_result result = {0};
	struct cordon_error err = {0};
	int r = set_open(cli, &d, &s, &err);

	if (r == 0)
		r = set_paths(cli, &s, &paths, &err);
	if (r == 0) {
		o.paths = paths.n > 0 ? (const char *const *)paths.v : NULL;
		o.n_paths = paths.n;
		r = sandbox_commit(&d.manager, &s, &o, &result, &err);
	}
	for (size_t i = 0; i < result.conflicts.n; i++)
		log_warning("%s: '%s'",
			    r < 0 ? "was changed outside since"
				  : "overwritten, though changed outside",
			    result.conflicts.v[i]);
	for (size_t i = 0; i < result.left_out.n; i++)
		log_warning("not committed: %s", result.left_out.v[i]);
	for (size_t i = 0; i < result.warnings.n; i++)
		log_warning("%s", result.warnings.v[i]);
	if (r == 0)
		log_notice("%zu change%s committed", result.n, result.n == 1 ? "" : "s");
	commit_result_done(&result);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

int cmd_sandbox_discard_main(struct cli *cli)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(sandbox_done) struct sandbox s = SANDBOX_NONE;
	struct cordon_error err = {0};
	bool is_anew = false;
	int r = set_open(cli, &d, &s, &err);

	if (r == 0)
		r = sandbox_discard(&d.manager, &s, &is_anew, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	set_say_anew(&s, is_anew);
	return 0;
}

int cmd_sandbox_snapshot_main(struct cli *cli, const struct sandbox_snapshot_options *options)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(sandbox_done) struct sandbox s = SANDBOX_NONE;
	AUTO_FREE char *name = NULL;
	struct cordon_error err = {0};
	int r = set_open(cli, &d, &s, &err);

	if (r == 0)
		r = sandbox_snapshot(&d.manager, &s, options->name, &name, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	out_printf(&cli->out, "%s\n", name);
	return 0;
}

int cmd_sandbox_restore_main(struct cli *cli, const struct sandbox_restore_options *options)
{
	AUTO(sandbox_door_done) struct sandbox_door d = {0};
	AUTO(sandbox_done) struct sandbox s = SANDBOX_NONE;
	struct sandbox_restore o = {.is_dry_run = options->dry_run,
				    .name = cli->n_words > 1 ? cli->words[1] : NULL};
	struct snap_changes changes = {0};
	struct cordon_error err = {0};
	int r = set_open(cli, &d, &s, &err);

	if (r == 0)
		r = sandbox_restore(&d.manager, &s, &o, &changes, &err);
	/* Where the change set lies is our business: names are those of the workspace. */
	for (size_t i = 0; r == 0 && options->dry_run && i < changes.n; i++) {
		const char *below = strstr(changes.v[i].path, s.row.id);

		below = below ? strchr(below + strlen(s.row.id) + 1, '/') : NULL;
		if (!below)
			continue;
		out_printf(&cli->out, "%s: ", snap_op_name(changes.v[i].op));
		out_escaped(&cli->out, below + 1);
		out_str(&cli->out, "\n");
	}
	snap_changes_done(&changes);
	if (r < 0)
		return cli_fail(cli, &err);
	set_say_anew(&s, o.is_anew);
	return 0;
}
