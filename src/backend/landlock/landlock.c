/* SPDX-License-Identifier: Apache-2.0 */
/* See landlock.h: the parent's half, and what works here. */
#include "backend/landlock/landlock.h"

#include "backend/command.h"
#include "backend/landlock/child.h"
#include "backend/landlock/network.h"
#include "backend/limits.h"
#include "backend/restrict.h"
#include "backend/trial.h"
#include "base/env.h"
#include "base/fd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LANDLOCK_LAST_BATCHES 8 /* of what was told, taken after the end */

/* Never given, whatever a trial sees. */
#define LANDLOCK_NEVER (GUARANTEE_BIT(PRIVATE_TMP) | GUARANTEE_BIT(HIDE_METADATA))
/* What the bridge leads to (bridge.h), and what needs a network of one's own. */
#define LANDLOCK_BRIDGED                                                                           \
	(GUARANTEE_BIT(NET_ALLOWLIST) | GUARANTEE_BIT(NET_SSRF) | GUARANTEE_BIT(SECRET_BOUNDARY))
#define LANDLOCK_PORTS (GUARANTEE_BIT(PORT_PUBLISH) | GUARANTEE_BIT(PORT_GRANT))

/* Of the command.  No Unix socket but pairs: without a namespace every socket of the user's could be reached by
 * its path, which Landlock does not look at. */
struct seccomp_policy lock_filter(const struct plan *plan, enum seccomp_files files)
{
	struct seccomp_policy p = SECCOMP_POLICY_HOST;

	p.allows_inet = plan->net == PLAN_NET_HOST;
	p.waits_connect = plan->net == PLAN_NET_PROXY;
	p.allows_netlink_route = plan->net == PLAN_NET_HOST;
	p.denies_set_id = true;
	p.allows_ptrace = plan->allows_ptrace;
	p.denies_memfd = plan_memory_by_process(plan); /* no limit of a process counts these */
	p.files = files;
	p.reports_refused = plan->watch != PLAN_WATCH_NONE;
	return p;
}

/* Of watcher and broker, which read the memory of callers and take what they watch with and, for the bridge, their
 * sockets.  They make none. */
static struct seccomp_policy lock_own_filter(void)
{
	struct seccomp_policy p = SECCOMP_POLICY_HOST;

	p.allows_ptrace = true;
	p.takes_descriptors = true;
	return p;
}

static void lock_child_run(void *arg, bool is_in_cgroup)
{
	struct lock_child *c = arg;

	c->is_in_cgroup = is_in_cgroup;
	lock_child_main(c);
}

/* What stays with the supervisor. */
struct lock_call {
	struct scope scope;
	int told;             /* our end; -1 when nothing is told */
	struct bridge bridge; /* until the broker has it */
};

static void lock_done(void *data)
{
	struct lock_call *call = data;

	/* What was told last is still there. */
	for (unsigned i = 0; i < LANDLOCK_LAST_BATCHES && call->told >= 0; i++)
		if (told_take(call->told, call->scope.plan->seen) != 0)
			call->told = fd_close(call->told);
	(void)fd_close(call->told);
	bridge_done(&call->bridge);
	scope_done(&call->scope);
	free(call);
}

static int lock_handle(void *data, int fd)
{
	struct lock_call *call = data;
	int r = told_take(fd, call->scope.plan->seen);

	return r < 0 ? 1 : r; /* reports are no reason to end a call */
}

static int lock_start(struct lock_child *c, struct proc *proc, int *ret_channel,
		      struct cordon_error *err)
{
	const struct view_program words = {.plan = c->scope->plan}; /* for what failures mean */
	AUTO_CLOSE int ours = -1;
	AUTO_CLOSE int theirs = -1;
	int pair[2];
	int r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return cordon_fail_errno(err, errno, "make a channel to the sandbox");
	ours = pair[0];
	c->channel = theirs = pair[1];
	c->watcher.channel = theirs;
	r = stage_clone(0, c->scope->plan->cgroup, lock_child_run, c, proc);
	if (r < 0)
		return cordon_fail_errno(err, -r, "start a process");
	theirs = fd_close(theirs);
	r = stage_hear(ours, &words, /* doors= */ NULL, err);
	if (r == -EPIPE)
		r = cordon_fail(err, CORDON_E_SYSTEM, "the sandbox died while it started");
	if (r < 0) {
		stage_abandon(proc);
		return r;
	}
	*ret_channel = TAKE_FD(ours);
	return 0;
}

