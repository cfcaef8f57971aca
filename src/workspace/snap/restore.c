/* SPDX-License-Identifier: Apache-2.0 */
/* Restoring a snapshot, and finishing what a process that died has begun. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "workspace/snap/apply.h"
#include "workspace/snap/object.h"
#include "workspace/snap/record.h"
#include "workspace/snap/step.h"
#include "workspace/snap/tree.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *snap_op_name(enum snap_op op)
{
	static const char *const names[] = {
		[SNAP_ADD] = "add",       [SNAP_MODIFY] = "modify",     [SNAP_META] = "meta",
		[SNAP_REMOVE] = "remove", [SNAP_CONFLICT] = "conflict",
	};
	static_assert(ARRAY_LEN(names) == SNAP_OP_COUNT, "a name for each");

	return (size_t)op < ARRAY_LEN(names) ? names[op] : "invalid";
}

void snap_changes_done(struct snap_changes *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].path);
	free(c->v);
	*c = (struct snap_changes){0};
}

#define SNAP_ASIDE (SNAP_HEX + 8)

struct restoring {
	struct snap_store *store;
	const struct snap_restore_options *options;
	const struct snap_journal *again; /* NULL: for the first time */
	bool is_gone;                     /* a tree, with the directory that it was in */
	uint8_t listing[SNAP_DIGEST];
	bool is_foreign;
	char key[SNAP_HEX];
	struct snap_manifest manifest;
	struct snap_place places[LIMIT_SNAPSHOT_ROOTS];
	const char *paths[LIMIT_SNAPSHOT_ROOTS];
	struct snap_plan plan;
	struct snap_apply apply;
	struct snap_changes changes;
	struct cordon_error *err;
};

/* The trees, where they are now.  One that is gone is made again, empty; not in a dry run. */
static int restore_open(struct restoring *x)
{
	const char *target = x->options->target;
	struct snap_tree where[LIMIT_SNAPSHOT_ROOTS];

	if (target && x->manifest.n_trees != 1)
		return cordon_fail(x->err, CORDON_E_INVALID,
				   "a snapshot of several trees has its own targets");
	for (size_t i = 0; i < x->manifest.n_trees; i++) {
		int r;

		x->paths[i] = target ? target : x->manifest.trees[i].path;
		where[i] =
			(struct snap_tree){.path = x->paths[i], .only = x->manifest.trees[i].only};
		r = snap_place_open(x->paths[i], &x->places[i]);
		if (r == -ENOENT && !x->options->is_dry_run && !*where[i].only &&
		    mkdir(x->paths[i], 0700) == 0)
			r = snap_place_open(x->paths[i], &x->places[i]);
		x->is_gone = r == -ENOENT;
		if (r < 0)
			return cordon_fail_leaf(x->err, r, "open '%s'", x->paths[i]);
	}
	snap_index_key(where, x->manifest.n_trees, x->key);
	return 0;
}

static int restore_plan(struct restoring *x)
{
	int r;

	x->plan = (struct snap_plan){
		.store = x->store,
		.manifest = &x->manifest,
		.places = x->places,
		.paths = x->paths,
		.options = x->options,
		.deadline_ms = snap_store_deadline(x->options->deadline_ms),
		.changes = &x->changes,
		.err = x->err,
	};
	r = snap_plan_make(&x->plan, x->again);
	if (r < 0 || x->plan.conflicts == 0 || x->options->is_dry_run)
		return r;
	for (size_t i = 0; i < x->changes.n; i++)
		if (x->changes.v[i].op == SNAP_CONFLICT)
			return cordon_hint(
				x->err,
				cordon_fail(x->err, CORDON_E_REFUSED,
					    "'%s' is in the way and was not made by the sandbox",
					    x->changes.v[i].path),
				"move it away; nothing has been changed");
	return 0;
}

static int restore_write_journal(struct restoring *x, bool is_changing)
{
	struct snap_journal j = {
		.is_changing = is_changing,
		.is_foreign = x->is_foreign,
		.target = x->options->target ? x->options->target : "",
		.only = x->options->only,
		.only_count = x->options->only_count,
		.goners = x->plan.goners,
		.goner_count = x->plan.n_goners,
	};

	memcpy(j.listing, x->listing, SNAP_DIGEST);
	memcpy(j.stage, x->apply.stage, sizeof(j.stage));
	j.time_count = x->manifest.n_trees;
	memcpy(j.times, x->apply.roots, j.time_count * sizeof(*j.times));
	return snap_journal_write(x->store, x->key, &j, x->err);
}

