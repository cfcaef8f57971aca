/* SPDX-License-Identifier: Apache-2.0 */
/* See fd.h: macOS's half of fd_linux.c. */
#include "base/darwin.h"
#include "base/fd.h"

#include <sys/stat.h>

#define DARWIN_FDS_MAX 65536 /* looked at one by one where the limit is "unlimited" */

int fd_pair(int ret[static 2])
{
	const int on = 1;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ret) < 0 || darwin_cloexec(ret) < 0)
		return -errno;
	if (setsockopt(ret[0], SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on)) == 0 &&
	    setsockopt(ret[1], SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on)) == 0)
		return 0;
	ret[0] = fd_close(ret[0]);
	ret[1] = fd_close(ret[1]);
	return -errno;
}

/* /dev/fd gives a copy there, which shares its flags; so only what has a name can be had. */
int fd_reopen(int fd, int flags)
{
	char name[PATH_MAX];
	struct stat st, again;
	int own;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISCHR(st.st_mode) || ttyname_r(fd, name, sizeof(name)) != 0)
		return -ENOTTY;
	own = open(name, flags | O_CLOEXEC);
	if (own < 0)
		return -errno;
	if (fstat(own, &again) == 0 && S_ISCHR(again.st_mode) && again.st_rdev == st.st_rdev)
		return own;
	(void)fd_close(own);
	return -ENOTTY;
}

int fd_chmod(int handle, unsigned mode)
{
	return fchmod(handle, (mode_t)mode) < 0 ? -errno : 0; /* a handle is a descriptor there */
}

static unsigned fd_end(void)
{
	int limit = getdtablesize();

	return limit < 0 || limit > DARWIN_FDS_MAX ? DARWIN_FDS_MAX : (unsigned)limit;
}

int fd_close_between(unsigned first, unsigned last)
{
	unsigned end = fd_end();

	for (unsigned fd = first; fd <= last && fd < end; fd++)
		(void)close((int)fd); /* most are none */
	return 0;
}

int fd_cloexec_between(unsigned first, unsigned last)
{
	unsigned end = fd_end();

	for (unsigned fd = first; fd <= last && fd < end; fd++)
		if (fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0 && errno != EBADF)
			return -errno;
	return 0;
}
