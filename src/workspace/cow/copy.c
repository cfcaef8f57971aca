/* SPDX-License-Identifier: Apache-2.0 */
/* See copy.h. */
#include "workspace/cow/copy.h"

#include "base/fd.h"
#include "base/limits.h"
#include "workspace/cow/base.h"
#include "workspace/cow/node.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct copy {
	dev_t dev;
	uint64_t bytes;
	uint64_t files;
	struct buf path; /* of what is copied, relative */
	struct buf *list;
	const struct strv *mounts; /* that are left out, or NULL */
	struct cordon_error *err;
};

static int copy_dir(struct copy *c, int from, int to, int depth);

static int copy_fail(struct copy *c, int r, const char *name)
{
	return cordon_fail_leaf(c->err, r, "copy '%.200s' of the workspace", name);
}

/* Owner before mode: a change of owner takes set-id bits away. */
static int copy_meta(int from, int to, const struct stat *st)
{
	const struct timespec times[] = {st->st_atim, st->st_mtim};
	int r = node_copy_xattrs(from, to);

	if (r < 0)
		return r;
	if (fchown(to, st->st_uid, st->st_gid) < 0 && errno != EPERM && errno != EINVAL)
		return -errno;
	return fchmod(to, st->st_mode & 07777) < 0 || futimens(to, times) < 0 ? -errno : 0;
}

static int copy_file(struct copy *c, int from, int to, const char *name, const struct stat *st)
{
	AUTO_CLOSE int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_CLOSE int out = -1;
	int r;

	if (in < 0)
		return copy_fail(c, -errno, name);
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return copy_fail(c, -errno, name);
	c->bytes += (uint64_t)st->st_blocks * 512;
	if (c->bytes > LIMIT_COW_COPY_BYTES)
		return cordon_hint(
			c->err,
			cordon_fail(
				c->err, CORDON_E_LIMIT,
				"the workspace has more than %llu MiB and would have to be copied",
				(unsigned long long)LIMIT_COW_COPY_BYTES >> 20),
			"use a backend with mounts (native, bwrap), or a smaller directory");
	r = node_copy_content(in, out);
	if (r == 0)
		r = copy_meta(in, out, st);
	return r < 0 ? copy_fail(c, r, name) : 0;
}

