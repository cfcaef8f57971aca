/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See scratch.h.  Everything is done by descriptor and follows no link: where a scratch directory stands, an
 * earlier call may have been allowed to write.
 */
#include "backend/scratch.h"

#include "backend/cgroup/cgroup.h"
#include "backend/cgroup/dir.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/prune.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRATCH_TRIES 16 /* against sweepers that are faster than our lock */
#define SCRATCH_NAME_MAX 96
#define SCRATCH_NOTE_ID '=' /* begins the line with the id of a call: no path does */
#define SCRATCH_TEMP_HEX 16 /* digits behind the dot in the name of a temporary file */

static int scratch_name(const char *prefix, char ret[static SCRATCH_NAME_MAX])
{
	uint64_t salt = 0;

	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		return -EIO;
	(void)snprintf(ret, SCRATCH_NAME_MAX, "%s%016llx", prefix, (unsigned long long)salt);
	return 0;
}

/* Is what was opened still what has the name? */
static bool scratch_is_there(int at, const char *name, int fd)
{
	struct stat by_name, by_fd;

	return fstatat(at, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &by_fd) == 0 &&
	       by_name.st_ino == by_fd.st_ino && by_name.st_dev == by_fd.st_dev;
}

/* Takes the lock of something that nobody alive owns.  Returns the descriptor or -1. */
static int scratch_take(int at, const char *name, int flags)
{
	AUTO_CLOSE int fd =
		openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    flock(fd, LOCK_EX | LOCK_NB) < 0 || !scratch_is_there(at, name, fd))
		return -1;
	return TAKE_FD(fd);
}

/* A directory in dir, by handle only. */
static int scratch_below(int dir, const char *name)
{
	return openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* What a volatile overlay leaves in its work directory, by name: a fifth of the system calls, and nothing is
 * listed.  What else is there makes the last of them fail. */
static bool scratch_remove_overlay(int at, const char *name, int fd)
{
	AUTO_CLOSE int work = scratch_below(fd, "work");
	AUTO_CLOSE int incompat = -1;
	AUTO_CLOSE int mark = -1;

	if (work >= 0) {
		prune_open_up(work);
		incompat = scratch_below(work, "incompat");
	}
	if (incompat >= 0)
		mark = scratch_below(incompat, "volatile");
	/* In this order, and those that fail show in the end. */
	if (mark >= 0 && unlinkat(mark, "dirty", 0) == 0)
		(void)unlinkat(incompat, "volatile", AT_REMOVEDIR);
	if (incompat >= 0)
		(void)unlinkat(work, "incompat", AT_REMOVEDIR);
	if (work >= 0)
		(void)unlinkat(fd, "work", AT_REMOVEDIR);
	return unlinkat(at, name, AT_REMOVEDIR) == 0;
}

/* Removes a directory that we hold the lock of, looking at so many names. */
static void scratch_remove(int at, const char *name, int fd, size_t most)
{
	if (scratch_remove_overlay(at, name, fd))
		return;
	prune_contents(fd, most);
	(void)unlinkat(at, name, AT_REMOVEDIR);
}

int scratch_note_make(const char *registry, struct scratch_note *ret)
{
	for (int i = 0; i < SCRATCH_TRIES; i++) {
		char name[SCRATCH_NAME_MAX];
		AUTO_FREE char *path = NULL;
		AUTO_CLOSE int fd = -1;
		int r = scratch_name(SCRATCH_NOTE_PREFIX, name);

		if (r == 0)
			r = path_join(registry, name, &path);
		if (r < 0)
			return r;
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0)
			return -errno;
		/* A sweeper that came between may hold it; then it is gone in a moment. */
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 && scratch_is_there(AT_FDCWD, path, fd)) {
			*ret = (struct scratch_note){.fd = TAKE_FD(fd), .path = TAKE_PTR(path)};
			return 0;
		}
	}
	return -EBUSY;
}

int scratch_note_add(const struct scratch_note *n, const char *path)
{
	char line[LIMIT_PATH_BYTES + 1];
	int len = snprintf(line, sizeof(line), "%s\n", path);
	ssize_t written;

	if (len < 0 || (size_t)len >= sizeof(line))
		return -ENAMETOOLONG;
	written = write(n->fd, line, (size_t)len);
	if (written < 0)
		return -errno;
	return written == len
		       ? 0
		       : -ENOSPC; /* a file that takes only a part of a line is on a full disk */
}

