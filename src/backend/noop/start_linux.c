/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.  The command is started the way posix_spawn() does it: clone() with CLONE_VM and
 * CLONE_VFORK.  No page table is copied, and we sleep until the child has executed the command or
 * given up, so a failure comes back through shared memory instead of a pipe.
 *
 * The price is that the child runs in our memory.  It is safe because (1) it has a stack of its own,
 * (2) all signals are blocked from before the clone until the child has put every handler of ours back
 * to the default, so none of our handlers ever runs there, (3) it makes system calls only, without
 * allocation or stdio, and (4) it writes nothing but its own struct noop_child.  Descriptors,
 * directory and signal dispositions are copies and can be changed freely.
 *
 * With limits the command has a control group.  Where that is of version 2 the child is born in it by clone3(),
 * which saves the 10 ms of entering it; clone3() with shared memory needs assembly for the stack, so this
 * child is a copy, and what it tells comes through a shared page.
 */
#include "backend/noop/start.h"

#include "backend/cgroup/cgroup.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Measured: 600 bytes, 2.1 KiB when libc is bound lazily, 3.6 KiB under sanitizers.  Not more than needed
 * because each page of it is touched (stack clash protection) and so costs a page fault. */
#define START_STACK_BYTES 8192

static int start_main(void *arg)
{
	return noop_child_main(arg);
}

/* Clones the child with all signals blocked.  The mask is set by the system call itself because libc's
 * functions leave out the two signals that it keeps for threads.  0 or -errno. */
static int start_clone(struct noop_child *c, struct proc *ret)
{
	_Alignas(16) __attribute__((uninitialized)) char stack[START_STACK_BYTES];
	const uint64_t all = UINT64_MAX;
	uint64_t old = 0;
	int pidfd = -1;
	int r;

	static_assert(NSIG - 1 == 64, "the kernel's mask is 64 bits here");
	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof(all)) < 0)
		return -errno;
	r = clone(start_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
		  c, &pidfd);
	if (r < 0)
		r = -errno;
	/* A mask that was in force is valid. */
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	if (r < 0)
		return r;
	*ret = (struct proc){.pid = r, .pidfd = pidfd};
	return 0;
}

/* Clones a copy of us into the version 2 group; *c is in shared memory.  0 or -errno. */
static int start_clone_into(struct noop_child *c, int cgroup_fd, struct proc *ret)
{
	const uint64_t all = UINT64_MAX;
	uint64_t old = 0;
	int r;

	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof(all)) < 0)
		return -errno;
	c->is_in_cgroup = true;
	r = proc_clone_into(CLONE_VFORK, cgroup_fd, ret);
	if (r == 0)
		_exit(noop_child_main(c));
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	c->is_in_cgroup = false;
	return r < 0 ? r : 0;
}

int start_child(struct noop_child *child, struct proc *ret)
{
	int into = child->plan->cgroup ? cgroup_clone_fd(child->plan->cgroup) : -1;
	struct noop_child *shared;
	int r;

	if (into < 0)
		return start_clone(child, ret);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return -errno;
	*shared = *child;
	r = start_clone_into(shared, into, ret);
	*child = *shared;
	(void)munmap(shared, sizeof(*shared));
	/* No clone3(), or not this flag (before Linux 5.7; a filter around us): enter it like version 1. */
	return r == -ENOSYS || r == -EINVAL || r == -E2BIG ? start_clone(child, ret) : r;
}