static int copy_special(int from, int to, const char *name, const struct stat *st)
{
	const struct timespec times[] = {st->st_atim, st->st_mtim};
	char target[LIMIT_PATH_BYTES];
	ssize_t n;

	if (S_ISLNK(st->st_mode)) {
		n = readlinkat(from, name, target, sizeof(target) - 1);
		if (n < 0)
			return -errno;
		target[n] = '\0';
		if (symlinkat(target, to, name) < 0)
			return -errno;
	} else if (mknodat(to, name, st->st_mode & (S_IFMT | 0777), st->st_rdev) < 0) {
		return errno == EPERM ? 0 : -errno; /* a device: nothing that a call could change */
	}
	if (fchownat(to, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) < 0 && errno != EPERM &&
	    errno != EINVAL)
		return -errno;
	return utimensat(to, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* 1, 0, or -errno. */
static int copy_is_mount(const struct copy *c, int from, const char *name)
{
	struct statx sx;

	if (statx(from, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &sx) < 0)
		return -errno;
	return (sx.stx_attributes_mask & sx.stx_attributes & STATX_ATTR_MOUNT_ROOT) ||
	       makedev(sx.stx_dev_major, sx.stx_dev_minor) != c->dev;
}

static bool copy_is_listed(const struct copy *c)
{
	for (size_t i = 0; c->mounts && i < c->mounts->n; i++)
		if (strcmp(c->mounts->v[i], buf_cstr(&c->path)) == 0)
			return true;
	return false;
}

/* What is mounted at the name is not ours to copy.  1: it is left out; 0: it is no mount. */
static int copy_check_mount(struct copy *c, int from, const char *name, const struct stat *st)
{
	int r = copy_is_mount(c, from, name);
	bool is_listed = copy_is_listed(c);

	if (r < 0)
		return copy_fail(c, r, name);
	if (r == 0)
		return is_listed ? cordon_fail(c->err, CORDON_E_INVALID,
					       "nothing is mounted at '%.200s' in the workspace",
					       buf_cstr(&c->path))
				 : 0;
	if (is_listed && S_ISDIR(st->st_mode))
		return 1;
	return cordon_hint(c->err,
			   cordon_fail(c->err, CORDON_E_INVALID,
				       "a file system is mounted at '%.200s' in the workspace",
				       buf_cstr(&c->path)),
			   is_listed ? "only a directory can be listed; unmount it"
				     : "unmount it, or list it with --submount PATH");
}

static int copy_sub(struct copy *c, int from, int to, const char *name, const struct stat *st,
		    int depth)
{
	AUTO_CLOSE int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_CLOSE int out = -1;
	int r;

	if (in < 0 || mkdirat(to, name, 0700) < 0)
		return copy_fail(c, -errno, name);
	out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0)
		return copy_fail(c, -errno, name);
	r = copy_dir(c, in, out, depth + 1);
	if (r < 0)
		return r;
	r = copy_meta(in, out, st);
	return r < 0 ? copy_fail(c, r, name) : 0;
}

static int copy_one(struct copy *c, int from, int to, const char *name, int depth)
{
	struct stat st;
	int r;

	if (++c->files > LIMIT_COW_COPY_FILES)
		return cordon_hint(
			c->err,
			cordon_fail(c->err, CORDON_E_LIMIT,
				    "the workspace has more than %d files and would have "
				    "to be copied",
				    LIMIT_COW_COPY_FILES),
			"use a backend with mounts (native, bwrap), or a smaller directory");
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return copy_fail(c, -errno, name);
	r = S_ISDIR(st.st_mode) || S_ISREG(st.st_mode) ? copy_check_mount(c, from, name, &st) : 0;
	if (r > 0)
		return mkdirat(to, name, 0755) < 0 ? copy_fail(c, -errno, name) : 0;
	if (r < 0)
		return r;
	if (S_ISDIR(st.st_mode))
		return copy_sub(c, from, to, name, &st, depth);
	if (S_ISREG(st.st_mode))
		return copy_file(c, from, to, name, &st);
	r = copy_special(from, to, name, &st);
	return r < 0 ? copy_fail(c, r, name) : 0;
}

/* Copies it, and writes down what it is: a directory's times are those of its last name. */
static int copy_name(struct copy *c, int from, int to, const char *name, int depth)
{
	size_t len = c->path.len;
	struct stat st;
	int r;

	if (len > 0)
		buf_char(&c->path, '/');
	buf_str(&c->path, name);
	r = buf_error(&c->path) < 0 ? copy_fail(c, buf_error(&c->path), name)
				    : copy_one(c, from, to, name, depth);
	/* A device that could not be made is not there. */
	if (r == 0 && fstatat(to, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		base_add(c->list, buf_cstr(&c->path), &st);
	buf_truncate(&c->path, len);
	return r;
}

static int copy_dir(struct copy *c, int from, int to, int depth)
{
	int fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int r = 0;

	if (!d) {
		r = copy_fail(c, -errno, ".");
		(void)fd_close(fd);
		return r;
	}
	if (depth > LIMIT_WALK_DEPTH)
		r = cordon_fail(c->err, CORDON_E_LIMIT, "the workspace is more than %d levels deep",
				LIMIT_WALK_DEPTH);
	while (r == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = copy_name(c, from, to, e->d_name, depth);
	(void)closedir(d);
	return r;
}

int copy_tree(int from, int dir, const char *name, const struct strv *mounts, struct buf *list,
	      struct cordon_error *err)
{
	AUTO_CLOSE int in = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int out = -1;
	struct copy c = {
		.err = err, .mounts = mounts, .list = list, .path = BUF_INIT(LIMIT_PATH_BYTES)};
	struct stat st, copy;
	int r;

	if (in < 0 || fstat(in, &st) < 0 || mkdirat(dir, name, 0700) < 0)
		return copy_fail(&c, -errno, ".");
	out = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0)
		return copy_fail(&c, -errno, ".");
	c.dev = st.st_dev;
	r = copy_dir(&c, in, out, 0);
	buf_done(&c.path);
	if (r < 0)
		return r;
	r = copy_meta(in, out, &st);
	if (r == 0 && fstat(out, &copy) < 0)
		r = -errno;
	if (r == 0) {
		base_add(list, ".", &copy);
		r = buf_error(list);
	}
	return r < 0 ? copy_fail(&c, r, ".") : 0;
}
