/* SPDX-License-Identifier: Apache-2.0 */
/* See place.h. */
#include "workspace/snap/place.h"

#include "base/fd.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int snap_place_open(const char *path, struct snap_place *ret)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd < 0)
		return -errno;
	*ret = (struct snap_place){.root = fd, .dir = -1};
	return 0;
}

void snap_place_forget(struct snap_place *p)
{
	p->dir = fd_close(p->dir);
	free(p->parent);
	p->parent = NULL;
}

void snap_place_done(struct snap_place *p)
{
	snap_place_forget(p);
	p->root = fd_close(p->root);
}

int snap_place_parent(struct snap_place *p, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	AUTO_FREE char *parent = NULL;
	int fd;

	*ret_name = slash ? slash + 1 : *path ? path : ".";
	if (!slash)
		return p->root;
	if (p->parent && strlen(p->parent) == len && memcmp(p->parent, path, len) == 0)
		return p->dir;
	parent = strndup(path, len);
	if (!parent)
		return -ENOMEM;
	fd = path_open_beneath(p->root, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, PLACE_RESOLVE);
	if (fd < 0)
		return fd;
	snap_place_forget(p);
	p->dir = fd;
	p->parent = TAKE_PTR(parent);
	return fd;
}

int snap_place_stat(struct snap_place *p, const char *path, struct statx *ret)
{
	const char *name;
	int dir = snap_place_parent(p, path, &name);

	if (dir < 0)
		return dir;
	return statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		     STATX_BASIC_STATS | STATX_BTIME, ret) < 0
		       ? -errno
		       : 0;
}

int snap_place_open_name(struct snap_place *p, const char *path, int flags)
{
	const char *name;
	int dir = snap_place_parent(p, path, &name);

	if (dir < 0)
		return dir;
	return path_open_beneath(dir, name, flags | O_CLOEXEC, 0, PLACE_RESOLVE);
}
