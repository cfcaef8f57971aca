/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the tests of snapshots: a place to work in, random trees and changes, and a description of a tree by means of
 * its own (lstat, readlink, read), so that two states can be compared byte for byte.
 */
#pragma once

#include "base/buf.h"
#include "base/io.h"
#include "base/str.h"
#include "base/clock.h"
#include "workspace/snap/snap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

struct kit {
	char top[64];
	char tree[96]; /* the workspace */
	char state[96];
	struct snap_store *store;
	struct cordon_error err;
};

static inline int kit_remove_one(const char *path, const struct stat *st, int flag, struct FTW *f)
{
	(void)st;
	(void)flag;
	(void)f;
	(void)remove(path);
	return 0;
}

static inline void kit_remove(const char *path)
{
	(void)nftw(path, kit_remove_one, 64, FTW_DEPTH | FTW_PHYS);
}

static inline void kit_open(struct kit *k)
{
	assert_int_equal(snap_open(k->state, &k->store, &k->err), 0);
}

static inline void kit_start_in(struct kit *k, const char *where)
{
	*k = (struct kit){0};
	(void)umask(022);
	(void)snprintf(k->top, sizeof(k->top), "%s/cordon-snap-XXXXXX", where);
	assert_non_null(mkdtemp(k->top));
	(void)snprintf(k->tree, sizeof(k->tree), "%s/tree", k->top);
	(void)snprintf(k->state, sizeof(k->state), "%s/state", k->top);
	assert_int_equal(mkdir(k->tree, 0755), 0);
	kit_open(k);
}

static inline void kit_start(struct kit *k)
{
	kit_start_in(k, "/tmp");
}

