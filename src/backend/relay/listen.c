/* SPDX-License-Identifier: Apache-2.0 */
/* The hatch itself: see relay.h. */
#include "backend/relay/relay.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

int hatch_listen(int dirfd, const char *name, mode_t mode, int *ret)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	/* By the descriptor: an address has room for a short path only. */
	int n = dirfd == AT_FDCWD ? snprintf(a.sun_path, sizeof(a.sun_path), "%s", name)
				  : snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s",
					     dirfd, name);

	if (fd < 0)
		return -errno;
	if (n < 0 || (size_t)n >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	if (bind(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return -errno;
	if (fchmodat(dirfd, name, mode, 0) < 0 || listen(fd, SOMAXCONN) < 0) {
		int r = -errno;

		(void)unlinkat(dirfd, name, 0);
		return r;
	}
	*ret = TAKE_FD(fd);
	return 0;
}
