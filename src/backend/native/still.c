/* SPDX-License-Identifier: Apache-2.0 */
/* See still.h. */
#include "backend/native/still.h"

#include "base/fd.h"
#include "base/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STILL_TRIES 24
#define STILL_STEP 4 /* so many tries, then the wait is doubled: half a second in all */
/* For those that were in the kernel, or waited for a processor, when the signal came. */
#define STILL_FIRST_MS 2
#define STILL_STAT 512 /* bytes of /proc/PID/stat: more than the name and the state */
#define STILL_NAMES 4096
#define STILL_PATH 64

/* As the kernel writes them. */
struct still_dirent {
	uint64_t ino;
	int64_t off;
	uint16_t len;
	uint8_t type;
	char name[];
};

typedef int (*still_fn)(const char *dir, const char *name, bool has_host_pids);

/* Calls fn for each name that is a number until one does not say 1. */
static int still_each(const char *dir, still_fn fn, bool has_host_pids)
{
	_Alignas(struct still_dirent) char names[STILL_NAMES];
	AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	if (fd < 0)
		return -errno;
	while ((n = syscall(SYS_getdents64, fd, names, sizeof(names))) > 0)
		for (long at = 0; at < n;) {
			const struct still_dirent *e = (const void *)(names + at);
			int r = e->name[0] >= '1' && e->name[0] <= '9'
					? fn(dir, e->name, has_host_pids)
					: 1;

			if (r != 1)
				return r;
			at += e->len;
		}
	return n < 0 ? -errno : 1;
}

/* One that has ended meanwhile is as still as can be. */
static int still_gone(int r)
{
	return r == -ENOENT || r == -ESRCH ? 1 : r;
}

static int still_thread(const char *dir, const char *name, bool has_host_pids)
{
	char path[STILL_PATH];
	char text[STILL_STAT];
	const char *state;
	AUTO_CLOSE int fd = -1;
	ssize_t n;

	(void)has_host_pids;
	(void)snprintf(path, sizeof(path), "%s/%s/stat", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return n == 0 ? 1 : still_gone(-errno);
	text[n] = '\0';
	/* The name before it may hold anything, the numbers behind it hold no bracket. */
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] && strchr("TtZX", state[2]) ? 1 : 0;
}

/* Without a pid namespace: somebody of the host, whom no signal of ours reaches? */
static bool still_is_other(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == EPERM;
}

static int still_process(const char *dir, const char *name, bool has_host_pids)
{
	char path[STILL_PATH];
	int64_t pid = 0;

	if (parse_int(name, 1, INT32_MAX, &pid) < 0)
		return -EINVAL;
	if (pid == getpid() || (has_host_pids && still_is_other((pid_t)pid)))
		return 1;
	(void)snprintf(path, sizeof(path), "%s/%s/task", dir, name);
	return still_gone(still_each(path, still_thread, has_host_pids));
}

int still_look(bool has_host_pids)
{
	return still_each("/proc", still_process, has_host_pids);
}

int still_stop(bool has_host_pids)
{
	/* After the last signal: what a fast timer continues is seen soon, and of a slow one who asks later. */
	int waits_ms[] = {STILL_FIRST_MS, 5, 20};
	int r = 0;

	for (int i = 0; i < STILL_TRIES && r == 0; i++) {
		waits_ms[0] = STILL_FIRST_MS << (i / STILL_STEP);
		/* ESRCH: there is nobody else.  On the host somebody is, whom it does not reach. */
		if (kill(-1, SIGSTOP) < 0)
			return errno == ESRCH ? 0 : -errno;
		r = still_look(has_host_pids);
		for (size_t j = 0; j < ARRAY_LEN(waits_ms) && r >= 0 && (r == 1 || j == 0); j++) {
			(void)poll(NULL, 0, waits_ms[j]);
			r = still_look(has_host_pids);
		}
	}
	if (r == 1)
		return 0;
	(void)kill(-1, SIGCONT); /* half of them stopped is of use to nobody */
	return r < 0 ? r : -EBUSY;
}
