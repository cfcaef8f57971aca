/* SPDX-License-Identifier: Apache-2.0 */
/* The parent's half of native: compile the plan, clone, write the id maps, wait for the first word. */
#include "backend/native/native.h"

#include "backend/cgroup/cgroup.h"
#include "backend/command.h"
#include "backend/confine/watch.h"
#include "backend/idmap.h"
#include "backend/limits.h"
#include "backend/native/child.h"
#include "backend/native/ahead.h"
#include "backend/native/hold.h"
#include "backend/native/serve.h"
#include "backend/restrict.h"
#include "backend/stage.h"
#include "backend/trial.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "base/shield.h"

#include <assert.h>
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static_assert(sizeof(struct native_message) == DOORS_MESSAGE, "see doors_hear()");

#define NATIVE_START_MS 30000 /* for the child's first word */
#define NATIVE_QUEUE_MS 500   /* for namespaces or processes when there are too many */
#define NATIVE_QUEUE_LOOK_MS 10

static const char *const native_stage_names[NATIVE_STAGE_COUNT] = {
#define NATIVE_STAGE_NAME(id, text) [NATIVE_STAGE_##id] = text,
	NATIVE_STAGE_TABLE(NATIVE_STAGE_NAME)
#undef NATIVE_STAGE_NAME
};

const char *native_stage_name(int stage)
{
	return stage >= 0 && stage < NATIVE_STAGE_COUNT ? native_stage_names[stage] : "start";
}

/* Which of the stages that mean the same in every backend it is; STARTED: of those that only have a name. */
static enum stage native_stage_kind(int stage)
{
	switch (stage) {
	case NATIVE_STAGE_EXEC:
		return STAGE_EXEC;
	case NATIVE_STAGE_LOOKUP:
		return STAGE_LOOKUP;
	case NATIVE_STAGE_CWD:
		return STAGE_CWD;
	case NATIVE_STAGE_STEP:
		return STAGE_STEP;
	default:
		return STAGE_STARTED;
	}
}

static int native_fail(const struct native_child *c, const struct native_message *m,
		       struct cordon_error *err)
{
	const struct stage_message message = {
		.stage = (int32_t)native_stage_kind(m->stage), .error = m->error, .step = m->step};

	return stage_fail(c->program, &message, native_stage_name(m->stage), err);
}

/* Says what would help. */
static int native_no_clone(int r, struct cordon_error *err)
{
	int code = cordon_fail_errno(err, -r, "make namespaces");

	if (r == -ENOSPC)
		return cordon_hint(err, code,
				   "too many are in use; run fewer calls at once, or raise "
				   "user.max_user_namespaces and its kin (sysctl)");
	if (r == -EAGAIN)
		return cordon_hint(err, code,
				   "too many processes; run fewer calls at once, or raise the "
				   "limit (ulimit -u, kernel.pid_max, pids.max)");
	return cordon_hint(err, code, "see 'cordon doctor'");
}

/* Clones with all signals blocked.  Returns in the parent only. */
static int native_clone(struct native_child *c, struct proc *ret)
{
	uint64_t flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWCGROUP |
			 CLONE_CLEAR_SIGHAND | (shield_is_off(SHIELD_PIDNS) ? 0 : CLONE_NEWPID) |
			 (shield_is_off(SHIELD_IPCNS) ? 0 : CLONE_NEWIPC);
	const struct cgroup *group = c->program->plan->cgroup;
	int into = group ? cgroup_clone_fd(group) : -1;
	struct stat mnt;
	struct stat net;
	sigset_t all;
	sigset_t old;
	int r;

	if (stat("/proc/self/ns/mnt", &mnt) < 0 || stat("/proc/self/ns/net", &net) < 0)
		return -errno;
	c->parent_mnt = mnt.st_ino;
	c->parent_net = net.st_ino;
	if (c->program->plan->net != PLAN_NET_HOST && !shield_is_off(SHIELD_NETNS))
		flags |= CLONE_NEWNET;
	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	r = pthread_sigmask(SIG_SETMASK, &all, &old);
	if (r != 0)
		return -r;
	c->is_in_cgroup = into >= 0;
	r = into >= 0 ? proc_clone_into(flags, into, ret) : proc_clone(flags, ret);
	if (r == 0)
		native_child_main(c);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL); /* a mask that was in force is valid */
	return r < 0 ? r : 0;
}

