/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See nsjail.h.  nsjail limits by default what nobody asked it to (time, memory, files, niceness): all of that is
 * switched off, the plan's limits are ours.  Its own filter language is not used: the launcher installs the filter.
 * It closes descriptors, so those of the launcher are named.
 */
#include "backend/nsjail/nsjail.h"

#include "backend/doors.h"
#include "backend/launch/image.h"
#include "backend/stage.h"
#include "backend/restrict.h"

static int nsjail_ids(const struct launch_line *line, struct strv *out)
{
	int r;

	/* As root our child's user namespace maps all ids, and a second one would map one. */
	if (line->is_root)
		return strv_add(out, "--disable_clone_newuser");
	r = strv_add(out, "--user");
	if (r == 0)
		r = strv_addf(out, "%u:%u:1", line->uid, line->uid);
	if (r == 0)
		r = strv_add(out, "--group");
	if (r == 0)
		r = strv_addf(out, "%u:%u:1", line->gid, line->gid);
	return r;
}

static int nsjail_mounts(const struct launch_line *line, struct strv *out)
{
	int r = strv_add(out, line->has_proc ? "--proc_rw" : "--disable_proc");

	for (size_t i = 0; r == 0 && i < line->n_covers; i++) {
		r = strv_add(out, "--bindmount_ro");
		if (r == 0)
			r = strv_addf(out, "%s:%s", line->covers[i].source, line->covers[i].path);
	}
	return r;
}

int nsjail_line(const struct launch_line *line, struct strv *out)
{
	static const char *const always[] = {
		"nsjail",
		"--mode",
		"o",
		"--really_quiet",
		"--time_limit",
		"0",
		"--disable_rlimits",
		"--skip_setsid",
		"--hostname",
		STAGE_HOSTNAME,
		"--cap",
		LAUNCH_CAPABILITY,
		"--chroot",
		LAUNCH_VIEW,
		"--cwd",
		"/",
	};
	static const char *const end[] = {"--", LAUNCH_COMMAND};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(always); i++)
		r = strv_add(out, always[i]);
	if (r == 0)
		r = strv_add(out, "--nice_level");
	if (r == 0)
		r = strv_addf(out, "%d", line->nice);
	for (int fd = LAUNCH_FD_PROGRAM; r == 0 && fd < LAUNCH_FD_END; fd++) {
		r = strv_add(out, "--pass_fd");
		if (r == 0)
			r = strv_addf(out, "%d", fd);
	}
	if (r == 0)
		r = nsjail_ids(line, out);
	if (r == 0 && (line->plan->net != PLAN_NET_NONE || doors_are_wanted(line->plan)))
		r = strv_add(out, "--disable_clone_newnet");
	if (r == 0)
		r = nsjail_mounts(line, out);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(end); i++)
		r = strv_add(out, end[i]);
	return r;
}

static const struct launch_tool nsjail_tool = {
	.info = &backend_infos[BACKEND_NSJAIL],
	.program = "nsjail",
	.package = "nsjail (from its sources where the distribution has no package)",
	.line = nsjail_line,
};

static int nsjail_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	return launch_spawn(&nsjail_tool, plan, ret, err);
}

static void nsjail_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	launch_probe(&nsjail_tool, nsjail_spawn, form, wanted, ret);
}

const struct cordon_backend nsjail_backend = {
	.info = &backend_infos[BACKEND_NSJAIL],
	.summary = "nsjail's namespaces around the same view, Landlock and filter",
	.takes_cgroup = true,
	.terminal = BACKEND_TERMINAL_HOST,
	.probe = nsjail_probe,
	.spawn = nsjail_spawn,
	.restrict_filesystem = restrict_filesystem,
	.restrict_network = restrict_network,
	.restrict_syscalls = restrict_syscalls,
	.apply_restrictions = backend_default_apply_restrictions,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = restrict_audit_log,
};
