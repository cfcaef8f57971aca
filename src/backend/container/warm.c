/* SPDX-License-Identifier: Apache-2.0 */
/* See warm.h. */
#include "backend/container/warm.h"

#include "backend/container/call.h"
#include "backend/container/spec.h"
#include "backend/plan.h"
#include "backend/scratch.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/prune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define WARM_MOUNTINFO_MAX (4 * 1024 * 1024)
#define WARM_POINT_FIELD 4 /* of a line of mountinfo: where it is mounted */
#define WARM_NAME_MAX 96

/* A line of mountinfo counts if it stands below something that is mounted into the container, or above it: the engine
 * took what was mounted there, with its options, when it made the container, and sees nothing of what was mounted or
 * changed since. */
static bool warm_line_counts(char *line, const struct marks *marks)
{
	char *point = line;

	for (int i = 0; i < WARM_POINT_FIELD; i++) {
		point = strchr(point, ' ');
		if (!point)
			return true;
		point++;
	}
	point[strcspn(point, " ")] = '\0';
	if (path_unescape(point) < 0)
		return true;
	for (size_t i = 0; i < marks->n; i++)
		if (path_is_within(point, marks->v[i].target) ||
		    path_is_within(marks->v[i].target, point))
			return true;
	return false;
}

static int warm_add_mounts(struct sha256 *hash, const struct marks *marks)
{
	AUTO_CLOSE int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	AUTO_FREE char *text = NULL;
	size_t len;
	char *rest;
	int r = fd < 0 ? -errno : io_read_all(fd, WARM_MOUNTINFO_MAX, CLOCK_NEVER, &text, &len);

	for (char *line = text; r == 0 && *line; line = rest) {
		AUTO_FREE char *copy = NULL;

		rest = line + strcspn(line, "\n");
		if (*rest)
			*rest++ = '\0';
		copy = strdup(line);
		if (!copy)
			return -ENOMEM;
		if (warm_line_counts(copy, marks))
			sha256_add(hash, line, strlen(line) + 1);
	}
	return r;
}

/* What is behind a path now, links followed as the engine does; the change time tells a program of ours from its
 * successor in the same place. */
static void warm_add_file(struct sha256 *hash, const char *path)
{
	struct stat st;
	uint64_t is[4] = {0};

	if (stat(path, &st) == 0) {
		is[0] = st.st_dev;
		is[1] = st.st_ino;
		is[2] = (uint64_t)st.st_ctim.tv_sec;
		is[3] = (uint64_t)st.st_ctim.tv_nsec;
	}
	sha256_add(hash, is, sizeof(is));
}

/* The engine makes a node of the same number in the container. */
static void warm_add_devices(struct sha256 *hash, const struct plan *plan)
{
	for (size_t i = 0; i < plan->op_count; i++) {
		struct stat st;
		uint64_t is[4] = {0};

		if (plan->ops[i].kind != PLAN_OP_DEVICE)
			continue;
		if (stat(plan->ops[i].path, &st) == 0) {
			is[0] = st.st_dev;
			is[1] = st.st_ino;
			is[2] = st.st_rdev;
			is[3] = st.st_mode;
		}
		sha256_add(hash, is, sizeof(is));
	}
}

int warm_key(const struct buf *create, const char *socket, const struct plan *plan,
	     const struct marks *marks, const char *inside, struct warm_key *ret)
{
	uint8_t digest[SHA256_LEN];
	char hex[SHA256_HEX_LEN];
	struct sha256 hash;
	int r;

	sha256_init(&hash);
	sha256_add(&hash, create->data, create->len);
	sha256_add(&hash, socket, strlen(socket) + 1);
	warm_add_file(&hash, inside);
	for (const char *const *file = spec_unmarked; *file; file++)
		warm_add_file(&hash, *file);
	warm_add_devices(&hash, plan);
	r = warm_add_mounts(&hash, marks);
	if (r < 0)
		return r;
	sha256_finish(&hash, digest);
	sha256_to_hex(digest, hex);
	memcpy(ret->hex, hex, WARM_KEY_LEN - 1);
	ret->hex[WARM_KEY_LEN - 1] = '\0';
	return 0;
}

