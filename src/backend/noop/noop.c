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
 *
 * What noop gives holds against accidents.  A command with our own rights can leave its control group and
 * its process group, so kill-tree is never claimed, although with a group even daemons are ended.
 */
#include "backend/noop/noop.h"

#include "backend/cgroup/cgroup.h"
#include "backend/command.h"
#include "backend/limits.h"
#include "backend/lookup.h"
#include "backend/restrict.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOOP_GUARANTEES                                                                            \
	(GUARANTEE_BIT(WALL_CLOCK) | GUARANTEE_BIT(OUTPUT_LIMIT) | GUARANTEE_BIT(OPEN_FILES) |     \
	 GUARANTEE_BIT(ENV_SCRUB) | GUARANTEE_BIT(NATIVE_CODE) | GUARANTEE_BIT(SECRET_ENV) |       \
	 GUARANTEE_BIT(SNAPSHOT))

#define NOOP_GROUP_GUARANTEES (CGROUP_GUARANTEES | GUARANTEE_BIT(MEMORY_PROCESS))

/* Measured: 600 bytes, 2.1 KiB when libc is bound lazily, 3.6 KiB under sanitizers.  Not more than needed
 * because each page of it is touched (stack clash protection) and so costs a page fault. */
#define NOOP_STACK_BYTES 8192

enum noop_stage {
	NOOP_STAGE_CGROUP,
	NOOP_STAGE_PARENT,
	NOOP_STAGE_GROUP,
	NOOP_STAGE_SIGNALS,
	NOOP_STAGE_STDIO,
	NOOP_STAGE_TERMINAL,
	NOOP_STAGE_CWD,
	NOOP_STAGE_LIMITS,
	NOOP_STAGE_CLOSE,
	NOOP_STAGE_EXEC,
	NOOP_STAGE_COUNT
};

static const char *const noop_stage_names[NOOP_STAGE_COUNT] = {
	[NOOP_STAGE_CGROUP] = "enter the control group",
	[NOOP_STAGE_PARENT] = "tie the command to this process",
	[NOOP_STAGE_GROUP] = "make a process group",
	[NOOP_STAGE_SIGNALS] = "reset signals",
	[NOOP_STAGE_STDIO] = "connect standard input and output",
	[NOOP_STAGE_TERMINAL] = "make a session with a terminal",
	[NOOP_STAGE_CWD] = "enter the working directory",
	[NOOP_STAGE_LIMITS] = "limit the command",
	[NOOP_STAGE_CLOSE] = "close descriptors (needs Linux 5.11)",
	[NOOP_STAGE_EXEC] = "execute",
};

/* What parent and child share. */
struct noop_child {
	const struct plan *plan;
	const char *path;
	pid_t parent;
	bool is_in_cgroup; /* it was born there, as far as version 2 goes */
	/* Written by the child only. */
	enum noop_stage stage;
	int error; /* 0 as long as nothing failed */
};

/* Control groups are the only thing to try: the rest needs clone() and execve() only. */
static void noop_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	*ret = (struct probe){.is_available = true, .guarantees = NOOP_GUARANTEES};
	limits_probe(form, wanted, /* has_userns= */ false, ret);
	(void)snprintf(ret->reason, sizeof(ret->reason), "always there; isolates nothing%s%.200s",
		       ret->lacks[0] ? "; " : ", but holds limits", ret->lacks);
}

/* The child dies with us.  The kernel sends the signal only for a parent that dies after this call,
 * so one that is already gone is looked for. */
static int noop_tie(const struct noop_child *c)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return getppid() == c->parent ? 0 : -ESRCH;
}

static int noop_stage_run(struct noop_child *c)
{
	const struct plan *plan = c->plan;

	switch (c->stage) {
	case NOOP_STAGE_CGROUP:
		return plan->cgroup ? cgroup_enter(plan->cgroup, c->is_in_cgroup) : 0;
	case NOOP_STAGE_PARENT:
		return noop_tie(c);
	case NOOP_STAGE_GROUP:
		if (plan->terminal)
			return setsid() < 0 ? -errno : 0;
		return !plan->keeps_group && setpgid(0, 0) < 0 ? -errno : 0;
	case NOOP_STAGE_SIGNALS:
		return command_signals();
	case NOOP_STAGE_STDIO:
		return command_stdio(plan);
	case NOOP_STAGE_TERMINAL:
		return command_terminal(plan);
	case NOOP_STAGE_CWD:
		return plan->cwd && chdir(plan->cwd) < 0 ? -errno : 0;
	case NOOP_STAGE_LIMITS:
		return command_limits(plan);
	case NOOP_STAGE_CLOSE:
		return command_close();
	case NOOP_STAGE_EXEC:
		(void)execve(c->path, plan->argv, plan->envp); /* returns only when it failed */
		return -errno;
	case NOOP_STAGE_COUNT:
		break;
	}
	return -EINVAL;
}

/* Runs in the child.  Should: bring the plan about and execute.  Mustn't: allocate, print, touch
 * anything of the parent's but *arg. */
static int noop_child_main(void *arg)
{
	struct noop_child *c = arg;
	int r = 0;

	for (c->stage = NOOP_STAGE_CGROUP; c->stage < NOOP_STAGE_COUNT; c->stage++) {
		r = noop_stage_run(c);
		if (r < 0)
			break;
	}
	c->error = -r;
	_exit(127);
}

