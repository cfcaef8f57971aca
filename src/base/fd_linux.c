/* SPDX-License-Identifier: Apache-2.0 */
/* See fd.h: what Linux does with one call; fd_darwin.c is the other half. */
#include "base/fd.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int fd_pair(int ret[static 2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret) < 0 ? -errno : 0;
}

int fd_close_between(unsigned first, unsigned last)
{
	return syscall(SYS_close_range, first, last, 0) < 0 ? -errno : 0;
}
