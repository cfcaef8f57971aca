/* SPDX-License-Identifier: Apache-2.0 */
/* See node.h. */
#include "workspace/cow/node.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NODE_FD_PATH_MAX 32 /* "/proc/self/fd/" and a number */
#define NODE_LIST_MAX 65536 /* names of attributes; the kernel's own limit */
#define NODE_CHUNK (1 << 16)
#define NODE_COPY_MAX (1 << 30) /* bytes of one copy_file_range() */

static bool node_is_same(int fd, const struct stat *st)
{
	struct stat now;

	return fstat(fd, &now) == 0 && now.st_ino == st->st_ino && now.st_dev == st->st_dev &&
	       (now.st_mode & S_IFMT) == (st->st_mode & S_IFMT);
}

static int node_chmod(int handle, mode_t mode)
{
	char path[NODE_FD_PATH_MAX];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	return chmod(path, mode) < 0 ? -errno : 0;
}

int node_open(int dir, const char *name, const struct stat *st, struct node *ret)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
			  (S_ISDIR(st->st_mode) ? O_DIRECTORY : 0);
	mode_t need = S_ISDIR(st->st_mode) ? 0500 : 0400;
	AUTO_CLOSE int handle = -1;
	AUTO_CLOSE int fd = -1;
	struct node n = {.mode = st->st_mode & 07777};
	int r = 0;

	if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
		return -EINVAL;
	/* For root no mode is in the way. */
	if ((st->st_mode & need) != need && st->st_uid == geteuid() && geteuid() != 0) {
		handle = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (handle < 0)
			return -errno;
		if (!node_is_same(handle, st))
			return -ESTALE;
		r = node_chmod(handle, n.mode | need);
		n.is_opened_up = r == 0;
	}
	if (r == 0) {
		fd = openat(dir, name, flags);
		r = fd < 0 ? -errno : node_is_same(fd, st) ? 0 : -ESTALE;
	}
	if (r < 0) {
		if (n.is_opened_up)
			(void)node_chmod(handle, n.mode); /* it was ours a moment ago */
		return r;
	}
	n.fd = TAKE_FD(fd);
	*ret = n;
	return 0;
}

void node_close(struct node *n)
{
	if (n->is_opened_up)
		(void)fchmod(n->fd, n->mode); /* it was ours when it was opened */
	(void)fd_close(n->fd);
	*n = NODE_NONE;
}

/* Attributes that belong to the file for everybody: not those that give rights (security.), nor overlayfs's. */
static bool node_xattr_counts(const char *name)
{
	return (str_starts(name, "user.") && !str_starts(name, "user.overlay.")) ||
	       str_starts(name, "system.posix_acl_");
}

static int node_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names that count, sorted; they point into text.  The number or -errno. */
static int node_names(int fd, char **ret_text, const char ***ret)
{
	AUTO_FREE char *text = malloc(NODE_LIST_MAX);
	AUTO_FREE const char **names = NULL;
	size_t cap = 0, n = 0;
	ssize_t len;

	if (!text)
		return -ENOMEM;
	len = flistxattr(fd, text, NODE_LIST_MAX);
	if (len < 0 && errno != ENOTSUP)
		return -errno;
	for (const char *s = text; len > 0 && s < text + len; s += strlen(s) + 1) {
		void *grown = names;

		if (!node_xattr_counts(s))
			continue;
		if (mem_grow(&grown, &cap, n + 1, sizeof(*names), NODE_LIST_MAX) < 0)
			return -ENOMEM;
		names = grown;
		names[n++] = s;
	}
	if (n > 0)
		qsort(names, n, sizeof(*names), node_by_name);
	*ret_text = TAKE_PTR(text);
	*ret = TAKE_PTR(names);
	return (int)n;
}

static ssize_t node_value(int fd, const char *name, char value[static NODE_CHUNK])
{
	ssize_t len = fgetxattr(fd, name, value, NODE_CHUNK);

	return len < 0 ? -errno : len;
}

/* What is done with one attribute.  0 or -errno. */
typedef int (*node_xattr_fn)(void *arg, const char *name, const char *value, size_t len);

static int node_each_xattr(int fd, node_xattr_fn fn, void *arg)
{
	AUTO_FREE char *text = NULL;
	AUTO_FREE const char **names = NULL;
	AUTO_FREE char *value = malloc(NODE_CHUNK);
	int n = value ? node_names(fd, &text, &names) : -ENOMEM;

	for (int i = 0; i < n; i++) {
		ssize_t len = node_value(fd, names[i], value);
		int r = len < 0 ? (int)len : fn(arg, names[i], value, (size_t)len);

		if (r < 0)
			return r;
	}
	return n < 0 ? n : 0;
}

static int node_list_xattr(void *arg, const char *name, const char *value, size_t len)
{
	struct buf *out = arg;

	buf_printf(out, "%s=%zu:", name, len);
	buf_add(out, value, len);
	buf_char(out, '\n');
	return buf_error(out);
}

int node_xattrs(int fd, struct buf *out)
{
	return node_each_xattr(fd, node_list_xattr, out);
}

static int node_set_xattr(void *arg, const char *name, const char *value, size_t len)
{
	const int *to = arg;

	return fsetxattr(*to, name, value, len, 0) < 0 && errno != ENOTSUP ? -errno : 0;
}

