/* SPDX-License-Identifier: Apache-2.0 */
/* See proc.h. */
#include "base/proc.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* more: flags that need more than flags, given by our own callers. */
static int proc_clone3(uint64_t flags, uint64_t more, int cgroup_fd, struct proc *ret)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = flags | more | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
	};
	long pid;

	if (more & CLONE_INTO_CGROUP)
		args.cgroup = (unsigned)cgroup_fd; /* never negative */
	/* Shared memory needs a stack of its own, and these flags fields that are not filled in here. */
	if (flags & (CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_SETTLS | CLONE_PARENT_SETTID |
		     CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_INTO_CGROUP))
		return -EINVAL;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	/* Filters around us that cannot look into a structure (Docker's, our own) say that there is no
	 * clone3().  The old call does the same, but for the group. */
	if (pid < 0 && errno == ENOSYS && !(more & CLONE_INTO_CGROUP))
		pid = syscall(SYS_clone, (unsigned long)(flags | CLONE_PIDFD | SIGCHLD), 0UL,
			      &pidfd, 0UL, 0UL);
	if (pid < 0)
		return -errno;
	if (pid == 0)
		return 0;
	*ret = (struct proc){.pid = (pid_t)pid, .pidfd = pidfd};
	return (int)pid;
}

int proc_clone(uint64_t flags, struct proc *ret)
{
	return proc_clone3(flags, /* more= */ 0, /* cgroup_fd= */ -1, ret);
}

int proc_clone_into(uint64_t flags, int cgroup_fd, struct proc *ret)
{
	if (cgroup_fd < 0)
		return -EBADF;
	return proc_clone3(flags, CLONE_INTO_CGROUP, cgroup_fd, ret);
}

/* Fields of /proc/self/stat, numbered from 1 as in proc(5). */
enum proc_stat {
	PROC_STAT_STATE = 3, /* the first behind the name, which may hold anything */
	PROC_STAT_START_CODE = 26,
	PROC_STAT_END_CODE = 27,
	PROC_STAT_START_STACK = 28,
	PROC_STAT_START_DATA = 45,
	PROC_STAT_END_DATA = 46,
	PROC_STAT_START_BRK = 47,
	PROC_STAT_ARG_START = 48,
	PROC_STAT_COUNT
};

static int proc_read_stat(uint64_t ret[PROC_STAT_COUNT])
{
	char text[1024] = "";
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	int r = n < 0 ? -errno : 0;
	const char *p;

	(void)fd_close(fd);
	p = r == 0 ? strrchr(text, ')') : NULL;
	for (int i = PROC_STAT_STATE; p && i < PROC_STAT_COUNT; i++) {
		p = strchr(p + 1, ' ');
		ret[i] = 0;
		for (const char *c = p ? p + 1 : ""; *c >= '0' && *c <= '9'; c++)
			ret[i] = ret[i] * 10 + (uint64_t)(*c - '0');
	}
	return r < 0 ? r : p && ret[PROC_STAT_ARG_START] ? 0 : -EIO;
}

/* The only way without a capability is to give the kernel the whole map anew; all but the words is as it was. */
int proc_hide_words(void)
{
	uint64_t stat[PROC_STAT_COUNT] = {0};
	struct prctl_mm_map map;
	int r = proc_read_stat(stat);

	if (r < 0)
		return r;
	map = (struct prctl_mm_map){
		.start_code = stat[PROC_STAT_START_CODE],
		.end_code = stat[PROC_STAT_END_CODE],
		.start_data = stat[PROC_STAT_START_DATA],
		.end_data = stat[PROC_STAT_END_DATA],
		.start_brk = stat[PROC_STAT_START_BRK],
		.brk = (uint64_t)syscall(SYS_brk, 0),
		.start_stack = stat[PROC_STAT_START_STACK],
		.arg_start = stat[PROC_STAT_ARG_START],
		.arg_end = stat[PROC_STAT_ARG_START],
		.env_start = stat[PROC_STAT_ARG_START],
		.env_end = stat[PROC_STAT_ARG_START],
		.exe_fd = ~0U,
	};
	return prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0) < 0 ? -errno : 0;
}

int proc_tie(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

int proc_signal(const struct proc *p, int sig)
{
	if (p->pidfd < 0)
		return -ESRCH;
	return syscall(SYS_pidfd_send_signal, p->pidfd, sig, NULL, 0) < 0 ? -errno : 0;
}

int proc_reap(struct proc *p, struct proc_exit *ret)
{
	struct proc_exit e = {.code = -1};
	siginfo_t info = {0};

	if (p->pidfd < 0)
		return -ECHILD;
	/* The system call, not the libc function: it also returns the resource usage. */
	while (syscall(SYS_waitid, P_PIDFD, p->pidfd, &info, WEXITED | WNOHANG, &e.usage) < 0)
		if (errno != EINTR)
			return -errno;
	if (info.si_pid == 0)
		return 0;
	if (info.si_code == CLD_EXITED)
		e.code = info.si_status;
	else
		e.signal = info.si_status;
	*ret = e;
	proc_done(p);
	return 1;
}

void proc_done(struct proc *p)
{
	p->pidfd = fd_close(p->pidfd);
	p->pid = -1;
}

int proc_exe(char *ret, size_t size)
{
	struct stat now, named;
	ssize_t n = readlink("/proc/self/exe", ret, size);

	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -ENAMETOOLONG;
	ret[n] = '\0';
	/* The kernel appends " (deleted)", which could be a name too: what counts is the file. */
	if (stat("/proc/self/exe", &now) < 0 || stat(ret, &named) < 0)
		return -errno;
	return now.st_dev == named.st_dev && now.st_ino == named.st_ino ? 0 : -ENOENT;
}
