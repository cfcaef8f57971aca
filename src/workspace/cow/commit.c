/* SPDX-License-Identifier: Apache-2.0 */
/* See commit.h.  What is decided stands here, what is done in apply.c. */
#include "workspace/cow/commit.h"

#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "workspace/cow/apply.h"
#include "workspace/cow/hostgit.h"
#include "workspace/cow/moved.h"
#include "workspace/cow/node.h"
#include "workspace/protected.h"
#include "workspace/snap/journal.h"
#include "workspace/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMIT_JOURNAL "journal"
#define COMMIT_COMMITTED "committed"
#define COMMIT_VERSION "cordon-journal 1"

/* A line of the journal or of the list of what was committed before. */
struct noted {
	const char *path;
	uint64_t ino; /* of the host's file, 0: there was none */
	int64_t ctime_ns;
	bool keeps_inode; /* the step that was planned does not replace it */
};

struct noted_list {
	char *text;
	struct noted *v; /* sorted by path */
	size_t n;
};

struct commit {
	struct cow *cow;
	struct changes changes;
	const struct change **rows;
	size_t n;
	struct noted_list before; /* what was committed earlier */
	struct strv guards;
	struct noted_list journal; /* of the commit that is finished, or nothing */
	struct hostgit git;
	struct moved moved;
	int workspace;
	bool is_forced;
	struct commit_result *result;
	struct cordon_error *err;
};

void commit_result_done(struct commit_result *r)
{
	strv_done(&r->left_out);
	strv_done(&r->conflicts);
	strv_done(&r->warnings);
	*r = (struct commit_result){0};
}

static void noted_done(struct noted_list *l)
{
	free(l->text);
	free(l->v);
	*l = (struct noted_list){0};
}

static int noted_order(const void *a, const void *b)
{
	return strcmp(((const struct noted *)a)->path, ((const struct noted *)b)->path);
}

static const struct noted *noted_find(const struct noted_list *l, const char *path)
{
	struct noted key = {.path = path};

	return l->n == 0 ? NULL : bsearch(&key, l->v, l->n, sizeof(*l->v), noted_order);
}

/* "K INO CTIME PATH": K is k when the inode is kept. */
static int noted_parse(char *line, struct noted *ret)
{
	char *kind = strsep(&line, " ");
	char *ino = strsep(&line, " ");
	char *stamp = strsep(&line, " ");
	int64_t n;

	if (!line || !*line || strlen(kind) != 1 || (*kind != 'k' && *kind != 'r') ||
	    parse_int(ino, 0, INT64_MAX, &n) < 0 ||
	    parse_int(stamp, INT64_MIN, INT64_MAX, &ret->ctime_ns) < 0)
		return -EINVAL;
	ret->keeps_inode = *kind == 'k';
	ret->ino = (uint64_t)n;
	ret->path = line;
	return 0;
}

/* 0, -ENOENT, or -errno: one that cannot be read is damaged. */
static int noted_read(const struct cow *c, const char *name, struct noted_list *ret)
{
	size_t len, cap = 0;
	int r = io_read_file_at(c->fd, name, LIMIT_COW_FILE, &ret->text, &len);
	size_t at = sizeof(COMMIT_VERSION);

	if (r < 0)
		return r;
	if (len < at || memcmp(ret->text, COMMIT_VERSION, at) != 0 || ret->text[len - 1] != '\0')
		return -EINVAL;
	while (r == 0 && at < len) {
		size_t next = at + strlen(ret->text + at) + 1;
		void *v = ret->v;

		r = mem_grow(&v, &cap, ret->n + 1, sizeof(*ret->v), LIMIT_CHANGES);
		ret->v = v;
		if (r == 0)
			r = noted_parse(ret->text + at, &ret->v[ret->n]);
		ret->n += r == 0;
		at = next;
	}
	if (r == 0 && ret->n > 0)
		qsort(ret->v, ret->n, sizeof(*ret->v), noted_order);
	return r;
}