static int noop_fail(const struct noop_child *c, struct cordon_error *err)
{
	const char *name = c->plan->argv[0];

	if (c->stage == NOOP_STAGE_CWD)
		return cordon_fail(err, CORDON_E_INVALID, "working directory '%s': %s",
				   c->plan->cwd, strerrordesc_np(c->error));
	if (c->stage != NOOP_STAGE_EXEC)
		return cordon_fail_errno(err, c->error, "%s", noop_stage_names[c->stage]);
	return command_fail(name, c->error, err);
}

static int noop_check(const struct plan *plan, struct cordon_error *err)
{
	guarantee_set have = NOOP_GUARANTEES | plan->by_rlimit |
			     (plan->cgroup ? NOOP_GROUP_GUARANTEES : GUARANTEE_NONE);
	enum guarantee missing = guarantee_first_missing(plan->needs, have);

	if (missing != GUARANTEE_COUNT)
		return cordon_fail(err, CORDON_E_UNSUPPORTED, "backend 'noop' cannot give %s",
				   guarantee_name(missing));
	if (plan->op_count > 0 || (!plan->cgroup && cgroup_is_needed(plan)))
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend 'noop' cannot carry out this plan");
	if (!plan->argv || !plan->argv[0] || !plan->envp)
		return cordon_fail(err, CORDON_E_INVALID, "no command to run");
	if (plan->stdin_fd < 0 || plan->stdout_fd < 0 || plan->stderr_fd < 0)
		return cordon_fail(err, CORDON_E_INVALID, "standard descriptors are missing");
	return 0;
}

/* Clones the child with all signals blocked.  The mask is set by the system call itself because libc's
 * functions leave out the two signals that it keeps for threads.  0 or -errno. */
static int noop_clone(struct noop_child *c, struct proc *ret)
{
	_Alignas(16) __attribute__((uninitialized)) char stack[NOOP_STACK_BYTES];
	const uint64_t all = UINT64_MAX;
	uint64_t old = 0;
	int pidfd = -1;
	int r;

	static_assert(NSIG - 1 == 64, "the kernel's mask is 64 bits here");
	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof(all)) < 0)
		return -errno;
	r = clone(noop_child_main, stack + sizeof(stack),
		  CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, c, &pidfd);
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
static int noop_clone_into(struct noop_child *c, int cgroup_fd, struct proc *ret)
{
	const uint64_t all = UINT64_MAX;
	uint64_t old = 0;
	int r;

	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof(all)) < 0)
		return -errno;
	c->is_in_cgroup = true;
	r = proc_clone_into(CLONE_VFORK, cgroup_fd, ret);
	if (r == 0)
		noop_child_main(c);
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	c->is_in_cgroup = false;
	return r < 0 ? r : 0;
}

/* Starts the child by the way that fits, *child telling how it went. */
static int noop_start(struct noop_child *child, struct proc *ret)
{
	int into = child->plan->cgroup ? cgroup_clone_fd(child->plan->cgroup) : -1;
	struct noop_child *shared;
	int r;

	if (into < 0)
		return noop_clone(child, ret);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return -errno;
	*shared = *child;
	r = noop_clone_into(shared, into, ret);
	*child = *shared;
	(void)munmap(shared, sizeof(*shared));
	/* No clone3(), or not this flag (before Linux 5.7; a filter around us): enter it like version 1. */
	return r == -ENOSYS || r == -EINVAL || r == -E2BIG ? noop_clone(child, ret) : r;
}

static int noop_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	char path[LIMIT_PATH_BYTES];
	struct noop_child child = {.plan = plan, .path = path};
	struct proc proc = PROC_NONE;
	int r;

	r = noop_check(plan, err);
	if (r < 0)
		return r;
	r = lookup_command(plan->argv[0], plan->envp, plan->cwd, path);
	if (r < 0) {
		child.stage = NOOP_STAGE_EXEC;
		child.error = -r;
		return noop_fail(&child, err);
	}
	child.parent = getpid();
	r = noop_start(&child, &proc);
	if (r < 0)
		return cordon_fail_errno(err, -r, "start a process");
	if (child.error) {
		/* It has exited or is about to: collect it, so that nothing is left. */
		while (waitid(P_PIDFD, (id_t)proc.pidfd, &(siginfo_t){0}, WEXITED) < 0)
			if (errno != EINTR)
				break;
		proc_done(&proc);
		return noop_fail(&child, err);
	}
	*ret = (struct spawn_result){
		.proc = proc, .has_own_group = !plan->keeps_group, .status_fd = -1};
	return 0;
}

const struct cordon_backend noop_backend = {
	.info = &backend_infos[BACKEND_NOOP],
	.summary = "no isolation: runs the command with your own rights, supervised",
	.takes_cgroup = true,
	.terminal = BACKEND_TERMINAL_HOST,
	.probe = noop_probe,
	.spawn = noop_spawn,
	.restrict_filesystem = backend_default_restrict_filesystem,
	.restrict_network = backend_default_restrict_network,
	.restrict_syscalls = backend_default_restrict_syscalls,
	.apply_restrictions = backend_default_apply_restrictions,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = backend_default_get_audit_log,
};