/* Puts what came with a word where it belongs. */
static void native_sort(const struct plan *plan, const int *fds, size_t n,
			struct spawn_result *given)
{
	int *sockets = given->doors.sockets;
	size_t have = 0;

	while (have < LIMIT_SOCKETS && sockets[have] >= 0)
		have++;
	for (size_t i = 0; i < n; i++) {
		if (plan->terminal && given->terminal_fd < 0)
			given->terminal_fd = fds[i];
		else if (have < LIMIT_SOCKETS)
			sockets[have++] = fds[i];
		else
			(void)fd_close(fds[i]);
	}
}

/* Waits for the next word.  Where a listener is there already, the command's first system calls may be among
 * what it has to answer before that word can come.  The last one brings the terminal and the sockets that the
 * plan asks for.  As fdpass_receive(). */
static ssize_t native_hear(const struct plan *plan, int channel, struct watch *watch,
			   int64_t deadline, struct native_message *ret, struct spawn_result *given)
{
	int listener = given->notify_fd;
	struct pollfd polls[] = {{.fd = channel, .events = POLLIN},
				 {.fd = listener, .events = POLLIN}};
	int fds[FDPASS_MAX];
	size_t n_fds;
	ssize_t n;

	while (listener >= 0) {
		int r = poll(polls, ARRAY_LEN(polls), clock_poll_timeout(deadline));

		if (r < 0 && errno != EINTR)
			return -errno;
		if (r == 0)
			return -ETIMEDOUT;
		if (r > 0 && polls[0].revents)
			break;
		r = r > 0 ? watch_handle(watch, listener) : 0;
		if (r < 0)
			return r;
		if (r > 0)
			polls[1].fd = -1;
	}
	n = doors_hear(channel, ret, deadline, fds, &n_fds, &given->doors);
	native_sort(plan, fds, n_fds, given);
	return n;
}

/* One byte to the child.  Of one that has ended already it is heard next why. */
static int native_nod(int channel, struct cordon_error *err)
{
	return send(channel, "", 1, MSG_NOSIGNAL) == 1 || errno == EPIPE
		       ? 0
		       : cordon_fail_errno(err, errno, "start the sandbox");
}

/* Maps the ids, lets the child go and hears what became of it. */
static int native_start(const struct native_child *c, const struct proc *proc, int channel,
			struct watch *watch, struct spawn_result *ret, struct cordon_error *err)
{
	bool has_overlays = view_overlays_count(c->program) > 0;
	const struct plan *plan = c->program->plan;
	struct native_message m;
	int64_t deadline;
	ssize_t n;
	int r = c->is_mapped ? 0 : idmap_own(proc->pid);

	if (r < 0)
		return cordon_fail_errno(err, -r, "map user and group ids");
	/* One for the ids, if there is need, and one to go. */
	r = c->is_mapped ? 0 : native_nod(channel, err);
	if (r == 0 && plan->before)
		r = plan->before(plan->before_arg, err);
	deadline = clock_deadline(NATIVE_START_MS);
	if (r == 0 && !has_overlays)
		r = native_nod(channel, err);
	if (r < 0)
		return r;
	if (c->is_mapped)
		native_ahead_listen(channel);
	if (has_overlays) {
		r = native_hold(c, channel, deadline, &m, err);
		if (r < 0 || m.stage != NATIVE_STAGE_HOLD || m.error)
			return r < 0 ? r : native_fail(c, &m, err);
	}
	n = native_hear(plan, channel, watch, deadline, &m, ret);
	if (n > 0 && doors_are_due(&ret->doors)) {
		r = doors_take(plan, &ret->doors, err);
		if (r < 0)
			return r;
		n = native_hear(plan, channel, watch, deadline, &m, ret);
	}
	if (n == sizeof(m) && m.stage == NATIVE_STAGE_SECCOMP && m.error == 0) {
		ret->notify_fd = notify_receive_fd(channel, deadline);
		if (ret->notify_fd < 0)
			return cordon_fail_leaf(err, ret->notify_fd, "take the listener");
		notify_setup(ret->notify_fd);
		n = native_hear(plan, channel, watch, deadline, &m, ret);
	}
	if (n < 0)
		return cordon_fail_leaf(err, (int)n, "wait for the sandbox");
	if (n != sizeof(m))
		return cordon_fail(err, CORDON_E_SYSTEM, "the sandbox died while it started");
	return m.stage == NATIVE_STAGE_STARTED ? 0 : native_fail(c, &m, err);
}

