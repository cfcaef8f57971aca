/* SPDX-License-Identifier: Apache-2.0 */
/* See path.h: macOS has no openat2(), so each component is opened by itself and none may be a link: that is more than is asked
 * for, never less. */
#include "base/path.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

int path_open_beneath(int dirfd, const char *path, int flags, unsigned mode, uint64_t resolve_more)
{
	AUTO_CLOSE int at = -1;
	const char *rest = path;

	if (resolve_more & ~(uint64_t)PATH_NO_SYMLINKS)
		return -EINVAL;
	if (path[0] == '/')
		return -EXDEV;
	for (;;) {
		char name[NAME_MAX + 1];
		size_t len = strcspn(rest, "/");
		const char *next = rest + len + strspn(rest + len, "/");
		int fd;

		if (len == 0 || len > NAME_MAX)
			return len ? -ENAMETOOLONG : -ENOENT;
		memcpy(name, rest, len);
		name[len] = '\0';
		if (strcmp(name, "..") == 0)
			return -EXDEV;
		if (!*next)
			fd = openat(at < 0 ? dirfd : at, name, flags | O_NOFOLLOW | O_CLOEXEC,
				    (mode_t)mode);
		else
			fd = openat(at < 0 ? dirfd : at, name,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || !*next)
			return fd < 0 ? -errno : fd;
		(void)fd_close(at);
		at = fd;
		rest = next;
	}
}