static int restore_begin(struct restoring *x)
{
	int r = snap_apply_begin(&x->apply);

	if (r == 0 && x->again && x->again->time_count == x->manifest.n_trees)
		memcpy(x->apply.roots, x->again->times,
		       x->manifest.n_trees * sizeof(*x->apply.roots));
	return r;
}

static int restore_apply(struct restoring *x)
{
	int r = restore_begin(x);

	if (r == 0 && x->again)
		snap_apply_clean(&x->apply); /* prepared by the one that died */
	if (r == 0 && !x->again)
		r = restore_write_journal(x, /* is_changing= */ false);
	if (r == 0) {
		r = snap_apply_prepare(&x->apply);
		if (r < 0) {
			snap_apply_clean(&x->apply);
			snap_apply_root_times(&x->apply);
			/* Nothing has happened.  If the journal stays, it says so too. */
			if (!x->again)
				(void)snap_journal_remove(x->store, x->key, NULL);
			return r;
		}
	}
	if (r == 0 && !x->again)
		r = restore_write_journal(x, /* is_changing= */ true);
	if (r == 0)
		r = snap_apply_change(&x->apply);
	if (r == 0)
		r = snap_journal_remove(x->store, x->key, x->err);
	return r;
}

/* The store is locked, shared, and the trees are locked. */
static int restore_run(struct restoring *x)
{
	int r = restore_plan(x);

	if (r < 0 || x->options->is_dry_run)
		return r;
	x->apply = (struct snap_apply){.plan = &x->plan, .rights = {.is_foreign = x->is_foreign}};
	if (x->again)
		memcpy(x->apply.stage, x->again->stage, sizeof(x->apply.stage));
	else if (snap_store_unique(x->apply.stage) < 0)
		return cordon_fail(x->err, CORDON_E_SYSTEM, "get a random number");
	if (x->plan.n == 0 && x->plan.n_goners == 0 && !x->again)
		return 0;
	r = restore_apply(x);
	x->changes.owners_kept = x->apply.rights.owners_kept;
	return r;
}

static void restoring_done(struct restoring *x)
{
	snap_apply_done(&x->apply);
	snap_plan_done(&x->plan);
	for (size_t i = 0; i < LIMIT_SNAPSHOT_ROOTS; i++)
		snap_place_done(&x->places[i]);
	snap_manifest_done(&x->manifest);
	snap_changes_done(&x->changes);
}

static void restoring_init(struct restoring *x, struct snap_store *s,
			   const struct snap_restore_options *o, struct cordon_error *err)
{
	*x = (struct restoring){.store = s, .options = o, .err = err};
	for (size_t i = 0; i < LIMIT_SNAPSHOT_ROOTS; i++)
		x->places[i] = SNAP_PLACE;
}

static int restore_find(struct restoring *x, const char *name)
{
	struct snap_info info = {0};
	int r = snap_find(x->store, name, &info, x->err);

	if (r < 0)
		return r;
	memcpy(x->listing, info.manifest, SNAP_DIGEST);
	x->is_foreign = info.is_imported;
	snap_info_done(&info);
	if (x->is_foreign && !x->options->target)
		return cordon_fail(x->err, CORDON_E_REFUSED,
				   "snapshot '%s' was imported: say where it is to be restored",
				   name);
	r = snap_listing_read(x->store, x->listing, &x->manifest, x->err);
	return r < 0 ? cordon_wrap(x->err, r, "snapshot '%s'", name) : 0;
}

int snap_restore(struct snap_store *s, const char *name, const struct snap_restore_options *o,
		 struct snap_changes *ret, struct cordon_error *err)
{
	AUTO_FREE struct restoring *x = malloc(sizeof(*x));
	AUTO_FREE char *target = NULL;
	struct snap_restore_options own = *o;
	AUTO_CLOSE int lock = -1;
	int r = o->is_dry_run ? 0 : snap_store_needs_writing(s, err);

	if (!x)
		return cordon_nomem(err);
	if (r == 0 && o->target) {
		r = path_resolve(o->target, &target);
		if (r < 0)
			return cordon_fail_leaf(err, r, "find '%s'", o->target);
		own.target = target;
	}
	restoring_init(x, s, &own, err);
	if (r == 0 && !o->is_dry_run)
		r = snap_recover(s, err);
	if (r == 0)
		r = snap_store_lock(s, LOCK_SH, err);
	if (r < 0)
		return r;
	r = restore_find(x, name);
	if (r == 0)
		r = restore_open(x);
	if (r == 0 && !o->is_dry_run)
		r = snap_journal_lock(s, x->key, /* waits= */ true, &lock, err);
	if (r == 0)
		r = restore_run(x);
	snap_store_unlock(s);
	if (ret && (r == 0 || r == CORDON_E_REFUSED)) {
		*ret = x->changes;
		x->changes = (struct snap_changes){0};
	}
	restoring_done(x);
	return r;
}

