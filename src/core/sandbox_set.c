/* SPDX-License-Identifier: Apache-2.0 */
/* See sandbox_set.h. */
#include "core/sandbox_set.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SET_COPY_MAX 64
#define SET_NS_PER_MS 1000000

/* What is known of a set without a row. */
static int set_row(const struct sandbox_manager *m, const char *id, struct sandbox_row *ret,
		   struct cordon_error *err)
{
	struct sandbox_row row = {.state = SANDBOX_STOPPED};
	struct cow cow = COW_NONE;
	int r = cow_open(m->state_dir, id, COW_SHARED, &cow, err);

	if (r < 0)
		return r;
	(void)snprintf(row.id, sizeof(row.id), "%s", id);
	(void)snprintf(row.why, sizeof(row.why), "kept by 'cordon run'");
	row.created_ms = row.used_ms = cow.created_ns / SET_NS_PER_MS;
	row.workspace = strdup(cow.workspace);
	cow_close(&cow);
	if (!row.workspace)
		return cordon_nomem(err);
	*ret = row;
	return 0;
}

int sandbox_find_set(const struct sandbox_manager *m, const char *word, struct sandbox_row *ret,
		     struct cordon_error *err)
{
	AUTO(strv_done) struct strv ids = {0};
	struct cordon_error before = err ? *err : (struct cordon_error){0};
	const char *found = NULL;
	size_t n = 0;
	int r = cow_list(m->state_dir, &ids, err);

	for (size_t i = 0; r == 0 && i < ids.n; i++)
		if (strlen(word) > strlen(COW_ID_PREFIX) && str_starts(ids.v[i], word)) {
			found = ids.v[i];
			n++;
		}
	if (r < 0)
		return r;
	if (n == 1)
		return set_row(m, found, ret, err);
	if (err)
		*err = before;
	return n == 0 ? CORDON_E_NOT_FOUND
		      : cordon_fail(err, CORDON_E_INVALID,
				    "'%.100s' is the beginning of more than one id", word);
}

/* Newest first. */
static int set_compare(const void *a, const void *b)
{
	const struct sandbox_row *x = a;
	const struct sandbox_row *y = b;

	if (x->created_ms != y->created_ms)
		return x->created_ms > y->created_ms ? -1 : 1;
	return strcmp(x->id, y->id);
}

int sandbox_list_sets(const struct sandbox_manager *m, struct sandbox_list *ret,
		      struct cordon_error *err)
{
	AUTO(strv_done) struct strv ids = {0};
	size_t rows = ret->n;
	int r = cow_list(m->state_dir, &ids, err);

	for (size_t i = 0; r == 0 && i < ids.n; i++) {
		void *all = ret->rows;
		bool has_row = false;

		for (size_t j = 0; j < rows && !has_row; j++)
			has_row = strcmp(ret->rows[j].id, ids.v[i]) == 0;
		if (has_row)
			continue;
		if (mem_grow(&all, &ret->cap, ret->n + 1, sizeof(*ret->rows), LIMIT_SANDBOXES) < 0)
			return cordon_nomem(err);
		ret->rows = all;
		/* One that cannot be opened is gone by now, or somebody works with it. */
		if (set_row(m, ids.v[i], &ret->rows[ret->n], NULL) == 0)
			ret->n++;
	}
	if (ret->n > rows)
		qsort(ret->rows, ret->n, sizeof(*ret->rows), set_compare);
	return r;
}

/* Where the changed files of an open set are. */
static int set_files(const struct cow *cow, char **ret)
{
	return path_join(cow->dir, cow->layers == COW_COPY ? "copy" : "upper", ret);
}

int sandbox_finish_restore(const struct sandbox_manager *m, const struct sandbox *s,
			   struct cordon_error *err)
{
	AUTO_FREE char *files = NULL;
	struct cow cow = COW_NONE;
	int r = cow_open(m->state_dir, s->row.id, COW_EXCLUSIVE, &cow, err);