static void noted_add(struct buf *b, bool keeps_inode, const struct stat *st, const char *path)
{
	buf_printf(b, "%c %llu %lld %s", keeps_inode ? 'k' : 'r', (unsigned long long)st->st_ino,
		   (long long)(st->st_ino ? node_ns(&st->st_ctim) : 0), path);
	buf_char(b, '\0');
}

/* choosing */

static bool commit_is_dir_made(const struct change *c)
{
	return c->op != CHANGE_DELETED && S_ISDIR(c->now.st_mode) &&
	       (c->op == CHANGE_ADDED || (c->what & CHANGE_TYPE));
}

static bool commit_is_chosen(const struct commit_options *o, const char *path, bool *found)
{
	bool is_chosen = o->n_paths == 0;

	for (size_t i = 0; i < o->n_paths; i++)
		if (strcmp(o->paths[i], ".") == 0 || path_is_within(path, o->paths[i]))
			is_chosen = found[i] = true;
	return is_chosen;
}

/* Did the guards speak of this git directory?  Then they say what the policy allows in it. */
static bool commit_is_guarded(const struct commit *c, const char *gitdir)
{
	AUTO_FREE char *part = NULL;

	if (path_join(*gitdir ? gitdir : ".", "commondir", &part) < 0)
		return false;
	for (size_t i = 0; i < c->guards.n; i++)
		if (c->guards.v[i][0] == '-' &&
		    strcmp(c->guards.v[i] + 1, *gitdir ? part : "commondir") == 0)
			return true;
	return false;
}

/* What the guards cannot know: repositories that are on the host now. */
static const char *commit_git_objection(struct commit *c, const struct change *ch)
{
	const struct noted *n;
	const char *gitdir;
	int r;

	if (strcmp(path_base(ch->path), ".git") == 0 && ch->was.st_ino && !S_ISDIR(ch->was.st_mode))
		return "it is protected";
	r = hostgit_holds_link(&c->git, ch);
	if (r > 0)
		return "a link in a git directory, which git would write through";
	if (r == 0)
		r = hostgit_protects(&c->git, ch->path, &gitdir);
	if (r < 0)
		return "it cannot be seen whether it is protected";
	if (r == 0 || commit_is_guarded(c, gitdir))
		return NULL;
	/* One that the commit that is finished here was making is not there for longer than that. */
	n = noted_find(&c->journal, gitdir);
	return n && n->ino == 0 ? NULL : "it is protected";
}

static bool commit_is_protected_name(const char *path)
{
	for (size_t i = 0; i < protected_name_count; i++) {
		const char *name = protected_names[i].name;
		const char *except = protected_exception(name);
		size_t len = strlen(name);

		if (path_is_within(path, name) &&
		    !(except && path[len] == '/' && path_is_within(path + len + 1, except)))
			return true;
	}
	return false;
}

/* Why a change is never committed, or NULL. */
static const char *commit_objection(struct commit *c, const struct change *ch)
{
	bool removes = ch->op == CHANGE_DELETED || (ch->what & CHANGE_TYPE);
	const char *why = commit_is_protected_name(ch->path) ? "it is protected" : NULL;

	if (ch->op != CHANGE_DELETED && (S_ISCHR(ch->now.st_mode) || S_ISBLK(ch->now.st_mode)))
		return "it is a device";
	if (str_starts(ch->path, APPLY_STAGING) || str_starts(ch->path, JOURNAL_STAGE_PREFIX))
		return "its name is one of ours";
	for (size_t i = 0; i < c->guards.n; i++) {
		const char *guard = c->guards.v[i] + 1;

		if (c->guards.v[i][0] == '+' && path_is_within(ch->path, guard))
			return commit_git_objection(c, ch);
		if (c->guards.v[i][0] == '-' && (path_is_within(ch->path, guard) ||
						 (removes && path_is_within(guard, ch->path))))
			why = "it is protected";
	}
	return why ? why : commit_git_objection(c, ch);
}

