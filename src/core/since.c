/* SPDX-License-Identifier: Apache-2.0 */
/* See since.h. */
#include "core/since.h"

#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "core/workset.h"
#include "workspace/cow/node.h"
#include "workspace/sensitive.h"
#include "workspace/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#define SINCE_TRIES 5 /* to read a set that background processes go on changing */
#define SINCE_TRY_MS 5

/* One name of the upper layer. */
struct since_name {
	char *path; /* relative */
	ino_t ino;
	int64_t ctime_ns;
	bool is_dir;
	bool is_gone; /* it stands for something that was deleted; one inode may stand for many */
};

struct since_walk {
	struct since *since;
	const struct policy *policy; /* NULL: sensitive names are not asked for */
	struct strv *sensitive;
	bool is_sensitive_cut;
};

static void since_clear(struct since *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->names[i].path);
	free(s->names);
	s->names = NULL;
	s->n = s->cap = 0;
}

void since_done(struct since *s)
{
	since_clear(s);
	free(s->upper);
	*s = (struct since){0};
}

static bool since_is_sensitive(const struct policy *p, const char *workspace, const char *relative)
{
	AUTO_FREE char *path = NULL;

	if (sensitive_name(path_base(relative)))
		return true;
	if (p->taint_paths.n == 0 || path_join(workspace, relative, &path) < 0)
		return false;
	for (size_t i = 0; i < p->taint_paths.n; i++)
		if (glob_match(p->taint_paths.items[i].text, path))
			return true;
	return false;
}

static int since_add(struct since_walk *w, const char *full, const struct stat *st)
{
	struct since *s = w->since;
	void *names = s->names;
	struct since_name name = {
		.path = strdup(full + strlen(s->upper) + 1),
		.ino = st->st_ino,
		.ctime_ns = node_ns(&st->st_ctim),
		.is_dir = S_ISDIR(st->st_mode),
		.is_gone = S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0),
	};

	if (!name.path || mem_grow(&names, &s->cap, s->n + 1, sizeof(*s->names), s->max + 1) < 0) {
		free(name.path);
		return -ENOMEM;
	}
	s->names = names;
	s->names[s->n++] = name;
	if (!w->policy || !S_ISREG(st->st_mode) ||
	    !since_is_sensitive(w->policy, s->workspace, name.path))
		return 0;
	if (w->sensitive->n >= LIMIT_SENSITIVE) {
		w->is_sensitive_cut = true;
		return 0;
	}
	return strv_add(w->sensitive, full);
}

static int since_dir(const char *path, const struct walk_names *names, void *arg,
		     struct cordon_error *err)
{
	struct since_walk *w = arg;

	for
		WALK_EACH(name, names)
		{
			AUTO_FREE char *full = NULL;
			struct stat st;

			if (w->since->n >= w->since->max) {
				w->since->is_cut = true;
				return WALK_SKIP;
			}
			if (path_join(path, name, &full) < 0)
				return cordon_nomem(err);
			if (fstatat(AT_FDCWD, full, &st, AT_SYMLINK_NOFOLLOW) < 0)
				continue; /* gone meanwhile */
			if (since_add(w, full, &st) < 0)
				return cordon_nomem(err);
		}
	return WALK_INTO;
}

static int since_by_path(const void *a, const void *b)
{
	const struct since_name *x = a;
	const struct since_name *y = b;

	return strcmp(x->path, y->path);
}

static int since_look(struct since_walk *w, struct cordon_error *err)
{
	struct since *s = w->since;
	/* What is too deep, or closed by its owner, is not known, and no reason not to look at the rest. */
	const struct walk_options o = {.fn = since_dir, .arg = w, .ret_skipped = &s->is_cut};
	struct timespec now;
	int r;

	(void)clock_gettime(CLOCK_REALTIME_COARSE, &now); /* what file systems go by */
	s->begun_ns = node_ns(&now);
	r = walk_tree_with(s->upper, &o, err);
	if (r < 0 && r != CORDON_E_NOMEM) {
		s->is_cut = true;
		if (err)
			*err = (struct cordon_error){0};
		r = 0;
	}
	if (s->n > 0)
		qsort(s->names, s->n, sizeof(*s->names), since_by_path);
	return r;
}

