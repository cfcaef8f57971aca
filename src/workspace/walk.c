/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See walk.h.  With a memory of an earlier walk (walkmemo.h) a directory that is as it was is not opened: its
 * subdirectories are known.  Only what has to be listed is opened, from the directory around it, which is opened
 * for that if it was not yet.
 */
#include "workspace/walk.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "workspace/walkmemo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WALK_NAMES_MAX (LIMIT_WALK_ENTRIES * 128) /* of one directory */
#define WALK_MEMO_DIRS 128 /* smaller trees are listed as quickly as remembered */
#define WALK_MEMO_SHARE 8  /* written anew when more than one of so many was listed for nothing */
#define WALK_SETTLED_NS                                                                            \
	(2 * INT64_C(1000000000)) /* times of a file system may be as coarse as a second */

struct walk {
	const struct walk_options *o;
	struct cordon_error *err;
	struct buf path;
	size_t top_len;
	size_t entries;
	bool is_memorable;    /* what is found is put together */
	bool keeps;           /* for the next walk */
	bool lists;           /* for whoever asked for it */
	struct walkmemo last; /* of the walk before */
	struct walkmemo memo; /* of this one */
	size_t gained;        /* plain directories that had to be listed */
	int64_t begun_ns;
};

/* A directory on the way to the one that is looked at. */
struct walk_frame {
	struct walk_frame *up;
	const char *name;
	DIR *dir; /* NULL until it is needed */
};

/* One directory: all names, and which of them are directories, sorted when they are to be found again. */
struct walk_lists {
	struct buf all;
	struct buf dirs;
	const char **v;
	size_t n;
};