/* In memory where that can be: thousands of fsync() are nobody's test. */
static inline void kit_start_quick(struct kit *k)
{
	kit_start_in(k, access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

static inline void kit_end(struct kit *k)
{
	snap_close(k->store);
	kit_remove(k->top);
}

/* Paths of the tree, in a ring of buffers. */
static inline const char *kit_path(const struct kit *k, const char *name)
{
	static char ring[8][4200];
	static unsigned at;
	char *p = ring[at++ % 8];

	(void)snprintf(p, sizeof(ring[0]), "%s/%s", k->tree, name);
	return p;
}

static inline void kit_write(const struct kit *k, const char *name, const char *text)
{
	int fd = open(kit_path(k, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
}

static inline char *kit_read(const struct kit *k, const char *name)
{
	char *text = NULL;
	size_t len;

	return io_read_file_at(AT_FDCWD, kit_path(k, name), 64 << 20, &text, &len) < 0 ? NULL
										       : text;
}

static inline void kit_take(struct kit *k, const char *name, struct snap_info *ret)
{
	const char *roots[] = {k->tree};
	struct snap_info own = {0};
	struct snap_take_options o = {.name = name, .roots = roots, .root_count = 1};
	int r = snap_take(k->store, &o, ret ? ret : &own, &k->err);

	if (r < 0)
		print_error("%s\n", k->err.message);
	assert_int_equal(r, 0);
	snap_info_done(&own);
}

static inline bool kit_yes(void *arg, const char *path)
{
	(void)arg;
	(void)path;
	return true;
}

/* All of it; what is new goes. */
static inline void kit_restore(struct kit *k, const char *name)
{
	struct snap_restore_options o = {.may_remove = kit_yes};
	int r = snap_restore(k->store, name, &o, NULL, &k->err);

	if (r < 0)
		print_error("%s\n", k->err.message);
	assert_int_equal(r, 0);
}

/* ---- descriptions ---- */

struct kit_lines {
	struct strv v;
	bool has_inodes; /* also inode, change time and modification time of directories */
};

static inline void kit_describe_xattrs(struct buf *b, const char *path)
{
	static const char *const names[] = {"user.one", "user.two"}; /* that the tests give */
	char value[4096];

	for (size_t k = 0; k < ARRAY_LEN(names); k++) {
		ssize_t len = lgetxattr(path, names[k], value, sizeof(value));

		if (len < 0)
			continue;
		buf_printf(b, " %s=", names[k]);
		for (ssize_t i = 0; i < len; i++)
			buf_printf(b, "%02x", (unsigned char)value[i]);
	}
}

/* Eight bytes at a time: most of what the random trees cost is this. */
static inline void kit_describe_content(struct buf *b, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t hash = 1469598103934665603u;
	static uint64_t data[65536 / sizeof(uint64_t)];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, data, sizeof(data))) > 0) {
		memset((char *)data + n, 0, sizeof(data) - (size_t)n); /* the size is told apart */
		for (size_t i = 0; i * sizeof(uint64_t) < (size_t)n; i++) {
			hash = (hash ^ data[i]) * 1099511628211u;
			hash ^= hash >> 29;
		}
	}
	buf_printf(b, " #%016" PRIx64, hash);
	if (fd >= 0)
		(void)close(fd);
}

static inline void kit_describe_one(struct kit_lines *l, const char *top, const char *path)
{
	struct buf b = BUF_INIT(1 << 20);
	char target[4096];
	struct stat st;
	ssize_t n;

	assert_int_equal(lstat(path, &st), 0);
	str_escape(&b, path + strlen(top), strlen(path) - strlen(top));
	buf_printf(&b, " %o %u:%u %lld.%09ld", st.st_mode, st.st_uid, st.st_gid,
		   (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	if (S_ISREG(st.st_mode)) {
		buf_printf(&b, " %lld links %u", (long long)st.st_size, (unsigned)st.st_nlink);
		kit_describe_content(&b, path);
	}
	if (S_ISLNK(st.st_mode) && (n = readlink(path, target, sizeof(target))) > 0) {
		buf_str(&b, " -> ");
		buf_add(&b, target, (size_t)n);
	}
	kit_describe_xattrs(&b, path);
	if (l->has_inodes)
		buf_printf(&b, " inode %llu changed %lld.%09ld", (unsigned long long)st.st_ino,
			   (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	assert_int_equal(buf_error(&b), 0);
	assert_int_equal(strv_add(&l->v, buf_cstr(&b)), 0);
	buf_done(&b);
}

static inline void kit_describe_below(struct kit_lines *l, const char *top, const char *path)
{
	struct dirent **names = NULL;
	int n = scandir(path, &names, NULL, NULL);

	for (int i = 0; i < n; i++) {
		struct stat st;

		if (strcmp(names[i]->d_name, ".") != 0 && strcmp(names[i]->d_name, "..") != 0) {
			char *below = NULL;

			assert_true(asprintf(&below, "%s/%s", path, names[i]->d_name) > 0);
			kit_describe_one(l, top, below);
			if (lstat(below, &st) == 0 && S_ISDIR(st.st_mode))
				kit_describe_below(l, top, below);
			free(below);
		}
		free(names[i]);
	}
	free(names);
}

static inline int kit_compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Gives the state of a tree as text, for free(). */
static inline char *kit_describe(const char *top, bool has_inodes)
{
	struct kit_lines l = {.has_inodes = has_inodes};
	struct buf b = BUF_INIT(256 << 20);
	char *text = NULL;
	size_t len;

	kit_describe_one(&l, top, top);
	kit_describe_below(&l, top, top);
	qsort(l.v.v, l.v.n, sizeof(char *), kit_compare_lines);
	for (size_t i = 0; i < l.v.n; i++) {
		buf_str(&b, l.v.v[i]);
		buf_char(&b, '\n');
	}
	strv_done(&l.v);
	assert_int_equal(buf_take(&b, &text, &len), 0);
	return text;
}

static inline void kit_assert_same(const char *want, const char *have, const char *what)
{
	const char *w = want, *h = have;

	if (strcmp(want, have) == 0)
		return;
	while (*w && *h) {
		size_t n = strcspn(w, "\n"), m = strcspn(h, "\n");

		if (n != m || strncmp(w, h, n) != 0)
			break;
		w += n + (w[n] != 0);
		h += m + (h[m] != 0);
	}
	fail_msg("%s: want\n%.*s\nhave\n%.*s", what, (int)strcspn(w, "\n"), w,
		 (int)strcspn(h, "\n"), h);
}

/* ---- random trees ---- */

struct kit_random {
	uint64_t state;
};

static inline uint64_t kit_next(struct kit_random *r)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state;
}

static inline unsigned kit_pick(struct kit_random *r, unsigned n)
{
	return (unsigned)(kit_next(r) >> 20) % n;
}

/* A name that may be there already: few, so that operations meet. */
static inline const char *kit_name(struct kit_random *r)
{
	static const char *const names[] = {"a",         "b",       "c",        "a.b", "a-", "aa",
					    "new\nline", "sp ace",  "\xff\xfe", "-rf", "d",  "e",
					    "\x01",      ".hidden", "Z",        "ab"};

	return names[kit_pick(r, sizeof(names) / sizeof(*names))];
}

/* A path in the tree of up to three parts. */
static inline void kit_random_path(struct kit_random *r, const char *top, char *ret, size_t size)
{
	size_t len = (size_t)snprintf(ret, size, "%s", top);

	for (unsigned n = 1 + kit_pick(r, 3); n > 0; n--)
		len += (size_t)snprintf(ret + len, size - len, "/%s", kit_name(r));
}

static inline void kit_random_write(struct kit_random *r, const char *path, int flags)
{
	static char data[3 << 20];
	int fd = open(path, flags | O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	size_t len = kit_pick(r, 20) == 0 ? kit_pick(r, sizeof(data)) : kit_pick(r, 3000);

	if (fd < 0)
		return;
	for (size_t i = 0; i < len; i += 512)
		data[i] = (char)kit_next(r);
	if (kit_pick(r, 4) == 0) /* with a hole */
		(void)!lseek(fd, (off_t)kit_pick(r, 4 << 20), SEEK_SET);
	(void)!write(fd, data, len);
	if (kit_pick(r, 8) == 0)
		(void)!ftruncate(fd, (off_t)kit_pick(r, 6 << 20));
	(void)close(fd);
}

/* One random operation on the tree; what cannot be done is not. */
static inline void kit_random_op(struct kit_random *r, const char *top)
{
	char a[512], b[512];
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
				    {.tv_sec = (time_t)kit_pick(r, 2000000000),
				     .tv_nsec = kit_pick(r, 1000000000)}};
	/* the last ones only for root, who can read them nevertheless */
	static const mode_t modes[] = {0700, 0755, 0777, 04755, 01777, 0644, 0600, 0400, 0000};

	kit_random_path(r, top, a, sizeof(a));
	kit_random_path(r, top, b, sizeof(b));
	switch (kit_pick(r, 16)) {
	case 0:
	case 1:
	case 2:
		kit_random_write(r, a, O_CREAT | O_TRUNC);
		break;
	case 3:
		kit_random_write(r, a, 0); /* in the middle of what is there */
		break;
	case 4:
	case 5:
		(void)mkdir(a, 0755);
		break;
	case 6:
		(void)unlink(a);
		break;
	case 7:
		(void)rmdir(a);
		break;
	case 8:
		kit_remove(a);
		break;
	case 9:
		(void)!symlink(kit_pick(r, 2) ? "/nonexistent/x" : b, a);
		break;
	case 10:
		(void)!link(a, b);
		break;
	case 11:
		(void)rename(a, b);
		break;
	case 12:
		(void)mkfifo(a, 0640);
		break;
	case 13:
		(void)!fchmodat(AT_FDCWD, a, modes[kit_pick(r, geteuid() == 0 ? 9 : 5)],
				AT_SYMLINK_NOFOLLOW);
		if (geteuid() == 0)
			(void)!lchown(a, kit_pick(r, 3) * 1000, kit_pick(r, 3) * 1000);
		break;
	case 14:
		(void)utimensat(AT_FDCWD, a, times, AT_SYMLINK_NOFOLLOW);
		break;
	default:
		if (kit_pick(r, 3))
			(void)lsetxattr(a, kit_pick(r, 2) ? "user.one" : "user.two", b,
					kit_pick(r, 40), 0);
		else
			(void)lremovexattr(a, "user.one");
		break;
	}
}
