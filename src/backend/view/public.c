/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts in which nobody owns a file.  A mount with other ids (mount_setattr(2), MOUNT_ATTR_IDMAP) does it in
 * one step, whatever is in the directory: every file on it belongs to an id that nobody has.  Two things
 * rest on that:
 *
 * Private files of /etc, for root.  The command keeps uid 0, so everything that root owns would be open to
 * it, capabilities or not; on such a mount only the rights of others count.  Looking for private files one
 * by one was rejected: it takes milliseconds, and a file that is made later would be open.
 *
 * Placeholders (overlay.c).  What has no owner can be neither removed, replaced, renamed, linked, written
 * nor given other attributes, by anybody.
 *
 * Such a mount takes its ids from a user namespace, and a namespace needs a process while it is opened.
 */
#include "backend/view/program.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDMAP_STACK_BYTES 8192

struct idmap_child {
	const struct view_maps *maps;
	int fd; /* of the namespace, or -errno */
};

static int idmap_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	(void)fd_close(fd);
	return r;
}

/* Runs in our memory and with our descriptors while we sleep; system calls only. */
static int idmap_main(void *arg)
{
	struct idmap_child *c = arg;
	int r = idmap_write("/proc/self/setgroups", "deny");

	if (r == 0)
		r = idmap_write("/proc/self/uid_map", c->maps->uid);
	if (r == 0)
		r = idmap_write("/proc/self/gid_map", c->maps->gid);
	c->fd = r < 0 ? r : open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	if (r == 0 && c->fd < 0)
		c->fd = -errno;
	return 0;
}

/* An id that no file has stands for ours: all others are nobody's.  Whoever makes the namespace may write
 * this map himself. */
void view_nobody_maps(struct view_maps *ret)
{
	(void)snprintf(ret->uid, sizeof(ret->uid), "4294967294 %u 1", geteuid());
	(void)snprintf(ret->gid, sizeof(ret->gid), "4294967294 %u 1", getegid());
}

int view_nobody_namespace(const struct view_maps *maps)
{
	_Alignas(16) __attribute__((uninitialized)) char stack[IDMAP_STACK_BYTES];
	struct idmap_child child = {.maps = maps, .fd = -ECHILD};
	sigset_t all;
	sigset_t old;
	int pidfd = -1;
	int r;

	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	r = pthread_sigmask(SIG_SETMASK, &all, &old);
	if (r != 0)
		return -r;
	r = clone(idmap_main, stack + sizeof(stack),
		  CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_NEWUSER | CLONE_PIDFD, &child,
		  &pidfd);
	if (r < 0)
		child.fd = -errno;
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL); /* a mask that was in force is valid */
	if (r < 0)
		return child.fd;
	/* It sends no signal when it ends (__WALL), so nobody else's wait() sees it. */
	while (waitid(P_PIDFD, (id_t)pidfd, &(siginfo_t){0}, WEXITED | __WALL) < 0)
		if (errno != EINTR)
			break;
	(void)fd_close(pidfd);
	return child.fd;
}

int view_disown(int tree, int nobody_ns)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_IDMAP | MOUNT_ATTR_RDONLY,
		.propagation = MS_PRIVATE,
		.userns_fd = (unsigned)nobody_ns,
	};

	return syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ? -errno
											    : 0;
}
