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
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &now); /* cannot fail; else everything is new */
	n->since_s = now.tv_sec - NEWGIT_SLACK_S;
}

static bool newgit_has(const struct strv *v, const char *path)
{
	return v->n > 0 && bsearch(&path, v->v, v->n, sizeof(*v->v), newgit_by_name);
}

struct newgit_search {
	const struct newgit *noted;
	struct strv *found;
	bool is_cut;
};

static int newgit_visit(const char *path, const struct walk_names *names, void *arg,
			struct cordon_error *err)
{
	struct newgit_search *s = arg;
	static const char *const inner[] = {"modules", "worktrees"};
	int r = 0;

	if (!gitdir_is(path, names))
		return WALK_INTO;
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

int newgit_find(struct newgit *n, struct strv *ret, struct cordon_error *err)
{
	struct newgit_search s = {.noted = n, .found = ret};
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
	return r < 0 ? cordon_nomem(err) : 0;
}
