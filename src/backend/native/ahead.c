/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.  The helper is a process with our memory and our descriptors but namespaces of its
 * own; it makes raw system calls only, because errno is ours as well.  We and the helper take turns over one
 * word in memory (a futex):
 *
 *     helper: all namespaces but the pids', loopback up           MAKING → MADE
 *     we:     the ids of the new user namespace                   MADE → MAPPED
 *     helper: the namespace that takes owners away, the pids'     MAPPED → READY
 *     we:     the program of the call is compiled                 READY → GO
 *     helper: a copy of our process, in the namespaces            GO → BORN, and it ends
 *
 * The copy is a child of ours (CLONE_PARENT), and has the memory and the descriptors of the moment in which it
 * is born, as if we had cloned it ourselves.  Nothing of the call is decided before: a helper that is not
 * used is killed.  It also dies with us.  Who waits for a helper looks now and then whether it lives; if not,
 * the call goes the other way.
 */
#include "backend/native/ahead.h"

#include "base/fd.h"
#include "base/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define AHEAD_STACK_BYTES 32768
#define AHEAD_LOOK_MS 20    /* between looks whether the helper lives */
#define AHEAD_LOOKS_MAX 500 /* then it is given up */
#define AHEAD_SPINS                                                                                \
	2000 /* before it sleeps: a few dozen microseconds, less than to be woken takes */

enum ahead_state {
	AHEAD_NONE,
	AHEAD_MAKING,
	AHEAD_MADE,
	AHEAD_MAPPED,
	AHEAD_READY,
	AHEAD_GO,
	AHEAD_BORN,
	AHEAD_FAILED
};

static struct {
	_Atomic int state;
	struct proc helper;
	pid_t parent;
	struct view_maps maps;
	int nobody_ns; /* in the descriptors that we share, or -errno */
	struct native_child *child;
	int pidfd; /* of the process that was born */
	long pid;
} ahead = {.helper = PROC_NONE};

static void ahead_set(enum ahead_state state)
{
	atomic_store(&ahead.state, (int)state);
	(void)raw_call(SYS_futex, (long)&ahead.state, FUTEX_WAKE_PRIVATE, 1, 0);
}

/* In the helper: waits until we have had our turn. */
static int ahead_await(enum ahead_state state)
{
	for (int i = 0; i < AHEAD_SPINS && atomic_load(&ahead.state) == (int)state; i++)
#if defined(__x86_64__)
		__builtin_ia32_pause();
#else
		;
#endif
	while (atomic_load(&ahead.state) == (int)state)
		(void)raw_call(SYS_futex, (long)&ahead.state, FUTEX_WAIT_PRIVATE, (long)state, 0);
	return atomic_load(&ahead.state);
}

_Noreturn static void ahead_exit(void)
{
	for (;;)
		(void)raw_call(SYS_exit_group, 0, 0, 0, 0);
}

static long ahead_write(const char *path, const char *text)
{
	long fd = raw_call(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CLOEXEC, 0);
	long r;

	if (fd < 0)
		return fd;
	r = raw_call(SYS_write, fd, (long)text, (long)strlen(text), 0);
	(void)raw_call(SYS_close, fd, 0, 0, 0);
	return r;
}

static int ahead_nobody_main(void *arg)
{
	long r = raw_call(SYS_unshare, CLONE_NEWUSER, 0, 0, 0);

	(void)arg;
	if (r >= 0)
		r = ahead_write("/proc/self/setgroups", "deny");
	if (r >= 0)
		r = ahead_write("/proc/self/uid_map", ahead.maps.uid);
	if (r >= 0)
		r = ahead_write("/proc/self/gid_map", ahead.maps.gid);
	if (r >= 0)
		r = raw_call(SYS_openat, AT_FDCWD, (long)"/proc/self/ns/user", O_RDONLY | O_CLOEXEC,
			     0);
	ahead.nobody_ns = (int)r;
	ahead_exit();
}

/* view_nobody_namespace() for here: clone() touches errno only when it fails, and like this it needs nothing
 * but memory. */
static void ahead_nobody(void)
{
	_Alignas(16) static char stack[AHEAD_STACK_BYTES];
	int pid = clone(ahead_nobody_main, stack + sizeof(stack),
			CLONE_VM | CLONE_VFORK | CLONE_FILES, NULL);

	if (pid < 0)
		ahead.nobody_ns = -ENOMEM;
	else
		(void)raw_call(SYS_wait4, pid, 0, __WALL, 0);
}

/* The process that a call is in, or nothing. */
static void ahead_bear(void)
{
	struct clone_args args = {
		.flags = CLONE_PARENT | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
		.pidfd = (uint64_t)(uintptr_t)&ahead.pidfd,
	};

	ahead.pid = raw_call(SYS_clone3, (long)&args, sizeof(args), 0, 0);
	if (ahead.pid == 0)
		native_child_main(ahead.child);
	ahead_set(ahead.pid > 0 ? AHEAD_BORN : AHEAD_FAILED);
}