static bool warm_is_of(const char *name, const struct warm_key *key)
{
	char prefix[WARM_NAME_MAX];

	(void)snprintf(prefix, sizeof(prefix), SCRATCH_PREFIX "%s-", key->hex);
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Is it one of any key?  Other scratch directories have no word in their names. */
static bool warm_is_any(const char *name)
{
	const size_t len = strlen(SCRATCH_PREFIX);

	return strncmp(name, SCRATCH_PREFIX, len) == 0 &&
	       strspn(name + len, "0123456789abcdef") == WARM_KEY_LEN - 1 &&
	       name[len + WARM_KEY_LEN - 1] == '-';
}

static DIR *warm_open(const char *registry)
{
	int fd = open(registry, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		(void)fd_close(fd);
	return d;
}

size_t warm_count(const char *registry, const struct warm_key *key)
{
	DIR *d = warm_open(registry);
	const struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d)))
		n += key ? warm_is_of(e->d_name, key) : warm_is_any(e->d_name);
	if (d)
		(void)closedir(d);
	return n;
}

int warm_place(const char *registry, const struct warm_key *key, size_t limit, struct scratch *ret)
{
	/* One at a time, or two would count before either is there.  A registry that is not there yet is empty. */
	AUTO_CLOSE int turn = open(registry, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct scratch place;
	int r;

	if (turn >= 0 && flock(turn, LOCK_EX) < 0)
		return -errno;
	if (warm_count(registry, key) >= limit || warm_count(registry, NULL) >= WARM_TOTAL)
		return -EDQUOT;
	r = scratch_make_as(registry, key->hex, &place);
	if (r < 0)
		return r;
	/* Its first process takes the lock beside us before we let go. */
	if (flock(place.fd, LOCK_SH | LOCK_NB) < 0) {
		r = -errno;
		scratch_done(&place);
		return r;
	}
	*ret = place;
	return 0;
}

/* connect(), which waits while the queue of the other is full, and nobody has to take from that. */
static int warm_knock(int fd, const struct sockaddr_un *address)
{
	const struct timeval never = {0};
	const struct timeval soon = {.tv_sec = WARM_GREETING_MS / 1000,
				     .tv_usec = WARM_GREETING_MS % 1000 * 1000};

	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon)) < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return errno == EAGAIN ? -ECONNRESET : -errno;
	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &never, sizeof(never)) < 0 ? -errno : 0;
}

/* The connection to the one in this directory, and its process.  -errno: it is not there, not yet or no more. */
static int warm_connect(int dir, int *ret_pidfd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	AUTO_CLOSE int pidfd = -1;
	struct ucred who;
	socklen_t len = sizeof(who);
	char byte;
	int r;

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" CALL_SOCKET,
		       dir);
	r = fd < 0 ? -errno : warm_knock(fd, &address);
	if (r < 0)
		return r;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return -errno;
	if (who.uid != geteuid() || who.pid <= 0)
		return -EPERM;
	pidfd = (int)syscall(SYS_pidfd_open, who.pid, 0);
	if (pidfd < 0)
		return -errno;
	/* Only it has the other end: it lives, so the number was its own when we opened it. */
	if (io_read(fd, &byte, 1, clock_deadline(WARM_GREETING_MS)) != 1)
		return -ECONNRESET;
	*ret_pidfd = TAKE_FD(pidfd);
	return TAKE_FD(fd);
}

int warm_take(const char *registry, const struct warm_key *key, int *ret_pidfd)
{
	DIR *d = warm_open(registry);
	const struct dirent *e;
	int r = -ENOENT;

	while (r < 0 && d && (e = readdir(d))) {
		AUTO_CLOSE int dir = -1;
		struct stat st;

		if (!warm_is_of(e->d_name, key))
			continue;
		dir = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir < 0 || fstat(dir, &st) < 0 || st.st_uid != geteuid())
			continue;
		r = warm_connect(dir, ret_pidfd);
		/* Ours, another's, or one that does not answer: for nobody else.  What fails the next command does. */
		if (r >= 0 || r == -ECONNRESET)
			(void)prune_tree(dirfd(d), e->d_name);
	}
	if (d)
		(void)closedir(d);
	return r < 0 ? -ENOENT : r;
}

/* In the child: system calls only. */
_Noreturn static void warm_wait(int pidfd)
{
	struct pollfd p = {.fd = 0, .events = POLLIN};

	/* Without us nobody asks any more; the container ends with the call's socket. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || setsid() < 0 || dup2(pidfd, 0) < 0 ||
	    syscall(SYS_close_range, 1U, ~0U, 0) < 0)
		_exit(1);
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	_exit(0);
}

int warm_follow(int pidfd, struct proc *ret)
{
	int r = proc_clone(0, ret);

	if (r == 0)
		warm_wait(pidfd);
	return r < 0 ? r : 0;
}
