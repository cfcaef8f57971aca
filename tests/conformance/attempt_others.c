/* SPDX-License-Identifier: Apache-2.0 */
/* More of attempt.c: on processes of others, on what a file is besides its content, and on a filter by a second one. */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A number for who may be signalled without a question: queued, by thread, with a value. */
static int do_queue(void)
{
	siginfo_t info = {.si_signo = SIGKILL, .si_code = SI_QUEUE};

	if (syscall(SYS_rt_sigqueueinfo, number(), SIGKILL, &info) == 0)
		return 0;
	return (int)syscall(SYS_tgkill, number(), number(), SIGKILL);
}

/* The processors, priority and limits of somebody else's process. */
static int do_priority(void)
{
	return setpriority(PRIO_PROCESS, (id_t)number(), 15);
}

static int do_affinity(void)
{
	cpu_set_t one;

	if (sched_getaffinity(0, sizeof(one), &one) < 0)
		return -1;
	return sched_setaffinity(number(), sizeof(one), &one);
}

/* Flags of a file (append-only, never dumped) by a descriptor for reading: no path, no right to write is asked for. */
static int do_flags(void)
{
	int fd = open(argument, O_RDONLY | O_CLOEXEC);
	unsigned flags;

	if (fd < 0)
		return -1;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0) {
		errno = ENOSYS; /* a file system without them */
		return -1;
	}
	flags ^= FS_NODUMP_FL;
	return ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

/* A file without a name, which gets one. */
static int do_tmpfile(void)
{
	char path[64];
	int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, "x", 1) != 1)
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, AT_FDCWD, argument, AT_SYMLINK_FOLLOW);
}

/* A whiteout, by moving: it hides what an overlay has below it, for this call or a later one. */
static int do_whiteout(void)
{
	return renameat2(AT_FDCWD, argument, AT_FDCWD, "moved-here", RENAME_WHITEOUT);
}

static int do_overlay_mark(void)
{
	return setxattr(argument, "user.overlay.opaque", "y", 1, 0);
}

/* A set of capabilities on a file: whoever executes it outside has them. */
static int do_file_capability(void)
{
	static const unsigned char set[20] = {1, 0, 0, 2, 0xff, 0xff, 0xff, 0xff};
	int fd = open("powers", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	return fd < 0 ? -1 : fsetxattr(fd, "security.capability", set, sizeof(set), 0);
}

/* The path behind a socket, opened by the socket: past what hides it. */
static int do_socket_file(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(name.sun_path, sizeof(name.sun_path), "%s", argument);
	if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof(name)) < 0)
		return -1;
	return ioctl(fd, 0x89E0 /* SIOCUNIXFILE */) < 0 ? -1 : 0;
}

/* A filter of one's own that says yes to everything, and hears what the first one refuses. */
static int do_own_filter(void)
{
	struct sock_filter yes = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
	struct sock_fprog program = {.len = 1, .filter = &yes};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return -1;
	return do_fanotify();
}

const struct attempt attempts_on_others[] = {
	{"queue", do_queue},
	{"priority", do_priority},
	{"affinity", do_affinity},
	{"flags", do_flags},
	{"tmpfile", do_tmpfile},
	{"whiteout", do_whiteout},
	{"overlay-mark", do_overlay_mark},
	{"file-capability", do_file_capability},
	{"socket-file", do_socket_file},
	{"own-filter", do_own_filter},
	{0},
};