static bool walk_is_dir(DIR *dir, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int walk_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void walk_lists_done(struct walk_lists *l)
{
	buf_done(&l->all);
	buf_done(&l->dirs);
	free(l->v);
}

static int walk_too_many(struct walk *w)
{
	return cordon_hint(w->err,
			   cordon_fail(w->err, CORDON_E_LIMIT,
				       "more than %d files below the workspace",
				       LIMIT_WALK_ENTRIES),
			   "run in a directory with fewer");
}

static int walk_read(struct walk *w, DIR *dir, struct walk_lists *ret)
{
	const struct dirent *e;
	size_t n = 0;

	while ((e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++w->entries > LIMIT_WALK_ENTRIES)
			return walk_too_many(w);
		buf_add(&ret->all, e->d_name, strlen(e->d_name) + 1);
		if (walk_is_dir(dir, e)) {
			buf_add(&ret->dirs, e->d_name, strlen(e->d_name) + 1);
			n++;
		}
	}
	ret->v = calloc(n + 1, sizeof(*ret->v));
	if (!ret->v || buf_error(&ret->all) < 0 || buf_error(&ret->dirs) < 0)
		return cordon_nomem(w->err);
	for (const char *s = ret->dirs.data; ret->n < n; s += strlen(s) + 1)
		ret->v[ret->n++] = s;
	if (w->is_memorable && n > 0)
		qsort(ret->v, n, sizeof(*ret->v), walk_by_name);
	return 0;
}

/* A directory that cannot be listed.  Its owner can open it again, or knows the names in it. */
static int walk_closed(struct walk *w, const struct walk_frame *f, int error)
{
	struct stat st;

	/* Around it one that we knew could not be opened: it is not known whose it is. */
	if (f->up && !f->up->dir)
		st.st_uid = geteuid();
	else if (error != EACCES || fstatat(f->up ? dirfd(f->up->dir) : AT_FDCWD, f->name, &st,
					    AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (st.st_uid != geteuid() || error != EACCES)
		return 0;
	if (w->o->ret_skipped) {
		*w->o->ret_skipped = true;
		return 0;
	}
	return cordon_hint(w->err,
			   cordon_fail(w->err, CORDON_E_INVALID,
				       "'%s' cannot be listed, so nothing in it can be protected",
				       buf_cstr(&w->path)),
			   "give yourself the rights: chmod u+rx");
}

static int walk_open(struct walk_frame *f)
{
	int fd;
	int r = f->up ? walk_open(f->up) : 0;

	if (f->dir || r < 0)
		return r;
	fd = openat(f->up ? dirfd(f->up->dir) : AT_FDCWD, f->name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	f->dir = fdopendir(fd);
	if (!f->dir)
		(void)close(fd);
	return f->dir ? 0 : -ENOMEM;
}

static int64_t walk_ctime_ns(const struct stat *st)
{
	return (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;
}

/* The walk goes on; nothing of it is kept. */
static void walk_forget(struct walk *w)
{
	w->is_memorable = false;
	walkmemo_done(&w->memo);
}

/* Adds the row of the directory.  Its place, of which walk_memo_end() knows. */
static size_t walk_memo_begin(struct walk *w, const char *name, const struct walkmemo_dir *d)
{
	size_t at = w->memo.n;

	if (w->is_memorable && walkmemo_add(&w->memo, name, d) < 0)
		walk_forget(w);
	return at;
}

static void walk_memo_end(struct walk *w, size_t at)
{
	if (w->is_memorable)
		w->memo.v[at].below = (uint32_t)(w->memo.n - at - 1);
}

static int walk_dir(struct walk *w, struct walk_frame *up, const char *name, size_t known,
		    int depth);

static int walk_into(struct walk *w, struct walk_frame *f, const char *name, size_t known,
		     int depth)
{
	size_t len = w->path.len;
	int r;

	buf_printf(&w->path, "/%s", name);
	r = buf_error(&w->path) < 0 ? cordon_nomem(w->err) : walk_dir(w, f, name, known, depth + 1);
	buf_truncate(&w->path, len);
	return r;
}

/* Is the directory as it was?  Then it and all that is below it is visited: 1, or what went wrong.  0: list it. */
static int walk_known(struct walk *w, struct walk_frame *f, size_t known, int depth)
{
	const struct walk_names none = {"", 0};
	const char *below = buf_cstr(&w->path) + w->top_len + 1;
	struct walk_frame *top = f;
	struct walkmemo_dir d;
	struct stat st;
	size_t at;
	int r;

	if (known == WALKMEMO_NONE || !f->up || !w->last.v[known].is_plain ||
	    w->path.len - w->top_len >= PATH_MAX ||
	    (w->o->listed && strcmp(buf_cstr(&w->path), w->o->listed) == 0))
		return 0;
	while (top->up)
		top = top->up;
	d = w->last.v[known];
	if (fstatat(dirfd(top->dir), below, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) ||
	    (uint64_t)st.st_dev != w->last.dev || st.st_ino != d.ino ||
	    walk_ctime_ns(&st) != d.ctime_ns)
		return 0;
	if (++w->entries > LIMIT_WALK_ENTRIES)
		return walk_too_many(w);
	at = walk_memo_begin(w, f->name, &d);
	r = w->o->fn(buf_cstr(&w->path), &none, w->o->arg, w->err);
	for (size_t i = walkmemo_first(&w->last, known); r == WALK_INTO && i != WALKMEMO_NONE;
	     i = walkmemo_next(&w->last, known, i))
		r = walk_into(w, f, walkmemo_name(&w->last, i), i, depth);
	walk_memo_end(w, at);
	return r < 0 ? r : 1;
}

/* The row of sub among those below known, both in order; *next goes on from one call to the next. */
static size_t walk_match(const struct walk *w, size_t known, size_t *next, const char *sub)
{
	int order = 1;

	while (*next != WALKMEMO_NONE && (order = strcmp(walkmemo_name(&w->last, *next), sub)) < 0)
		*next = walkmemo_next(&w->last, known, *next);
	return *next != WALKMEMO_NONE && order == 0 ? *next : WALKMEMO_NONE;
}

/* What is worth knowing next time about a directory that was listed.  st is from before that. */
static struct walkmemo_dir walk_row(const struct walk *w, const struct stat *st,
				    const struct walk_names *names)
{
	int64_t ctime_ns = walk_ctime_ns(st);

	return (struct walkmemo_dir){
		.ino = st->st_ino,
		.ctime_ns = ctime_ns,
		.is_plain = (uint64_t)st->st_dev == w->memo.dev &&
			    ctime_ns < w->begun_ns - WALK_SETTLED_NS && w->o->is_plain &&
			    w->o->is_plain(buf_cstr(&w->path), names, w->o->arg),
	};
}

static int walk_listed(struct walk *w, struct walk_frame *f, size_t known, int depth)
{
	struct walk_lists lists = {.all = BUF_INIT(WALK_NAMES_MAX),
				   .dirs = BUF_INIT(WALK_NAMES_MAX)};
	size_t next = walkmemo_first(&w->last, known);
	size_t at = 0;
	struct stat st = {0};
	int r = w->is_memorable && fstat(dirfd(f->dir), &st) < 0 ? cordon_nomem(w->err) : 0;

	if (r == 0)
		r = walk_read(w, f->dir, &lists);
	if (r == 0) {
		struct walk_names names = {buf_cstr(&lists.all), lists.all.len};

		if (w->is_memorable) {
			struct walkmemo_dir d = walk_row(w, &st, &names);

			w->gained += d.is_plain && f->up;
			at = walk_memo_begin(w, f->up ? f->name : buf_cstr(&w->path), &d);
		}
		r = w->o->fn(buf_cstr(&w->path), &names, w->o->arg, w->err);
	}
	for (size_t i = 0; r == WALK_INTO && i < lists.n; i++)
		r = walk_into(w, f, lists.v[i], walk_match(w, known, &next, lists.v[i]), depth);
	walk_memo_end(w, at);
	walk_lists_done(&lists);
	return r < 0 ? r : 0;
}

/* known: its row in what the last walk left, or WALKMEMO_NONE. */
static int walk_dir(struct walk *w, struct walk_frame *up, const char *name, size_t known,
		    int depth)
{
	struct walk_frame f = {.up = up, .name = name};
	int r;

	if (depth > LIMIT_WALK_DEPTH && w->o->ret_skipped) {
		*w->o->ret_skipped = true;
		return 0;
	}
	if (depth > LIMIT_WALK_DEPTH)
		return cordon_fail(w->err, CORDON_E_LIMIT, "'%s' is more than %d levels deep",
				   buf_cstr(&w->path), LIMIT_WALK_DEPTH);
	r = walk_known(w, &f, known, depth);
	if (r == 0) {
		r = walk_open(&f);
		if (r == 0)
			r = walk_listed(w, &f, known, depth);
		else
			r = r == -ENOMEM ? cordon_nomem(w->err) : walk_closed(w, &f, -r);
	}
	if (f.dir)
		(void)closedir(f.dir);
	return r < 0 ? r : 0;
}

static bool walk_has_list(const struct walk_options *o)
{
	AUTO_FREE char *path = NULL;

	return path_join(o->list_dir, o->list_name, &path) == 0 && access(path, F_OK) == 0;
}

/* What is known about the tree, if it can be relied on. */
static void walk_remember(struct walk *w, const char *top)
{
	AUTO_CLOSE int fd = open(top, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct timespec now;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	w->lists = w->o->list_dir && !walk_has_list(w->o);
	w->keeps = w->o->state_dir && walkmemo_is_reliable(fd);
	if (w->keeps)
		walkmemo_load(w->o->state_dir, top, &w->last);
	if (w->last.n > 0 && w->last.dev != (uint64_t)st.st_dev)
		walkmemo_done(&w->last);
	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail */
	w->begun_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	w->memo.dev = (uint64_t)st.st_dev;
	w->is_memorable = w->keeps || w->lists;
}

/* What was found is left where it was asked for. */
static int walk_leave(struct walk *w)
{
	const struct walk_options *o = w->o;
	AUTO_CLOSE int dir = -1;
	int r = w->is_memorable ? 0 : -E2BIG;

	if (w->keeps && r == 0 && w->memo.n >= WALK_MEMO_DIRS &&
	    w->gained > w->memo.n / WALK_MEMO_SHARE)
		walkmemo_save(o->state_dir, &w->memo);
	if (!w->lists)
		return 0;
	if (r == 0) {
		dir = open(o->list_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = dir < 0 ? -errno : walkmemo_write(dir, o->list_name, &w->memo);
	}
	return r < 0 ? cordon_fail_leaf(w->err, r, "note the directories of '%.300s'",
					buf_cstr(&w->path))
		     : 0;
}

int walk_tree_with(const char *top, const struct walk_options *o, struct cordon_error *err)
{
	struct walk w = {.o = o, .err = err, .path = BUF_INIT(LIMIT_PATH_BYTES * 16)};
	int r;

	walkmemo_init(&w.last);
	walkmemo_init(&w.memo);
	buf_str(&w.path, top);
	w.top_len = w.path.len;
	if (o->state_dir || o->list_dir)
		walk_remember(&w, top);
	r = walk_dir(&w, NULL, top, w.last.n > 0 ? 0 : WALKMEMO_NONE, 0);
	if (r == 0)
		r = walk_leave(&w);
	buf_done(&w.path);
	walkmemo_done(&w.last);
	walkmemo_done(&w.memo);
	return r;
}

int walk_tree(const char *top, walk_dir_fn fn, void *arg, struct cordon_error *err)
{
	return walk_tree_with(top, &(struct walk_options){.fn = fn, .arg = arg}, err);
}
