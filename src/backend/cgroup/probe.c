/* SPDX-License-Identifier: Apache-2.0 */
/* Which limits control groups can hold here, found by trying each one alone. */
#include "backend/cgroup/cgroup.h"

#include "backend/cgroup/limit.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/mem.h"
#include "base/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process of its own in the group; in the child it does not return, but leaves at once or waits to be killed.
 * 0 or -errno. */
static int probe_start(const struct cgroup *g, bool stays, struct proc *ret)
{
	const pid_t parent = getpid();
	int into = cgroup_clone_fd(g);
	int r = into >= 0 ? proc_clone_into(/* flags= */ 0, into, ret) : -ENOSYS;
	bool was_cloned_into = r >= 0;

	if (r < 0)
		r = proc_clone(/* flags= */ 0, ret);
	if (r != 0)
		return r < 0 ? r : 0;
	r = proc_tie(parent);
	if (r == 0)
		r = cgroup_enter(g, was_cloned_into);
	while (r == 0 && stays)
		(void)pause();
	_exit(r < 0 ? -r : 0);
}

/* One enters the group and leaves at once.  0 or -errno. */
static int probe_enter(const struct cgroup *g)
{
	struct proc child = PROC_NONE;
	siginfo_t info = {0};
	int r = probe_start(g, /* stays= */ false, &child);

	if (r < 0)
		return r;
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

/* A limit of each kind.  Of memory a large one: version 1 can lower both of its limits in their order, but
 * not raise them. */
static void probe_limits(guarantee_set wanted, struct plan *plan)
{
	if (wanted & GUARANTEE_BIT(MEMORY_TREE))
		plan->memory_bytes = PLAN_LIMIT(UINT64_C(1) << 44);
	if (wanted & GUARANTEE_BIT(PIDS))
		plan->max_processes = PLAN_LIMIT(16);
	if (wanted & GUARANTEE_BIT(CPU_SHARES))
		plan->cpu_shares = PLAN_LIMIT(1024);
	if (wanted & GUARANTEE_BIT(CPU_PERCENT))
		plan->cpu_percent = PLAN_LIMIT(100);
}

/* What of a plan a group holds. */
static guarantee_set probe_set(const struct plan *plan)
{
	guarantee_set set = GUARANTEE_NONE;

	if (cgroup_limit_wants(plan, CGROUP_MEMORY))
		set |= GUARANTEE_BIT(MEMORY_TREE);
	if (cgroup_limit_wants(plan, CGROUP_PIDS))
		set |= GUARANTEE_BIT(PIDS);
	if (plan->cpu_shares.is_given)
		set |= GUARANTEE_BIT(CPU_SHARES);
	if (plan->cpu_percent.is_given)
		set |= GUARANTEE_BIT(CPU_PERCENT);
	return set;
}

/* The group that a quick probe made, kept for the call that asked. */
static _Thread_local struct {
	const char *id; /* of the call; NULL when there is none */
	const char *scratch_dir;
	struct cgroup *group; /* owned */
	guarantee_set set;
} probe_kept;

void cgroup_expect(const char *id, const char *scratch_dir)
{
	(void)cgroup_end(TAKE_PTR(probe_kept.group)); /* what is left of it the next call removes */
	probe_kept.id = id;
	probe_kept.scratch_dir = scratch_dir;
}

struct cgroup *cgroup_take_kept(const struct plan *plan)
{
	if (!probe_kept.group || !probe_kept.id || !plan->id ||
	    strcmp(probe_kept.id, plan->id) != 0 || probe_kept.set != probe_set(plan))
		return NULL;
	return TAKE_PTR(probe_kept.group);
}

/* All that is wanted in one group, which stays for the call. */
static bool probe_keep(guarantee_set wanted, struct cordon_error *err)
{
	struct plan plan = {.id = probe_kept.id, .scratch_dir = probe_kept.scratch_dir};

	if (probe_kept.group && probe_kept.set == wanted)
		return true;
	(void)cgroup_end(TAKE_PTR(probe_kept.group));
	probe_limits(wanted, &plan);
	probe_kept.set = wanted;
	return cgroup_make(&plan, &probe_kept.group, err) == 0;
}

#define PROBE_ID_BYTES 48

/* A plan with a name, and should we be killed meanwhile a note where there is a place for one.  *ret_state is given. */
static struct plan probe_plan(char id[static PROBE_ID_BYTES], char **ret_state)
{
	bool has_state = env_state_dir(ret_state) == 0 && access(*ret_state, W_OK | X_OK) == 0;

	(void)snprintf(id, PROBE_ID_BYTES, "probe-%d-%" PRIx64, (int)getpid(),
		       (uint64_t)clock_ns());
	return (struct plan){.id = id, .scratch_dir = has_state ? *ret_state : NULL};
}

/* In one group of its own. */
static bool probe_once(guarantee_set wanted, bool tries_entering, struct cordon_error *err)
{
	AUTO_FREE char *state = NULL;
	char id[PROBE_ID_BYTES];
	struct plan plan = probe_plan(id, &state);

	probe_limits(wanted, &plan);
	return probe_try(&plan, tries_entering, err) == 0;
}

/* One that stays is stopped.  0 or -errno. */
static int probe_freeze(const struct cgroup *g)
{
	struct proc child = PROC_NONE;
	int64_t deadline = clock_deadline(CGROUP_END_MS);
	int r = probe_start(g, /* stays= */ true, &child);

	if (r < 0)
		return r;
	r = cgroup_freeze(g, /* is_to_stop= */ true);
	while (r == 0 && (r = cgroup_is_frozen(g)) == 0 && clock_ms() < deadline)
		(void)poll(NULL, 0, 1);
	proc_done(&child); /* killed with its group */
	return r == 0 ? -ETIMEDOUT : r < 0 ? r : 0;
}

enum cgroup_freezer cgroup_probe_freezer(char ret_why[static CGROUP_WHY_MAX])
{
	AUTO_FREE char *state = NULL;
	char id[PROBE_ID_BYTES];
	struct plan plan = probe_plan(id, &state);
	struct cordon_error err = {0};
	struct cgroup *g = NULL;
	enum cgroup_freezer kind = CGROUP_FREEZER_NONE;
	int r;

	plan.serves = true;
	ret_why[0] = '\0';
	r = cgroup_make(&plan, &g, &err);
	if (r == 0) {
		kind = cgroup_freezer_of(g);
		r = probe_freeze(g);
		if (r < 0) {
			kind = CGROUP_FREEZER_NONE;
			(void)cordon_fail_errno(&err, -r, "stop a process by a control group");
		}
	}
	if (r < 0)
		probe_explain(&err, ret_why);
	(void)cgroup_end(g); /* what is left of it the next call removes */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
	return kind;
}

guarantee_set cgroup_probe(guarantee_set wanted, bool tries_entering,
			   char ret_why[static CGROUP_WHY_MAX])
{
	guarantee_set given = GUARANTEE_NONE;
	struct cordon_error err = {0};

	ret_why[0] = '\0';
	wanted &= CGROUP_GUARANTEES;
	if (!wanted)
		return GUARANTEE_NONE;
	if (probe_kept.id && !tries_entering ? probe_keep(wanted, &err)
					     : probe_once(wanted, tries_entering, &err))
		return wanted;
	/* Not all: each by itself. */
	for (guarantee_set bit = 1; bit && bit <= wanted; bit <<= 1) {
		struct cordon_error why = {0};

		if (!(wanted & bit))
			continue;
		if (probe_once(bit, tries_entering, &why))
			given |= bit;
		else if (!ret_why[0]) /* the first; the others mostly have the same cause */
			probe_explain(&why, ret_why);
	}
	return given;
}