/* The filter, and its form with a listener when one is wanted. */
static int native_filters(const struct plan *plan, struct seccomp_program *ret,
			  struct seccomp_program *ret_told)
{
	struct seccomp_policy policy = {
		/* In a network namespace of its own there is nobody to reach. */
		.allows_inet = true,
		.allows_unix = !plan->seals_unix,
		.allows_netlink_route = true,
		.denies_set_id = true,
		.allows_ptrace = plan->allows_ptrace,
		/* No limit of a process counts these. */
		.denies_memfd = plan->separates_exec || plan_memory_by_process(plan),
		.has_host_ipc = plan_memory_by_process(plan),
		.tells_connect = plan->watch != PLAN_WATCH_NONE && plan->net == PLAN_NET_NONE,
		.tells_paths = plan->watch == PLAN_WATCH_PATHS,
	};
	int r = seccomp_build(&policy, ret);

	policy.reports_refused = true;
	return r < 0 || plan->watch == PLAN_WATCH_NONE ? r : seccomp_build(&policy, ret_told);
}

/* The filters of the policy's own list. */
struct native_list {
	struct seccomp_program whole;
	struct seccomp_program heard; /* without what the command needs to hand its listener over */
	struct seccomp_program rest;  /* only that */
	struct seccomp_program joined; /* of heard and the filter with a listener */
};

/* Returns 1 when the list can be told, 0 when it is held but not told, or -errno. */
static int native_list_build(const struct callset *all, const struct seccomp_program *told,
			     struct native_list *ret)
{
	static const unsigned own[] = {SYS_sendto, SYS_sendmsg, SYS_close, SYS_seccomp, SYS_prctl};
	struct callset heard = *all;
	struct callset rest = {0};
	int r = seccomp_build_denied(all, &ret->whole);

	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		uint64_t bit = UINT64_C(1) << own[i] % 64;

		rest.bits[own[i] / 64] |= heard.bits[own[i] / 64] & bit;
		heard.bits[own[i] / 64] &= ~bit;
	}
	if (r == 0)
		r = seccomp_build_denied(&heard, &ret->heard);
	if (r == 0)
		r = seccomp_build_denied(&rest, &ret->rest);
	/* One that is too long for one filter is held by a second one, which tells nobody. */
	return r < 0 ? r : told && seccomp_join(&ret->heard, told, &ret->joined) == 0;
}

static int native_run(struct view_program *p, struct spawn_result *ret, bool *ret_ahead,
		      struct cordon_error *err)
{
	struct seccomp_program filter;
	struct seccomp_program told;
	AUTO_FREE struct native_list *list = NULL; /* large, and seldom there */
	struct native_child child = {
		.program = p,
		.seccomp = &filter,
		.landlock_abi = landlock_abi(),
		.cache = VIEW_CACHE_EMPTY,
		.root = -1,
		.terminal = -1,
		.tty = -1,
		.served = -1,
	};
	struct spawn_result result = {.terminal_fd = -1, .notify_fd = -1};
	AUTO(watch_freep) struct watch *watch = NULL;
	AUTO_CLOSE int ours = -1;
	AUTO_CLOSE int theirs = -1;
	struct proc proc = PROC_NONE;
	int pair[2];
	int r;

