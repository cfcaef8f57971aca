/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See share.h.  Theory of operation.
 *
 * Requests are answered one after the other, in their order, so a flush has nothing to take back.  What the machine's
 * kernel remembers (fids) are paths relative to the shared directory, because it remembers more files than a process may
 * open; a rename moves the paths below it.  Every path is opened without following any link and never above the
 * directory, so what the machine puts into the tree cannot lead out of it.  Who serves has the rights of the call and
 * no more: grants, denials and protected names are the view's, held by this machine's kernel.
 *
 * The machine is not trusted.  A message that is not whole ends the connection; one that asks for what is not there gets
 * an error.  Attributes beyond the usual are not shared.  Only files and directories are opened: pipes, sockets and
 * devices are the machine's own business.
 */
#include "backend/vm/share_core.h"

#include "base/fd.h"
#include "base/parse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SHARE_HEAD 7       /* size, type, tag */
#define SHARE_READ_HEAD 11 /* and a count */
#define SHARE_MESSAGE_MIN 4096
#define SHARE_VERSION "9P2000.L"
#define SHARE_ERROR 7 /* the type of an answer */
#define SHARE_BASIC 0x7ffULL
#define SHARE_FLAGS (O_ACCMODE | O_TRUNC | O_APPEND | O_EXCL | O_DSYNC | O_SYNC | O_DIRECTORY)
#define SHARE_DIRENT_HEAD 24 /* qid, offset, type, length of the name */

enum share_type {
	SHARE_STATFS = 8,
	SHARE_OPEN = 12,
	SHARE_CREATE = 14,
	SHARE_SYMLINK = 16,
	SHARE_MKNOD = 18,
	SHARE_READLINK = 22,
	SHARE_GETATTR = 24,
	SHARE_SETATTR = 26,
	SHARE_READDIR = 40,
	SHARE_FSYNC = 50,
	SHARE_LOCK = 52,
	SHARE_GETLOCK = 54,
	SHARE_LINK = 70,
	SHARE_MKDIR = 72,
	SHARE_RENAMEAT = 74,
	SHARE_UNLINKAT = 76,
	SHARE_HELLO = 100,
	SHARE_ATTACH = 104,
	SHARE_FLUSH = 108,
	SHARE_WALK = 110,
	SHARE_READ = 116,
	SHARE_WRITE = 118,
	SHARE_CLUNK = 120,
};

/* Of SHARE_SETATTR. */
enum {
	SET_MODE = 1,
	SET_UID = 2,
	SET_GID = 4,
	SET_SIZE = 8,
	SET_ATIME = 16,
	SET_MTIME = 32,
	SET_ATIME_GIVEN = 128,
	SET_MTIME_GIVEN = 256,
};

static int share_hello(struct share *s)
{
	uint64_t size = share_take(s, 4);
	char version[32];
	bool is_ours;

	share_take_text(s, sizeof(version), version);
	is_ours = strcmp(version, SHARE_VERSION) == 0;
	for (size_t i = 0; i < s->n_fids; i++)
		share_forget(s, &s->fids[i]);
	if (size < SHARE_MESSAGE_MIN)
		return -EMSGSIZE;
	s->message_max = size < SHARE_MESSAGE_MAX ? size : SHARE_MESSAGE_MAX;
	share_put(s, s->message_max, 4);
	share_put_text(s, is_ours ? SHARE_VERSION : "unknown",
		       strlen(is_ours ? SHARE_VERSION : "unknown"));
	return 0;
}

static int share_attach(struct share *s)
{
	uint64_t number = share_take(s, 4);
	struct stat st;
	int r = fstat(s->root, &st) < 0 ? -errno : share_remember(s, number, "");

	if (r == 0)
		share_put_qid(s, &st);
	return r;
}