/* The filters; *ret_quiet is that of the command if it told nobody. */
static int lock_filters(const struct scope *scope, struct seccomp_program *ret_own,
			struct seccomp_program *ret_command, struct seccomp_program *ret_quiet)
{
	const struct seccomp_policy own = lock_own_filter();
	struct seccomp_policy command = lock_filter(scope->plan, scope->files);
	int r = seccomp_build(&own, ret_own);

	if (r == 0)
		r = seccomp_build(&command, ret_command);
	command.reports_refused = false;
	return r < 0 ? r : seccomp_build(&command, ret_quiet);
}

/* What the process that serves has to know.  PATH is looked for as it was when the sandbox was made. */
static void lock_serve(struct lock_child *c)
{
	const struct scope *scope = c->scope;

	c->host = (struct serve_host){.env = scope->own.v};
	if (scope->search.n > 0) {
		c->host.search = scope->search.v;
		for (char *const *e = scope->plan->envp; *e; e++)
			if (str_starts(*e, "PATH="))
				c->host.path = *e;
	}
	c->program = (struct view_program){.plan = scope->plan};
	c->server = (struct native_child){.program = &c->program,
					  .denied_calls = c->denied_calls,
					  .host = &c->host,
					  .terminal = -1,
					  .tty = -1};
}

static int lock_run(struct lock_call *call, struct spawn_result *ret, struct cordon_error *err)
{
	struct scope *scope = &call->scope;
	const struct plan *plan = scope->plan;
	struct seccomp_program own_filter;
	struct seccomp_program command_filter;
	struct seccomp_program quiet;
	struct seccomp_program denied;
	struct lock_child child = {
		.scope = scope,
		.own_filter = &own_filter,
		.command_filter = &command_filter,
		.relay = {-1, -1},
		.watcher = {.plan = plan, .has_broker = true},
		.broker = {.scope = scope, .quiet = &quiet, .bridge = call->bridge, .told = -1},
	};
	AUTO_CLOSE int theirs = -1;
	struct proc proc = PROC_NONE;
	int channel = -1;
	int pair[2];
	int r = lock_filters(scope, &own_filter, &command_filter, &quiet);

	if (r == 0 && plan->denied_calls) {
		r = seccomp_build_denied(plan->denied_calls, &denied);
		child.denied_calls = &denied;
	}
	if (r < 0)
		return cordon_fail_leaf(err, r, "system call filter");
	if (plan->watch != PLAN_WATCH_NONE && plan->seen) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
			return cordon_fail_errno(err, errno, "make a channel to the broker");
		call->told = pair[0];
		child.broker.told = theirs = pair[1];
	}
	lock_serve(&child);
	r = lock_start(&child, &proc, &channel, err);
	if (r < 0)
		return r;
	*ret = (struct spawn_result){
		.proc = proc,
		.has_own_group = !plan->keeps_group,
		.status_fd = channel,
		.is_watched = scope->policy.scopes_signals,
		.notify = {.handle = lock_handle, .done = lock_done, .data = call},
		.notify_fd = call->told < 0 ? -1 : fd_dup(call->told, 3),
	};
	if (ret->notify_fd < 0)
		ret->notify.handle = NULL;
	doors_init(&ret->doors);
	bridge_done(&call->bridge);
	return 0;
}

/* The proxy has its end, and serves it, before there is a command. */
static int lock_bridge(const struct plan *plan, struct bridge *ret, struct cordon_error *err)
{
	struct doors doors;
	int r;

	doors_init(&doors);
	r = bridge_make(ret, &doors.handed);
	return r < 0 ? cordon_fail_leaf(err, r, "a way to the egress proxy")
		     : doors_take(plan, &doors, err);
}

static int lock_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	struct lock_call *call;
	int r = command_check(plan, landlock_backend.info->name, err);

	if (r < 0)
		return r;
	if (plan->entry)
		return native_enter(plan, BACKEND_TERMINAL_HOST, ret, err);
	if (plan->needs & LANDLOCK_NEVER)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend 'landlock' gives no private /tmp and hides no names");
	if (plan->n_ports > 0 || plan->n_publish > 0)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend 'landlock' has no network of its own");
	/* A loader maps a file for execution without the right to execute it; only a mount stops that. */
	if (plan->separates_exec)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend 'landlock' cannot keep what is written from being run");
	call = malloc(sizeof(*call));
	if (!call)
		return cordon_nomem(err);
	*call = (struct lock_call){
		.scope = {.set = -1, .scratch = SCRATCH_NONE},
		.told = -1,
		.bridge = BRIDGE_NONE,
	};
	if (plan->net == PLAN_NET_PROXY)
		r = lock_bridge(plan, &call->bridge, err);
	if (r == 0)
		r = scope_compile(plan, call->bridge.port, &call->scope, err);
	if (r == 0)
		r = lock_run(call, ret, err);
	if (r < 0)
		lock_done(call);
	return r;
}

