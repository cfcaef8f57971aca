/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private files of /etc, for root.  The command keeps uid 0, so everything that root owns would be open to
 * it, capabilities or not.  A mount with other ids (mount_setattr(2), MOUNT_ATTR_IDMAP) ends that in one
 * step, whatever is in the directory: every file on it belongs to an id that nobody has, so only the
 * rights of others count.  Looking for private files one by one was rejected: it takes milliseconds, and a
 * file that is made later would be open.
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
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDMAP_STACK_BYTES 8192
/* An id that no file has stands for ours: all others are nobody's.  Whoever makes the namespace may write
 * this map himself. */
#define IDMAP_TEXT "4294967294 0 1"

struct idmap_child {
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
		r = idmap_write("/proc/self/uid_map", IDMAP_TEXT);
	if (r == 0)
		r = idmap_write("/proc/self/gid_map", IDMAP_TEXT);
	c->fd = r < 0 ? r : open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	if (r == 0 && c->fd < 0)
		c->fd = -errno;
	_exit(0);
}

/* A user namespace with the map. */
static int idmap_namespace(void)
{
	_Alignas(16) __attribute__((uninitialized)) char stack[IDMAP_STACK_BYTES];
	struct idmap_child child = {.fd = -ECHILD};
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

int view_public_tree(const char *path)
{
	AUTO_CLOSE int tree =
		(int)syscall(SYS_open_tree, AT_FDCWD, path,
			     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
	AUTO_CLOSE int ns = -1;
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP | MOUNT_ATTR_RDONLY,
				  .propagation = MS_PRIVATE};

	if (tree < 0)
		return -errno;
	ns = idmap_namespace();
	if (ns < 0)
		return ns;
	attr.userns_fd = (unsigned)ns;
	if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return -errno;
	return TAKE_FD(tree);
}