static int ahead_main(void *arg)
{
	long r = raw_call(SYS_unshare,
			  CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS |
				  CLONE_NEWCGROUP | CLONE_NEWNET,
			  0, 0, 0);

	(void)arg;
	/* After it: new credentials clear it. */
	if (r == 0)
		r = raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
	if (r == 0 && raw_call(SYS_getppid, 0, 0, 0, 0) != ahead.parent)
		ahead_exit(); /* it was gone before */
	if (r == 0)
		r = native_host(/* has_network= */ true);
	ahead_set(r < 0 ? AHEAD_FAILED : AHEAD_MADE);
	if (r < 0 || ahead_await(AHEAD_MADE) != AHEAD_MAPPED)
		ahead_exit();
	ahead_nobody();
	r = raw_call(SYS_unshare, CLONE_NEWPID, 0, 0, 0);
	ahead_set(r < 0 ? AHEAD_FAILED : AHEAD_READY);
	if (r == 0 && ahead_await(AHEAD_READY) == AHEAD_GO)
		ahead_bear();
	ahead_exit();
}

void native_ahead_start(void)
{
	_Alignas(16) static char stack[AHEAD_STACK_BYTES];
	sigset_t all;
	sigset_t old;

	if (atomic_load(&ahead.state) != AHEAD_NONE)
		return;
	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
		return;
	ahead.parent = getpid();
	view_nobody_maps(&ahead.maps);
	ahead.nobody_ns = -1;
	atomic_store(&ahead.state, AHEAD_MAKING);
	ahead.helper.pid = clone(ahead_main, stack + sizeof(stack),
				 CLONE_VM | CLONE_FILES | CLONE_PIDFD | SIGCHLD, NULL,
				 &ahead.helper.pidfd);
	if (ahead.helper.pid < 0)
		ahead.helper = PROC_NONE, atomic_store(&ahead.state, AHEAD_FAILED);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL); /* a mask that was in force is valid */
}

static void ahead_reap(void)
{
	while (ahead.helper.pidfd >= 0 &&
	       waitid(P_PIDFD, (id_t)ahead.helper.pidfd, &(siginfo_t){0}, WEXITED) < 0)
		if (errno != EINTR)
			break;
	proc_done(&ahead.helper);
}

void native_ahead_cancel(void)
{
	if (ahead.helper.pidfd < 0)
		return;
	(void)!proc_signal(&ahead.helper, SIGKILL);
	ahead_reap();
	ahead.nobody_ns = fd_close(ahead.nobody_ns);
	atomic_store(&ahead.state, AHEAD_FAILED);
}

/* Waits for one of our turns.  Is it that one? */
static bool ahead_reaches(enum ahead_state wanted)
{
	for (int looks = 0; looks < AHEAD_LOOKS_MAX;) {
		const struct timespec pause = {.tv_nsec = AHEAD_LOOK_MS * 1000000L};
		int now = atomic_load(&ahead.state);
		siginfo_t info = {0};
		long r;

		if (now >= (int)wanted)
			return now == (int)wanted;
		r = raw_call(SYS_futex, (long)&ahead.state, FUTEX_WAIT_PRIVATE, now, (long)&pause);
		if (r != -ETIMEDOUT)
			continue;
		looks++;
		if (waitid(P_PIDFD, (id_t)ahead.helper.pidfd, &info, WEXITED | WNOHANG | WNOWAIT) <
			    0 ||
		    info.si_pid != 0)
			return false;
	}
	return false;
}

bool native_ahead_fits(const struct plan *plan)
{
	return ahead.helper.pidfd >= 0 && !plan->cgroup && plan->net == PLAN_NET_NONE;
}

static int ahead_map(int (*map)(pid_t pid))
{
	int r = map(ahead.helper.pid);

	if (r == 0)
		ahead_set(AHEAD_MAPPED);
	return r;
}

void native_ahead_map(const struct plan *plan, int (*map)(pid_t pid))
{
	if (native_ahead_fits(plan) && atomic_load(&ahead.state) == AHEAD_MADE &&
	    ahead_map(map) < 0)
		native_ahead_cancel();
}

int native_ahead_nobody(void)
{
	if (ahead.helper.pidfd < 0 || atomic_load(&ahead.state) < AHEAD_MAPPED ||
	    !ahead_reaches(AHEAD_READY) || ahead.nobody_ns < 0)
		return -ECHILD;
	return fd_dup(ahead.nobody_ns, 3);
}

int native_ahead_clone(struct native_child *c, int (*map)(pid_t pid), struct proc *ret)
{
	int r = 0;

	if (atomic_load(&ahead.state) < AHEAD_MAPPED)
		r = ahead_reaches(AHEAD_MADE) ? ahead_map(map) : -ECHILD;
	if (r == 0)
		r = ahead_reaches(AHEAD_READY) ? 0 : -ECHILD;
	if (r == 0) {
		c->cache.nobody_ns = ahead.nobody_ns;
		c->is_mapped = true;
		ahead.child = c;
		ahead_set(AHEAD_GO);
		r = ahead_reaches(AHEAD_BORN) ? 0 : -ECHILD;
	}
	if (r < 0) {
		native_ahead_cancel();
		return r;
	}
	*ret = (struct proc){.pid = (pid_t)ahead.pid, .pidfd = ahead.pidfd};
	ahead_reap();
	ahead.nobody_ns = fd_close(ahead.nobody_ns);
	return 0;
}
