/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See meta.h.  Descriptors may be O_PATH ones, so that files can be handled that cannot be read and FIFOs that would
 * wait; the calls that refuse those go by /proc/self/fd, which leads to the very inode, a link's too.
 */
#include "workspace/snap/meta.h"

#include "base/limits.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define META_FD_PATH 32
#define META_NAMES 65536 /* the kernel's own ceiling of a list of names, and of a value */

enum snap_kind snap_meta_kind(const struct statx *st)
{
	switch (st->stx_mode & S_IFMT) {
	case S_IFREG:
		return SNAP_FILE;
	case S_IFDIR:
		return SNAP_DIR;
	case S_IFLNK:
		return SNAP_LINK;
	case S_IFIFO:
		return SNAP_FIFO;
	case S_IFCHR:
		return st->stx_rdev_major == 0 && st->stx_rdev_minor == 0 ? SNAP_WHITEOUT
									  : (enum snap_kind)0;
	default:
		return (enum snap_kind)0;
	}
}

void snap_meta_of(const struct statx *st, struct snap_entry *ret)
{
	ret->kind = snap_meta_kind(st);
	ret->mode = st->stx_mode & 07777;
	ret->uid = st->stx_uid;
	ret->gid = st->stx_gid;
	ret->mtime_s = st->stx_mtime.tv_sec;
	ret->mtime_ns = st->stx_mtime.tv_nsec;
	ret->size = ret->kind == SNAP_FILE ? st->stx_size : 0;
	ret->link = ret->kind == SNAP_FILE && st->stx_nlink > 1 ? st->stx_ino : 0;
	ret->target = "";
}

bool snap_meta_is_equal(const struct snap_entry *e, const struct statx *st)
{
	struct snap_entry now;

	snap_meta_of(st, &now);
	return e->kind == now.kind && e->mode == now.mode && e->uid == now.uid &&
	       e->gid == now.gid && e->mtime_s == now.mtime_s && e->mtime_ns == now.mtime_ns &&
	       e->size == now.size;
}

static void meta_fd_path(int fd, char ret[static META_FD_PATH])
{
	(void)snprintf(ret, META_FD_PATH, "/proc/self/fd/%d", fd);
}

static bool meta_is_ours(const char *name)
{
	static const char *const systems[] = {"security.selinux", "security.ima", "security.evm",
					      "security.apparmor", "system.nfs4_acl"};

	for (size_t i = 0; i < ARRAY_LEN(systems); i++)
		if (strcmp(name, systems[i]) == 0)
			return false;
	return true;
}

static int meta_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a list, sorted. */
static int meta_sort_names(char *list, size_t len, const char ***ret, size_t *ret_n)
{
	size_t n = 0, i = 0;
	const char **names;

	for (const char *p = list; p < list + len; p += strlen(p) + 1)
		n++;
	names = calloc(n + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (const char *p = list; p < list + len; p += strlen(p) + 1)
		names[i++] = p;
	qsort(names, n, sizeof(*names), meta_compare);
	*ret = names;
	*ret_n = n;
	return 0;
}

int snap_meta_read_xattrs(int fd, struct buf *out)
{
	AUTO_FREE char *list = NULL, *value = NULL;
	AUTO_FREE const char **names = NULL;
	size_t start = out->len, count = 0;
	char path[META_FD_PATH];
	ssize_t n;
	int r;

	meta_fd_path(fd, path);
	n = listxattr(path, NULL, 0);
	if (n <= 0)
		return n == 0 || errno == ENOTSUP || errno == EPERM ? 0 : -errno;
	list = malloc(META_NAMES + 1);
	value = malloc(META_NAMES);
	if (!list || !value)
		return -ENOMEM;
	n = listxattr(path, list, META_NAMES);
	if (n < 0)
		return -errno;
	list[n] = '\0';
	r = meta_sort_names(list, (size_t)n, &names, &count);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (!meta_is_ours(names[i]))
			continue;
		n = getxattr(path, names[i], value, META_NAMES);
		if (n < 0 && errno != ENODATA)
			return -errno;
		if (n >= 0)
			snap_xattr_put(out, names[i], value, (size_t)n);
		if (out->len - start > LIMIT_SNAPSHOT_XATTRS)
			r = -E2BIG;
	}
	return r;
}

/* Removes attributes that the entry does not have. */
static int meta_trim_xattrs(const char *path, const struct snap_entry *e)
{
	AUTO_FREE char *list = malloc(META_NAMES + 1);
	ssize_t n;

	if (!list)
		return -ENOMEM;
	n = listxattr(path, list, META_NAMES);
	if (n < 0)
		return errno == ENOTSUP || errno == EPERM ? 0 : -errno;
	list[n] = '\0';
	for (const char *p = list; p < list + n; p += strlen(p) + 1) {
		struct snap_reader r = SNAP_READER(e->xattrs, e->xattrs_len);
		struct snap_xattr x;
		bool has = false;

		while (!has && snap_xattr_next(&r, &x))
			has = strcmp(x.name, p) == 0;
		if (!has && meta_is_ours(p) && removexattr(path, p) < 0 && errno != ENODATA)
			return -errno;
	}
	return 0;
}

static int meta_set_xattrs(const char *path, const struct snap_entry *e, bool is_new,
			   const struct meta_rights *rights)
{
	struct snap_reader r = SNAP_READER(e->xattrs, e->xattrs_len);
	struct snap_xattr x;
	int e2 = is_new ? 0 : meta_trim_xattrs(path, e);

	while (e2 == 0 && snap_xattr_next(&r, &x)) {
		if (rights->is_foreign && !str_starts(x.name, "user."))
			continue;
		if (setxattr(path, x.name, x.value, x.len, 0) < 0)
			e2 = -errno;
		/* Without the right to set it: it goes with an owner that we cannot give either. */
		if ((e2 == -EPERM || e2 == -ENOTSUP) && !str_starts(x.name, "user.") &&
		    geteuid() != 0)
			e2 = 0;
	}
	return e2;
}

int snap_meta_apply(int fd, const struct snap_entry *e, bool is_new, struct meta_rights *rights)
{
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = e->mtime_s, .tv_nsec = (long)e->mtime_ns},
	};
	uint32_t mode = e->mode;
	char path[META_FD_PATH];
	struct stat st;
	int r;

	meta_fd_path(fd, path);
	if (fstat(fd, &st) < 0)
		return -errno;
	if (rights->is_foreign) {
		mode &= 0777;
	} else if ((st.st_uid != e->uid || st.st_gid != e->gid) &&
		   fchownat(fd, "", e->uid, e->gid, AT_EMPTY_PATH) < 0) {
		if (errno != EPERM && errno != EINVAL)
			return -errno;
		rights->owners_kept++;
		mode &= 0777 | S_ISVTX;
	}
	if (e->kind != SNAP_LINK && chmod(path, mode) < 0)
		return -errno;
	r = meta_set_xattrs(path, e, is_new, rights);
	if (r == 0 && utimensat(AT_FDCWD, path, times, 0) < 0)
		r = -errno;
	return r;
}
