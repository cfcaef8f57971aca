/* SPDX-License-Identifier: Apache-2.0 */
/* Into the new root, and away from the old one: the end of what step.h lists. */
#include "backend/view/step.h"

#include "base/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

int view_root_close(int root)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};

	if (fchmodat(root, VIEW_DIR, 0, 0) < 0 ||
	    syscall(SYS_mount_setattr, root, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return -errno;
	return 0;
}

/* What counts is where we are, not what was called. */
static int root_check(void)
{
	struct statfs fs;

	if (statfs("/", &fs) < 0)
		return -errno;
	return fs.f_type == TMPFS_MAGIC && fs.f_flags & ST_RDONLY ? 0 : -EXDEV;
}

int view_root_chroot(int root)
{
	int r = view_root_close(root);

	if (r < 0)
		return r;
	if (fchdir(root) < 0 || chroot(".") < 0 || chdir("/") < 0)
		return -errno;
	return root_check();
}

int view_root_enter(int root)
{
	return fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ? -errno : 0;
}

int view_root_leave_old(void)
{
	return (int)raw_call(SYS_umount2, ".", MNT_DETACH);
}

int view_root_finish(int root)
{
	int r = view_root_close(root);

	if (r < 0)
		return r;
	return chdir("/") < 0 ? -errno : root_check();
}