int scratch_note_of(const struct scratch_note *n, const char *id)
{
	char line[SCRATCH_NAME_MAX];

	if ((size_t)snprintf(line, sizeof(line), "%c%s", SCRATCH_NOTE_ID, id) >= sizeof(line))
		return -ENAMETOOLONG;
	return scratch_note_add(n, line);
}

void scratch_note_done(struct scratch_note *n)
{
	if (n->path)
		(void)unlink(n->path);
	scratch_note_drop(n);
}

void scratch_note_drop(struct scratch_note *n)
{
	free(n->path);
	(void)fd_close(n->fd);
	*n = SCRATCH_NOTE_NONE;
}

/* One attempt.  0, -EAGAIN when a sweeper was faster, or -errno. */
static int scratch_try(const char *parent, const char *prefix, struct scratch *s)
{
	char name[SCRATCH_NAME_MAX];
	int r;

	free(TAKE_PTR(s->path));
	r = scratch_name(prefix, name);
	if (r == 0)
		r = path_join(parent, name, &s->path);
	if (r == 0 && s->note.path)
		r = scratch_note_add(&s->note, s->path);
	if (r < 0)
		return r;
	if (mkdir(s->path, 0700) < 0)
		return -errno;
	s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->fd >= 0 && flock(s->fd, LOCK_EX | LOCK_NB) == 0 &&
	    scratch_is_there(AT_FDCWD, s->path, s->fd))
		return 0;
	s->fd = fd_close(s->fd);
	(void)rmdir(s->path); /* if no sweeper did */
	return -EAGAIN;
}

static int scratch_make_in(const char *registry, const char *parent, const char *prefix,
			   struct scratch *ret)
{
	struct scratch s = SCRATCH_NONE;
	int r = 0;

	if (!registry)
		scratch_sweep_dir(parent);
	else if (strcmp(registry, parent) != 0)
		r = scratch_note_make(registry, &s.note);
	if (r == 0)
		r = -EAGAIN;
	for (int i = 0; r == -EAGAIN && i < SCRATCH_TRIES; i++)
		r = scratch_try(parent, prefix, &s);
	if (r < 0) {
		free(s.path);
		scratch_note_done(&s.note);
		return r == -EAGAIN ? -EBUSY : r;
	}
	*ret = s;
	return 0;
}

int scratch_make(const char *registry, const char *parent, struct scratch *ret)
{
	return scratch_make_in(registry, parent, SCRATCH_PREFIX, ret);
}

/* Of names with a word in them; sixteen digits follow. */
static int scratch_prefix(const char *word, char ret[static SCRATCH_NAME_MAX])
{
	return (size_t)snprintf(ret, SCRATCH_NAME_MAX, SCRATCH_PREFIX "%s-", word) >=
			       SCRATCH_NAME_MAX - SCRATCH_TEMP_HEX
		       ? -ENAMETOOLONG
		       : 0;
}

int scratch_make_as(const char *registry, const char *word, struct scratch *ret)
{
	char prefix[SCRATCH_NAME_MAX];
	int r = scratch_prefix(word, prefix);

	return r < 0 ? r : scratch_make_in(registry, registry, prefix, ret);
}

int scratch_make_of(const char *parent, const char *id, struct scratch *ret)
{
	char prefix[SCRATCH_NAME_MAX] = SCRATCH_PREFIX;
	int r = id ? scratch_prefix(id, prefix) : 0;

	return r < 0 ? r : scratch_make_in(/* registry= */ NULL, parent, prefix, ret);
}

void scratch_leave(struct scratch *s)
{
	s->fd = fd_close(s->fd);
	free(s->path);
	*s = SCRATCH_NONE;
}

void scratch_done(struct scratch *s)
{
	if (s->fd >= 0)
		scratch_remove(AT_FDCWD, s->path, s->fd, SIZE_MAX); /* our own: all of it */
	s->fd = fd_close(s->fd);
	free(s->path);
	scratch_note_done(&s->note);
	*s = SCRATCH_NONE;
}

