/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See noop.h.  The command is one of our own children; how a system starts one cheaply is in a file of its own
 * (start_linux.c, start_darwin.c), what the child does on its way is here.
 *
 * What noop gives holds against accidents.  A command with our own rights can leave its control group and
 * its process group, so kill-tree is never claimed, although with a group even daemons are ended.
 */
#include "backend/noop/noop.h"

#include "backend/cgroup/cgroup.h"
#include "backend/command.h"
#include "backend/limits.h"
#include "backend/lookup.h"
#include "backend/noop/start.h"
#include "backend/restrict.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOOP_GUARANTEES                                                                            \
	(GUARANTEE_BIT(WALL_CLOCK) | GUARANTEE_BIT(OUTPUT_LIMIT) | GUARANTEE_BIT(OPEN_FILES) |     \
	 GUARANTEE_BIT(ENV_SCRUB) | GUARANTEE_BIT(NATIVE_CODE) | GUARANTEE_BIT(SECRET_ENV) |       \
	 GUARANTEE_BIT(SNAPSHOT))

#define NOOP_GROUP_GUARANTEES (CGROUP_GUARANTEES | GUARANTEE_BIT(MEMORY_PROCESS))

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

/* Control groups are the only thing to try: the rest needs clone() and execve() only. */
static void noop_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	*ret = (struct probe){.is_available = true, .guarantees = NOOP_GUARANTEES};
	limits_probe(form, wanted, /* has_userns= */ false, ret);
	(void)snprintf(ret->reason, sizeof(ret->reason), "always there; isolates nothing%s%.200s",
		       ret->lacks[0] ? "; " : ", but holds limits", ret->lacks);
}

static int noop_stage_run(struct noop_child *c)
{
	const struct plan *plan = c->plan;

	switch (c->stage) {
	case NOOP_STAGE_CGROUP:
		return plan->cgroup ? cgroup_enter(plan->cgroup, c->is_in_cgroup) : 0;
	case NOOP_STAGE_PARENT:
		return proc_tie(c->parent);
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

int noop_child_main(struct noop_child *c)
{
	int r = 0;

	for (c->stage = NOOP_STAGE_CGROUP; c->stage < NOOP_STAGE_COUNT; c->stage++) {
		r = noop_stage_run(c);
		if (r < 0)
			break;
	}
	c->error = -r;
	return 127;
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
	r = start_child(&child, &proc);
	if (r < 0)
		return cordon_fail_errno(err, -r, "start a process");
	if (child.error) {
		/* It has exited or is about to: collect it, so that nothing is left. */
		while (waitid(P_PID, (id_t)proc.pid, &(siginfo_t){0}, WEXITED) < 0)
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
