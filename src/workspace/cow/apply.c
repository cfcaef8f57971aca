/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See apply.h.  Content is staged in one directory of ours at the top of the workspace, which is on the same file
 * system as all of it: from there a rename puts a file in its place at once, and an exchange does that where the
 * kinds differ.  Two rules keep a hostile tree from leading us anywhere: every directory is opened from the
 * workspace's own descriptor without following links or mounts, and nothing but single names is used in it.
 */
#include "workspace/cow/apply.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/prune.h"
#include "workspace/cow/node.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define APPLY_NAME_MAX 64
#define APPLY_SYNC_FILES                                                                           \
	16 /* up to so many are put on the disk one by one, else all that is there */

#define APPLY_RESOLVE (RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV)

static int apply_fail(struct apply *a, int r, const char *path)
{
	return cordon_fail_leaf(a->err, r, "commit '%.500s'", path);
}

/* The row stays undone, and is told. */
static int apply_leave(struct apply *a, size_t i)
{
	a->staged[i].is_left = true;
	return a->left && strv_addf(a->left, "%s: something else is there now", a->rows[i]->path) <
				       0
		       ? cordon_nomem(a->err)
		       : 0;
}

bool apply_is_in_place(const struct change *c)
{
	return c->op == CHANGE_MODIFIED && (c->what & CHANGE_CONTENT) && !(c->what & CHANGE_TYPE) &&
	       S_ISREG(c->now.st_mode) && c->was.st_nlink > 1 && !c->is_apart;
}

bool apply_is_meta(const struct change *c)
{
	return c->op == CHANGE_MODIFIED && !(c->what & (CHANGE_CONTENT | CHANGE_TYPE)) &&
	       !c->is_apart;
}

static bool apply_is_staged(const struct change *c)
{
	return c->op != CHANGE_DELETED && !S_ISDIR(c->now.st_mode) && !apply_is_meta(c) &&
	       !apply_is_in_place(c);
}

/* The mode that it gets: a call gives nobody set-user-id programs. */
static mode_t apply_mode(const struct change *c)
{
	mode_t mode = c->now.st_mode & 07777;

	if (!S_ISDIR(c->now.st_mode) && (mode & (S_ISUID | S_ISGID)) &&
	    !(apply_is_meta(c) &&
	      (c->was.st_mode & (S_ISUID | S_ISGID)) == (mode & (S_ISUID | S_ISGID))))
		mode &= ~(mode_t)(S_ISUID | S_ISGID);
	return mode;
}

void apply_chain_close(struct apply_chain *c)
{
	while (c->n > 0)
		node_close(&c->v[--c->n]);
}

int apply_chain_open(int top, const char *path, struct apply_chain *c)
{
	int at = top;
	const char *slash;

	c->n = 0;
	for (; (slash = strchr(path, '/')); path = slash + 1) {
		char name[256];
		struct stat st;
		int r;

		if ((size_t)(slash - path) >= sizeof(name) || c->n == ARRAY_LEN(c->v))
			return -ENAMETOOLONG;
		memcpy(name, path, (size_t)(slash - path));
		name[slash - path] = '\0';
		if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
		if (!S_ISDIR(st.st_mode))
			return -ENOTDIR;
		r = node_open(at, name, &st, &c->v[c->n]);
		if (r < 0)
			return r;
		at = c->v[c->n++].fd;
	}
	return at;
}

/* The host's directory in which path stands, held until the next one is asked for.  -errno. */
static int apply_parent(struct apply *a, const char *path)
{
	const char *base = path_base(path);
	size_t len = base > path ? (size_t)(base - path - 1) : 0;

	if (len == 0)
		return a->workspace;
	if (a->at && strlen(a->at) == len && strncmp(a->at, path, len) == 0)
		return a->at_fd;
	a->at_fd = fd_close(a->at_fd);
	free(a->at);
	a->at = strndup(path, len);
	if (!a->at)
		return -ENOMEM;
	a->at_fd = path_open_beneath(a->workspace, a->at, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
				     APPLY_RESOLVE);
	if (a->at_fd < 0)
		free(TAKE_PTR(a->at));
	return a->at_fd;
}

/* The call had to be able to write here too, at some moment: its owner may have given himself the right and taken it
 * again. */