/* What one line of a leftover note names. */
static void scratch_sweep_path(const char *path)
{
	const char *name = path_base(path);
	AUTO_CLOSE int fd = -1;

	if (path[0] != '/')
		return;
	if (path[strlen(path) - 1] == '/') {
		scratch_sweep_dir(path);
		return;
	}
	if (!str_starts(name, SCRATCH_PREFIX)) {
		cgroup_sweep(path);
		return;
	}
	fd = scratch_take(AT_FDCWD, path, O_DIRECTORY);
	if (fd >= 0)
		scratch_remove(AT_FDCWD, path, fd, LIMIT_SCRATCH_ENTRIES);
}

/* Are there any in a directory, of the call of an id or (NULL) of anybody?  Those of calls that still go on, too. */
static bool scratch_has_own(const char *path, const char *id)
{
	char prefix[SCRATCH_NAME_MAX] = SCRATCH_PREFIX;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	struct stat st;
	bool has = false;

	if (!d || (id && scratch_prefix(id, prefix) < 0)) {
		if (d)
			(void)closedir(d);
		else
			(void)fd_close(fd);
		return false;
	}
	for (size_t n = 0; !has && n < LIMIT_SCRATCH_ENTRIES && (e = readdir(d)); n++)
		has = str_starts(e->d_name, prefix) &&
		      fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		      S_ISDIR(st.st_mode) && st.st_uid == geteuid();
	(void)closedir(d);
	return has;
}

/* Is what a line names still there, and one of ours?  Somebody whom the killed command started may hold it for
 * another moment: then its note stays for the next sweeper. */
static bool scratch_is_left(const char *path, const char *id)
{
	const char *name = path_base(path);
	struct stat st;

	if (path[0] == '/' && path[strlen(path) - 1] == '/')
		return scratch_has_own(path, id);
	return (str_starts(name, SCRATCH_PREFIX) || str_starts(name, CGROUP_NAME_PREFIX)) &&
	       lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

static void scratch_sweep_note(int at, const char *name)
{
	AUTO_CLOSE int fd = scratch_take(at, name, 0);
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	char *rest = NULL;
	const char *id = NULL;
	bool is_left = false;

	if (fd < 0)
		return;
	if (io_read_all(fd, LIMIT_SCRATCH_NOTE, CLOCK_NEVER, &text, &len) == 0 &&
	    strlen(text) == len)
		for (char *line = text; *line; line = rest) {
			rest = line + strcspn(line, "\n");
			if (*rest)
				*rest++ = '\0';
			if (*line == SCRATCH_NOTE_ID)
				id = line + 1;
			scratch_sweep_path(line);
			is_left |= scratch_is_left(line, id);
		}
	if (!is_left)
		(void)unlinkat(at, name, 0);
}

/* "probe-NAME." and hexadecimal digits: an answer that was never put in its place. */
static bool scratch_is_temp(const char *name)
{
	const char *dot = strchr(name, '.');

	return str_starts(name, "probe-") && dot && strlen(dot + 1) == SCRATCH_TEMP_HEX &&
	       strspn(dot + 1, "0123456789abcdef") == SCRATCH_TEMP_HEX;
}

static void scratch_sweep_one(int at, const char *name, bool is_registry)
{
	AUTO_CLOSE int fd = -1;

	if (str_starts(name, SCRATCH_PREFIX)) {
		fd = scratch_take(at, name, O_DIRECTORY);
		if (fd >= 0)
			scratch_remove(at, name, fd, LIMIT_SCRATCH_ENTRIES);
	} else if (is_registry && str_starts(name, SCRATCH_NOTE_PREFIX)) {
		scratch_sweep_note(at, name);
	} else if (is_registry && scratch_is_temp(name)) {
		(void)unlinkat(at, name, 0); /* whoever still writes it finds out, and tries anew */
	}
}

static void scratch_sweep_in(const char *dir, bool is_registry)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!d) {
		(void)fd_close(fd);
		return;
	}
	for (size_t n = 0; n < LIMIT_SCRATCH_ENTRIES && (e = readdir(d)); n++)
		scratch_sweep_one(dirfd(d), e->d_name, is_registry);
	(void)closedir(d);
}

void scratch_sweep(const char *registry)
{
	if (registry)
		scratch_sweep_in(registry, /* is_registry= */ true);
}

void scratch_sweep_dir(const char *dir)
{
	scratch_sweep_in(dir, /* is_registry= */ false);
}
