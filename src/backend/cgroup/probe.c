/* SPDX-License-Identifier: Apache-2.0 */
/* Which limits control groups can hold here, found by trying each one alone. */
#include "backend/cgroup/cgroup.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/mem.h"
#include "base/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process of its own enters the group and leaves at once.  0 or -errno. */
static int probe_enter(const struct cgroup *g)
{
	struct proc child = PROC_NONE;
	siginfo_t info = {0};
	int into = cgroup_clone_fd(g);
	int r = into >= 0 ? proc_clone_into(/* flags= */ 0, into, &child) : -ENOSYS;
	bool was_cloned_into = r >= 0;

	if (r < 0)
		r = proc_clone(/* flags= */ 0, &child);
	if (r < 0)
		return r;
	if (r == 0) {
		r = cgroup_enter(g, was_cloned_into);
		_exit(r < 0 ? -r : 0);
	}
	while (waitid(P_PIDFD, (id_t)child.pidfd, &info, WEXITED) < 0) {
		if (errno != EINTR) {
			proc_done(&child);
			return -ECHILD;
		}
	}
	proc_done(&child);
	if (info.si_code != CLD_EXITED)
		return -EIO;
	return info.si_status == 0 ? 0 : -info.si_status;
}

static int probe_try(const struct plan *plan, bool tries_entering, struct cordon_error *err)
{
	struct cgroup *g = NULL;
	int r = cgroup_make(plan, &g, err);

	if (r < 0)
		return r;
	if (tries_entering) {
		r = probe_enter(g);
		if (r < 0)
			r = cordon_fail_errno(err, -r, "enter a control group");
	}
	if (cgroup_end(g) < 0 && r == 0)
		r = cordon_fail(err, CORDON_E_BUSY, "a control group could not be removed");
	return r;
}

/* One line; when it is too long the cause is cut, not what to do about it. */
static void probe_explain(const struct cordon_error *err, char ret_why[static CGROUP_WHY_MAX])
{
	int hint = (int)strnlen(err->hint, CGROUP_WHY_MAX / 2);
	int room = CGROUP_WHY_MAX - 3 - hint;

	(void)snprintf(ret_why, CGROUP_WHY_MAX, "%.*s%s%.*s", room, err->message, hint ? "; " : "",
		       hint, err->hint);
}

guarantee_set cgroup_probe(guarantee_set wanted, bool tries_entering,
			   char ret_why[static CGROUP_WHY_MAX])
{
	const struct {
		guarantee_set guarantee;
		struct plan plan;
	} rows[] = {
		{GUARANTEE_BIT(MEMORY_TREE), {.memory_bytes = PLAN_LIMIT(UINT64_C(64) << 20)}},
		{GUARANTEE_BIT(PIDS), {.max_processes = PLAN_LIMIT(16)}},
		{GUARANTEE_BIT(CPU_SHARES), {.cpu_shares = PLAN_LIMIT(1024)}},
		{GUARANTEE_BIT(CPU_PERCENT), {.cpu_percent = PLAN_LIMIT(100)}},
	};
	guarantee_set given = GUARANTEE_NONE;
	AUTO_FREE char *state = NULL;
	/* Should we be killed meanwhile: a note where there is a place for one. */
	bool has_state = env_state_dir(&state) == 0 && access(state, W_OK | X_OK) == 0;

	ret_why[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cordon_error err = {0};
		struct plan plan = rows[i].plan;
		char id[48];

		if (!(wanted & rows[i].guarantee))
			continue;
		(void)snprintf(id, sizeof(id), "probe-%d-%" PRIx64, (int)getpid(),
			       (uint64_t)clock_ns());
		plan.id = id;
		plan.scratch_dir = has_state ? state : NULL;
		if (probe_try(&plan, tries_entering, &err) == 0)
			given |= rows[i].guarantee;
		else if (!ret_why[0]) /* the first; the others mostly have the same cause */
			probe_explain(&err, ret_why);
	}
	return given;
}