/* The rows that are wanted and allowed, with the new directories that they stand in. */
static int commit_choose(struct commit *c, const struct commit_options *o)
{
	size_t parents[LIMIT_WALK_DEPTH + 2];
	AUTO_FREE bool *found = calloc(o->n_paths + 1, sizeof(*found));
	AUTO_FREE bool *is_taken = calloc(c->changes.n + 1, sizeof(*is_taken));
	size_t depth = 0;

	c->rows = calloc(c->changes.n + 1, sizeof(*c->rows));
	if (!c->rows || !found || !is_taken)
		return cordon_nomem(c->err);
	for (size_t i = 0; i < c->changes.n; i++) {
		const struct change *ch = &c->changes.v[i];
		const char *why;

		while (depth > 0 &&
		       !path_is_within(ch->path, c->changes.v[parents[depth - 1]].path))
			depth--;
		if (commit_is_dir_made(ch) && depth < ARRAY_LEN(parents))
			parents[depth++] = i;
		if (!commit_is_chosen(o, ch->path, found))
			continue;
		why = commit_objection(c, ch);
		if (why) {
			if (!ch->is_implied &&
			    strv_addf(&c->result->left_out, "%s: %s", ch->path, why) < 0)
				return cordon_nomem(c->err);
			continue;
		}
		for (size_t k = 0; k < depth; k++) {
			if (!is_taken[parents[k]])
				c->rows[c->n++] = &c->changes.v[parents[k]];
			is_taken[parents[k]] = true;
		}
		if (!is_taken[i])
			c->rows[c->n++] = ch;
		is_taken[i] = true;
	}
	for (size_t i = 0; i < o->n_paths; i++)
		if (!found[i])
			return cordon_hint(c->err,
					   cordon_fail(c->err, CORDON_E_NOT_FOUND,
						       "nothing changed at '%.500s'", o->paths[i]),
					   "paths are counted from the workspace; see 'cordon "
					   "sandbox diff'");
	return 0;
}

/* names of one file */

static int commit_by_inode(const void *a, const void *b)
{
	ino_t x = (*(struct change *const *)a)->was.st_ino;
	ino_t y = (*(struct change *const *)b)->was.st_ino;

	return x < y ? -1 : x > y;
}

/* Do both have the same bytes?  1, 0 or -errno. */
static int commit_same_content(int files, const struct change *a, const struct change *b)
{
	struct apply_chain chains[2] = {{.n = 0}, {.n = 0}};
	struct node x = NODE_NONE, y = NODE_NONE;
	int r = apply_chain_open(files, a->path, &chains[0]);

	if (r >= 0)
		r = node_open(r, path_base(a->path), &a->now, &x);
	if (r >= 0)
		r = apply_chain_open(files, b->path, &chains[1]);
	if (r >= 0)
		r = node_open(r, path_base(b->path), &b->now, &y);
	if (r >= 0)
		r = a->now.st_size == b->now.st_size ? node_same_content(x.fd, y.fd) : 0;
	node_close(&x);
	node_close(&y);
	apply_chain_close(&chains[0]);
	apply_chain_close(&chains[1]);
	return r;
}

/* Files of the host by inode, and how many names of each are in the workspace. */
struct commit_names {
	struct change **v;
	size_t n;
	nlink_t *found; /* of the first in v of each inode */
};

static void commit_count(struct commit_names *c, const struct stat *st)
{
	size_t from = 0;
	size_t to = c->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (c->v[middle]->was.st_ino < st->st_ino)
			from = middle + 1;
		else
			to = middle;
	}
	if (from < c->n && c->v[from]->was.st_ino == st->st_ino &&
	    c->v[from]->was.st_dev == st->st_dev)
		c->found[from]++;
}

static int commit_count_names(const char *path, const struct walk_names *names, void *arg,
			      struct cordon_error *err)
{
	struct commit_names *c = arg;

