/* SPDX-License-Identifier: Apache-2.0 */
/* See room.h. */
#include "backend/vm/room.h"

#include "backend/view/step.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROOM_LINK_MAX 64

/* Directories of the system in which programs and libraries are; links on most machines. */
static const char *const room_system[] = {"usr",   "bin",   "sbin", "lib",
					  "lib32", "lib64", "nix",  "gnu"};
static const char *const room_devices[] = {"dev/null", "dev/urandom", "dev/kvm"};

/* Mounts the host's /name at the same place, read-only unless it is a device. */
static int room_bind(int root, const char *name, bool is_device)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_NOSUID |
			    (is_device ? MOUNT_ATTR_NOEXEC : MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV),
	};
	char path[ROOM_LINK_MAX];
	AUTO_CLOSE int tree = -1;

	(void)snprintf(path, sizeof(path), "/%s", name);
	tree = (int)syscall(SYS_open_tree, AT_FDCWD, path,
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (is_device ? 0 : AT_RECURSIVE));
	if (tree < 0 ||
	    syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | (is_device ? 0 : AT_RECURSIVE),
		    &attr, sizeof(attr)) < 0 ||
	    syscall(SYS_move_mount, tree, "", root, name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}

static int room_system_dir(int root, const char *name)
{
	char path[ROOM_LINK_MAX];
	char target[ROOM_LINK_MAX];
	struct stat st;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/%s", name);
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISLNK(st.st_mode)) {
		n = readlink(path, target, sizeof(target) - 1);
		if (n <= 0)
			return n < 0 ? -errno : -EINVAL;
		target[n] = '\0';
		return symlinkat(target, root, name) < 0 ? -errno : 0;
	}
	return mkdirat(root, name, 0755) < 0 ? -errno
					     : room_bind(root, name, /* is_device= */ false);
}

static int room_device(int root, const char *name)
{
	int fd = openat(root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	(void)fd_close(fd);
	return room_bind(root, name, /* is_device= */ true);
}

int room_make(bool has_kvm, bool has_run, struct room *ret)
{
	static const char *const directories[] = {&ROOM_VIEW[1], &ROOM_RUN[1], "dev", "proc",
						  "host"};
	const struct view_step view = {
		.kind = VIEW_TMPFS,
		.path = &ROOM_VIEW[1],
		.mode = 0755,
		.source = VIEW_ROOT_SIZE,
		.attrs = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
		.fd = -1,
	};
	struct view_step run = view;
	struct view_cache cache = VIEW_CACHE_EMPTY;
	size_t n_devices = ARRAY_LEN(room_devices) - (has_kvm ? 0 : 1);
	int root = view_root_make();
	int r = root < 0 ? root : 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(directories); i++)
		r = mkdirat(root, directories[i], 0755) < 0 ? -errno : 0;
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(room_system); i++)
		r = room_system_dir(root, room_system[i]);
	for (size_t i = 0; r == 0 && i < n_devices; i++)
		r = room_device(root, room_devices[i]);
	if (r == 0)
		r = view_step_run(root, &view, &cache);
	run.path = &ROOM_RUN[1];
	run.mode = 0700;
	if (r == 0 && has_run)
		r = view_step_run(root, &run, &cache);
	if (r < 0)
		return r;
	ret->root = root;
	ret->view = openat(root, view.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ret->view < 0 ? -errno : 0;
}

int room_enter(const struct room *r)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};

	if (fchdir(r->root) < 0 || syscall(SYS_pivot_root, ".", "host") < 0 || chdir("/") < 0)
		return -errno;
	/* While the host's is still there: without one that is whole, no other may be mounted.  Read-only, because an
	 * emulator of root's could set the host's kernel through it. */
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, NULL) <
		    0 ||
	    umount2("/host", MNT_DETACH) < 0 ||
	    syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attr, sizeof(attr)) < 0)
		return -errno;
	return 0;
}