/* Undoes what was only prepared, or does the rest. */
static int recover_one(struct snap_store *s, const char *key, const struct snap_journal *j,
		       bool *ret_gone, struct cordon_error *err)
{
	AUTO_FREE struct restoring *x = malloc(sizeof(*x));
	struct snap_restore_options o = {
		.target = *j->target ? j->target : NULL,
		.only = j->only,
		.only_count = j->only_count,
	};
	int r;

	if (!x)
		return cordon_nomem(err);
	restoring_init(x, s, &o, err);
	memcpy(x->listing, j->listing, SNAP_DIGEST);
	x->is_foreign = j->is_foreign;
	x->again = j;
	r = snap_listing_read(s, x->listing, &x->manifest, err);
	if (r == 0)
		r = restore_open(x);
	if (r == 0 && strcmp(x->key, key) != 0)
		r = cordon_fail(err, CORDON_E_CORRUPT, "the journal '%s' is of other trees", key);
	if (r == 0 && j->is_changing) {
		r = restore_run(x);
	} else if (r == 0) {
		x->plan = (struct snap_plan){.manifest = &x->manifest,
					     .places = x->places,
					     .paths = x->paths,
					     .err = err};
		x->apply = (struct snap_apply){.plan = &x->plan};
		memcpy(x->apply.stage, j->stage, sizeof(x->apply.stage));
		r = restore_begin(x);
		if (r == 0) {
			snap_apply_clean(&x->apply);
			snap_apply_root_times(&x->apply);
			for (size_t i = 0; i < x->manifest.n_trees; i++)
				(void)fsync(x->places[i].root);
			r = snap_journal_remove(s, key, err);
		}
	}
	*ret_gone = x->is_gone;
	restoring_done(x);
	return r;
}

struct recovering {
	struct snap_store *store;
	bool waits; /* for somebody who works on the same trees */
	struct cordon_error *err;
};

/* A journal that nobody can work off stands in nobody's way either.  doctor names it. */
static void recover_set_aside(int dirfd, const char *prefix, const char *name,
			      char ret[static SNAP_ASIDE])
{
	(void)snprintf(ret, SNAP_ASIDE, "%s%s", prefix, name);
	(void)renameat(dirfd, name, dirfd, ret); /* else the same is said again */
}

static int recover_name(void *arg, int dirfd, const char *name)
{
	struct recovering *x = arg;
	AUTO_FREE char *data = NULL;
	AUTO_CLOSE int lock = -1;
	struct snap_journal j = {0};
	size_t len = 0;
	char aside[SNAP_ASIDE];
	bool is_gone = false;
	int r;

	if (strlen(name) != SNAP_HEX - 1)
		return 0;
	r = snap_journal_lock(x->store, name, x->waits, &lock, x->err);
	if (r == CORDON_E_BUSY && !x->waits) { /* it is alive */
		cordon_error_clear(x->err);
		return 0;
	}
	if (r < 0)
		return r;
	r = snap_store_read(x->store, STORE_JOURNAL, name, LIMIT_SNAPSHOT_MANIFEST, &data, &len);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = snap_journal_decode(TAKE_PTR(data), len, &j);
	if (r == -EBADMSG) {
		recover_set_aside(dirfd, SNAP_ASIDE_BAD, name, aside);
		return cordon_fail(x->err, CORDON_E_CORRUPT,
				   "the journal '%s/journal/%s' of a restore is damaged and was "
				   "set aside: restore once more",
				   x->store->path, aside);
	}
	if (r < 0)
		return cordon_fail_leaf(x->err, r, "read the journal '%s'", name);
	r = recover_one(x->store, name, &j, &is_gone, x->err);
	snap_journal_done(&j);
	if (r < 0 && is_gone) { /* there is nothing left that could be half */
		recover_set_aside(dirfd, SNAP_ASIDE_GONE, name, aside);
		cordon_error_clear(x->err);
		return 0;
	}
	return r < 0 ? cordon_wrap(x->err, r, "finish an interrupted restore") : 0;
}