	(void)err;
	for
		WALK_EACH(name, names)
		{
			AUTO_FREE char *full = NULL;
			struct stat st;

			if (path_join(path, name, &full) < 0 || lstat(full, &st) < 0 ||
			    !S_ISREG(st.st_mode) || st.st_nlink < 2)
				continue; /* not found: then it is replaced */
			commit_count(c, &st);
		}
	return WALK_INTO;
}

/* A file of which something would be seen under its other names. */
static bool commit_has_names(const struct change *ch)
{
	return apply_is_in_place(ch) ||
	       (apply_is_meta(ch) && S_ISREG(ch->now.st_mode) && ch->was.st_nlink > 1);
}

/* A file that has names outside of the workspace is not written in place, nor is its mode: nobody granted those. */
static int commit_part_outside(const struct commit *c, struct change **v, size_t n)
{
	bool is_skipped = false;
	AUTO_FREE nlink_t *found = calloc(n + 1, sizeof(nlink_t));
	struct commit_names names = {.v = v, .n = n, .found = found};
	const struct walk_options o = {
		.fn = commit_count_names, .arg = &names, .ret_skipped = &is_skipped};
	struct cordon_error ignored = {0};
	size_t first = 0;
	int r;

	if (!found)
		return cordon_nomem(c->err);
	if (n == 0)
		return 0;
	r = walk_tree_with(c->cow->workspace, &o, &ignored);
	for (size_t i = 0; i < n; i++) {
		if (v[i]->was.st_ino != v[first]->was.st_ino)
			first = i;
		v[i]->is_apart |= r < 0 || found[first] < v[i]->was.st_nlink;
	}
	return 0;
}

/* Names of one file that got different contents cannot be written in place. */
static int commit_part_names(struct commit *c)
{
	AUTO_FREE struct change **v = calloc(c->changes.n + 1, sizeof(struct change *));
	AUTO_CLOSE int files = cow_open_files(c->cow, c->err);
	size_t n = 0;

	if (!v)
		return cordon_nomem(c->err);
	if (files < 0)
		return files;
	for (size_t i = 0; i < c->changes.n; i++)
		if (commit_has_names(&c->changes.v[i]))
			v[n++] = &c->changes.v[i];
	if (n > 1)
		qsort(v, n, sizeof(struct change *), commit_by_inode);
	for (size_t first = 0, next; first < n; first = next) {
		int same = 1;

		for (next = first + 1; next < n && v[next]->was.st_ino == v[first]->was.st_ino;
		     next++)
			if (same == 1)
				same = commit_same_content(files, v[first], v[next]);
		if (same < 0)
			return cordon_fail_leaf(c->err, same, "read '%.300s' of '%s'",
						v[first]->path, c->cow->id);
		for (size_t i = first; same == 0 && i < next; i++)
			v[i]->is_apart = true;
	}
	return commit_part_outside(c, v, n);
}

/* conflicts */

static int64_t commit_since(const struct commit *c, const char *path)
{
	const struct noted *n = noted_find(&c->before, path);

	return n && n->ctime_ns > c->cow->created_ns ? n->ctime_ns : c->cow->created_ns;
}

/* Was the directory in which path stands changed outside? */
static bool commit_parent_changed(const struct commit *c, int workspace, const char *path)
{
	const char *base = path_base(path);
	AUTO_FREE char *dir = base > path ? strndup(path, (size_t)(base - path - 1)) : strdup(".");
	AUTO_CLOSE int fd =
		dir ? path_open_beneath(workspace, dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0)
		    : -1;
	struct stat st;

	/* Where that is not there either, the outermost one that is missing says why. */
	return fd >= 0 && fstat(fd, &st) == 0 && node_ns(&st.st_ctim) > commit_since(c, dir);
}

/* Is it as an earlier commit left it, under another of its names? */
static bool commit_is_ours(const struct commit *c, const struct stat *st)
{
	for (size_t i = 0; st->st_nlink > 1 && i < c->before.n; i++)
		if (c->before.v[i].ino == st->st_ino &&
		    c->before.v[i].ctime_ns == node_ns(&st->st_ctim))
			return true;
	return false;
}