int node_copy_xattrs(int from, int to)
{
	AUTO_FREE char *text = NULL;
	AUTO_FREE const char **names = NULL;
	struct buf a = BUF_INIT(LIMIT_XATTR_BYTES), b = BUF_INIT(LIMIT_XATTR_BYTES);
	int r = node_xattrs(from, &a);
	int n = 0;

	if (r == 0)
		r = node_xattrs(to, &b);
	if (r == 0 && a.len == b.len && memcmp(buf_cstr(&a), buf_cstr(&b), a.len) == 0)
		goto out; /* as most often: none on both */
	if (r == 0)
		n = r = node_names(to, &text, &names);
	for (int i = 0; r >= 0 && i < n; i++)
		r = fremovexattr(to, names[i]) < 0 && errno != ENODATA ? -errno : 0;
	if (r >= 0)
		r = node_each_xattr(from, node_set_xattr, &to);
out:
	buf_done(&a);
	buf_done(&b);
	return r < 0 ? r : 0;
}

bool node_has_origin(int fd)
{
	return fgetxattr(fd, "user.overlay.origin", NULL, 0) >= 0 ||
	       fgetxattr(fd, "trusted.overlay.origin", NULL, 0) >= 0;
}

bool node_is_opaque(int fd)
{
	char value = 0;

	return (fgetxattr(fd, "user.overlay.opaque", &value, 1) == 1 && value == 'y') ||
	       (fgetxattr(fd, "trusted.overlay.opaque", &value, 1) == 1 && value == 'y');
}

/* Where data begins at or behind at; NODE_NO_DATA when there is none, and at where nobody knows. */
#define NODE_NO_DATA INT64_MAX
static int64_t node_next_data(int fd, int64_t at)
{
	off_t data = lseek(fd, at, SEEK_DATA);

	return data >= 0 ? data : errno == ENXIO ? NODE_NO_DATA : at;
}

static int node_same_size(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) < 0 || fstat(b, &y) < 0 ? -errno : x.st_size == y.st_size;
}

/* Holes of both are passed over: a file of some terabytes takes no room, and would take hours to read. */
int node_same_content(int a, int b)
{
	AUTO_FREE char *x = malloc(NODE_CHUNK);
	AUTO_FREE char *y = malloc(NODE_CHUNK);
	int64_t at = 0;

	if (!x || !y)
		return -ENOMEM;
	for (;;) {
		int64_t next = node_next_data(a, at), other = node_next_data(b, at);
		ssize_t n, m = 0;

		at = other < next ? other : next;
		if (at == NODE_NO_DATA)
			return node_same_size(a, b);
		n = pread(a, x, NODE_CHUNK, at);
		if (n < 0)
			return -errno;
		while (m < n) {
			ssize_t k = pread(b, y + m, (size_t)(n - m), at + m);

			if (k < 0)
				return -errno;
			if (k == 0)
				return 0;
			m += k;
		}
		if (n == 0)
			return pread(b, y, 1, at) == 0;
		if (memcmp(x, y, (size_t)n) != 0)
			return 0;
		at += n;
	}
}

/* Bytes [at, end), by the kernel or, where that cannot, by hand. */
static int node_copy_range(int from, int to, off_t at, off_t end)
{
	AUTO_FREE char *chunk = NULL;

	while (at < end) {
		off_t in = at, out = at;
		size_t want = end - at < NODE_COPY_MAX ? (size_t)(end - at) : NODE_COPY_MAX;
		ssize_t n = chunk ? -1 : copy_file_range(from, &in, to, &out, want, 0);

		if (n > 0) {
			at += n;
			continue;
		}
		if (!chunk && n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
			return -errno;
		if (!chunk && !(chunk = malloc(NODE_CHUNK)))
			return -ENOMEM;
		n = pread(from, chunk, want < NODE_CHUNK ? want : NODE_CHUNK, at);
		if (n <= 0)
			return n < 0 ? -errno : 0; /* shorter than it was */
		for (ssize_t done = 0; done < n;) {
			ssize_t k = pwrite(to, chunk + done, (size_t)(n - done), at + done);

			if (k < 0)
				return -errno;
			done += k;
		}
		at += n;
	}
	return 0;
}

int node_copy_content(int from, int to)
{
	struct stat st;
	off_t at = 0;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	if (fstat(from, &st) < 0 || ftruncate(to, st.st_size) < 0)
		return -errno;
	while (at < st.st_size) {
		off_t data = lseek(from, at, SEEK_DATA);
		off_t hole;
		int r;

		if (data < 0 && errno == ENXIO)
			return 0; /* a hole up to the end */
		if (data < 0)
			return node_copy_range(from, to, at, st.st_size);
		hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0)
			hole = st.st_size;
		r = node_copy_range(from, to, data, hole);
		if (r < 0)
			return r;
		at = hole;
	}
	return 0;
}

int node_same_link(int dir_a, const char *a, int dir_b, const char *b)
{
	char x[LIMIT_PATH_BYTES], y[LIMIT_PATH_BYTES];
	ssize_t n = readlinkat(dir_a, a, x, sizeof(x));
	ssize_t m;

	if (n < 0)
		return -errno;
	m = readlinkat(dir_b, b, y, sizeof(y));
	if (m < 0)
		return -errno;
	return n == m && memcmp(x, y, (size_t)n) == 0;
}