	if (r == 0 && set_files(&cow, &files) < 0)
		r = cordon_nomem(err);
	if (r == 0)
		r = snap_recover_tree(m->state_dir, files, err);
	cow_close(&cow);
	return r;
}

/* For a set whose content is about to be forgotten: nothing may bring it back. */
static int set_forget_restore(const struct sandbox_manager *m, const struct cow *cow,
			      struct cordon_error *err)
{
	AUTO_FREE char *files = NULL;

	if (set_files(cow, &files) < 0)
		return cordon_nomem(err);
	return snap_forget_restore(m->state_dir, files, err);
}

int sandbox_check_unchanged(const struct sandbox_manager *m, const struct sandbox *s,
			    struct cordon_error *err)
{
	struct changes changes;
	struct cow cow = COW_NONE;
	size_t n;
	int r = sandbox_finish_restore(m, s, err);

	if (r == 0)
		r = cow_open(m->state_dir, s->row.id, COW_SHARED, &cow, err);
	if (r == CORDON_E_NOT_FOUND)
		return 0;
	if (r < 0)
		return r;
	r = changes_read(&cow, &changes, err);
	n = changes_count(&changes);
	changes_done(&changes);
	cow_close(&cow);
	if (r < 0 || n == 0)
		return r;
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_REFUSED,
				       "sandbox '%s' has %zu changes that were not committed",
				       s->row.id, n),
			   "commit or discard them, or use --force");
}

int sandbox_forget_changes(const struct sandbox_manager *m, const struct sandbox *s,
			   struct cordon_error *err)
{
	AUTO(snap_closep) struct snap_store *store = NULL;
	struct snap_list all = {0};
	struct snap_swept swept;
	struct cow cow = COW_NONE;
	int r = cow_open(m->state_dir, s->row.id, COW_EXCLUSIVE, &cow, err);

	if (r == 0)
		r = set_forget_restore(m, &cow, err);
	if (r == 0)
		r = cow_discard(&cow, err);
	cow_close(&cow);
	if (r < 0 && r != CORDON_E_NOT_FOUND)
		return r;
	/* Its snapshots say what was done to what is not there any more. */
	r = snap_open(m->state_dir, &store, err);
	if (r == 0)
		r = snap_list(store, s->row.id, &all, /* ret_damaged= */ NULL, err);
	for (size_t i = 0; r == 0 && i < all.n; i++)
		r = snap_remove(store, all.v[i].name, err);
	if (r == 0 && all.n > 0)
		r = snap_gc(store, &swept, err);
	snap_list_done(&all);
	return r;
}

/* Stops what runs in it, for a moment.  *ret_was: it has to be continued. */
static int set_still(struct sandbox_manager *m, struct sandbox *s, bool *ret_was,
		     struct cordon_error *err)
{
	int r = sandbox_finish_restore(m, s, err);

	*ret_was = r == 0 && s->row.state == SANDBOX_RUNNING;
	return *ret_was ? sandbox_pause(m, s, err) : r;
}

static int set_go_on(struct sandbox_manager *m, struct sandbox *s, bool was, int r,
		     struct cordon_error *err)
{
	struct cordon_error late = {0};
	bool is_anew;
	int again = was ? sandbox_resume(m, s, &is_anew, &late) : 0;

	if (r < 0 || again == 0)
		return r;
	if (err)
		*err = late;
	return again;
}

int sandbox_diff(struct sandbox_manager *m, struct sandbox *s, bool is_unified, struct buf *out,
		 struct cordon_error *err)
{
	struct changes changes = {0};
	struct cow cow = COW_NONE;
	bool was = false;
	int r = set_still(m, s, &was, err);

	if (r == 0)
		r = cow_open(m->state_dir, s->row.id, COW_SHARED, &cow, err);
	if (r == 0)
		r = changes_read(&cow, &changes, err);
	if (r == 0 && is_unified)
		r = changes_find_renames(&cow, &changes, err);
	if (r == 0 && is_unified)
		r = changes_diff_text(&cow, &changes, out, err);
	else if (r == 0 && changes_diff_names(&changes, out) < 0)
		r = cordon_nomem(err);
	if (r == 0 && changes.is_cut)
		r = cordon_fail(err, CORDON_E_LIMIT, "more than %d changes", LIMIT_CHANGES);
	changes_done(&changes);
	cow_close(&cow);
	return set_go_on(m, s, was, r, err);
}

