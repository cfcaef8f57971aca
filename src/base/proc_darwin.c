/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See proc.h: macOS's half.  It has no pidfd; a kqueue that waits for the end of the process can be polled as one.  A
 * number is not given to another process before this one is reaped, and only proc_reap() does that: so a signal by
 * number reaches the right one.
 */
#include "base/proc.h"

#include "base/darwin.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <signal.h>
#include <sys/event.h>
#include <sys/wait.h>
#include <unistd.h>

int proc_clone(uint64_t flags, struct proc *ret)
{
	AUTO_CLOSE int queue = -1;
	struct kevent end;
	pid_t pid;

	if (flags != 0)
		return -EINVAL; /* there are no namespaces */
	queue = kqueue();
	if (queue < 0 || fcntl(queue, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		return 0; /* a kqueue is not inherited */
	EV_SET(&end, (uintptr_t)pid, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
	/* ESRCH: it has ended already, and nobody will be told; what it left can be reaped at once. */
	if (kevent(queue, &end, 1, NULL, 0, NULL) < 0) {
		EV_SET(&end, 0, EVFILT_USER, EV_ADD, NOTE_TRIGGER, 0, NULL);
		if (errno != ESRCH || kevent(queue, &end, 1, NULL, 0, NULL) < 0) {
			int error = errno;

			(void)kill(pid, SIGKILL);
			while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
				;
			return -error;
		}
	}
	*ret = (struct proc){.pid = pid, .pidfd = TAKE_FD(queue)};
	return pid;
}

/* There is no signal for that here: only one that is gone already is seen. */
int proc_tie(pid_t parent)
{
	return getppid() == parent ? 0 : -ESRCH;
}

int proc_signal(const struct proc *p, int sig)
{
	if (p->pidfd < 0)
		return -ESRCH;
	return kill(p->pid, sig) < 0 ? -errno : 0;
}

int proc_reap(struct proc *p, struct proc_exit *ret)
{
	struct proc_exit e = {.code = -1};
	int status;
	pid_t r;

	if (p->pidfd < 0)
		return -ECHILD;
	do
		r = wait4(p->pid, &status, WNOHANG, &e.usage);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return r < 0 ? -errno : 0;
	e.usage.ru_maxrss /= DARWIN_MAXRSS_PER_KB;
	if (WIFEXITED(status))
		e.code = WEXITSTATUS(status);
	else
		e.signal = WTERMSIG(status);
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
	int n = proc_pidpath(getpid(), ret, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size);

	if (n <= 0)
		return errno ? -errno : -ENOENT;
	return access(ret, F_OK) < 0 ? -errno : 0;
}