/* A directory that we wrote or made ourselves. */
static bool commit_noted(const void *arg, const char *path, uint64_t *ret_ino,
			 int64_t *ret_since_ns)
{
	const struct commit *c = arg;
	const struct noted *n = noted_find(&c->before, path);

	if (!n)
		return false;
	*ret_ino = n->ino;
	*ret_since_ns = commit_since(c, path);
	return true;
}

static bool commit_conflicts(struct commit *c, int workspace, const struct change *ch)
{
	if (moved_is(&c->moved, ch->path) != 0)
		return true; /* also when it cannot be seen */
	if (ch->op == CHANGE_ADDED) {
		/* It was there, written by us, and somebody removed it. */
		if (noted_find(&c->before, ch->path))
			return true;
		/* A copy of something that is not there any more: moved by the call, or removed outside. */
		return ch->has_origin && !ch->from && commit_parent_changed(c, workspace, ch->path);
	}
	return node_ns(&ch->was.st_ctim) > commit_since(c, ch->path) &&
	       !commit_is_ours(c, &ch->was);
}

static int commit_check(struct commit *c, bool is_forced)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct change *ch = c->rows[i];
		bool is_times = ch->op == CHANGE_MODIFIED && ch->is_implied;
		bool conflicts = commit_conflicts(c, c->workspace, ch);

		if (conflicts && !is_times && strv_add(&c->result->conflicts, ch->path) < 0)
			return cordon_nomem(c->err);
		/* The times of a directory that somebody else changed stay his. */
		if (!conflicts || !is_times)
			c->rows[n++] = ch;
	}
	c->n = n;
	if (c->result->conflicts.n == 0 || is_forced)
		return 0;
	return cordon_hint(
		c->err,
		cordon_fail(c->err, CORDON_E_REFUSED,
			    "%zu of the paths were changed outside since, '%.300s' first",
			    c->result->conflicts.n, c->result->conflicts.v[0]),
		"nothing was written; --force overwrites them, or name other paths");
}

/* journal */

static bool commit_keeps_inode(const struct change *ch)
{
	return S_ISDIR(ch->now.st_mode) || apply_is_in_place(ch) || apply_is_meta(ch);
}

static int commit_write_journal(struct commit *c)
{
	struct buf b = BUF_INIT(LIMIT_COW_FILE);
	int r;

	buf_add(&b, COMMIT_VERSION, sizeof(COMMIT_VERSION));
	for (size_t i = 0; i < c->n; i++)
		noted_add(&b, commit_keeps_inode(c->rows[i]), &c->rows[i]->was, c->rows[i]->path);
	r = buf_error(&b);
	if (r == 0)
		r = io_write_file_at(c->cow->fd, COMMIT_JOURNAL, b.data, b.len, 0600);
	buf_done(&b);
	return r < 0 ? cordon_fail_leaf(c->err, r, "write the journal of '%s'", c->cow->id) : 0;
}

/* Remembers since when paths are ours again: what we wrote is no conflict the next time. */
static int commit_note(struct commit *c, const struct apply *a)
{
	struct buf b = BUF_INIT(LIMIT_COW_FILE);
	int r;

	buf_add(&b, COMMIT_VERSION, sizeof(COMMIT_VERSION));
	for (size_t i = 0; i < c->n; i++) {
		AUTO_CLOSE int fd = path_open_beneath(a->workspace, c->rows[i]->path,
						      O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, 0);
		struct stat st;

		if (fd >= 0 && fstat(fd, &st) == 0 && !a->staged[i].is_left)
			noted_add(&b, false, &st, c->rows[i]->path);
	}
	for (size_t i = 0; i < c->before.n; i++) {
		const struct noted *n = &c->before.v[i];
		bool is_known = false;

		for (size_t k = 0; k < c->n && !is_known; k++)
			is_known = !a->staged[k].is_left && strcmp(c->rows[k]->path, n->path) == 0;
		if (!is_known) {
			buf_printf(&b, "r %llu %lld %s", (unsigned long long)n->ino,
				   (long long)n->ctime_ns, n->path);
			buf_char(&b, '\0');
		}
	}
	r = buf_error(&b);
	if (r == 0)
		r = io_write_file_at(c->cow->fd, COMMIT_COMMITTED, b.data, b.len, 0600);
	buf_done(&b);
	return r < 0 ? cordon_fail_leaf(c->err, r, "note the commit of '%s'", c->cow->id) : 0;
}