/* Tried where somebody wants it, and kept with the rest. */
static void lock_probe_bridge(const struct trial *trial, enum probe_form form, guarantee_set wanted,
			      struct probe *ret)
{
	char why[PROBE_REASON_MAX];

	if (form == PROBE_QUICK && !(wanted & LANDLOCK_BRIDGED & ~ret->guarantees))
		return;
	if (lock_leads_network(why)) {
		ret->guarantees |= LANDLOCK_BRIDGED;
		trial_keep_more(trial, form, ret);
	} else if (wanted & LANDLOCK_BRIDGED) {
		(void)snprintf(ret->lacks, sizeof(ret->lacks),
			       "its way to the proxy does not work here: %.120s", why);
	}
}

/* The kernel allows one listener for system calls above a process, and an outer sandbox has it. */
static const char *lock_fix(void)
{
	if (env_get("CORDON_SANDBOX"))
		return "in a sandbox of cordon's there is a listener for system calls already; with "
		       "--level none the outer one holds";
	return "Linux 6.12 with landlock in the kernel's lsm= list";
}

static void lock_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	const struct trial trial = {
		.info = &backend_infos[BACKEND_LANDLOCK],
		.spawn = lock_spawn,
		.fix = lock_fix(),
		.denies_network = lock_denies_network,
	};
	int abi = landlock_abi();
	char own[PROBE_REASON_MAX];

	trial_probe(&trial, form, ret);
	if (!ret->is_available)
		return;
	ret->guarantees &= ~LANDLOCK_NEVER;
	(void)snprintf(ret->lacks, sizeof(ret->lacks), "without mounts /tmp and names are shared");
	if (abi < LANDLOCK_ABI_SCOPES) {
		ret->guarantees &= ~GUARANTEE_BIT(KILL_TREE);
		(void)snprintf(ret->lacks, sizeof(ret->lacks),
			       "Landlock ABI %d cannot keep signals inside; Linux 6.12 can", abi);
	}
	if (wanted & LANDLOCK_PORTS)
		(void)snprintf(
			ret->lacks, sizeof(ret->lacks),
			"it has no network of its own, and so no ports; use native or bwrap");
	lock_probe_bridge(&trial, form, wanted, ret);
	(void)snprintf(ret->reason + strlen(ret->reason), sizeof(ret->reason) - strlen(ret->reason),
		       "; no private /tmp, no ports of its own");
	/* Files of secrets are not to be had: there is no place that only the call sees. */
	ret->guarantees |= GUARANTEE_BIT(DEBUG_GRANT) | GUARANTEE_BIT(SECRET_ENV);
	if (ret->guarantees & GUARANTEE_BIT(SYSCALL_FILTER))
		ret->guarantees |= GUARANTEE_BIT(SYSCALL_LIST);
	/* The workspace itself is granted to nobody then. */
	if (ret->guarantees & GUARANTEE_BIT(WRITE_SCOPE))
		ret->guarantees |= GUARANTEE_BIT(COW_WORKSPACE) | GUARANTEE_BIT(ROLLBACK);
	(void)snprintf(own, sizeof(own), "%s", ret->lacks);
	limits_probe(form, wanted, /* has_userns= */ false, ret);
	if (!ret->lacks[0])
		(void)snprintf(ret->lacks, sizeof(ret->lacks), "%s", own);
	/* A private directory in memory could not be sized. */
	if (ret->by_rlimit & GUARANTEE_BIT(MEMORY_PROCESS) && scope_is_private_in_memory()) {
		ret->by_rlimit &= ~GUARANTEE_BIT(MEMORY_PROCESS);
		ret->guarantees &= ~GUARANTEE_BIT(MEMORY_PROCESS);
	}
}

const struct cordon_backend landlock_backend = {
	.info = &backend_infos[BACKEND_LANDLOCK],
	.summary = "Landlock, a system call filter and a broker, where there are no namespaces",
	.takes_cgroup = true,
	.can_stay = true,
	.copies_workspace = true,
	.terminal = BACKEND_TERMINAL_HOST,
	.probe = lock_probe,
	.spawn = lock_spawn,
	.restrict_filesystem = restrict_filesystem,
	.restrict_network = restrict_network,
	.restrict_syscalls = restrict_syscalls,
	.apply_restrictions = restrict_apply,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = restrict_audit_log,
};
