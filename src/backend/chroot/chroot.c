/* SPDX-License-Identifier: Apache-2.0 */
/* The parent's half of chroot; see child.c for what holds and why. */
#include "backend/chroot/chroot.h"

#include "backend/cgroup/cgroup.h"
#include "backend/chroot/child.h"
#include "backend/command.h"
#include "backend/confine/filter.h"
#include "backend/trial.h"
#include "backend/restrict.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHROOT_HIDE_PIDS "ptraceable"

static int chroot_start(struct chroot_child *c, struct spawn_result *ret, struct cordon_error *err)
{
	const struct plan *plan = c->program->plan;
	uint64_t flags = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
	AUTO_CLOSE int ours = c->parent_end;
	struct proc proc = PROC_NONE;
	struct doors doors;
	int r;

	doors_init(&doors);
	if (plan->net != PLAN_NET_HOST)
		flags |= CLONE_NEWNET;
	r = stage_clone(flags, plan->cgroup, chroot_child_main, c, &proc);
	c->channel = fd_close(c->channel);
	if (r < 0)
		return cordon_hint(err, cordon_fail_errno(err, -r, "make namespaces"),
				   "see 'cordon doctor'");
	if (send(ours, "", 1, MSG_NOSIGNAL) != 1)
		r = cordon_fail_errno(err, errno, "start the sandbox");
	else
		r = stage_hear(ours, c->program, &doors, err);
	if (r == -EPIPE)
		r = cordon_fail(err, CORDON_E_SYSTEM, "the sandbox died while it started");
	if (r < 0) {
		doors_done(&doors);
		stage_abandon(&proc);
		return r;
	}
	*ret = (struct spawn_result){
		.proc = proc,
		.has_own_group = !plan->keeps_group,
		.status_fd = TAKE_FD(ours),
		.is_watched = true,
		.doors = doors,
	};
	return 0;
}

/* Is something mounted below path?  -errno when that cannot be known. */
static int chroot_has_mounts(const char *path, char *mounts)
{
	char *rest = mounts;

	for (char *line; (line = strsep(&rest, "\n")) && *line;) {
		char *point = NULL;
		int r;

		for (int field = 0; field < 5; field++)
			point = strsep(&line, " ");
		r = point ? path_unescape(point) : -EINVAL;
		if (r < 0)
			return r;
		if (path_is_within(point, path) && strcmp(point, path) != 0)
			return 1;
	}
	return 0;
}

/*
 * An overlay shows what is on one file system, and an empty directory where another is mounted.  In a user namespace
 * the kernel refuses to make such a one; here it has to be looked for.
 */
static int chroot_check_mounts(const struct view_program *p, struct cordon_error *err)
{
	for (size_t i = 0; i < p->n; i++) {
		AUTO_FREE char *mounts = NULL;
		size_t len;
		int r;

		if (p->steps[i].kind != VIEW_OVERLAY)
			continue;
		r = io_read_file_at(AT_FDCWD, "/proc/self/mountinfo", LIMIT_MOUNTINFO_BYTES,
				    &mounts, &len);
		if (r == 0)
			r = chroot_has_mounts(p->steps[i].source, mounts);
		if (r < 0)
			return cordon_fail_leaf(err, r, "look for file systems in '/%s'",
						p->steps[i].path);
		if (r > 0)
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_UNSUPPORTED,
						       "protect missing names in '/%s'",
						       p->steps[i].path),
					   "%s", stage_overlay_hint(p->steps[i].source));
	}
	return 0;
}

static int chroot_run(struct view_program *p, struct spawn_result *ret, struct cordon_error *err)
{
	const struct seccomp_policy policy = filter_of(p->plan, /* has_pid_namespace= */ false);
	struct seccomp_program filter;
	struct seccomp_program denied;
	struct chroot_child child = {
		.program = p, .seccomp = &filter, .landlock_abi = landlock_abi()};
	int pair[2];
	int r;

	for (size_t i = 0; i < p->n; i++)
		if (p->steps[i].kind == VIEW_PROC)
			p->steps[i].source = CHROOT_HIDE_PIDS;
	r = seccomp_build(&policy, &filter);
	if (r == 0 && p->plan->denied_calls) {
		r = seccomp_build_denied(p->plan->denied_calls, &denied);
		child.denied_calls = &denied;
	}
	if (r == 0)
		r = stage_mount_namespace(&child.parent_mnt);
	if (r == 0)
		r = doors_network(&child.parent_net);
	if (r == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		r = -errno;
	if (r < 0)
		return cordon_fail_leaf(err, r, "prepare the sandbox");
	child.parent_end = pair[0];
	child.channel = pair[1];
	return chroot_start(&child, ret, err);
}

static int chroot_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	struct view_program program = {0};
	int r = command_check(plan, "chroot", err);

	if (r < 0)
		return r;
	if (geteuid() != 0 || landlock_abi() < LANDLOCK_ABI_SCOPES)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend 'chroot' needs root and Landlock ABI %d",
				   LANDLOCK_ABI_SCOPES);
	r = view_compile(plan, &program, err);
	if (r == 0)
		r = chroot_check_mounts(&program, err);
	if (r == 0)
		r = chroot_run(&program, ret, err);
	view_program_done(&program);
	return r;
}

static void chroot_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	static const struct trial trial = {
		.info = &backend_infos[BACKEND_CHROOT],
		.spawn = chroot_spawn,
		.fix = "it needs CAP_SYS_ADMIN and CAP_SYS_CHROOT; use another backend",
	};
	bool is_full = form == PROBE_FULL;
	guarantee_set limits = CGROUP_GUARANTEES & (is_full ? GUARANTEE_ALL : wanted);
	int abi = landlock_abi();

	*ret = (struct probe){0};
	if (geteuid() != 0) {
		(void)snprintf(ret->reason, sizeof(ret->reason),
			       "only root can chroot; use native, or run cordon as root");
		return;
	}
	/* Below that, root inside could signal every process of root outside. */
	if (abi < LANDLOCK_ABI_SCOPES) {
		(void)snprintf(
			ret->reason, sizeof(ret->reason),
			"without a pid namespace it needs Landlock ABI %d to keep signals in, "
			"and this kernel has %d; Linux 6.12 has it",
			LANDLOCK_ABI_SCOPES, abi);
		return;
	}
	trial_probe(&trial, form, ret);
	backend_view_guarantees(ret);
	backend_network_guarantees(CLONE_NEWNET, form, wanted, ret);
	/* Limits are tried each time: they depend on the group that we are in now. */
	if (ret->is_available && limits)
		ret->guarantees |= cgroup_probe(limits, /* tries_entering= */ is_full, ret->lacks);
}

const struct cordon_backend chroot_backend = {
	.info = &backend_infos[BACKEND_CHROOT],
	.summary = "as root: chroot in a private view, Landlock and a system call filter",
	.takes_cgroup = true,
	.terminal = BACKEND_TERMINAL_HOST,
	.probe = chroot_probe,
	.spawn = chroot_spawn,
	.restrict_filesystem = restrict_filesystem,
	.restrict_network = restrict_network,
	.restrict_syscalls = restrict_syscalls,
	.apply_restrictions = backend_default_apply_restrictions,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = restrict_audit_log,
};
