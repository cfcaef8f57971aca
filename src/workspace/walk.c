/* SPDX-License-Identifier: Apache-2.0 */
/* See walk.h. */
#include "workspace/walk.h"

#include "base/limits.h"
#include "base/buf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WALK_NAMES_MAX (LIMIT_WALK_ENTRIES * 128) /* of one directory */

struct walk {
	walk_dir_fn fn;
	void *arg;
	struct cordon_error *err;
	struct buf path;
	size_t entries;
};

/* One directory: all names, and which of them are directories. */
struct walk_lists {
	struct buf all;
	struct buf dirs;
};

static bool walk_is_dir(DIR *dir, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int walk_read(struct walk *w, DIR *dir, struct walk_lists *ret)
{
	const struct dirent *e;

	while ((e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++w->entries > LIMIT_WALK_ENTRIES)
			return cordon_hint(w->err,
					   cordon_fail(w->err, CORDON_E_LIMIT,
						       "more than %d files below the workspace",
						       LIMIT_WALK_ENTRIES),
					   "run in a directory with fewer");
		buf_add(&ret->all, e->d_name, strlen(e->d_name) + 1);
		if (walk_is_dir(dir, e))
			buf_add(&ret->dirs, e->d_name, strlen(e->d_name) + 1);
	}
	if (buf_error(&ret->all) < 0 || buf_error(&ret->dirs) < 0)
		return cordon_nomem(w->err);
	return 0;
}

/* A directory that cannot be listed.  Its owner can open it again, or knows the names in it. */
static int walk_closed(struct walk *w, int parent, const char *name, int error)
{
	struct stat st;

	if (error != EACCES || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    st.st_uid != geteuid())
		return 0;
	return cordon_hint(w->err,
			   cordon_fail(w->err, CORDON_E_INVALID,
				       "'%s' cannot be listed, so nothing in it can be protected",
				       buf_cstr(&w->path)),
			   "give yourself the rights: chmod u+rx");
}

static int walk_dir(struct walk *w, int parent, const char *name, int depth)
{
	struct walk_lists lists = {BUF_INIT(WALK_NAMES_MAX), BUF_INIT(WALK_NAMES_MAX)};
	struct walk_names names;
	struct walk_names dirs;
	size_t len = w->path.len;
	DIR *dir;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0)
		return walk_closed(w, parent, name, errno);
	if (depth > LIMIT_WALK_DEPTH) {
		(void)close(fd);
		return cordon_fail(w->err, CORDON_E_LIMIT, "'%s' is more than %d levels deep",
				   buf_cstr(&w->path), LIMIT_WALK_DEPTH);
	}
	dir = fdopendir(fd);
	if (!dir) {
		(void)close(fd);
		return cordon_nomem(w->err);
	}
	r = walk_read(w, dir, &lists);
	names = (struct walk_names){buf_cstr(&lists.all), lists.all.len};
	dirs = (struct walk_names){buf_cstr(&lists.dirs), lists.dirs.len};
	if (r == 0)
		r = w->fn(buf_cstr(&w->path), &names, w->arg, w->err);
	for
		WALK_EACH(sub, &dirs)
		{
			if (r != WALK_INTO)
				break;
			buf_truncate(&w->path, len);
			buf_printf(&w->path, "/%s", sub);
			r = buf_error(&w->path) < 0 ? cordon_nomem(w->err)
						    : walk_dir(w, dirfd(dir), sub, depth + 1);
		}
	buf_truncate(&w->path, len);
	(void)closedir(dir);
	buf_done(&lists.all);
	buf_done(&lists.dirs);
	return r < 0 ? r : 0;
}

int walk_tree(const char *top, walk_dir_fn fn, void *arg, struct cordon_error *err)
{
	struct walk w = {.fn = fn, .arg = arg, .err = err, .path = BUF_INIT(LIMIT_PATH_BYTES * 16)};
	int r;

	buf_str(&w.path, top);
	r = walk_dir(&w, AT_FDCWD, top, 0);
	buf_done(&w.path);
	return r;
}