int since_begin(const char *state_dir, const struct sandbox_row *row, bool is_copy,
		const struct policy *p, struct since *ret, struct fsplan *view,
		struct cordon_error *err)
{
	struct since_walk w = {.since = ret, .policy = p, .sensitive = &view->sensitive};
	int r;

	*ret = (struct since){.state_dir = state_dir,
			      .id = row->id,
			      .workspace = row->workspace,
			      .max = is_copy ? LIMIT_COW_COPY_FILES : LIMIT_SINCE_NAMES};
	if (asprintf(&ret->upper, "%s/" COW_DIR "/%s/%s", state_dir, row->id,
		     is_copy ? "copy" : "upper") < 0) {
		ret->upper = NULL;
		return cordon_nomem(err);
	}
	r = since_look(&w, err);
	/* A copy has the workspace's own secrets, and a directory of it that cannot be looked at may have them.  What is in
	 * an overlay's layer its calls wrote: they are seen when they open the host's. */
	view->is_sensitive_cut |= w.is_sensitive_cut || (is_copy && ret->is_cut);
	return r;
}

static const struct since_name *since_find(const struct since *s, const char *path)
{
	struct since_name key = {.path = (char *)(uintptr_t)path};

	return s->n == 0 ? NULL : bsearch(&key, s->names, s->n, sizeof(*s->names), since_by_path);
}

/* Was this name of the layer made or changed since? */
static bool since_is_new(const struct since *before, const struct since_name *now)
{
	const struct since_name *was = since_find(before, now->path);

	/* Of what was not looked at its own time tells. */
	if (!was && before->is_cut)
		return now->ctime_ns >= before->begun_ns;
	if (!was || was->is_gone != now->is_gone)
		return true;
	if (now->is_gone)
		return false;
	/* A directory changes with every name in it, and these are looked at themselves. */
	return was->ino != now->ino || (!now->is_dir && was->ctime_ns != now->ctime_ns);
}

static bool since_differs(const struct since *before, const struct since *now)
{
	if (before->n != now->n || before->is_cut || now->is_cut)
		return true;
	for (size_t i = 0; i < now->n; i++)
		if (since_is_new(before, &now->names[i]))
			return true;
	return false;
}

/* Is the change one of this call's?  What is deleted may have no name of its own: a directory above it stands for it. */
static bool since_is_ours(const struct since *before, const struct since *now, const char *path)
{
	AUTO_FREE char *at = strdup(path);

	for (char *slash = at; slash;) {
		const struct since_name *name = since_find(now, at);

		if (name)
			return since_is_new(before, name);
		slash = strrchr(at, '/');
		if (slash)
			*slash = '\0';
	}
	return !at; /* without memory: rather too much */
}

/* Is what had this name gone?  Where not everything was looked at it may only not have been seen. */
static bool since_is_gone(const struct since *now, const char *path)
{
	AUTO_FREE char *full = NULL;
	struct stat st;

	if (since_find(now, path))
		return false;
	return !now->is_cut || (path_join(now->upper, path, &full) == 0 && lstat(full, &st) < 0 &&
				(errno == ENOENT || errno == ENOTDIR));
}

static int since_keep(struct changes *to, struct change *c)
{
	void *v = to->v;

	if (mem_grow(&v, &to->cap, to->n + 1, sizeof(*to->v), LIMIT_CHANGES) < 0)
		return -ENOMEM;
	to->v = v;
	to->v[to->n++] = *c;
	*c = (struct change){0}; /* it was given */
	return 0;
}

/* Those of all changes that are this call's, and what earlier calls had added and this one took away. */
static int since_pick(const struct since *before, const struct since *now, struct changes *all,
		      struct changes *ret)
{
	int r = 0;

