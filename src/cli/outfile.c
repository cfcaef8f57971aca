/* SPDX-License-Identifier: Apache-2.0 */
/* See outfile.h. */
#include "cli/outfile.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/str.h"
#include "core/fsgrant.h"
#include "run/show.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTFILE_MODE 0600

static int outfile_number(const char *option, const char *text, int *ret, struct cordon_error *err)
{
	int64_t number;
	int flags;

	if (parse_int(text + strlen("fd:"), 0, INT32_MAX, &number) < 0 ||
	    (flags = fcntl((int)number, F_GETFL)) < 0 || (flags & O_PATH) ||
	    (flags & O_ACCMODE) == O_RDONLY || (*ret = fd_dup((int)number, 3)) < 0)
		return cordon_fail(err, CORDON_E_INVALID, "%s: '%.100s' is not open for writing",
				   option, text);
	return 0;
}

/* A directory as it was resolved: what has become a link since is not followed. */
static int outfile_directory(const char *real)
{
	AUTO_CLOSE int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (root < 0)
		return -errno;
	if (!real[1])
		return TAKE_FD(root);
	fd = path_open_beneath(root, real + 1, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			       PATH_NO_SYMLINKS);
	/* In a sandbox of ours there is no openat2(): what can be changed meanwhile is inside, too. */
	if (fd == -ENOSYS && (fd = open(real, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		fd = -errno;
	return fd;
}

/* Nobody but the owner of the directory can have put something there, and we cannot either: the file that is there. */
static int outfile_in_place(struct outfile *o)
{
	struct stat st;

	o->fd = openat(o->dir, o->name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (o->fd < 0)
		return -errno;
	if (fstat(o->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EINVAL;
	return ftruncate(o->fd, 0) < 0 ? -errno : 0;
}

static int outfile_prepare(const char *option, const char *path, struct outfile *o,
			   struct cordon_error *err)
{
	struct stat st;
	bool is_there = fstatat(o->dir, o->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	int r = 0;

	if (is_there && S_ISLNK(st.st_mode))
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_INVALID,
				    "%s: '%.200s' is a link, and a call may have made it", option,
				    path),
			"name the file that it leads to, or remove it");
	if (is_there && !S_ISREG(st.st_mode))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "%s: '%.200s' is not a regular file", option, path),
				   "open it in the shell and name the descriptor: fd:3 3>FILE");
	if (faccessat(o->dir, ".", W_OK | X_OK, AT_EACCESS) < 0)
		r = is_there ? outfile_in_place(o) : -errno;
	else if (is_there && unlinkat(o->dir, o->name, 0) < 0)
		r = -errno;
	return r < 0 ? cordon_fail_leaf(err, r, "%s: open '%.200s'", option, path) : 0;
}

/* The directory of path, resolved, and the name in it. */
static int outfile_split(const char *path, char **ret_dir, char **ret_name)
{
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	const char *name = path_base(path);
	AUTO_FREE char *dir = NULL;

	if (!cwd)
		return -errno;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return -EISDIR;
	/* Not normalised: what is behind a link is counted from where it leads. */
	if (asprintf(&dir, "%s%s%.*s", path[0] == '/' ? "" : cwd, path[0] == '/' ? "" : "/",
		     (int)(name - path), path) < 0) {
		dir = NULL;
		return -ENOMEM;
	}
	*ret_name = strdup(name);
	return *ret_name ? path_resolve(dir, ret_dir) : -ENOMEM;
}

int outfile_open(const char *option, const char *path, const char *workspace, struct outfile *ret,
		 struct cordon_error *err)
{
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	AUTO_FREE char *named = NULL;
	AUTO_FREE char *real = NULL;
	int r;

	if (str_starts(path, "fd:"))
		return outfile_number(option, path, &ret->fd, err);
	r = outfile_split(path, &real, &ret->name);
	if (r == 0 && (path_is_within(real, "/dev") || path_is_within(real, "/proc"))) {
		ret->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
			       OUTFILE_MODE);
		return ret->fd < 0
			       ? cordon_fail_errno(err, errno, "%s: open '%.200s'", option, path)
			       : 0;
	}
	if (r == 0)
		r = path_join(cwd ? cwd : "/", path, &named);
	if (r == 0 && workspace && fsgrant_leads_out(workspace, named, real))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "%s: '%.200s': a link leads out of the workspace",
					       option, path),
				   "name the place that it leads to");
	if (r == 0)
		r = ret->dir = outfile_directory(real);
	if (r < 0)
		return cordon_fail_leaf(err, r, "%s: open '%.200s'", option, path);
	return outfile_prepare(option, path, ret, err);
}

int outfile_put(struct outfile *o, const void *data, size_t len)
{
	return o->fd >= 0 ? show_write(o->fd, data, len, CLOCK_NEVER)
			  : io_swap_file_at(o->dir, o->name, data, len, OUTFILE_MODE);
}

void outfile_done(struct outfile *o)
{
	(void)fd_close(o->fd);
	(void)fd_close(o->dir);
	free(o->name);
}