	doors_init(&child.doors);
	doors_init(&result.doors);
	r = native_filters(p->plan, &filter, &told);
	if (r == 0 && p->plan->denied_calls) {
		list = calloc(1, sizeof(*list));
		if (!list)
			return cordon_nomem(err);
		r = native_list_build(p->plan->denied_calls,
				      p->plan->watch != PLAN_WATCH_NONE ? &told : NULL, list);
		child.denied_calls = &list->whole;
		child.is_told_late = r > 0;
		child.rest_calls = &list->rest;
	}
	if (r < 0)
		return cordon_fail_leaf(err, r, "system call filter");
	if (p->plan->watch != PLAN_WATCH_NONE) {
		watch = watch_new(p->plan, &filter, child.is_told_late ? &list->heard : NULL);
		if (!watch)
			return cordon_nomem(err);
		child.told = child.is_told_late ? &list->joined : &told;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return cordon_fail_errno(err, errno, "make a channel to the sandbox");
	child.parent_end = ours = pair[0];
	child.channel = theirs = pair[1];
	child.mask = umask(0);
	(void)umask(child.mask);
	r = native_ahead_clone(&child, &proc);
	if (r < 0)
		r = native_clone(&child, &proc);
	/* Namespaces of calls that have ended die a little later, and others are about to end. */
	for (int64_t end = clock_deadline(NATIVE_QUEUE_MS);
	     (r == -ENOSPC || r == -EAGAIN) && clock_ms() < end;) {
		(void)poll(NULL, 0, NATIVE_QUEUE_LOOK_MS);
		r = native_clone(&child, &proc);
	}
	if (r < 0)
		return native_no_clone(r, err);
	theirs = fd_close(theirs);
	*ret_ahead = child.is_mapped;
	r = native_start(&child, &proc, ours, watch, &result, err);
	if (child.is_mapped)
		native_ahead_stop();
	if (r < 0) {
		(void)fd_close(result.notify_fd);
		(void)fd_close(result.terminal_fd);
		doors_done(&result.doors);
		stage_abandon(&proc);
		return r;
	}
	result.proc = proc;
	result.has_own_group = !p->plan->keeps_group && !p->plan->terminal;
	result.status_fd = TAKE_FD(ours);
	if (result.notify_fd >= 0) {
		result.notify = (struct notify_handler){watch_handle, watch_done, TAKE_PTR(watch)};
		result.tells_paths = p->plan->watch == PLAN_WATCH_PATHS;
	}
	*ret = result;
	return 0;
}

static int native_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	struct view_program program = {0};
	bool is_ahead = false;
	int r;

	if (!plan->serves && (!plan->argv || !plan->argv[0] || !plan->envp))
		return cordon_fail(err, CORDON_E_INVALID, "no command to run");
	r = command_check_stdio(plan, err);
	if (r < 0)
		return r;
	if (plan->entry)
		return native_enter(plan, BACKEND_TERMINAL_OWN, ret, err);
	if (!plan->cgroup && cgroup_is_needed(plan))
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend 'native' cannot carry out this plan");
	r = view_compile_with(plan, native_ahead_made(plan), &program, err);
	if (r == 0)
		r = native_run(&program, ret, &is_ahead, err);
	view_program_done(&program);
	if (is_ahead)
		native_ahead_settle(); /* late: it does not wait for them any more */
	return r;
}

/* What to do where namespaces or mounts are refused; the circumstances only choose the words. */
static const char *native_fix(void)
{
	if (env_get("CORDON_SANDBOX"))
		return "in a sandbox of cordon's no namespaces can be made; with --level none the outer one holds";
	if (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0)
		return "start the container with --security-opt seccomp=unconfined --security-opt "
		       "systempaths=unconfined";
	return "allow unprivileged user namespaces (sysctl), or use another backend";
}

static void native_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	const struct trial trial = {
		.info = &backend_infos[BACKEND_NATIVE],
		.spawn = native_spawn,
		.fix = native_fix(),
		.pass_by = native_ahead_map,
	};
	guarantee_set had;
	struct probe kept;

	native_ahead_map();
	native_ahead_keep(true); /* for the call */
	trial_probe(&trial, form, ret);
	native_ahead_keep(false);
	kept = *ret;
	backend_view_guarantees(ret);
	had = ret->guarantees;
	backend_network_guarantees(CLONE_NEWUSER | CLONE_NEWNET, form, wanted, ret);
	if (ret->guarantees != had) {
		kept.guarantees |= ret->guarantees & ~had;
		trial_keep_more(&trial, form, &kept);
	}
	if (ret->is_available)
		limits_probe(form, wanted, /* has_userns= */ true, ret);
}

const struct cordon_backend native_backend = {
	.info = &backend_infos[BACKEND_NATIVE],
	.summary = "namespaces, Landlock and a system call filter, without root or helpers",
	.takes_cgroup = true,
	.can_stay = true,
	.asks_late = true,
	.terminal = BACKEND_TERMINAL_OWN,
	.probe = native_probe,
	.spawn = native_spawn,
	.restrict_filesystem = restrict_filesystem,
	.restrict_network = restrict_network,
	.restrict_syscalls = restrict_syscalls,
	.apply_restrictions = restrict_apply,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = restrict_audit_log,
};
