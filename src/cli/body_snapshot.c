/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon snapshot`. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/path.h"
#include "core/effective.h"
#include "workspace/cow/cow.h"
#include "workspace/snap/snap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int snapshot_open(struct snap_store **ret, struct cordon_error *err)
{
	struct effective effective = {0};
	int r = effective_init(/* cwd= */ NULL, &effective, err);

	if (r == 0)
		r = snap_open(effective.state_dir, ret, err);
	effective_done(&effective);
	return r;
}

/* Those of a sandbox say what its change set is, and go with it. */
static int snapshot_find(struct snap_store *s, const char *name, bool may_be_sandbox,
			 struct cordon_error *err)
{
	AUTO(snap_info_done) struct snap_info info = {0};
	int r = snap_find(s, name, &info, err);

	if (r == 0 && !may_be_sandbox && cow_id_is_valid(info.owner))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "snapshot '%s' is one of sandbox '%s'", name,
					       info.owner),
				   "'cordon sandbox restore %s %s'; it is removed with the sandbox",
				   info.owner, name);
	return r;
}

static void snapshot_json(struct json *j, const struct snap_info *i)
{
	json_object(j, NULL);
	json_str(j, "name", i->name);
	json_str(j, "owner", i->owner);
	json_stamp(j, "created", i->created_ms);
	json_int(j, "files", (int64_t)i->files);
	json_int(j, "bytes", (int64_t)i->bytes);
	json_int(j, "skipped", (int64_t)i->skipped);
	json_bool(j, "imported", i->is_imported);
	json_array(j, "paths");
	for (size_t k = 0; k < i->roots.n; k++)
		json_str(j, NULL, i->roots.v[k]);
	json_end_array(j);
	json_end_object(j);
}

static int snapshot_table(struct cli *cli, const struct snap_list *list, struct cordon_error *err)
{
	static const char *const headings[] = {"NAME", "MADE BY", "CREATED", "FILES", "PATH"};
	struct table t;
	int r;

	table_init(&t, ARRAY_LEN(headings), headings);
	for (size_t i = 0; i < list->n; i++) {
		const struct snap_info *info = &list->v[i];
		char stamp[CLOCK_STAMP_LEN], files[24];

		clock_stamp_of(info->created_ms, stamp);
		(void)snprintf(files, sizeof(files), "%llu", (unsigned long long)info->files);
		table_cell(&t, info->name);
		table_cell(&t, info->is_imported ? "import" : info->owner);
		table_cell(&t, stamp);
		table_cell(&t, files);
		table_cell(&t, info->roots.n > 0 ? info->roots.v[0] : "");
	}
	r = table_print(&t, &cli->out) < 0 ? cordon_nomem(err) : 0;
	table_done(&t);
	return r;
}

int cmd_snapshot_list_main(struct cli *cli, const struct snapshot_list_options *options)
{
	AUTO(snap_closep) struct snap_store *store = NULL;
	AUTO(snap_list_done) struct snap_list list = {0};
	AUTO(strv_done) struct strv damaged = {0};
	struct cordon_error err = {0};
	int r = snapshot_open(&store, &err);

	if (r == 0)
		r = snap_list(store, /* owner= */ NULL, &list, &damaged, &err);
	if (r == 0 && options->json) {
		struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
		struct json j = JSON_INIT(&b);

		json_object(&j, NULL);
		json_array(&j, "snapshots");
		for (size_t i = 0; i < list.n; i++)
			snapshot_json(&j, &list.v[i]);
		json_end_array(&j);
		json_end_object(&j);
		r = cli_print_line(cli, &b, &err);
	} else if (r == 0) {
		r = snapshot_table(cli, &list, &err);
	}
	for (size_t i = 0; r == 0 && i < damaged.n; i++)
		log_warning("the record of snapshot '%s' is damaged", damaged.v[i]);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

int cmd_snapshot_verify_main(struct cli *cli)
{
	AUTO(snap_closep) struct snap_store *store = NULL;
	AUTO(snap_verified_done) struct snap_verified v = {0};
	struct cordon_error err = {0};
	int r = snapshot_open(&store, &err);

	if (r == 0)
		r = snap_verify(store, cli->n_words > 0 ? cli->words[0] : NULL, &v, &err);
	for (size_t i = 0; i < v.problems.n; i++)
		out_printf(&cli->out, "%s\n", v.problems.v[i]);
	if (v.set_aside > 0)
		log_notice("%llu damaged files were set aside; the next snapshot writes them anew",
			   (unsigned long long)v.set_aside);
	if (r < 0)
		return cli_fail(cli, &err);
	out_printf(&cli->out, "%llu snapshots, %llu objects, %llu bytes: all as they were saved\n",
		   (unsigned long long)v.snapshots, (unsigned long long)v.objects,
		   (unsigned long long)v.bytes);
	return 0;
}

/* Absolute, and not where a link at the end leads: the link itself is meant. */
static int snapshot_absolute(const struct strv *paths, struct strv *ret, struct cordon_error *err)
{
	AUTO_FREE char *cwd = getcwd(NULL, 0);

	if (!cwd)
		return cordon_fail_errno(err, errno, "find the working directory");
	for (size_t i = 0; i < paths->n; i++) {
		AUTO_FREE char *joined = NULL;
		AUTO_FREE char *path = NULL;

		if (path_join(cwd, paths->v[i], &joined) < 0 || path_normalise(joined, &path) < 0 ||
		    strv_add(ret, path) < 0)
			return cordon_nomem(err);
	}
	return 0;
}

int cmd_snapshot_restore_main(struct cli *cli, const struct snapshot_restore_options *options)
{
	AUTO(snap_closep) struct snap_store *store = NULL;
	AUTO(snap_changes_done) struct snap_changes changes = {0};
	AUTO(strv_done) struct strv removed = {0};
	struct snap_restore_options o = {
		.target = options->target,
		.is_dry_run = options->is_dry_run,
	};
	struct cordon_error err = {0};
	int r = snapshot_open(&store, &err);

	if (r == 0)
		r = snapshot_absolute(&options->removed, &removed, &err);
	o.removable = (const char *const *)removed.v;
	o.removable_count = removed.n;
	if (r == 0)
		r = snapshot_find(store, cli->words[0],
				  /* may_be_sandbox= */ options->target != NULL, &err);
	if (r == 0)
		r = snap_restore(store, cli->words[0], &o, &changes, &err);
	for (size_t i = 0; i < changes.n; i++) {
		struct buf shown = BUF_INIT(LIMIT_PATH_BYTES * 4);

		str_escape(&shown, changes.v[i].path, strlen(changes.v[i].path));
		out_printf(&cli->out, "%s: %s\n", snap_op_name(changes.v[i].op), buf_cstr(&shown));
		buf_done(&shown);
	}
	if (r == 0 && changes.owners_kept > 0)
		log_warning("%llu files keep their owner: we may not give them away",
			    (unsigned long long)changes.owners_kept);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

int cmd_snapshot_export_main(struct cli *cli)
{
	const char *path = cli->words[1];
	bool is_stdout = strcmp(path, "-") == 0;
	AUTO(snap_closep) struct snap_store *store = NULL;
	AUTO_CLOSE int fd = -1;
	struct cordon_error err = {0};
	int r = snapshot_open(&store, &err);

	if (r == 0 && is_stdout && isatty(STDOUT_FILENO))
		r = cordon_hint(&err,
				cordon_fail(&err, CORDON_E_INVALID,
					    "a snapshot is not written to a terminal"),
				"name a file");
	if (r == 0)
		r = snapshot_find(store, cli->words[0], /* may_be_sandbox= */ true, &err);
	if (r == 0 && !is_stdout) {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0)
			r = cordon_fail_errno(&err, errno, "make '%.500s'", path);
	}
	if (r == 0)
		r = snap_export(store, cli->words[0], is_stdout ? STDOUT_FILENO : fd, &err);
	if (r == 0 && !is_stdout && fsync(fd) < 0)
		r = cordon_fail_errno(&err, errno, "write '%.500s'", path);
	if (r < 0 && fd >= 0)
		(void)unlink(path); /* half of one is of no use */
	return r < 0 ? cli_fail(cli, &err) : 0;
}

int cmd_snapshot_import_main(struct cli *cli, const struct snapshot_import_options *options)
{
	const char *path = cli->words[0];
	bool is_stdin = strcmp(path, "-") == 0;
	AUTO(snap_closep) struct snap_store *store = NULL;
	AUTO(snap_info_done) struct snap_info info = {0};
	AUTO_CLOSE int fd = is_stdin ? -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct cordon_error err = {0};
	int r = fd < 0 && !is_stdin ? cordon_fail_errno(&err, errno, "open '%.500s'", path)
				    : snapshot_open(&store, &err);

	if (r == 0)
		r = snap_import(store, is_stdin ? STDIN_FILENO : fd, options->name, &info, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	out_printf(&cli->out, "%s\n", info.name);
	return 0;
}

int cmd_snapshot_rm_main(struct cli *cli)
{
	AUTO(snap_closep) struct snap_store *store = NULL;
	struct cordon_error err = {0};
	int r = snapshot_open(&store, &err);

	/* All or none: each is looked for first. */
	for (size_t i = 0; r == 0 && i < cli->n_words; i++)
		r = snapshot_find(store, cli->words[i], /* may_be_sandbox= */ false, &err);
	for (size_t i = 0; r == 0 && i < cli->n_words; i++)
		r = snap_remove(store, cli->words[i], &err);
	if (r == 0)
		r = snap_gc(store, NULL, &err);
	return r < 0 ? cli_fail(cli, &err) : 0;
}
