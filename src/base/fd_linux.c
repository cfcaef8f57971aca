/* SPDX-License-Identifier: Apache-2.0 */
/* See fd.h: what Linux does with one call; fd_darwin.c is the other half. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

int fd_pair(int ret[static 2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret) < 0 ? -errno : 0;
}

int fd_reopen(int fd, int flags)
{
	char name[sizeof("/proc/self/fd/") + 3 * sizeof(fd)];
	int own;

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd); /* large enough for any int */
	own = open(name, flags | O_CLOEXEC);
	return own < 0 ? -errno : own;
}

int fd_chmod(int handle, unsigned mode)
{
	char name[sizeof("/proc/self/fd/") + 3 * sizeof(handle)];

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", handle); /* large enough */
	return chmod(name, mode) < 0 ? -errno : 0;
}

int fd_close_between(unsigned first, unsigned last)
{
	return syscall(SYS_close_range, first, last, 0) < 0 ? -errno : 0;
}

int fd_cloexec_between(unsigned first, unsigned last)
{
	return syscall(SYS_close_range, first, last, CLOSE_RANGE_CLOEXEC) < 0 ? -errno : 0;
}