/* One that 'cordon run' kept is gone with its changes, and so is the lock that we took for it. */
static int set_end(const struct sandbox_manager *m, const struct sandbox *s, struct cow *cow,
		   struct cordon_error *err)
{
	int r = cow_discard(cow, err);

	if (r == 0)
		sandbox_drop_lock(m, s->row.id);
	return r;
}

int sandbox_commit(struct sandbox_manager *m, struct sandbox *s, const struct commit_options *o,
		   struct commit_result *ret, struct cordon_error *err)
{
	struct cow cow = COW_NONE;
	bool was = false;
	int r = set_still(m, s, &was, err);

	*ret = (struct commit_result){0};
	if (r == 0)
		r = cow_open(m->state_dir, s->row.id, COW_EXCLUSIVE, &cow, err);
	if (r == 0)
		r = changes_commit(&cow, o, ret, err);
	if (r == 0 && !s->row.policy && ret->is_whole && ret->left_out.n == 0)
		r = set_end(m, s, &cow, err);
	cow_close(&cow);
	return set_go_on(m, s, was, r, err);
}

/* Ends what runs in it, for a change set that is about to be another.  *ret_was: it has to be started again. */
static int set_empty(struct sandbox_manager *m, struct sandbox *s, bool *ret_was,
		     struct cordon_error *err)
{
	if (s->calls > 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_BUSY, "%u calls run in sandbox '%s'",
					       s->calls, s->row.id),
				   "wait for them");
	*ret_was = s->row.state == SANDBOX_RUNNING || s->row.state == SANDBOX_PAUSED;
	return *ret_was ? sandbox_stop(m, s, err) : 0;
}

int sandbox_discard(struct sandbox_manager *m, struct sandbox *s, bool *ret_anew,
		    struct cordon_error *err)
{
	struct cow cow = COW_NONE;
	bool was = false;
	int r = set_empty(m, s, &was, err);

	*ret_anew = false;
	if (r == 0)
		r = cow_open(m->state_dir, s->row.id, COW_EXCLUSIVE, &cow, err);
	if (r == 0)
		r = set_forget_restore(m, &cow, err);
	if (r == 0)
		r = s->row.policy ? cow_reset(&cow, err) : set_end(m, s, &cow, err);
	cow_close(&cow);
	*ret_anew = was;
	return set_go_on(m, s, was, r, err);
}

static int set_upper(const struct sandbox_manager *m, const struct sandbox *s, struct cow *ret_cow,
		     enum cow_lock lock, char **ret, struct cordon_error *err)
{
	int r = cow_open(m->state_dir, s->row.id, lock, ret_cow, err);

	if (r < 0)
		return r;
	return set_files(ret_cow, ret) < 0 ? cordon_nomem(err) : 0;
}

/* Of a copy a snapshot has the whole workspace, of which most is not the sandbox's doing.  So what was is written down
 * beside it, and which copy it was: when that was made anew since, from what others had done to the workspace meanwhile,
 * only these paths go back. */
static int set_note_name(const char *snapshot, char **ret)
{
	return asprintf(ret, "changed-%s", snapshot) < 0 ? -ENOMEM : 0;
}