static int commit_end(struct commit *c)
{
	return unlinkat(c->cow->fd, COMMIT_JOURNAL, 0) < 0 && errno != ENOENT
		       ? cordon_fail_errno(c->err, errno, "end the journal of '%s'", c->cow->id)
		       : 0;
}

/* Directories that may be repositories when it is done. */
static int commit_note_git(struct commit *c, struct strv *ret)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->rows[i]->op != CHANGE_DELETED &&
		    hostgit_note(c->workspace, c->rows[i]->path, ret) < 0)
			return cordon_nomem(c->err);
	return 0;
}

/* Which of them are, and say what git is to run.  By the host's files: a part of them may have come with an earlier commit. */
static int commit_warn(struct commit *c, const struct strv *dirs)
{
	for (size_t i = 0; i < dirs->n; i++)
		if (hostgit_warn(c->workspace, dirs->v[i], &c->result->warnings) < 0)
			return cordon_nomem(c->err);
	return 0;
}

/* The journal is written. */
static int commit_do(struct commit *c, bool is_recovery)
{
	AUTO(apply_done) struct apply a;
	AUTO(strv_done) struct strv dirs = {0};
	int r = apply_begin(c->cow, &a, c->err);

	a.rows = c->rows;
	a.n = c->n;
	a.is_forced = c->is_forced;
	a.left = &c->result->left_out;
	if (r == 0)
		r = commit_note_git(c, &dirs);
	if (r == 0)
		r = apply_stage(&a);
	if (r < 0) {
		/* Nothing has changed yet; of an earlier commit something may have, so that its journal stays. */
		struct cordon_error late = {0};

		a.err = &late;
		if (a.workspace >= 0 && apply_clean(&a) == 0 && !is_recovery)
			(void)unlinkat(c->cow->fd, COMMIT_JOURNAL, 0);
		return r;
	}
	r = apply_run(&a);
	if (r < 0)
		return cordon_hint(c->err, r,
				   "some of it is done; whoever opens '%s' next does the rest",
				   c->cow->id);
	r = commit_note(c, &a);
	if (r == 0)
		r = commit_end(c);
	if (r == 0)
		r = commit_warn(c, &dirs);
	for (size_t i = 0; r == 0 && i < c->n; i++)
		c->result->n += !c->rows[i]->is_implied && !a.staged[i].is_left;
	return r;
}

static int commit_begin(struct commit *c)
{
	int r = changes_read(c->cow, &c->changes, c->err);

	if (r == 0 && c->changes.is_cut)
		r = cordon_fail(
			c->err, CORDON_E_LIMIT,
			"'%s' has more than %d changes, or paths that are too long to commit",
			c->cow->id, LIMIT_CHANGES);
	if (r == 0)
		r = cow_guards(c->cow, &c->guards, c->err);
	if (r == 0 && c->guards.n == 0 && c->changes.n > 0)
		r = cordon_fail(c->err, CORDON_E_INVALID,
				"it is not known what was protected when '%s' was made",
				c->cow->id);
	if (r < 0)
		return r;
	c->workspace = cow_open_workspace(c->cow, c->err);
	if (c->workspace < 0)
		return c->workspace;
	c->git.workspace = c->workspace;
	c->moved.workspace = c->workspace;
	c->moved.noted = commit_noted;
	c->moved.arg = c;
	moved_begin(c->cow, &c->moved);
	r = noted_read(c->cow, COMMIT_COMMITTED, &c->before);
	return r < 0 && r != -ENOENT ? cordon_fail_leaf(c->err, r, "the notes of '%s'", c->cow->id)
				     : 0;
}

