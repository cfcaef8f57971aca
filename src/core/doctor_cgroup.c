/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can memory, processes and processor time of a whole tree be limited?  By the same code that holds calls: it
 * makes groups, puts a process into each and removes them.  It runs in a child because it may have to be
 * moved, aside or into a scope of systemd's.
 */
#include "core/doctor_linux.h"

#include "backend/cgroup/cgroup.h"
#include "backend/limits.h"
#include "backend/scratch.h"
#include "base/env.h"

#include <unistd.h>

void doctor_try_cgroup(const struct doctor_context *c, struct doctor_row *ret)
{
	struct buf names = BUF_INIT(DOCTOR_DETAIL_MAX);
	char why[CGROUP_WHY_MAX];
	guarantee_set given = cgroup_probe(CGROUP_GUARANTEES, /* tries_entering= */ true, why);

	(void)c;
	guarantee_list(given ? given : CGROUP_GUARANTEES, &names);
	if (given == CGROUP_GUARANTEES)
		doctor_good(ret, "groups were made, entered and removed: %s", buf_cstr(&names));
	else
		doctor_bad(ret, 0, why,
			   "delegate a group to us, for example: systemd-run --user --scope -p "
			   "Delegate=yes cordon …; or as root. Without it a policy with memory_mb "
			   "runs only with memory_scope: process");
	buf_done(&names);
}

/* By what `cordon sandbox pause` stops processes. */
void doctor_try_freezer(const struct doctor_context *c, struct doctor_row *ret)
{
	char why[CGROUP_WHY_MAX];
	enum cgroup_freezer kind = cgroup_probe_freezer(why);

	(void)c;
	if (kind == CGROUP_FREEZER_NONE)
		doctor_bad(
			ret, 0, why,
			"sandboxes are paused by signals, which a timer of theirs can undo; delegate a "
			"group to us, for example: systemd-run --user --scope -p Delegate=yes "
			"cordon …; or as root");
	else
		doctor_good(ret,
			    "a process was stopped by the freezer of control groups, version %d",
			    kind == CGROUP_FREEZER_V2 ? 2 : 1);
}

/* Without control groups: processes by RLIMIT_NPROC, memory by process. */
void doctor_try_rlimits(const struct doctor_context *c, struct doctor_row *ret)
{
	(void)c;
	if (geteuid() == 0)
		doctor_good(ret, "memory of each process; the number of root's processes only by "
				 "a control group");
	else if (limits_nproc_holds())
		doctor_good(ret, "memory of each process, and the number of a call's processes");
	else
		doctor_bad(ret, 0, "the limit of processes counts more than one call's",
			   "use kernel 5.14 or newer and allow user namespaces; otherwise only a "
			   "control group can limit processes");
}

/* What a probe that was killed left behind. */
void doctor_after_cgroup(const struct doctor_context *c)
{
	AUTO_FREE char *state = NULL;

	(void)c;
	if (env_state_dir(&state) == 0)
		scratch_sweep(state);
}
