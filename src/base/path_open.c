/* SPDX-License-Identifier: Apache-2.0 */
/* See path.h: what Linux's openat2() does; the rest of path.c runs everywhere. */
#include "base/path.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

static_assert(PATH_NO_SYMLINKS == RESOLVE_NO_SYMLINKS, "the same flag");

int path_open_beneath(int dirfd, const char *path, int flags, unsigned mode, uint64_t resolve_more)
{
	bool creates = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.mode = creates ? mode : 0, /* the kernel refuses a mode that has no use */
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve_more,
	};

	/* EAGAIN: a rename raced with the resolution; the kernel asks to try again. */
	for (int tries = 0; tries < 32; tries++) {
		long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -EAGAIN;
}