	ret->is_cut |= all->is_cut;
	for (size_t i = 0; r == 0 && i < all->n; i++) {
		struct change *c = &all->v[i];
		const struct since_name *was = since_find(before, c->path);

		if (c->is_implied || !since_is_ours(before, now, c->path))
			continue;
		if (c->op == CHANGE_ADDED && was && !was->is_gone)
			c->op = CHANGE_MODIFIED; /* an earlier call had added it */
		r = since_keep(ret, c);
	}
	for (size_t i = 0; r == 0 && i < before->n; i++) {
		const struct since_name *was = &before->names[i];
		struct change c = {.op = CHANGE_DELETED};

		if (was->is_gone || was->is_dir || !since_is_gone(now, was->path))
			continue;
		c.path = strdup(was->path);
		r = c.path ? since_keep(ret, &c) : -ENOMEM;
		free(c.path);
	}
	return r;
}

/* Nobody stops the sandbox for this: a file may go while it is read. */
static int since_read_set(const struct cow *cow, struct changes *ret, struct cordon_error *err)
{
	int r = 0;

	for (int i = 0; i < SINCE_TRIES; i++) {
		if (i > 0) {
			changes_done(ret);
			(void)poll(NULL, 0, SINCE_TRY_MS);
		}
		if (err)
			*err = (struct cordon_error){0};
		r = changes_read(cow, ret, err);
		if (r == 0 || r == CORDON_E_NOMEM)
			break;
	}
	return r;
}

static int since_compare(struct since *s, struct since *now, struct report *report,
			 struct cordon_error *err)
{
	struct cow cow = COW_NONE;
	struct changes all = {0};
	int r;

	report->has_changes = true;
	if (!since_differs(s, now))
		return 0;
	r = cow_open(s->state_dir, s->id, COW_SHARED, &cow, err);
	if (r == 0)
		r = since_read_set(&cow, &all, err);
	if (r == 0 && since_pick(s, now, &all, &report->changes) < 0)
		r = cordon_nomem(err);
	changes_done(&all);
	if (r == 0)
		r = workset_judge(&cow, report, err);
	else if (r != CORDON_E_NOMEM) {
		report->has_changes = false;
		if (err)
			*err = (struct cordon_error){0};
		r = 0;
	}
	cow_close(&cow);
	return r;
}

/* Watched in the layer, known to the call in its workspace. */
static int since_rename_opened(const struct since *s, struct seen *seen)
{
	for (size_t i = 0; i < seen->n; i++) {
		struct seen_event *e = &seen->events[i];
		char *path = NULL;

		if (e->kind != SEEN_OPENED || !path_is_within(e->text, s->upper))
			continue;
		if (path_join(s->workspace, e->text + strlen(s->upper) + 1, &path) < 0)
			return -ENOMEM;
		free(e->text);
		e->text = path;
	}
	return 0;
}

/* Nobody is to take a tree that cannot be looked at for one in which nothing happened. */
static int since_say_cut(struct report *report)
{
	struct finding f = {.type = FINDING_FILE_ACCESS, .level = THREAT_MEDIUM, .confidence = 1};

	(void)snprintf(f.rule, sizeof(f.rule), FINDING_RULE_UNSEEN);
	(void)snprintf(f.message, sizeof(f.message),
		       "directories of the change set are closed, too deep or too full: what was "
		       "changed in them is not known");
	return findings_add(&report->findings, &f);
}

int since_read(struct since *s, struct report *report, struct cordon_error *err)
{
	struct since now = {.upper = s->upper, .workspace = s->workspace, .max = s->max};
	int r = since_rename_opened(s, &report->seen) < 0 ? cordon_nomem(err) : 0;

	if (r == 0)
		r = since_look(&(struct since_walk){.since = &now}, err);
	report->changes.is_cut = s->is_cut || now.is_cut;
	if (r == 0 && report->changes.is_cut && since_say_cut(report) < 0)
		r = cordon_nomem(err);
	if (r == 0)
		r = since_compare(s, &now, report, err);
	since_clear(&now);
	return r;
}
