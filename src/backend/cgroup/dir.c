/* SPDX-License-Identifier: Apache-2.0 */
/* See dir.h. */
#include "backend/cgroup/dir.h"

#include "backend/cgroup/value.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/parse.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIR_DEPTH_MAX 16     /* groups that a call made below its own (cordon inside cordon) */
#define DIR_BATCH 64         /* processes that are signalled at once */
#define DIR_MAKE_TRIES 8     /* against cleaners that are faster than our lock */
#define DIR_LOCK_MS 200      /* a cleaner that came between mkdir and flock lets go soon */
#define DIR_CLEAN_TRIES 20   /* as many, for the processes of a leftover to go */
#define DIR_LIST_BYTES 65536 /* of cgroup.procs at a time; the rest comes in the next round */

int cgroup_dir_read(int fd, const char *file, char **ret)
{
	size_t len = 0;

	return io_read_file_at(fd, file, LIMIT_CGROUP_FILE, ret, &len);
}

int cgroup_dir_read_number(int fd, const char *file, uint64_t *ret)
{
	AUTO_FREE char *text = NULL;
	int r = cgroup_dir_read(fd, file, &text);

	return r < 0 ? r : cgroup_number(text, ret);
}

int cgroup_dir_read_stat(int fd, const char *file, const char *key, uint64_t *ret)
{
	AUTO_FREE char *text = NULL;
	int r = cgroup_dir_read(fd, file, &text);

	return r < 0 ? r : cgroup_stat(text, key, ret);
}

