/* SPDX-License-Identifier: Apache-2.0 */
/* See store.h. */
#include "audit/store.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STORE_PREFIX "audit-"
#define STORE_SUFFIX ".ndjson"

enum {
	STORE_SEQ_DIGITS = 12,
	/* Most records fit, and the page is in the cache: it was written just before. */
	STORE_TAIL_FIRST = 4096,
	STORE_TAIL_MAX = 2 * LIMIT_AUDIT_RECORD + 1,
};

int audit_store_open_dir(const char *dir, bool make, int *ret_fd, struct cordon_error *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
	AUTO_CLOSE int fd = open(dir, flags);
	struct stat st;

	if (fd < 0 && errno == ENOENT && make) {
		int r = path_make_private_dir(dir, 0700);

		if (r < 0)
			return cordon_fail_errno(err, -r, "make state directory '%s'", dir);
		fd = open(dir, flags);
	}
	if (fd < 0)
		return cordon_fail_leaf(err, -errno, "open state directory '%s'", dir);
	if (fstat(fd, &st) < 0)
		return cordon_fail_errno(err, errno, "state directory '%s'", dir);
	if (st.st_uid != geteuid() || (st.st_mode & 022)) {
		int r = cordon_fail(err, CORDON_E_CORRUPT,
				    "state directory '%s' can be written by others", dir);

		return cordon_hint(err, r, "it must belong to you, with mode 0700");
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int store_check_file(int fd, const char *name, struct stat *ret_st, struct cordon_error *err)
{
	if (fstat(fd, ret_st) < 0)
		return cordon_fail_errno(err, errno, "'%s'", name);
	if (!S_ISREG(ret_st->st_mode))
		return cordon_fail(err, CORDON_E_CORRUPT, "'%s' is not a regular file", name);
	if (ret_st->st_uid != geteuid() || (ret_st->st_mode & 022)) {
		int r = cordon_fail(err, CORDON_E_CORRUPT, "'%s' can be written by others", name);

		return cordon_hint(err, r, "it must belong to you, with mode 0600");
	}
	return 0;
}

/* A file that is made is 0600 from its birth.  What was opened is not checked yet. */
static int store_open(int dirfd, const char *name, int flags, int *ret_fd, struct cordon_error *err)
{
	/* O_NONBLOCK: a FIFO in the file's place must not hang us before it is refused. */
	int fd = openat(dirfd, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);

	if (fd < 0 && errno == ELOOP)
		return cordon_fail(err, CORDON_E_CORRUPT, "'%s' is a symbolic link", name);
	if (fd < 0)
		return cordon_fail_leaf(err, -errno, "open '%s'", name);
	*ret_fd = fd;
	return 0;
}

int audit_store_open_file(int dirfd, const char *name, int flags, int *ret_fd, uint64_t *ret_size,
			  struct cordon_error *err)
{
	AUTO_CLOSE int fd = -1;
	struct stat st = {0};
	int r;

	r = store_open(dirfd, name, flags, &fd, err);
	if (r == 0)
		r = store_check_file(fd, name, &st, err);
	if (r < 0)
		return r;
	*ret_fd = TAKE_FD(fd);
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

static int store_flock(int fd, int operation, int64_t deadline_ms, struct cordon_error *err)
{
	int r = fd_flock(fd, operation, deadline_ms);

	if (r == -ETIMEDOUT)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_BUSY,
					       "'" AUDIT_FILE "' is locked by another process"),
				   "'lslocks' or 'fuser' shows which");
	return r < 0 ? cordon_fail_errno(err, -r, "lock '" AUDIT_FILE "'") : 0;
}

/* Does the current name still lead to this inode?  Asked under the lock: rotation needs it too. */
static bool store_is_current(int dirfd, const struct stat *locked)
{
	struct stat st;

	return fstatat(dirfd, AUDIT_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_ino == locked->st_ino && st.st_dev == locked->st_dev;
}

int audit_store_lock(int dirfd, int flags, int operation, int64_t deadline_ms, int *ret_fd,
		     uint64_t *ret_size, struct cordon_error *err)
{
	do {
		AUTO_UNLOCK int fd = -1;
		struct stat st = {0};
		int r;

		/* Not O_CREAT at once: for the file that is there, the usual case, it costs more. */
		r = store_open(dirfd, AUDIT_FILE, flags & ~O_CREAT, &fd, err);
		if (r == CORDON_E_NOT_FOUND && (flags & O_CREAT))
			r = store_open(dirfd, AUDIT_FILE, flags, &fd, err);
		if (r == 0)
			r = store_flock(fd, operation, deadline_ms, err);
		if (r < 0)
			return r;
		/* Under the lock: it may have grown, or been rotated away, while we waited. */
		r = store_check_file(fd, AUDIT_FILE, &st, err);
		if (r < 0)
			return r;
		if (!store_is_current(dirfd, &st))
			continue;
		*ret_size = (uint64_t)st.st_size;
		*ret_fd = TAKE_FD(fd);
		return 0;
	} while (clock_ms() < deadline_ms);
	return cordon_fail(err, CORDON_E_BUSY, "'" AUDIT_FILE "' is being replaced all the time");
}

void audit_store_unlock(int fd)
{
	if (fd < 0)
		return;
	/* Not left to close(): a child forked meanwhile by another thread would keep the lock. */
	(void)flock(fd, LOCK_UN); /* cannot fail on a file we locked */
	(void)fd_close(fd);
}

ssize_t audit_store_read(int fd, char *dst, size_t len, uint64_t offset)
{
	size_t used = 0;

	while (used < len) {
		ssize_t n = pread(fd, dst + used, len - used, (off_t)(offset + used));

		if (n == 0)
			break;
		if (n > 0)
			used += (size_t)n;
		else if (errno != EINTR)
			return -errno;
	}
	return (ssize_t)used;
}

static int store_corrupt(struct cordon_error *err, const char *name, const char *why)
{
	int r = cordon_fail(err, CORDON_E_CORRUPT, "the last line of '%s' is damaged: %s", name,
			    why);

	return cordon_hint(
		err, r,
		"see 'cordon audit verify'; to start a new chain, move the audit files of "
		"the state directory aside");
}

/* Splits the last len bytes of the file.  1 when done, 0 when more of it is needed. */
static int store_split_tail(const char *data, size_t len, uint64_t size, const char *name,
			    struct audit_tail *ret, struct cordon_error *err)
{
	const char *newline = memrchr(data, '\n', len);
	char prev[SHA256_HEX_LEN];
	enum audit_line_fault fault;
	const char *start;

	ret->torn = newline ? len - (size_t)(newline + 1 - data) : len;
	ret->torn_bytes = data + (len - ret->torn);
	ret->end = size - ret->torn;
	if (ret->torn > LIMIT_AUDIT_RECORD)
		return store_corrupt(err, name, "more bytes without a newline than a record has");
	if (!newline)
		return len == size;
	start = memrchr(data, '\n', (size_t)(newline - data));
	if (!start && len < size) {
		if ((size_t)(newline - data) >= LIMIT_AUDIT_RECORD)
			return store_corrupt(err, name, audit_line_fault_text(AUDIT_LINE_LONG));
		return 0;
	}
	start = start ? start + 1 : data;
	fault = audit_line_head(start, (size_t)(newline - start), &ret->head, prev);
	if (fault != AUDIT_LINE_OK)
		return store_corrupt(err, name, audit_line_fault_text(fault));
	return 1;
}

int audit_store_tail(int fd, uint64_t size, const char *name, struct buf *scratch,
		     struct audit_tail *ret, struct cordon_error *err)
{
	*ret = (struct audit_tail){0};
	if (size == 0)
		return 0;
	for (size_t want = STORE_TAIL_FIRST;; want *= 8) {
		size_t len = want > STORE_TAIL_MAX ? STORE_TAIL_MAX : want;
		void *p = scratch->data;
		ssize_t n;
		int r;

		if (len > size)
			len = (size_t)size;
		r = mem_grow(&p, &scratch->cap, len, 1, STORE_TAIL_MAX);
		scratch->data = p;
		if (r < 0)
			return cordon_nomem(err);
		n = audit_store_read(fd, scratch->data, len, size - len);
		if (n < 0)
			return cordon_fail_errno(err, (int)-n, "read '%s'", name);
		if ((size_t)n != len)
			return store_corrupt(err, name, "it became shorter under the lock");
		r = store_split_tail(scratch->data, len, size, name, ret, err);
		if (r != 0)
			return r < 0 ? r : 0;
		if (want >= STORE_TAIL_MAX)
			return store_corrupt(err, name, "no line in reach");
	}
}

void audit_store_rotated_name(uint64_t first_seq, char ret_name[static AUDIT_NAME_LEN])
{
	(void)snprintf(ret_name, AUDIT_NAME_LEN, STORE_PREFIX "%0*" PRIu64 STORE_SUFFIX,
		       (int)STORE_SEQ_DIGITS, first_seq);
}

/* Takes only names that audit_store_rotated_name() makes. */
static bool store_rotated_seq(const char *name, uint64_t *ret_seq)
{
	char again[AUDIT_NAME_LEN];
	uint64_t seq = 0;
	const char *p;

	if (!str_starts(name, STORE_PREFIX))
		return false;
	for (p = name + strlen(STORE_PREFIX); *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(seq, 10U, &seq) ||
		    __builtin_add_overflow(seq, (uint64_t)(*p - '0'), &seq))
			return false;
	audit_store_rotated_name(seq, again);
	*ret_seq = seq;
	return seq > 0 && strcmp(name, again) == 0;
}

static int store_compare(const void *a, const void *b)
{
	const struct audit_file *x = a, *y = b;

	return x->first_seq < y->first_seq ? -1 : x->first_seq > y->first_seq;
}

static int store_list_add(int dirfd, const char *name, struct audit_files *files,
			  struct cordon_error *err)
{
	uint64_t seq = 0;
	struct stat st;
	void *p = files->v;
	int r;

	if (!store_rotated_seq(name, &seq))
		return 0;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : cordon_fail_errno(err, errno, "'%s'", name);
	r = mem_grow(&p, &files->cap, files->n + 1, sizeof(*files->v), LIMIT_AUDIT_FILES);
	files->v = p;
	if (r < 0)
		return cordon_fail_leaf(err, r, "more than %d rotated audit files",
					LIMIT_AUDIT_FILES);
	files->v[files->n].first_seq = seq;
	files->v[files->n].mtime_ms =
		(int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
	audit_store_rotated_name(seq, files->v[files->n].name);
	files->n++;
	return 0;
}

int audit_store_list(int dirfd, struct audit_files *ret, struct cordon_error *err)
{
	struct audit_files files = {0};
	const struct dirent *entry;
	int r = 0, fd;
	DIR *dir;

	/* A description of its own: the position of a directory is shared by duplicates. */
	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		r = cordon_fail_errno(err, errno, "list the state directory");
		(void)fd_close(fd);
		return r;
	}
	errno = 0;
	while (r == 0 && (entry = readdir(dir))) {
		r = store_list_add(dirfd, entry->d_name, &files, err);
		errno = 0;
	}
	if (r == 0 && errno != 0)
		r = cordon_fail_errno(err, errno, "list the state directory");
	(void)closedir(dir); /* only read from */
	if (r < 0) {
		audit_files_done(&files);
		return r;
	}
	if (files.n > 0)
		qsort(files.v, files.n, sizeof(*files.v), store_compare);
	*ret = files;
	return 0;
}

void audit_files_done(struct audit_files *files)
{
	if (!files)
		return;
	free(files->v);
	*files = (struct audit_files){0};
}