static int share_walk(struct share *s)
{
	struct share_fid *f = share_fid(s);
	uint64_t to = share_take(s, 4);
	uint64_t n = share_take(s, 2);
	size_t count_at = s->out_len;
	char path[PATH_MAX];
	uint64_t walked = 0;
	int r = 0;

	if (!f)
		return -EBADF;
	(void)snprintf(path, sizeof(path), "%s", f->path);
	share_put(s, 0, 2);
	for (; walked < n && walked < 16; walked++) {
		char name[NAME_MAX + 1];
		char next[PATH_MAX];
		AUTO_CLOSE int fd = -1;
		struct stat st;

		r = share_take_name(s, name);
		if (r == 0)
			r = share_join(path, name, next);
		fd = r < 0 ? r : share_at(s, next, O_PATH, 0);
		if (fd < 0 || fstat(fd, &st) < 0) {
			r = fd < 0 ? fd : -errno;
			break;
		}
		share_put_qid(s, &st);
		memcpy(path, next, sizeof(path));
	}
	if (walked < n)
		/* Of a part of the way is told how far it went; nothing is remembered. */
		return walked > 0 ? (s->out[count_at] = (uint8_t)walked, 0) : r < 0 ? r : -EINVAL;
	s->out[count_at] = (uint8_t)walked;
	if (to != (uint64_t)(f - s->fids))
		return share_remember(s, to, path);
	return f->file >= 0 ? -EBUSY : share_set_path(s, f, path);
}

static int share_statfs(struct share *s)
{
	AUTO_CLOSE int fd = share_fid_at(s);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return fd < 0 ? fd : -errno;
	share_put(s, (uint64_t)fs.f_type, 4);
	share_put(s, (uint64_t)fs.f_bsize, 4);
	share_put(s, fs.f_blocks, 8);
	share_put(s, fs.f_bfree, 8);
	share_put(s, fs.f_bavail, 8);
	share_put(s, fs.f_files, 8);
	share_put(s, fs.f_ffree, 8);
	share_put(s, 0, 8);
	share_put(s, NAME_MAX, 4);
	return 0;
}