static int apply_open_up(struct apply *a, int dir, const char *path)
{
	const char *base = path_base(path);
	size_t len = base > path ? (size_t)(base - path - 1) : 0;
	void *opened = a->opened;
	struct stat st;

	if (geteuid() == 0 || fstat(dir, &st) < 0 || st.st_uid != geteuid() ||
	    (st.st_mode & 0700) == 0700)
		return -EACCES;
	if (mem_grow(&opened, &a->cap_opened, a->n_opened + 1, sizeof(*a->opened), LIMIT_CHANGES) <
	    0)
		return -ENOMEM;
	a->opened = opened;
	a->opened[a->n_opened] = (struct apply_opened){
		.path = len ? strndup(path, len) : strdup("."),
		.mode = st.st_mode & 07777,
	};
	if (!a->opened[a->n_opened].path)
		return -ENOMEM;
	a->n_opened++;
	prune_open_up(dir);
	return 0;
}

/* directories */

static int apply_by_dir(const void *a, const void *b)
{
	const struct apply_dir *x = a, *y = b;
	size_t len = x->len < y->len ? x->len : y->len;
	int order = memcmp(x->path, y->path, len);

	return order ? order : x->len < y->len ? -1 : x->len > y->len;
}

static int apply_open_dir(struct apply *a, const struct apply_dir *d)
{
	AUTO_FREE char *path = d->len ? strndup(d->path, d->len) : strdup(".");

	return path ? path_open_beneath(a->workspace, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0,
					APPLY_RESOLVE)
		    : -ENOMEM;
}

/* Every directory in which something stands that is going to be done, once, with its times; the top is always one. */
static int apply_note_dirs(struct apply *a)
{
	size_t n = 0;

	a->dirs = calloc(a->n + 1, sizeof(*a->dirs));
	a->staged = calloc(a->n + 1, sizeof(*a->staged));
	if (!a->dirs || !a->staged)
		return -ENOMEM;
	a->dirs[0].path = "";
	a->n_dirs = 1;
	for (size_t i = 0; i < a->n; i++) {
		const char *path = a->rows[i]->path;
		const char *base = path_base(path);

		if (base > path)
			a->dirs[a->n_dirs++] =
				(struct apply_dir){.path = path, .len = (size_t)(base - path - 1)};
	}
	qsort(a->dirs, a->n_dirs, sizeof(*a->dirs), apply_by_dir);
	for (size_t i = 0; i < a->n_dirs; i++)
		if (n == 0 || apply_by_dir(&a->dirs[n - 1], &a->dirs[i]) != 0)
			a->dirs[n++] = a->dirs[i];
	a->n_dirs = n;
	for (size_t i = 0; i < n; i++) {
		AUTO_CLOSE int fd = apply_open_dir(a, &a->dirs[i]);
		struct stat st;

		a->dirs[i].is_there = fd >= 0 && fstat(fd, &st) == 0;
		if (a->dirs[i].is_there) {
			a->dirs[i].times[0] = st.st_atim;
			a->dirs[i].times[1] = st.st_mtim;
		}
	}
	return 0;
}

/* staging */

static void apply_staged_name(size_t i, char ret[static APPLY_NAME_MAX])
{
	(void)snprintf(ret, APPLY_NAME_MAX, "%zu", i);
}

static int apply_owner(int fd, const struct stat *st)
{
	struct stat now;

	if (fstat(fd, &now) == 0 && now.st_uid == st->st_uid && now.st_gid == st->st_gid)
		return 0;
	/* Who may not give files away keeps them. */
	return fchown(fd, st->st_uid, st->st_gid) < 0 && errno != EPERM && errno != EINVAL ? -errno
											   : 0;
}

/* All that belongs to it, the mode last: a change of owner takes bits of it away. */
static int apply_meta(int from, int to, const struct change *c)
{
	const struct timespec times[] = {c->now.st_atim, c->now.st_mtim};
	int r = apply_owner(to, &c->now);

	if (r == 0)
		r = node_copy_xattrs(from, to);
	if (r == 0 && (fchmod(to, apply_mode(c)) < 0 || futimens(to, times) < 0))
		r = -errno;
	return r;
}

