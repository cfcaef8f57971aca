/* SPDX-License-Identifier: Apache-2.0 */
/* The half of stage.h that runs in our own process. */
#include "backend/stage.h"

#include "backend/cgroup/cgroup.h"
#include "backend/command.h"
#include "backend/doors.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"

#include <assert.h>
#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#define STAGE_START_MS 30000 /* for the first word */

static const char *const stage_names[] = {
#define STAGE_NAME(id, text) [STAGE_##id] = text,
	STAGE_TABLE(STAGE_NAME)
#undef STAGE_NAME
};
static_assert(sizeof(struct stage_message) == DOORS_MESSAGE, "see doors_hear()");
static_assert(ARRAY_LEN(stage_names) == STAGE_COUNT, "one text per stage");

const char *stage_overlay_hint(const char *path)
{
	struct statfs fs;

	if (path && statfs(path, &fs) == 0 && fs.f_type == OVERLAYFS_SUPER_MAGIC)
		return "it is on an overlay already (a container's own files?); put it on a volume or "
		       "a tmpfs";
	return "a file system is mounted inside it: unmount that, or run in a directory without one";
}

static const char *stage_name(int stage)
{
	return stage >= 0 && stage < STAGE_COUNT ? stage_names[stage] : "start";
}

int stage_fail(const struct view_program *p, const struct stage_message *m, const char *what,
	       struct cordon_error *err)
{
	int r;

	if (m->stage == STAGE_EXEC || m->stage == STAGE_LOOKUP)
		return command_fail(p->plan->argv[0], m->error, err);
	if (m->stage == STAGE_CWD)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "working directory '%s' inside the sandbox: %s",
					       p->plan->cwd, strerrordesc_np(m->error)),
				   "grant it with --read or --write");
	if (m->stage == STAGE_STEP && m->step >= 0 && (size_t)m->step < p->n) {
		r = cordon_fail_errno(err, m->error, "%s: '/%s'", what, p->steps[m->step].path);
		if (m->error == EINVAL && p->steps[m->step].kind == VIEW_OVERLAY)
			return cordon_hint(err, r, "%s",
					   stage_overlay_hint(p->steps[m->step].source));
		if (m->error == ESTALE)
			return cordon_hint(err, r,
					   "it was replaced while the call started; try again");
		return r;
	}
	r = cordon_fail_errno(err, m->error, "%s", what);
	if (m->error == EAGAIN)
		return cordon_hint(err, r,
				   "one or two processes of the sandbox itself count, too: raise "
				   "--max-processes, or the limit of the user (ulimit -u)");
	return r;
}

int stage_clone(uint64_t flags, const struct cgroup *group,
		void (*child)(void *arg, bool is_in_cgroup), void *arg, struct proc *ret)
{
	int into = group ? cgroup_clone_fd(group) : -1;
	sigset_t all;
	sigset_t old;
	int r;

	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	r = pthread_sigmask(SIG_SETMASK, &all, &old);
	if (r != 0)
		return -r;
	r = into >= 0 ? proc_clone_into(flags, into, ret) : proc_clone(flags, ret);
	if (r == 0)
		child(arg, into >= 0);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL); /* a mask that was in force is valid */
	return r < 0 ? r : 0;
}

int stage_hear(int channel, const struct view_program *p, struct doors *doors,
	       struct cordon_error *err)
{
	return stage_hear_for(channel, p, doors, STAGE_START_MS, err);
}

int stage_hear_for(int channel, const struct view_program *p, struct doors *doors, int64_t wait_ms,
		   struct cordon_error *err)
{
	int64_t deadline = clock_deadline(wait_ms);
	struct stage_message m = {0};
	int fds[FDPASS_MAX];
	size_t n_fds = 0;
	ssize_t n = doors ? doors_hear(channel, &m, deadline, fds, &n_fds, doors)
			  : io_read(channel, &m, sizeof(m), deadline);

	if (n > 0 && doors && doors_are_due(doors)) {
		int r = doors_take(p->plan, doors, err);

		if (r < 0)
			return r;
		n = doors_hear(channel, &m, deadline, fds, &n_fds, doors);
	}
	for (size_t i = 0; i < n_fds; i++)
		(void)fd_close(fds[i]); /* with the word itself none come */

	if (n == 0 || n == -ECONNRESET)
		return -EPIPE;
	if (n == -ETIMEDOUT)
		return cordon_hint(err, cordon_fail_leaf(err, (int)n, "wait for the sandbox"),
				   "the machine may be overloaded, or the call's part of its "
				   "processor too small to start one");
	if (n < 0)
		return cordon_fail_leaf(err, (int)n, "wait for the sandbox");
	if (n != sizeof(m))
		return cordon_fail(err, CORDON_E_SYSTEM, "the sandbox died while it started");
	return m.stage == STAGE_STARTED ? 0 : stage_fail(p, &m, stage_name(m.stage), err);
}

void stage_abandon(struct proc *proc)
{
	if (proc_signal(proc, SIGKILL) < 0 && proc->pidfd < 0)
		return; /* it never was */
	while (waitid(P_PIDFD, (id_t)proc->pidfd, &(siginfo_t){0}, WEXITED) < 0)
		if (errno != EINTR)
			break;
	proc_done(proc);
}

int stage_mount_namespace(ino_t *ret)
{
	struct stat st;

	if (stat("/proc/self/ns/mnt", &st) < 0)
		return -errno;
	*ret = st.st_ino;
	return 0;
}
