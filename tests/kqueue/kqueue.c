/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The little of kqueue that our macOS halves use, made of Linux's descriptors, so that they can be run here.  A queue is a
 * signalfd, whose set grows with each signal that is added; one that is to wait for a process becomes that one's pidfd.  So it
 * can be polled and closed like a queue.  As on macOS a signal that is told of stays pending, and a process that has
 * ended before it is added is not found.  A call that is none of these fails.
 */
#include <libproc.h>
#include <sys/event.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUEUES_MAX 1024

static sigset_t queue_sets[QUEUES_MAX];

static int queue_fail(int error)
{
	errno = error;
	return -1;
}

int kqueue(void)
{
	sigset_t none;
	int fd;

	(void)sigemptyset(&none);
	fd = signalfd(-1, &none, 0);
	if (fd >= QUEUES_MAX) {
		(void)close(fd);
		return queue_fail(EMFILE);
	}
	if (fd >= 0)
		queue_sets[fd] = none;
	return fd;
}

/* The queue becomes what fd is. */
static int queue_become(int queue, int fd)
{
	int flags = fcntl(queue, F_GETFD);
	int r;

	if (fd < 0)
		return -1;
	r = dup3(fd, queue, flags & FD_CLOEXEC ? O_CLOEXEC : 0);
	(void)close(fd);
	return r < 0 ? -1 : 0;
}

static int queue_add_process(int queue, pid_t pid)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == pid)
		return queue_fail(ESRCH);
	return queue_become(queue, (int)syscall(SYS_pidfd_open, pid, 0));
}

static int queue_change(int queue, const struct kevent *change)
{
	if (!(change->flags & EV_ADD))
		return queue_fail(EINVAL);
	if (change->filter == EVFILT_PROC && change->fflags == NOTE_EXIT)
		return queue_add_process(queue, (pid_t)change->ident);
	if (change->filter == EVFILT_USER && change->fflags == NOTE_TRIGGER)
		return queue_become(queue, eventfd(1, 0));
	if (change->filter != EVFILT_SIGNAL ||
	    sigaddset(&queue_sets[queue], (int)change->ident) < 0)
		return queue_fail(EINVAL);
	return signalfd(queue, &queue_sets[queue], 0) < 0 ? -1 : 0;
}

int kevent(int queue, const struct kevent *changes, int n_changes, struct kevent *events,
	   int n_events, const struct timespec *timeout)
{
	sigset_t pending;
	int n = 0;

	if (queue < 0 || queue >= QUEUES_MAX)
		return queue_fail(EBADF);
	for (int i = 0; i < n_changes; i++)
		if (queue_change(queue, &changes[i]) < 0)
			return -1;
	if (n_events == 0)
		return 0;
	/* Nobody waits in here. */
	if (!timeout || timeout->tv_sec != 0 || timeout->tv_nsec != 0 || sigpending(&pending) < 0)
		return queue_fail(EINVAL);
	for (int sig = 1; n < n_events && sig < NSIG; sig++)
		if (sigismember(&queue_sets[queue], sig) == 1 && sigismember(&pending, sig) == 1)
			EV_SET(&events[n++], (uintptr_t)sig, EVFILT_SIGNAL, EV_ADD, 0, 1, NULL);
	return n;
}

int proc_pidpath(int pid, void *buffer, uint32_t size)
{
	ssize_t n = pid == getpid() ? readlink("/proc/self/exe", buffer, size) : -1;

	if (n < 0 || n >= (ssize_t)size)
		return 0;
	((char *)buffer)[n] = '\0';
	return (int)n;
}