static int share_open(struct share *s)
{
	struct share_fid *f = share_fid(s);
	int flags = (int)share_take(s, 4) & SHARE_FLAGS;
	AUTO_CLOSE int seen = -1;
	AUTO_CLOSE int fd = -1;
	struct stat st;
	char path[64];

	if (!f || f->file >= 0)
		return -EBADF;
	if (s->is_readonly && (flags & O_ACCMODE || flags & O_TRUNC))
		return -EROFS;
	seen = share_at(s, f->path, O_PATH, 0);
	if (seen < 0 || fstat(seen, &st) < 0)
		return seen < 0 ? seen : -errno;
	/* Nothing is opened that would wait or do more than that. */
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return -EOPNOTSUPP;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", seen);
	fd = open(path, (flags & ~O_EXCL) | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	share_put_qid(s, &st);
	share_put(s, 0, 4);
	f->file = TAKE_FD(fd);
	return 0;
}

static int share_create(struct share *s)
{
	struct share_fid *f = share_fid(s);
	char name[NAME_MAX + 1];
	char path[PATH_MAX];
	AUTO_CLOSE int fd = -1;
	struct stat st;
	int r = share_take_name(s, name);
	int flags = (int)share_take(s, 4) & SHARE_FLAGS & ~O_DIRECTORY;
	mode_t mode = (mode_t)share_take(s, 4);

	if (!f || f->file >= 0)
		return -EBADF;
	if (r == 0)
		r = share_join(f->path, name, path);
	if (r < 0)
		return r;
	/* What is there already is the machine's kernel's to open, which looks at it first. */
	fd = share_at(s, path, flags | O_CREAT | O_EXCL, mode);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	r = share_set_path(s, f, path);
	if (r < 0)
		return r;
	share_put_qid(s, &st);
	share_put(s, 0, 4);
	f->file = TAKE_FD(fd);
	return 0;
}

/* The answer to what has made something. */
static int share_made(struct share *s, int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	share_put_qid(s, &st);
	return 0;
}

static int share_symlink(struct share *s)
{
	AUTO_CLOSE int dir = share_fid_at(s);
	char name[NAME_MAX + 1];
	char target[PATH_MAX];
	int r = share_take_name(s, name);

	share_take_text(s, sizeof(target), target);
	if (dir < 0 || r < 0)
		return dir < 0 ? dir : r;
	return symlinkat(target, dir, name) < 0 ? -errno : share_made(s, dir, name);
}

static int share_mknod(struct share *s)
{
	AUTO_CLOSE int dir = share_fid_at(s);
	char name[NAME_MAX + 1];
	int r = share_take_name(s, name);
	mode_t mode = (mode_t)share_take(s, 4);

	if (dir < 0 || r < 0)
		return dir < 0 ? dir : r;
	if (!S_ISREG(mode) && !S_ISFIFO(mode) && !S_ISSOCK(mode))
		return -EPERM;
	return mknodat(dir, name, mode, 0) < 0 ? -errno : share_made(s, dir, name);
}

static int share_mkdir(struct share *s)
{
	AUTO_CLOSE int dir = share_fid_at(s);
	char name[NAME_MAX + 1];
	int r = share_take_name(s, name);
	mode_t mode = (mode_t)share_take(s, 4) & 07777;

	if (dir < 0 || r < 0)
		return dir < 0 ? dir : r;
	return mkdirat(dir, name, mode) < 0 ? -errno : share_made(s, dir, name);
}

static int share_link(struct share *s)
{
	AUTO_CLOSE int dir = share_fid_at(s);
	AUTO_CLOSE int fd = share_fid_at(s);
	char name[NAME_MAX + 1];
	char path[64];
	int r = share_take_name(s, name);

	if (dir < 0 || fd < 0 || r < 0)
		return dir < 0 ? dir : fd < 0 ? fd : r;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int share_readlink(struct share *s)
{
	AUTO_CLOSE int fd = share_fid_at(s);
	char target[PATH_MAX];
	ssize_t n = fd < 0 ? -1 : readlinkat(fd, "", target, sizeof(target));

	if (fd < 0 || n < 0)
		return fd < 0 ? fd : -errno;
	share_put_text(s, target, (size_t)n);
	return 0;
}

static void share_put_time(struct share *s, const struct timespec *t)
{
	share_put(s, (uint64_t)t->tv_sec, 8);
	share_put(s, (uint64_t)t->tv_nsec, 8);
}

static int share_getattr(struct share *s)
{
	struct share_fid *f = share_fid(s);
	const struct timespec never = {0};
	AUTO_CLOSE int fd = f && f->file < 0 ? share_at(s, f->path, O_PATH, 0) : -1;
	struct stat st;

	if (!f || (f->file < 0 && fd < 0))
		return f ? fd : -EBADF;
	/* One that is open may have no name any more. */
	if (fstat(f->file >= 0 ? f->file : fd, &st) < 0)
		return -errno;
	share_put(s, SHARE_BASIC, 8);
	share_put_qid(s, &st);
	share_put(s, st.st_mode, 4);
	share_put(s, st.st_uid, 4);
	share_put(s, st.st_gid, 4);
	share_put(s, st.st_nlink, 8);
	share_put(s, st.st_rdev, 8);
	share_put(s, (uint64_t)st.st_size, 8);
	share_put(s, (uint64_t)st.st_blksize, 8);
	share_put(s, (uint64_t)st.st_blocks, 8);
	share_put_time(s, &st.st_atim);
	share_put_time(s, &st.st_mtim);
	share_put_time(s, &st.st_ctim);
	share_put_time(s, &never);
	share_put(s, 0, 8);
	share_put(s, 0, 8);
	return 0;
}

static struct timespec share_take_time(struct share *s, uint64_t valid, int set, int given)
{
	struct timespec t = {.tv_sec = (time_t)share_take(s, 8)};

	t.tv_nsec = (long)share_take(s, 8);
	if (!(valid & (uint64_t)set))
		t.tv_nsec = UTIME_OMIT;
	else if (!(valid & (uint64_t)given))
		t.tv_nsec = UTIME_NOW;
	return t;
}

static int share_setattr(struct share *s)
{
	struct share_fid *f = share_fid(s);
	uint64_t valid = share_take(s, 4);
	mode_t mode = (mode_t)share_take(s, 4) & 07777;
	uid_t uid = (uid_t)share_take(s, 4);
	gid_t gid = (gid_t)share_take(s, 4);
	off_t size = (off_t)share_take(s, 8);
	struct timespec times[2];
	AUTO_CLOSE int fd = f ? share_at(s, f->path, O_PATH, 0) : -EBADF;
	char path[64];

	times[0] = share_take_time(s, valid, SET_ATIME, SET_ATIME_GIVEN);
	times[1] = share_take_time(s, valid, SET_MTIME, SET_MTIME_GIVEN);
	if (!f || (fd < 0 && f->file < 0))
		return fd;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", f->file >= 0 ? f->file : fd);
	if (valid & SET_MODE && fchmodat(AT_FDCWD, path, mode, 0) < 0)
		return -errno;
	if (valid & (SET_UID | SET_GID) &&
	    fchownat(f->file >= 0 ? f->file : fd, "", valid & SET_UID ? uid : (uid_t)-1,
		     valid & SET_GID ? gid : (gid_t)-1, AT_EMPTY_PATH) < 0)
		return -errno;
	if (valid & SET_SIZE &&
	    (f->file >= 0 ? ftruncate(f->file, size) : truncate(path, size)) < 0)
		return -errno;
	if (valid & (SET_ATIME | SET_MTIME) && utimensat(AT_FDCWD, path, times, 0) < 0)
		return -errno;
	return 0;
}

/* How many bytes an answer with data may have. */
static size_t share_room(const struct share *s, uint64_t count)
{
	size_t most = s->message_max - SHARE_READ_HEAD;

	return count < most ? (size_t)count : most;
}

static int share_readdir(struct share *s)
{
	struct share_fid *f = share_fid(s);
	off_t offset = (off_t)share_take(s, 8);
	size_t room = share_room(s, share_take(s, 4));
	_Alignas(struct dirent64) char data[16384];
	struct stat dir;
	size_t count_at = s->out_len;
	size_t begin;
	ssize_t n;

	if (!f || f->file < 0)
		return -EBADF;
	if (fstat(f->file, &dir) < 0 || lseek(f->file, offset, SEEK_SET) < 0)
		return -errno;
	share_put(s, 0, 4);
	begin = s->out_len;
	while ((n = getdents64(f->file, data, sizeof(data))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *e = (const void *)(data + at);
			struct stat st = {.st_dev = dir.st_dev,
					  .st_ino = e->d_ino,
					  .st_mode = DTTOIF((mode_t)e->d_type)};
			size_t len = strlen(e->d_name);

			if (s->out_len - begin + SHARE_DIRENT_HEAD + len > room)
				goto full;
			share_put_qid(s, &st);
			share_put(s, (uint64_t)e->d_off, 8);
			share_put(s, e->d_type, 1);
			share_put_text(s, e->d_name, len);
			at += e->d_reclen;
		}
	}
	if (n < 0)
		return -errno;
full:
	for (unsigned i = 0; i < 4; i++)
		s->out[count_at + i] = (uint8_t)((s->out_len - begin) >> (8 * i));
	return 0;
}

static int share_read(struct share *s)
{
	struct share_fid *f = share_fid(s);
	off_t offset = (off_t)share_take(s, 8);
	size_t room = share_room(s, share_take(s, 4));
	ssize_t n;

	if (!f || f->file < 0)
		return -EBADF;
	n = pread(f->file, s->out + s->out_len + 4, room, offset);
	if (n < 0)
		return -errno;
	share_put(s, (uint64_t)n, 4);
	s->out_len += (size_t)n;
	return 0;
}

static int share_write(struct share *s)
{
	struct share_fid *f = share_fid(s);
	off_t offset = (off_t)share_take(s, 8);
	size_t len = share_take(s, 4);
	ssize_t n;

	if (len > s->in_left)
		s->is_bad = true;
	if (!f || f->file < 0 || s->is_bad)
		return -EBADF;
	n = pwrite(f->file, s->in, len, offset);
	if (n < 0)
		return -errno;
	share_put(s, (uint64_t)n, 4);
	return 0;
}

static int share_fsync(struct share *s)
{
	struct share_fid *f = share_fid(s);

	if (!f || f->file < 0)
		return -EBADF;
	return fsync(f->file) < 0 ? -errno : 0;
}

/* Locks of the machine's processes among each other are its kernel's; those with processes here are not passed on. */
static int share_lock(struct share *s)
{
	share_put(s, 0, 1);
	return 0;
}

static int share_getlock(struct share *s)
{
	(void)share_take(s, 4);
	(void)share_take(s, 1);
	share_put(s, F_UNLCK, 1);
	share_put(s, share_take(s, 8), 8);
	share_put(s, share_take(s, 8), 8);
	share_put(s, share_take(s, 4), 4);
	share_put_text(s, "", 0);
	return 0;
}

/* What was remembered at or below a path is at another now. */
static int share_moved(struct share *s, const char *from, const char *to)
{
	size_t len = strlen(from);

	for (size_t i = 0; i < s->n_fids; i++) {
		struct share_fid *f = &s->fids[i];
		char path[PATH_MAX];
		int r;

		if (!f->path || strncmp(f->path, from, len) != 0 ||
		    (f->path[len] != '\0' && f->path[len] != '/'))
			continue;
		r = snprintf(path, sizeof(path), "%s%s", to, f->path + len) >= (int)sizeof(path)
			    ? -ENAMETOOLONG
			    : share_set_path(s, f, path);
		/* Better gone than another file. */
		if (r < 0)
			share_forget(s, f);
	}
	return 0;
}

static int share_renameat(struct share *s)
{
	struct share_fid *f = share_fid(s);
	char names[2][NAME_MAX + 1];
	char from[PATH_MAX];
	char to[PATH_MAX];
	AUTO_CLOSE int dir = f ? share_at(s, f->path, O_PATH, 0) : -EBADF;
	AUTO_CLOSE int other = -1;
	struct share_fid *g;
	int r = share_take_name(s, names[0]);

	g = share_fid(s);
	other = g ? share_at(s, g->path, O_PATH, 0) : -EBADF;
	if (r == 0)
		r = share_take_name(s, names[1]);
	if (dir < 0 || other < 0 || r < 0)
		return dir < 0 ? dir : other < 0 ? other : r;
	r = share_join(f->path, names[0], from);
	if (r == 0)
		r = share_join(g->path, names[1], to);
	if (r < 0)
		return r;
	if (renameat(dir, names[0], other, names[1]) < 0)
		return -errno;
	return share_moved(s, from, to);
}

static int share_unlinkat(struct share *s)
{
	AUTO_CLOSE int dir = share_fid_at(s);
	char name[NAME_MAX + 1];
	int r = share_take_name(s, name);
	bool is_dir = share_take(s, 4) & AT_REMOVEDIR;

	if (dir < 0 || r < 0)
		return dir < 0 ? dir : r;
	return unlinkat(dir, name, is_dir ? AT_REMOVEDIR : 0) < 0 ? -errno : 0;
}

static int share_clunk(struct share *s)
{
	struct share_fid *f = share_fid(s);

	if (!f)
		return -EBADF;
	share_forget(s, f);
	return 0;
}

static int share_flush(struct share *s)
{
	(void)s;
	return 0;
}

static const struct {
	uint8_t type;
	bool changes;
	int (*run)(struct share *s);
} share_table[] = {
	{SHARE_STATFS, false, share_statfs},    {SHARE_OPEN, false, share_open},
	{SHARE_CREATE, true, share_create},     {SHARE_SYMLINK, true, share_symlink},
	{SHARE_MKNOD, true, share_mknod},       {SHARE_READLINK, false, share_readlink},
	{SHARE_GETATTR, false, share_getattr},  {SHARE_SETATTR, true, share_setattr},
	{SHARE_READDIR, false, share_readdir},  {SHARE_FSYNC, false, share_fsync},
	{SHARE_LOCK, false, share_lock},        {SHARE_GETLOCK, false, share_getlock},
	{SHARE_LINK, true, share_link},         {SHARE_MKDIR, true, share_mkdir},
	{SHARE_RENAMEAT, true, share_renameat}, {SHARE_UNLINKAT, true, share_unlinkat},
	{SHARE_HELLO, false, share_hello},      {SHARE_ATTACH, false, share_attach},
	{SHARE_FLUSH, false, share_flush},      {SHARE_WALK, false, share_walk},
	{SHARE_READ, false, share_read},        {SHARE_WRITE, false, share_write},
	{SHARE_CLUNK, false, share_clunk},
};

/* Exactly len bytes; false at the end. */
static bool share_receive(const struct share *s, uint8_t *to, size_t len)
{
	for (size_t got = 0; got < len;) {
		ssize_t n = read(s->link, to + got, len - got);

		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		got += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool share_send(const struct share *s)
{
	for (size_t sent = 0; sent < s->out_len;) {
		ssize_t n = send(s->link, s->out + sent, s->out_len - sent, MSG_NOSIGNAL);

		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		sent += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* One request and its answer; false when nothing more is to be said. */
static bool share_answer(struct share *s)
{
	uint64_t size;
	uint8_t type;
	uint16_t tag;
	int r = -EOPNOTSUPP;

	if (!share_receive(s, s->message, SHARE_HEAD))
		return false;
	s->in = s->message;
	s->in_left = SHARE_HEAD;
	s->is_bad = false;
	size = share_take(s, 4);
	type = (uint8_t)share_take(s, 1);
	tag = (uint16_t)share_take(s, 2);
	if (size < SHARE_HEAD || size > s->message_max ||
	    !share_receive(s, s->message + SHARE_HEAD, size - SHARE_HEAD))
		return false;
	s->in_left = size - SHARE_HEAD;
	s->out_len = SHARE_HEAD;
	for (size_t i = 0; i < ARRAY_LEN(share_table); i++)
		if (share_table[i].type == type)
			r = share_table[i].changes && s->is_readonly ? -EROFS
								     : share_table[i].run(s);
	if (s->is_bad)
		return false;
	size = s->out_len;
	if (r < 0) {
		s->out_len = SHARE_HEAD;
		share_put(s, (uint64_t)-r, 4);
		size = s->out_len;
		type = SHARE_ERROR - 1;
	}
	s->out_len = 0;
	share_put(s, size, 4);
	share_put(s, type + 1U, 1);
	share_put(s, tag, 2);
	s->out_len = size;
	return share_send(s);
}

int main(int argc, char **argv)
{
	static struct share s = {.message_max = SHARE_MESSAGE_MAX};
	int64_t listener;

	if (argc != 3 || parse_int(argv[1], 0, INT_MAX, &listener) < 0)
		return 2;
	(void)umask(0); /* the machine's processes have masks of their own */
	s.is_readonly = strcmp(argv[2], "ro") == 0;
	s.root = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	s.link = accept4((int)listener, NULL, NULL, SOCK_CLOEXEC);
	/* The first is the only one. */
	(void)fd_close((int)listener);
	if (s.root < 0 || s.link < 0)
		return 1;
	while (share_answer(&s))
		;
	return 0;
}
