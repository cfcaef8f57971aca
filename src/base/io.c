/* SPDX-License-Identifier: Apache-2.0 */
/* See io.h. */
#include "base/io.h"

#include "base/darwin.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Waits until fd is ready.  0, -ETIMEDOUT or -errno. */
static int io_wait(int fd, short events, int64_t deadline_ms)
{
	if (fd < 0)
		return -EBADF; /* poll() would ignore it and wait */
	for (;;) {
		struct pollfd p = {.fd = fd, .events = events};
		int n = poll(&p, 1, clock_poll_timeout(deadline_ms));

		if (n > 0)
			return p.revents & POLLNVAL ? -EBADF : 0;
		if (n == 0 && deadline_ms != CLOCK_NEVER && clock_ms() >= deadline_ms)
			return -ETIMEDOUT;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

/* A peer that always has a little more must not stretch the deadline. */
static bool io_is_late(int64_t deadline_ms)
{
	return deadline_ms != CLOCK_NEVER && clock_ms() >= deadline_ms;
}

ssize_t io_read(int fd, void *dst, size_t max, int64_t deadline_ms)
{
	size_t used = 0;

	while (used < max) {
		ssize_t n;

		if (deadline_ms != CLOCK_NEVER) {
			int r = io_wait(fd, POLLIN, deadline_ms);

			if (r < 0)
				return r;
		}
		n = read(fd, (char *)dst + used, max - used);
		if (n == 0)
			break;
		if (n > 0) {
			used += (size_t)n;
			if (used < max && io_is_late(deadline_ms))
				return -ETIMEDOUT;
			continue;
		}
		if (errno == EAGAIN) {
			int r = io_wait(fd, POLLIN, deadline_ms);

			if (r < 0)
				return r;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return (ssize_t)used;
}

int io_write(int fd, const void *src, size_t len, int64_t deadline_ms)
{
	const char *p = src;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n >= 0) {
			p += n;
			len -= (size_t)n;
			if (len > 0 && io_is_late(deadline_ms))
				return -ETIMEDOUT;
		} else if (errno == EAGAIN) {
			int r = io_wait(fd, POLLOUT, deadline_ms);

			if (r < 0)
				return r;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

int io_read_all(int fd, size_t max, int64_t deadline_ms, char **ret_data, size_t *ret_len)
{
	struct buf b = BUF_INIT(max);
	char chunk[16384] __attribute__((uninitialized));
	int r;

	for (;;) {
		ssize_t n = io_read(fd, chunk, sizeof(chunk), deadline_ms);

		if (n < 0) {
			buf_done(&b);
			return (int)n;
		}
		if (n == 0)
			break;
		buf_add(&b, chunk, (size_t)n);
		if (!b.error && (size_t)n < sizeof(chunk))
			break; /* io_read() has seen the end */
		if (b.error) {
			r = b.error == -E2BIG ? -EFBIG : b.error;
			buf_done(&b);
			return r;
		}
	}
	r = buf_take(&b, ret_data, ret_len);
	buf_done(&b);
	return r;
}

int io_read_file_at(int dirfd, const char *path, size_t max, char **ret_data, size_t *ret_len)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;

	/* O_NONBLOCK so that a FIFO with no writer does not hang before fstat() refuses it. */
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size > 0 && (uintmax_t)st.st_size > max)
		return -EFBIG;
	/* Not st_size bytes: files of /proc say 0, those of /sys 4096, and any may grow meanwhile. */
	return io_read_all(fd, max, CLOCK_NEVER, ret_data, ret_len);
}

static int io_put_file_at(int dirfd, const char *path, const void *data, size_t len, mode_t mode,
			  bool is_durable)
{
	AUTO_CLOSE int fd = -1;
	char temp[4096 + 32];
	uint64_t salt = 0;
	int r;

	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		return -EIO;
	r = snprintf(temp, sizeof(temp), "%s.%016llx", path, (unsigned long long)salt);
	if (r < 0 || (size_t)r >= sizeof(temp))
		return -ENAMETOOLONG;
	fd = openat(dirfd, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return -errno;
	r = io_write(fd, data, len, CLOCK_NEVER);
	if (r == 0 && is_durable && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && renameat(dirfd, temp, dirfd, path) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dirfd, temp, 0); /* best effort: the error that matters is r */
	return r;
}

int io_write_file_at(int dirfd, const char *path, const void *data, size_t len, mode_t mode)
{
	return io_put_file_at(dirfd, path, data, len, mode, /* is_durable= */ true);
}

int io_swap_file_at(int dirfd, const char *path, const void *data, size_t len, mode_t mode)
{
	return io_put_file_at(dirfd, path, data, len, mode, /* is_durable= */ false);
}