static void commit_done(struct commit *c)
{
	changes_done(&c->changes);
	free(c->rows);
	noted_done(&c->before);
	noted_done(&c->journal);
	hostgit_done(&c->git);
	moved_done(&c->moved);
	(void)fd_close(c->workspace);
	strv_done(&c->guards);
}

int changes_commit(struct cow *cow, const struct commit_options *o, struct commit_result *ret,
		   struct cordon_error *err)
{
	AUTO(commit_done)
	struct commit c = {.cow = cow, .result = ret, .err = err, .workspace = -1};
	size_t listed;
	int r;

	*ret = (struct commit_result){0};
	c.is_forced = o->is_forced;
	r = commit_begin(&c);
	if (r == 0)
		r = changes_find_renames(cow, &c.changes, err);
	if (r == 0)
		r = commit_part_names(&c);
	if (r == 0)
		r = commit_choose(&c, o);
	if (r == 0)
		r = commit_check(&c, o->is_forced);
	if (r < 0)
		return r;
	listed = changes_count(&c.changes);
	if (c.n > 0) {
		r = commit_write_journal(&c);
		if (r == 0)
			r = commit_do(&c, /* is_recovery= */ false);
	}
	ret->is_whole = r == 0 && ret->n == listed && ret->left_out.n == 0;
	return r;
}

bool commit_is_pending(const struct cow *c)
{
	return faccessat(c->fd, COMMIT_JOURNAL, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Has the journal another name of that file?  What was done to that one changed the time of both. */
static bool commit_has_mate(const struct commit *c, const struct noted *n)
{
	for (size_t i = 0; i < c->journal.n; i++)
		if (&c->journal.v[i] != n && c->journal.v[i].ino == n->ino)
			return true;
	return false;
}

/* Is the host's file still the one that the journal speaks of? */
static bool commit_is_expected(const struct commit *c, const struct change *ch,
			       const struct noted *n)
{
	/* What was removed from a directory before we were killed has changed it. */
	if (n->keeps_inode || S_ISDIR(ch->was.st_mode))
		return n->ino == 0 || n->ino == ch->was.st_ino;
	return n->ino == (uint64_t)ch->was.st_ino &&
	       (n->ino == 0 || n->ctime_ns == node_ns(&ch->was.st_ctim) || commit_has_mate(c, n));
}

/* What of the journal is not done yet: what is still different. */
static int commit_rest(struct commit *c)
{
	c->rows = calloc(c->changes.n + 1, sizeof(*c->rows));
	if (!c->rows)
		return cordon_nomem(c->err);
	for (size_t i = 0; i < c->changes.n; i++) {
		struct change *ch = &c->changes.v[i];
		const struct noted *n = noted_find(&c->journal, ch->path);

		ch->is_apart = n && !n->keeps_inode;
		/* What somebody changed meanwhile stays his; it is a conflict of the next commit. */
		if (n && commit_is_expected(c, ch, n) && !commit_objection(c, ch))
			c->rows[c->n++] = ch;
	}
	return 0;
}

int commit_recover(struct cow *cow, struct cordon_error *err)
{
	struct commit_result result = {0};
	AUTO(commit_done)
	struct commit c = {.cow = cow, .result = &result, .err = err, .workspace = -1};
	int r = noted_read(cow, COMMIT_JOURNAL, &c.journal);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return cordon_fail_leaf(err, r, "the journal of '%s'", cow->id);
	r = commit_begin(&c);
	if (r == 0)
		r = commit_rest(&c);
	if (r == 0)
		r = commit_do(&c, /* is_recovery= */ true);
	commit_result_done(&result);
	return r;
}
