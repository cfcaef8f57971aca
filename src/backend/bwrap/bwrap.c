/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See bwrap.h.  What is asked of bwrap, and what is not:
 *
 * --as-pid-1: our launcher is the first process of the namespace, under Landlock and the filter itself; bwrap's
 * own reaper would stay in there unconfined.  Its exit status would also not tell 137 from a kill.
 * No --new-session: our child has made one for bwrap, and the launcher makes the command's.
 * No --seccomp: the launcher installs the filter, after Landlock.
 * --cap-drop ALL leaves the bounding set as it is when the caller is root, so the launcher keeps CAP_SETPCAP,
 * empties it, and gives that up too.
 * No --unshare-net where our child has made the network, with doors in it (doors.h): it belongs to that child's user
 * namespace, in which nothing of the call has a capability.
 * No --unshare-user as root: our child's user namespace maps all ids, and a second one would map one.
 */
#include "backend/bwrap/bwrap.h"

#include "backend/doors.h"
#include "backend/stage.h"
#include "backend/restrict.h"

int bwrap_line(const struct launch_line *line, struct strv *out)
{
	static const char *const always[] = {
		"bwrap",
		"--unshare-ipc",
		"--unshare-pid",
		"--unshare-uts",
		"--unshare-cgroup-try",
		"--hostname",
		STAGE_HOSTNAME,
		"--die-with-parent",
		"--as-pid-1",
		"--cap-drop",
		"ALL",
		"--cap-add",
		LAUNCH_CAPABILITY,
		"--dev-bind",
		LAUNCH_VIEW,
		"/",
	};
	static const char *const proc[] = {"--proc", "/proc"};
	static const char *const end[] = {"--chdir", "/", "--", LAUNCH_COMMAND};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(always); i++)
		r = strv_add(out, always[i]);
	for (size_t i = 0; r == 0 && line->has_proc && i < ARRAY_LEN(proc); i++)
		r = strv_add(out, proc[i]);
	for (size_t i = 0; r == 0 && i < line->n_covers; i++) {
		r = strv_add(out, "--ro-bind");
		if (r == 0)
			r = strv_add(out, line->covers[i].source);
		if (r == 0)
			r = strv_add(out, line->covers[i].path);
	}
	if (r == 0 && !line->is_root)
		r = strv_add(out, "--unshare-user");
	if (r == 0 && line->plan->net == PLAN_NET_NONE && !doors_are_wanted(line->plan))
		r = strv_add(out, "--unshare-net");
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(end); i++)
		r = strv_add(out, end[i]);
	return r;
}

static const struct launch_tool bwrap_tool = {
	.info = &backend_infos[BACKEND_BWRAP],
	.program = "bwrap",
	.package = "bubblewrap (apt install bubblewrap)",
	.keeps_network = true,
	.line = bwrap_line,
};

static int bwrap_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	return launch_spawn(&bwrap_tool, plan, ret, err);
}

static void bwrap_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	launch_probe(&bwrap_tool, bwrap_spawn, form, wanted, ret);
}

const struct cordon_backend bwrap_backend = {
	.info = &backend_infos[BACKEND_BWRAP],
	.summary = "bubblewrap's namespaces around the same view, Landlock and filter",
	.takes_cgroup = true,
	.can_stay = true,
	.terminal = BACKEND_TERMINAL_HOST,
	.probe = bwrap_probe,
	.spawn = bwrap_spawn,
	.restrict_filesystem = restrict_filesystem,
	.restrict_network = restrict_network,
	.restrict_syscalls = restrict_syscalls,
	.apply_restrictions = backend_default_apply_restrictions,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = restrict_audit_log,
};
