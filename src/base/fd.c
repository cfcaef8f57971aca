/* SPDX-License-Identifier: Apache-2.0 */
/* See fd.h. */
#include "base/fd.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

int fd_close(int fd)
{
	int saved = errno;

	if (fd >= 0)
		(void)close(
			fd); /* EINTR still closes on Linux; nothing can be done about EIO here */
	errno = saved;
	return -1;
}

int fd_dup(int fd, int min_fd)
{
	int r = fcntl(fd, F_DUPFD_CLOEXEC, min_fd);

	return r < 0 ? -errno : r;
}

#define FLOCK_PAUSE_FIRST_US 20
#define FLOCK_PAUSE_MAX_US 2000

/*
 * flock() has no deadline, and a timer's signal would meddle with the caller's, so a busy lock is tried
 * again after growing pauses.  Our locks are held for some microseconds; the wait ends by the clock.
 */
int fd_flock(int fd, int operation, int64_t deadline_ms)
{
	int64_t pause_us = FLOCK_PAUSE_FIRST_US;

	while (flock(fd, operation | LOCK_NB) < 0) {
		struct timespec ts = {0};

		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (clock_ms() >= deadline_ms)
			return -ETIMEDOUT;
		/* The low bits of the clock keep those who wait out of step. */
		ts.tv_nsec = (pause_us + clock_ns() % pause_us) * 1000;
		(void)nanosleep(&ts, NULL); /* cut short by a signal: tried a little earlier */
		if (pause_us < FLOCK_PAUSE_MAX_US / 2)
			pause_us *= 2;
	}
	return 0;
}

int fd_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

int fd_fill_stdio(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		int null_fd;

		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* Lower numbers are all open, so open() returns exactly fd. */
		null_fd = open("/dev/null",
			       fd == 0 ? O_RDONLY : O_WRONLY); /* stays open for the child */
		if (null_fd < 0)
			return -errno;
		if (null_fd != fd) {
			(void)fd_close(null_fd);
			return -EBADF;
		}
	}
	return 0;
}