static int apply_stage_file(struct apply *a, int dir, const struct change *c, const char *staged)
{
	AUTO_CLOSE int to = openat(a->staging, staged,
				   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct node from = NODE_NONE;
	int r = to < 0 ? -errno : node_open(dir, path_base(c->path), &c->now, &from);

	if (r < 0)
		return r;
	r = node_copy_content(from.fd, to);
	if (r == 0)
		r = apply_meta(from.fd, to, c);
	if (r == 0 && a->n <= APPLY_SYNC_FILES && fdatasync(to) < 0)
		r = -errno;
	node_close(&from);
	return r;
}

/* The mode of what cannot be opened, whatever else gets its name meanwhile. */
static int apply_chmod_special(int dir, const char *name, const struct change *c)
{
	AUTO_CLOSE int handle = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char path[APPLY_NAME_MAX];
	struct stat st;

	if (handle < 0 || fstat(handle, &st) < 0)
		return -errno;
	if ((st.st_mode & S_IFMT) != (c->now.st_mode & S_IFMT))
		return -ESTALE;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	return chmod(path, apply_mode(c)) < 0 ? -errno : 0;
}

static int apply_stage_special(struct apply *a, int dir, const struct change *c, const char *staged)
{
	const struct timespec times[] = {c->now.st_atim, c->now.st_mtim};
	char target[LIMIT_PATH_BYTES];
	ssize_t n;

	if (S_ISLNK(c->now.st_mode)) {
		n = readlinkat(dir, path_base(c->path), target, sizeof(target) - 1);
		if (n < 0)
			return -errno;
		target[n] = '\0';
		if (symlinkat(target, a->staging, staged) < 0)
			return -errno;
	} else if (mknodat(a->staging, staged, (c->now.st_mode & S_IFMT) | 0600, 0) < 0) {
		return -errno;
	} else {
		int r = apply_chmod_special(a->staging, staged, c);

		if (r < 0)
			return r;
	}
	if (fchownat(a->staging, staged, c->now.st_uid, c->now.st_gid, AT_SYMLINK_NOFOLLOW) < 0 &&
	    errno != EPERM && errno != EINVAL)
		return -errno;
	return utimensat(a->staging, staged, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* What was staged, so that it is known again when it gets its name. */
static int apply_remember(struct apply *a, size_t i, const char *staged, mode_t mode)
{
	struct stat st;

	if (fstatat(a->staging, staged, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	a->staged[i] = (struct apply_staged){.ino = st.st_ino, .ctime_ns = node_ns(&st.st_ctim)};
	return (st.st_mode & S_IFMT) == (mode & S_IFMT) ? 0 : -ESTALE;
}

static int apply_stage_one(struct apply *a, size_t i)
{
	const struct change *c = a->rows[i];
	char staged[APPLY_NAME_MAX];
	struct apply_chain chain;
	int dir = apply_chain_open(a->files, c->path, &chain);
	int r = dir;

	apply_staged_name(i, staged);
	if (r >= 0)
		r = S_ISREG(c->now.st_mode) ? apply_stage_file(a, dir, c, staged)
					    : apply_stage_special(a, dir, c, staged);
	apply_chain_close(&chain);
	if (r == 0)
		r = apply_remember(a, i, staged, c->now.st_mode);
	return r;
}

static int apply_staging_name(const struct apply *a, char ret[static APPLY_NAME_MAX])
{
	int n = snprintf(ret, APPLY_NAME_MAX, APPLY_STAGING "%s", a->cow->id);

	return n > 0 && n < APPLY_NAME_MAX ? 0 : -ENAMETOOLONG;
}

static int apply_make_staging(struct apply *a)
{
	char name[APPLY_NAME_MAX];
	struct stat st;
	int r = apply_staging_name(a, name);

	if (r < 0)
		return r;
	r = mkdirat(a->workspace, name, 0700) < 0 ? -errno : 0;
	if (r == -EACCES && apply_open_up(a, a->workspace, name) == 0)
		r = mkdirat(a->workspace, name, 0700) < 0 ? -errno : 0;
	if (r < 0)
		return r;
	a->staging = path_open_beneath(a->workspace, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0,
				       APPLY_RESOLVE);
	if (a->staging < 0)
		return a->staging;
	/* Nobody else's, put there meanwhile. */
	if (fstat(a->staging, &st) < 0)
		return -errno;
	return st.st_uid == geteuid() && (st.st_mode & 077) == 0 ? 0 : -ESTALE;
}

int apply_stage(struct apply *a)
{
	size_t staged = 0;
	int r = apply_clean(a);

	if (r < 0)
		return r;
	r = apply_note_dirs(a);
	if (r == 0)
		r = apply_make_staging(a);
	if (r < 0)
		return apply_fail(a, r, ".");
	for (size_t i = 0; i < a->n; i++) {
		if (!apply_is_staged(a->rows[i]))
			continue;
		r = apply_stage_one(a, i);
		if (r < 0)
			return apply_fail(a, r, a->rows[i]->path);
		staged++;
	}
	/* Content reaches the disk before a name does.  Whether the names have reached it is the file system's
	 * matter: it keeps them in order, and each is the old or the new one. */
	if (staged > 0 && a->n > APPLY_SYNC_FILES && syncfs(a->staging) < 0)
		return apply_fail(a, -errno, ".");
	return 0;
}

/* doing */

static int apply_rename(struct apply *a, const char *staged, int dir, const char *path,
			unsigned flags)
{
	const char *base = path_base(path);
	int r = renameat2(a->staging, staged, dir, base, flags) < 0 ? -errno : 0;

	if (r == -EACCES && apply_open_up(a, dir, path) == 0)
		r = renameat2(a->staging, staged, dir, base, flags) < 0 ? -errno : 0;
	return r;
}

static int apply_unlink(struct apply *a, int dir, const char *path, int flags)
{
	const char *base = path_base(path);
	int r = unlinkat(dir, base, flags) < 0 ? -errno : 0;

	if (r == -EACCES && apply_open_up(a, dir, path) == 0)
		r = unlinkat(dir, base, flags) < 0 ? -errno : 0;
	return r;
}

/* Is what stands at the row's path what was looked at when it was decided?  Our own steps change the times of
 * directories, and of files that have other names. */
static bool apply_is_as_seen(const struct apply *a, int dir, const struct change *c)
{
	struct stat st;

	if (a->is_forced)
		return true;
	if (fstatat(dir, path_base(c->path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return c->was.st_ino == 0 || c->op == CHANGE_DELETED;
	return st.st_ino == c->was.st_ino && (st.st_mode & S_IFMT) == (c->was.st_mode & S_IFMT) &&
	       (S_ISDIR(st.st_mode) || c->was.st_nlink > 1 ||
		node_ns(&st.st_ctim) == node_ns(&c->was.st_ctim));
}

static int apply_delete(struct apply *a, size_t i)
{
	const struct change *c = a->rows[i];
	int dir = apply_parent(a, c->path);
	int r = dir;

	if (r >= 0 && !apply_is_as_seen(a, dir, c))
		return apply_leave(a, i);
	if (r >= 0)
		r = apply_unlink(a, dir, c->path, S_ISDIR(c->was.st_mode) ? AT_REMOVEDIR : 0);
	/* As it should be; also when the directory around it is a file or a link by now. */
	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
		return 0;
	/* Something that the call never saw: it is not ours to remove. */
	if (r == -ENOTEMPTY || r == -EEXIST || r == -EISDIR)
		return apply_leave(a, i);
	return r < 0 ? apply_fail(a, r, c->path) : 0;
}

/* How many rows after i are below its path. */
static size_t apply_below(const struct apply *a, size_t i)
{
	size_t n = 0;

	while (i + n + 1 < a->n && path_is_within(a->rows[i + n + 1]->path, a->rows[i]->path))
		n++;
	return n;
}

/* Something of another kind is in the place: both change places, and what was there is removed. */
static int apply_exchange(struct apply *a, size_t i, const char *staged, int dir)
{
	const struct change *c = a->rows[i];
	bool was_dir = S_ISDIR(c->was.st_mode);
	int r = 0;

	for (size_t k = was_dir ? apply_below(a, i) : 0; r == 0 && k > 0; k--)
		if (a->rows[i + k]->op == CHANGE_DELETED)
			r = apply_delete(a, i + k);
	if (r < 0)
		return r;
	dir = apply_parent(a, c->path); /* deleting may have opened another one */
	if (dir >= 0 && !apply_is_as_seen(a, dir, c))
		return apply_leave(a, i);
	r = dir < 0 ? dir : apply_rename(a, staged, dir, c->path, RENAME_EXCHANGE);
	if (r == 0 && unlinkat(a->staging, staged, was_dir ? AT_REMOVEDIR : 0) < 0) {
		r = -errno;
		/* Not empty after all: it goes back. */
		if (was_dir && apply_rename(a, staged, dir, c->path, RENAME_EXCHANGE) == 0)
			return apply_leave(a, i);
	}
	return r < 0 ? apply_fail(a, r, c->path) : 0;
}

static int apply_place(struct apply *a, size_t i)
{
	const struct change *c = a->rows[i];
	char staged[APPLY_NAME_MAX];
	int dir = apply_parent(a, c->path);
	struct stat st;
	int r;

	apply_staged_name(i, staged);
	if (dir < 0)
		return apply_fail(a, dir, c->path);
	if (fstatat(a->staging, staged, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    st.st_ino != a->staged[i].ino || node_ns(&st.st_ctim) != a->staged[i].ctime_ns)
		return apply_fail(a, -ESTALE, c->path);
	if (!apply_is_as_seen(a, dir, c))
		return apply_leave(a, i);
	if (fstatat(dir, path_base(c->path), &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return apply_exchange(a, i, staged, dir);
	r = apply_rename(a, staged, dir, c->path, 0);
	return r < 0 ? apply_fail(a, r, c->path) : 0;
}

static int apply_mkdir(struct apply *a, size_t i)
{
	const struct change *c = a->rows[i];
	char staged[APPLY_NAME_MAX];
	int dir = apply_parent(a, c->path);
	struct stat st;
	int r = dir;

	if (r >= 0) {
		r = mkdirat(dir, path_base(c->path), 0700) < 0 ? -errno : 0;
		if (r == -EACCES && apply_open_up(a, dir, c->path) == 0)
			r = mkdirat(dir, path_base(c->path), 0700) < 0 ? -errno : 0;
	}
	if (r != -EEXIST)
		return r < 0 ? apply_fail(a, r, c->path) : 0;
	if (fstatat(dir, path_base(c->path), &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return 0;
	apply_staged_name(i, staged);
	if (mkdirat(a->staging, staged, 0700) < 0)
		return apply_fail(a, -errno, c->path);
	return apply_exchange(a, i, staged, dir);
}

/* A directory or file of the host that keeps its place, with its own descriptor. */
static int apply_open_host(struct apply *a, const struct change *c, int flags)
{
	AUTO_CLOSE int handle = -1;
	const int more = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int dir = strcmp(c->path, ".") == 0 ? a->workspace : apply_parent(a, c->path);
	const char *base = strcmp(c->path, ".") == 0 ? "." : path_base(c->path);
	struct stat st;
	int fd;

	if (dir < 0)
		return dir;
	fd = openat(dir, base, flags | more);
	if (fd < 0 && errno == EACCES) {
		handle = openat(dir, base, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (handle < 0 || fstat(handle, &st) < 0 || st.st_uid != geteuid())
			return -EACCES;
		/* Its mode is set again when all else is done. */
		prune_open_up(handle);
		fd = openat(dir, base, flags | more);
	}
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == (c->now.st_mode & S_IFMT))
		return fd;
	(void)fd_close(fd);
	return -ESTALE;
}

/* In place: the content if it changed, then all that belongs to it. */
static int apply_inside(struct apply *a, const struct change *c)
{
	bool writes = (c->what & CHANGE_CONTENT) != 0;
	AUTO_CLOSE int to = apply_open_host(a, c,
					    S_ISDIR(c->now.st_mode) ? O_RDONLY | O_DIRECTORY
					    : writes                ? O_RDWR
								    : O_RDONLY);
	struct node from = NODE_NONE;
	struct apply_chain chain = {.n = 0};
	int r = to;

	if (r >= 0)
		r = apply_chain_open(a->files, c->path, &chain);
	if (r >= 0 && strcmp(c->path, ".") == 0)
		from.fd = fd_dup(a->files, 3);
	else if (r >= 0)
		r = node_open(r, path_base(c->path), &c->now, &from);
	if (r >= 0 && writes) {
		r = ftruncate(to, 0) < 0 ? -errno : node_copy_content(from.fd, to);
		if (r == 0 && fdatasync(to) < 0)
			r = -errno;
	}
	if (r >= 0)
		r = apply_meta(from.fd, to, c);
	node_close(&from);
	apply_chain_close(&chain);
	return r < 0 ? apply_fail(a, r, c->path) : 0;
}

/* Links and the like have nothing to open. */
static int apply_meta_special(struct apply *a, const struct change *c)
{
	const struct timespec times[] = {c->now.st_atim, c->now.st_mtim};
	int dir = apply_parent(a, c->path);
	const char *base = path_base(c->path);
	int r = dir < 0 ? dir : 0;

	if (r == 0 && fchownat(dir, base, c->now.st_uid, c->now.st_gid, AT_SYMLINK_NOFOLLOW) < 0 &&
	    errno != EPERM && errno != EINVAL)
		r = -errno;
	if (r == 0 && !S_ISLNK(c->now.st_mode))
		r = apply_chmod_special(dir, base, c);
	if (r == 0 && utimensat(dir, base, times, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	return r < 0 ? apply_fail(a, r, c->path) : 0;
}

static int apply_one(struct apply *a, size_t i)
{
	const struct change *c = a->rows[i];

	if (c->op == CHANGE_DELETED)
		return 0; /* after all else */
	if (S_ISDIR(c->now.st_mode))
		return c->op == CHANGE_ADDED || (c->what & CHANGE_TYPE) ? apply_mkdir(a, i) : 0;
	if (apply_is_staged(c))
		return apply_place(a, i);
	if (apply_is_in_place(c)) {
		int dir = apply_parent(a, c->path);

		if (dir < 0 || !apply_is_as_seen(a, dir, c))
			return dir < 0 ? apply_fail(a, dir, c->path) : apply_leave(a, i);
	}
	return S_ISREG(c->now.st_mode) ? apply_inside(a, c) : apply_meta_special(a, c);
}

/* Directories that were opened for us and have no row of their own. */
static void apply_close_up(struct apply *a)
{
	for (size_t i = a->n_opened; i-- > 0;) {
		AUTO_CLOSE int fd = path_open_beneath(a->workspace, a->opened[i].path,
						      O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0,
						      APPLY_RESOLVE);

		if (fd >= 0)
			(void)fchmod(fd, a->opened[i].mode); /* ours: it was opened by us */
		free(a->opened[i].path);
	}
	a->n_opened = 0;
}

/* Those that have no row of their own, which would say better. */
static void apply_restore_times(struct apply *a)
{
	for (size_t i = 0; i < a->n_dirs; i++) {
		struct apply_dir *d = &a->dirs[i];
		AUTO_CLOSE int fd = d->is_there ? apply_open_dir(a, d) : -1;

		if (fd >= 0)
			(void)futimens(fd, d->times); /* or it has the time of the commit */
	}
}

int apply_run(struct apply *a)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->n; i++)
		r = apply_one(a, i);
	for (size_t i = a->n; r == 0 && i-- > 0;)
		if (a->rows[i]->op == CHANGE_DELETED)
			r = apply_delete(a, i);
	if (r < 0)
		return r;
	r = apply_clean(a);
	apply_restore_times(a);
	apply_close_up(a);
	/* Last of all, and from the inside out: every name that is made changes a directory's times. */
	for (size_t i = a->n; r == 0 && i-- > 0;) {
		const struct change *c = a->rows[i];

		if (c->op != CHANGE_DELETED && S_ISDIR(c->now.st_mode))
			r = apply_inside(a, &(struct change){.op = c->op,
							     .what = c->what &
								     ~(unsigned)CHANGE_CONTENT,
							     .path = c->path,
							     .now = c->now,
							     .was = c->was});
	}
	return r;
}

int apply_clean(struct apply *a)
{
	char name[APPLY_NAME_MAX];
	int r = apply_staging_name(a, name);

	a->staging = fd_close(a->staging);
	if (r == 0)
		r = prune_tree(a->workspace, name);
	return r < 0 ? apply_fail(a, r, name) : 0;
}

int apply_begin(const struct cow *c, struct apply *ret, struct cordon_error *err)
{
	*ret = (struct apply){
		.cow = c, .err = err, .files = -1, .workspace = -1, .staging = -1, .at_fd = -1};
	ret->workspace = cow_open_workspace(c, err);
	if (ret->workspace < 0)
		return ret->workspace;
	ret->files = cow_open_files(c, err);
	return ret->files < 0 ? ret->files : 0;
}

void apply_done(struct apply *a)
{
	apply_close_up(a);
	free(a->opened);
	free(a->dirs);
	free(a->staged);
	free(a->at);
	(void)fd_close(a->at_fd);
	(void)fd_close(a->staging);
	(void)fd_close(a->files);
	(void)fd_close(a->workspace);
	*a = (struct apply){.files = -1, .workspace = -1, .staging = -1, .at_fd = -1};
}
