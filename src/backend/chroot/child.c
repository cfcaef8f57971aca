/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.  chroot() confines nobody who is root: a second one, a directory held open, a device
 * node, another process's root or memory lead out.  Each is closed by something else:
 *
 *   a second chroot(), mounts, device nodes   no capabilities (bounding set, no_new_privs), and the filter
 *   a directory held open                     nothing but standard descriptors is passed, none a directory
 *   /proc/1/root, ptrace, signals             Landlock: nobody outside the domain can be traced or signalled, and
 *                                             /proc (hidepid=ptraceable) lists those alone that can be traced
 *   files of root below the new root          the view: read-only mounts, covers, other owners in /etc
 *
 * There is no pid namespace, so the process that builds all this stays as the watcher (confine/watcher.h).
 */
#include "backend/chroot/child.h"

#include "backend/cgroup/cgroup.h"
#include "backend/command.h"
#include "backend/confine/privileges.h"
#include "backend/doors.h"
#include "backend/lookup.h"
#include "backend/view/step.h"
#include "base/fd.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* When the parent dies the watcher hears it on the channel too and ends the rest; SIGKILL would be too early. */
#define CHROOT_DEATH_SIGNAL SIGTERM

static int chroot_child_enter(struct chroot_child *c, struct stage_message *m, int *root)
{
	if (m->stage == STAGE_ROOT) {
		(void)umask(0); /* the modes of our own directories are meant */
		*root = view_root_make();
		return *root < 0 ? *root : 0;
	}
	if (m->stage == STAGE_STEP)
		return stage_build(c->program, *root, c->channel, &m->step);
	return view_root_chroot(*root);
}

static int chroot_child_confine(struct chroot_child *c, enum stage stage)
{
	int r;

	if (stage == STAGE_PRIVILEGES) {
		r = privileges_drop();
		return r < 0 ? r : privileges_verify(CHROOT_DEATH_SIGNAL);
	}
	if (stage == STAGE_LANDLOCK)
		return view_landlock(c->program, c->landlock_abi);
	if (stage == STAGE_WATCH)
		return watcher_scope(&c->watcher);
	return seccomp_install(c->seccomp);
}

static int chroot_child_stage(struct chroot_child *c, struct stage_message *m, int *root,
			      bool is_in_cgroup)
{
	const struct plan *plan = c->program->plan;
	int r;

	switch ((enum stage)m->stage) {
	case STAGE_CGROUP:
		return plan->cgroup ? cgroup_enter(plan->cgroup, is_in_cgroup) : 0;
	case STAGE_PARENT:
		return stage_tie(c->channel, c->parent_end, CHROOT_DEATH_SIGNAL);
	case STAGE_NAMESPACE:
		return stage_own_mounts(c->parent_mnt);
	case STAGE_SESSION:
		return !plan->keeps_group && setsid() < 0 ? -errno : 0;
	case STAGE_HOST:
		r = stage_host(plan);
		return r < 0 ? r : doors_open(plan, c->channel, c->parent_net);
	case STAGE_ROOT:
	case STAGE_STEP:
	case STAGE_ENTER:
		return chroot_child_enter(c, m, root);
	case STAGE_CWD:
		return plan->cwd && chdir(plan->cwd) < 0 ? -errno : 0;
	case STAGE_LOOKUP:
		return lookup_command(plan->argv[0], plan->envp, plan->cwd, c->command);
	case STAGE_LIMITS:
		return command_limits(plan);
	case STAGE_PRIVILEGES:
	case STAGE_LANDLOCK:
	case STAGE_WATCH:
	case STAGE_SECCOMP:
		return chroot_child_confine(c, (enum stage)m->stage);
	case STAGE_TOOL:
	case STAGE_COVERED:
		return 0; /* there is none */
	case STAGE_STARTED:
	case STAGE_FORK:
	case STAGE_SIGNALS:
	case STAGE_STDIO:
	case STAGE_CLOSE:
	case STAGE_EXEC:
	case STAGE_COUNT:
		break;
	}
	return -EINVAL;
}

_Noreturn void chroot_child_main(void *arg, bool is_in_cgroup)
{
	struct chroot_child *c = arg;
	struct stage_message m = {.stage = STAGE_CGROUP};
	mode_t mask = umask(0);
	int root = -1;
	int r;

	c->watcher = (struct watcher){.plan = c->program->plan,
				      .command = c->command,
				      .channel = c->channel,
				      .denied_calls = c->denied_calls};
	for (; m.stage <= STAGE_SECCOMP; m.stage++) {
		r = chroot_child_stage(c, &m, &root, is_in_cgroup);
		if (r < 0)
			stage_report(c->channel, &m, r);
	}
	(void)umask(mask);
	m.stage = STAGE_FORK;
	r = watcher_guard(&c->watcher);
	if (r < 0)
		stage_report(c->channel, &m, r);
	r = watcher_start(&c->watcher);
	m.stage = c->watcher.stage;
	if (r < 0)
		stage_report(c->channel, &m, r);
	m = (struct stage_message){.stage = STAGE_STARTED};
	/* If nobody hears it the channel has ended, which the watcher sees. */
	(void)send(c->channel, &m, sizeof(m), MSG_NOSIGNAL);
	watcher_stay(&c->watcher, r);
}