int cgroup_dir_write(int fd, const char *file, const char *text)
{
	AUTO_CLOSE int file_fd = openat(fd, file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	/* One write: the kernel takes each as a whole value. */
	if (file_fd < 0)
		return -errno;
	return write(file_fd, text, strlen(text)) < 0 ? -errno : 0;
}

static int dir_open(int parent_fd, const char *name)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

/* Is the open directory still the one of that name? */
static bool dir_is_there(int parent_fd, const char *name, int fd)
{
	struct stat by_name, by_fd;

	return fstatat(parent_fd, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstat(fd, &by_fd) == 0 && by_name.st_ino == by_fd.st_ino &&
	       by_name.st_dev == by_fd.st_dev;
}

int cgroup_dir_make(int parent_fd, const char *name)
{
	for (int i = 0; i < DIR_MAKE_TRIES; i++) {
		AUTO_CLOSE int fd = -1;
		int r;

		if (mkdirat(parent_fd, name, 0700) < 0)
			return -errno;
		fd = dir_open(parent_fd, name);
		if (fd == -ENOENT)
			continue; /* cleaned away already */
		r = fd < 0 ? fd : fd_flock(fd, LOCK_EX, clock_deadline(DIR_LOCK_MS));
		/* Never removed by us here: the cleaner goes by the name, and could hit the next one. */
		if (r < 0)
			return r;
		if (dir_is_there(parent_fd, name, fd))
			return TAKE_FD(fd);
	}
	return -EBUSY;
}

/* Calls f for each directory in fd, until it returns false. */
static void dir_each(int fd, bool (*f)(int fd, const char *name, void *arg), void *arg)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;

	if (!d) {
		(void)fd_close(copy);
		return;
	}
	for (size_t n = 0; n < LIMIT_CGROUP_ENTRIES && (e = readdir(d)); n++)
		if (e->d_type == DT_DIR && strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0 && !f(fd, e->d_name, arg))
			break;
	(void)closedir(d);
}

/* Reads up to max process numbers; those of other pid namespaces (0) are left out. */
static size_t dir_list(int fd, char text[static DIR_LIST_BYTES + 1], pid_t *ret, size_t max)
{
	AUTO_CLOSE int file_fd = openat(fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	ssize_t len = file_fd < 0 ? -1 : io_read(file_fd, text, DIR_LIST_BYTES, CLOCK_NEVER);
	char *line = text;
	size_t n = 0;

	if (len <= 0)
		return 0;
	text[len] = '\0';
	/* What has no newline was cut. */
	for (char *end; n < max && (end = strchr(line, '\n')); line = end + 1) {
		int64_t pid;

		*end = '\0';
		if (parse_int(line, 1, INT32_MAX, &pid) == 0)
			ret[n++] = (pid_t)pid;
	}
	return n;
}

static bool dir_lists(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Signals the processes of one directory.  A number may be somebody else's by the time it is used: the
 * process is held first, and signalled only if its number is still listed after that. */
static void dir_signal(int fd)
{
	static const size_t list_max = DIR_LIST_BYTES / 2;
	AUTO_FREE char *text = malloc(DIR_LIST_BYTES + 1);
	AUTO_FREE pid_t *again = calloc(list_max, sizeof(*again));
	pid_t pids[DIR_BATCH];
	int fds[DIR_BATCH];
	size_t n, listed;

	if (!text || !again)
		return;
	n = dir_list(fd, text, pids, DIR_BATCH);
	for (size_t i = 0; i < n; i++)
		fds[i] = (int)syscall(SYS_pidfd_open, pids[i], 0);
	listed = n > 0 ? dir_list(fd, text, again, list_max) : 0;
	for (size_t i = 0; i < n; i++) {
		if (fds[i] >= 0 && dir_lists(again, listed, pids[i]))
			(void)syscall(SYS_pidfd_send_signal, fds[i], SIGKILL, NULL, 0);
		(void)fd_close(fds[i]);
	}
}

static bool dir_kill_below(int fd, const char *name, void *arg)
{
	size_t depth = *(const size_t *)arg + 1;
	AUTO_CLOSE int child = depth < DIR_DEPTH_MAX ? dir_open(fd, name) : -1;

	if (child >= 0) {
		dir_signal(child);
		dir_each(child, dir_kill_below, &depth);
	}
	return true;
}

void cgroup_dir_kill_listed(int fd)
{
	size_t depth = 0;

	/* Nothing forks from here on, so each round leaves fewer.  Without a pids controller the rounds
	 * of cgroup_end() are a race, which ends at its deadline. */
	(void)!cgroup_dir_write(fd, "pids.max", "0");
	dir_signal(fd);
	dir_each(fd, dir_kill_below, &depth);
	/* What is frozen dies when it goes on, and of that nothing but dying is left. */
	(void)!cgroup_dir_write(fd, "freezer.state", "THAWED");
}

void cgroup_dir_kill(int fd)
{
	if (cgroup_dir_write(fd, "cgroup.kill", "1") < 0)
		cgroup_dir_kill_listed(fd); /* version 1, or Linux before 5.14 */
}

static bool dir_remove_below(int fd, const char *name, void *arg)
{
	size_t depth = *(const size_t *)arg + 1;
	AUTO_CLOSE int child = -1;

	if (unlinkat(fd, name, AT_REMOVEDIR) == 0 || depth >= DIR_DEPTH_MAX)
		return true;
	child = dir_open(fd, name);
	if (child >= 0) {
		dir_each(child, dir_remove_below, &depth);
		(void)unlinkat(fd, name, AT_REMOVEDIR); /* the caller's own attempt tells */
	}
	return true;
}

int cgroup_dir_remove(int parent_fd, const char *name)
{
	size_t depth = 0;
	AUTO_CLOSE int fd = -1;

	if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno != EBUSY && errno != ENOTEMPTY)
		return -errno;
	fd = dir_open(parent_fd, name);
	if (fd < 0)
		return fd;
	dir_each(fd, dir_remove_below, &depth);
	return unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : -errno;
}

struct dir_cleaning {
	size_t tried;
	size_t removed;
};

static bool dir_clean_one(int parent_fd, const char *name, void *arg)
{
	struct dir_cleaning *c = arg;
	AUTO_CLOSE int fd = -1;
	int r;

	if (!str_starts(name, CGROUP_NAME_PREFIX))
		return true;
	fd = dir_open(parent_fd, name);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return true; /* alive, or gone */
	r = cgroup_dir_remove(parent_fd, name);
	for (int i = 0; r < 0 && i < DIR_CLEAN_TRIES; i++) {
		/* Somebody of that call lives still.  Who does not go now is for the next cleaner. */
		cgroup_dir_kill(fd);
		(void)poll(NULL, 0, 1);
		r = cgroup_dir_remove(parent_fd, name);
	}
	c->removed += r == 0;
	return ++c->tried < LIMIT_CGROUP_STALE;
}

void cgroup_dir_clean_one(int parent_fd, const char *name)
{
	struct dir_cleaning c = {0};

	(void)dir_clean_one(parent_fd, name, &c);
}

size_t cgroup_dir_clean(int parent_fd)
{
	struct dir_cleaning c = {0};

	dir_each(parent_fd, dir_clean_one, &c);
	return c.removed;
}