/* Which copy it is: its list of what was copied is written with it, and by each commit. */
static int set_copy(const struct cow *cow, char ret[static SET_COPY_MAX])
{
	struct stat st;

	if (fstatat(cow->fd, COW_BASE, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	(void)snprintf(ret, SET_COPY_MAX, "%llu %lld.%09ld", (unsigned long long)st.st_ino,
		       (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	return 0;
}

/* Appends the paths in which a copy differs from what it was made of.  Of a directory that was there before only what is
 * in it counts. */
static int set_changed(const struct cow *cow, struct strv *ret, struct cordon_error *err)
{
	struct changes changes = {0};
	int r = changes_read(cow, &changes, err);

	for (size_t i = 0; r == 0 && i < changes.n; i++) {
		const struct change *c = &changes.v[i];

		if (c->is_implied || (c->op == CHANGE_MODIFIED && S_ISDIR(c->now.st_mode)))
			continue;
		if (strv_add(ret, c->path) < 0)
			r = cordon_nomem(err);
	}
	if (r == 0 && changes.is_cut)
		r = cordon_fail(err, CORDON_E_LIMIT, "more than %d changes", LIMIT_CHANGES);
	changes_done(&changes);
	return r;
}

static int set_note(const struct cow *cow, const char *snapshot, struct cordon_error *err)
{
	AUTO(strv_done) struct strv paths = {0};
	AUTO_FREE char *file = NULL;
	char which[SET_COPY_MAX] = "";
	struct buf text = BUF_INIT(LIMIT_COW_FILE);
	int r = cow->layers == COW_COPY ? set_changed(cow, &paths, err) : 0;

	if (r < 0 || cow->layers != COW_COPY)
		return r;
	r = set_copy(cow, which);
	buf_add(&text, which, strlen(which) + 1);
	for (size_t i = 0; i < paths.n; i++)
		buf_add(&text, paths.v[i], strlen(paths.v[i]) + 1);
	if (r == 0)
		r = buf_error(&text);
	if (r == 0)
		r = set_note_name(snapshot, &file);
	if (r == 0)
		r = io_write_file_at(cow->fd, file, text.data, text.len, 0600);
	buf_done(&text);
	return r < 0 ? cordon_fail_leaf(err, r, "note what '%s' changed", cow->id) : 0;
}

/* Is the copy another one than it was at the snapshot?  Then *ret are the paths that a restore is about: those of then and
 * those of now, absolute.  1, 0 or an error. */
static int set_noted(const struct cow *cow, const char *snapshot, const char *files,
		     struct strv *ret, struct cordon_error *err)
{
	AUTO(strv_done) struct strv paths = {0};
	AUTO_FREE char *file = NULL;
	AUTO_FREE char *text = NULL;
	char which[SET_COPY_MAX] = "";
	size_t len = 0;
	int r = cow->layers == COW_COPY ? set_note_name(snapshot, &file) : 0;

	if (cow->layers != COW_COPY)
		return 0;
	if (r == 0)
		r = io_read_file_at(cow->fd, file, LIMIT_COW_FILE, &text, &len);
	if (r == 0 && (len == 0 || text[len - 1] != '\0'))
		r = -EINVAL;
	if (r == 0)
		r = set_copy(cow, which);
	if (r < 0)
		return cordon_fail_leaf(err, r, "read what '%s' had changed", cow->id);
	if (strcmp(text, which) == 0)
		return 0;
	r = set_changed(cow, &paths, err);
	for (size_t at = strlen(text) + 1; r == 0 && at < len; at += strlen(text + at) + 1)
		if (strv_add(&paths, text + at) < 0)
			r = cordon_nomem(err);
	for (size_t i = 0; r == 0 && i < paths.n; i++)
		if (strv_addf(ret, "%s/%s", files, paths.v[i]) < 0)
			r = cordon_nomem(err);
	return r < 0 ? r : 1;
}

int sandbox_snapshot(struct sandbox_manager *m, struct sandbox *s, const char *name,
		     char **ret_name, struct cordon_error *err)
{
	AUTO(snap_closep) struct snap_store *store = NULL;
	AUTO_FREE char *upper = NULL;
	struct snap_take_options o = {.name = name, .owner = s->row.id, .root_count = 1};
	struct snap_info info = {0};
	struct cow cow = COW_NONE;
	bool was = false;
	int r = set_still(m, s, &was, err);

	if (r == 0)
		r = set_upper(m, s, &cow, COW_EXCLUSIVE, &upper, err);
	o.roots = (const char *const *)&upper;
	if (r == 0)
		r = snap_open(m->state_dir, &store, err);
	if (r == 0)
		r = snap_take(store, &o, &info, err);
	if (r == 0)
		r = cow_mark(&cow, info.name, err);
	if (r == 0)
		r = set_note(&cow, info.name, err);
	if (r == 0)
		*ret_name = TAKE_PTR(info.name);
	snap_info_done(&info);
	cow_close(&cow);
	return set_go_on(m, s, was, r, err);
}

int sandbox_checkpoint(const char *state_dir, const char *id, char **ret_name,
		       struct cordon_error *err)
{
	struct sandbox_manager m;
	struct sandbox s = SANDBOX_NONE;
	int r = sandbox_manager_open(state_dir, /* max= */ 0, &m, err);

	if (r == 0)
		r = sandbox_acquire(&m, id, &s, err);
	if (r == 0)
		r = sandbox_snapshot(&m, &s, /* name= */ NULL, ret_name, err);
	sandbox_done(&s);
	sandbox_manager_done(&m);
	return r;
}

/* Everything in a change set is the sandbox's own. */
static bool set_may_remove(void *arg, const char *path)
{
	return path_is_within(path, arg) && strcmp(path, arg) != 0;
}

/* The snapshot that is meant, which must be one of this sandbox. */
static int set_find(struct snap_store *store, const struct sandbox *s, const char *name, char **ret,
		    struct cordon_error *err)
{
	struct snap_list all = {0};
	int r = snap_list(store, s->row.id, &all, /* ret_damaged= */ NULL, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < all.n && !*ret; i++)
		if (!name || strcmp(all.v[i].name, name) == 0)
			*ret = TAKE_PTR(all.v[i].name);
	snap_list_done(&all);
	if (*ret)
		return 0;
	return name ? cordon_fail(err, CORDON_E_NOT_FOUND, "sandbox '%s' has no snapshot '%.100s'",
				  s->row.id, name)
		    : cordon_hint(err,
				  cordon_fail(err, CORDON_E_NOT_FOUND,
					      "sandbox '%s' has no snapshot", s->row.id),
				  "'cordon sandbox discard' forgets all changes");
}

int sandbox_restore(struct sandbox_manager *m, struct sandbox *s, struct sandbox_restore *o,
		    struct snap_changes *ret, struct cordon_error *err)
{
	AUTO(snap_closep) struct snap_store *store = NULL;
	AUTO_FREE char *upper = NULL;
	AUTO_FREE char *name = NULL;
	AUTO(strv_done) struct strv only = {0};
	bool is_other = false;
	struct snap_restore_options so = {.may_remove = set_may_remove,
					  .is_dry_run = o->is_dry_run};
	struct cow cow = COW_NONE;
	bool was = false;
	int r = snap_open(m->state_dir, &store, err);

	o->is_anew = false;
	if (r == 0)
		r = set_find(store, s, o->name, &name, err);
	if (r == 0 && !o->is_dry_run)
		r = set_empty(m, s, &was, err);
	if (r == 0)
		r = sandbox_finish_restore(m, s, err);
	if (r == 0)
		r = set_upper(m, s, &cow, o->is_dry_run ? COW_SHARED : COW_EXCLUSIVE, &upper, err);
	so.may_remove_arg = upper;
	if (r == 0) {
		r = set_noted(&cow, name, upper, &only, err);
		is_other = r > 0;
		r = r < 0 ? r : 0;
	}
	so.only = (const char *const *)only.v;
	so.only_count = only.n;
	so.may_miss = true; /* what was deleted then, and is not there now */
	if (r == 0 && !o->is_dry_run)
		r = cow_return(&cow, name, s->row.created_ms * SET_NS_PER_MS, err);
	/* Nothing of it was the sandbox's, then or now. */
	if (r == 0 && !(is_other && only.n == 0))
		r = snap_restore(store, name, &so, ret, err);
	cow_close(&cow);
	o->is_anew = was;
	return set_go_on(m, s, was, r, err);
}