static int recover_any(void *arg, int dirfd, const char *name)
{
	(void)arg;
	(void)dirfd;
	return strlen(name) == SNAP_HEX - 1;
}

static int recover_stale_stage(void *arg, int dirfd, const char *name)
{
	(void)arg;
	snap_store_remove_tree(dirfd, name);
	return 0;
}

static int recover_first(void *arg, int dirfd, const char *name)
{
	(void)arg;
	(void)dirfd;
	(void)name;
	return 1;
}

int snap_recover(struct snap_store *s, struct cordon_error *err)
{
	struct recovering x = {.store = s, .err = err};
	int r = snap_store_each(s->dirs[STORE_JOURNAL], recover_any, NULL);

	if (r > 0 && !s->is_read_only) {
		r = snap_store_lock(s, LOCK_SH, err);
		if (r == 0) {
			r = snap_store_each(s->dirs[STORE_JOURNAL], recover_name, &x);
			snap_store_unlock(s);
		}
	}
	if (r < 0)
		return r > -1000 ? cordon_fail_leaf(err, r, "read the journals of '%s'", s->path)
				 : r;
	/* What lies in staging while nobody writes belongs to nobody.  Busy: next time. */
	if (!s->is_read_only && snap_store_each(s->dirs[STORE_STAGING], recover_first, NULL) > 0 &&
	    flock(s->lock, LOCK_EX | LOCK_NB) == 0) {
		(void)snap_store_each(s->dirs[STORE_STAGING], recover_stale_stage, NULL);
		snap_store_unlock(s);
	}
	return 0;
}

/* The journal of one directory: *ret_store stays NULL when there is none, and then nothing is made. */
static int recover_find(const char *state_dir, const char *path, struct snap_store **ret_store,
			char ret_key[static SNAP_HEX], struct cordon_error *err)
{
	AUTO_FREE char *file = NULL;
	struct snap_trees trees = {0};
	int r = snap_trees_make(&path, 1, &trees, err);

	if (r == 0)
		snap_index_key(trees.v, trees.n, ret_key);
	snap_trees_done(&trees);
	if (r < 0)
		return r;
	if (asprintf(&file, "%s/" SNAP_JOURNALS "/%s", state_dir, ret_key) < 0)
		return cordon_nomem(err);
	if (access(file, F_OK) < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : cordon_fail_errno(err, errno, "look at '%.200s'", file);
	return snap_open(state_dir, ret_store, err);
}

int snap_recover_tree(const char *state_dir, const char *path, struct cordon_error *err)
{
	AUTO(snap_closep) struct snap_store *s = NULL;
	struct recovering x = {.waits = true, .err = err};
	char key[SNAP_HEX];
	int r = recover_find(state_dir, path, &s, key, err);

	if (r < 0 || !s)
		return r;
	x.store = s;
	r = snap_store_needs_writing(s, err);
	if (r == 0)
		r = snap_store_lock(s, LOCK_SH, err);
	if (r < 0)
		return r;
	r = recover_name(&x, s->dirs[STORE_JOURNAL], key);
	snap_store_unlock(s);
	return r;
}

int snap_forget_restore(const char *state_dir, const char *path, struct cordon_error *err)
{
	AUTO(snap_closep) struct snap_store *s = NULL;
	AUTO_CLOSE int lock = -1;
	char key[SNAP_HEX];
	int r = recover_find(state_dir, path, &s, key, err);

	if (r < 0 || !s)
		return r;
	r = snap_journal_lock(s, key, /* waits= */ true, &lock, err);
	return r < 0 ? r : snap_journal_remove(s, key, err);
}

int snap_list_restores(const char *state_dir, struct strv *ret, struct cordon_error *err)
{
	AUTO_FREE char *dir = NULL;
	const struct dirent *e;
	DIR *d;
	int r = 0;

	if (path_join(state_dir, SNAP_JOURNALS, &dir) < 0)
		return cordon_nomem(err);
	d = opendir(dir);
	if (!d)
		return errno == ENOENT ? 0 : cordon_fail_errno(err, errno, "list '%.200s'", dir);
	while (r == 0 && (e = readdir(d)))
		if (strlen(e->d_name) == SNAP_HEX - 1 || str_starts(e->d_name, SNAP_ASIDE_BAD) ||
		    str_starts(e->d_name, SNAP_ASIDE_GONE))
			r = strv_add(ret, e->d_name);
	(void)closedir(d);
	return r < 0 ? cordon_nomem(err) : 0;
}
