/* SPDX-License-Identifier: Apache-2.0 */
/* See newgit.h. */
#include "workspace/newgit.h"

#include "base/mem.h"
#include "base/path.h"
#include "workspace/gitdir.h"
#include "workspace/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define NEWGIT_SLACK_S 2 /* file systems keep coarse times */

void newgit_done(struct newgit *n)
{
	strv_done(&n->tops);
	strv_done(&n->dirs);
	strv_done(&n->gitdirs);
	strv_done(&n->pointers);
	strv_done(&n->trees);
	*n = (struct newgit){0};
}

int newgit_note_top(struct newgit *n, const char *path)
{
	return strv_add(&n->tops, path);
}

int newgit_note(struct newgit *n, const char *path, bool is_gitdir)
{
	/* Of each that is not noted it is said that it is new. */
	int r = is_gitdir ? strv_add_max(&n->gitdirs, path, NEWGIT_DIRS_MAX) : 0;

	if (r == 0 && !n->is_full)
		r = strv_add_max(&n->dirs, path, NEWGIT_DIRS_MAX);
	n->is_full |= r == -E2BIG;
	return r == -E2BIG ? 0 : r;
}

int newgit_note_pointer(struct newgit *n, const char *path)
{
	int r = strv_add_max(&n->pointers, path, NEWGIT_DIRS_MAX);

	return r == -E2BIG ? 0 : r; /* of those that are not noted it is said that they are new */
}

static int newgit_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void newgit_sort(struct strv *v)
{
	if (v->n > 1)
		qsort(v->v, v->n, sizeof(*v->v), newgit_by_name);
}

void newgit_begin(struct newgit *n)
{
	struct timespec now = {0};

	newgit_sort(&n->dirs);
	newgit_sort(&n->gitdirs);
	newgit_sort(&n->pointers);
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &now); /* cannot fail; else everything is new */
	n->since_s = now.tv_sec - NEWGIT_SLACK_S;
}

static bool newgit_has(const struct strv *v, const char *path)
{
	return v->n > 0 && bsearch(&path, v->v, v->n, sizeof(*v->v), newgit_by_name);
}

bool newgit_is_noted(const struct newgit *n, const char *gitdir)
{
	return newgit_has(&n->gitdirs, gitdir);
}

struct newgit_search {
	const struct newgit *noted;
	struct strv *found;
	struct strv *trees;
	bool is_cut;
};

/* A `.git` that is no directory and was not there: what it leads to may be anywhere, also inside of another git directory. */
static int newgit_visit_tree(struct newgit_search *s, const char *path,
			     const struct walk_names *names)
{
	for
		WALK_EACH(name, names)
		{
			AUTO_FREE char *file = NULL;
			struct stat st;
			int r;

			if (strcmp(name, ".git") != 0)
				continue;
			if (path_join(path, name, &file) < 0 || lstat(file, &st) < 0 ||
			    S_ISDIR(st.st_mode) || newgit_has(&s->noted->pointers, path))
				return 0;
			r = strv_add_max(s->trees, path, NEWGIT_FOUND_MAX);
			s->is_cut |= r == -E2BIG;
			return r == -E2BIG ? 0 : r;
		}
	return 0;
}

static int newgit_visit(const char *path, const struct walk_names *names, void *arg,
			struct cordon_error *err)
{
	struct newgit_search *s = arg;
	static const char *const inner[] = {"modules", "worktrees"};
	int r = 0;

	if (!gitdir_is(path, names))
		return newgit_visit_tree(s, path, names) < 0 ? cordon_nomem(err) : WALK_INTO;
	if (!newgit_has(&s->noted->gitdirs, path))
		r = strv_add_max(s->found, path, NEWGIT_FOUND_MAX);
	if (r == -E2BIG) {
		s->is_cut = true;
		return cordon_fail(err, CORDON_E_LIMIT, "too many git directories");
	}
	if (r < 0)
		return cordon_nomem(err);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(inner); i++) {
		AUTO_FREE char *sub = NULL;

		if (path_join(path, inner[i], &sub) == 0)
			r = walk_tree(sub, newgit_visit, s, err);
	}
	return r < 0 ? r : WALK_SKIP;
}

/* A directory that was there and has changed: is it a git directory now, and which of its directories are new? */
static int newgit_visit_changed(const char *path, const struct walk_names *names, void *arg,
				struct cordon_error *err)
{
	struct newgit_search *s = arg;

	if (gitdir_is(path, names))
		return newgit_visit(path, names, arg, err);
	if (newgit_visit_tree(s, path, names) < 0)
		return cordon_nomem(err);
	for
		WALK_EACH(name, names)
		{
			AUTO_FREE char *sub = NULL;
			struct stat st;
			int r;

			if (path_join(path, name, &sub) < 0 || newgit_has(&s->noted->dirs, sub) ||
			    lstat(sub, &st) < 0 || !S_ISDIR(st.st_mode))
				continue;
			r = walk_tree(sub, newgit_visit, s, err);
			if (r < 0)
				return r;
		}
	return WALK_SKIP;
}

static int newgit_pass_by(int r)
{
	/* Too deep, too many or closed to us: nothing that is noticed by accident. */
	return r == CORDON_E_NOMEM ? r : 0;
}

/* One that is below two directories that have changed was found twice. */
static void newgit_each_once(struct strv *v)
{
	size_t n = 0;

	newgit_sort(v);
	for (size_t i = 0; i < v->n; i++) {
		if (n > 0 && strcmp(v->v[n - 1], v->v[i]) == 0)
			free(v->v[i]);
		else
			v->v[n++] = v->v[i];
	}
	v->n = n;
	if (v->v)
		v->v[n] = NULL;
}

/* Keeps of the trees those whose repository is not found by itself and does not know them. */
static int newgit_keep_strange(struct newgit *n, const struct strv *found)
{
	size_t kept = 0;
	int r = 0;

	newgit_each_once(&n->trees);
	for (size_t i = 0; i < n->trees.n; i++) {
		char *tree = n->trees.v[i];
		AUTO_FREE char *gitdir = NULL;
		int e = r == 0 ? gitdir_pointed(tree, &gitdir) : 0;
		bool is_strange =
			e == 0 && gitdir && !newgit_has(found, gitdir) &&
			!(newgit_has(&n->gitdirs, gitdir) && gitdir_points_back(gitdir, tree));

		r = e == -ENOMEM ? e : r;
		if (is_strange)
			n->trees.v[kept++] = tree;
		else
			free(tree);
	}
	n->trees.n = kept;
	if (n->trees.v)
		n->trees.v[kept] = NULL;
	return r;
}

int newgit_find(struct newgit *n, struct strv *ret, struct cordon_error *err)
{
	struct newgit_search s = {.noted = n, .found = ret, .trees = &n->trees};
	int r = 0;

	for (size_t i = 0; n->is_full && r == 0 && !s.is_cut && i < n->tops.n; i++)
		r = newgit_pass_by(walk_tree(n->tops.v[i], newgit_visit, &s, NULL));
	for (size_t i = 0; !n->is_full && r == 0 && !s.is_cut && i < n->dirs.n; i++) {
		struct stat st;

		if (lstat(n->dirs.v[i], &st) < 0 || !S_ISDIR(st.st_mode) ||
		    st.st_ctim.tv_sec < n->since_s)
			continue;
		r = newgit_pass_by(walk_tree(n->dirs.v[i], newgit_visit_changed, &s, NULL));
	}
	newgit_each_once(ret);
	n->is_cut = s.is_cut;
	if (r == 0)
		r = newgit_keep_strange(n, ret);
	return r < 0 ? cordon_nomem(err) : 0;
}
