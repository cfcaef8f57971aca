/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See nsjail.h.  What is asked of nsjail, what is not, and what its sources (3.x) say of it:
 *
 * It limits by default what nobody asked it to (time, memory, files, niceness): all of that is switched off, the plan's
 * limits are ours.  Its own filter language is not used: the launcher installs the filter.
 * It closes descriptors, so those of the launcher are named.
 * --mode o: its child is the first process of the pid namespace and executes the launcher.  That child asks to die with
 * nsjail only after its mounts; nsjail killed before that, it goes on until the launcher finds its channel closed.
 * --disable_proc and a --mount instead of --proc_rw: its own /proc comes after all other mounts, and of some versions
 * it is read-only all the same.
 * No --bindmount_ro for what is to be closed in /proc: its words are divided at every colon; later versions open each
 * file that is mounted upon and fail where they may not (/proc/mtrr, and as a user everything that is root's); and
 * their new way of mounting (--experimental_mnt=new, which is not asked for) puts it all below the root that is entered.
 * So the launcher does it, and is given the capabilities for that.
 * No --rw: the root is read-only before, and is to stay so.  Older versions keep its other attributes, later ones
 * remount it without them, which fails for a user.  Hence .strips_root.
 * It waits in pause(), for SIGCHLD or its timer of a second, without a look at its own mask.  A SIGCHLD between the last
 * look and pause() is lost until the timer: so the end of a very short call may come up to a second late.
 * --quiet, not --really_quiet: that tells only that it failed.  Its child, and not nsjail itself, says why.
 * With --disable_clone_newnet it touches no interface: the network that our child made, with doors in it, stays.
 */
#include "backend/nsjail/nsjail.h"

#include "backend/doors.h"
#include "backend/launch/image.h"
#include "backend/stage.h"
#include "backend/restrict.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

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
	int r = line->n_covers > 0 ? -EOPNOTSUPP /* they are the launcher's */
				   : strv_add(out, "--disable_proc");

	if (r == 0 && line->has_proc)
		r = strv_add(out, "--mount");
	if (r == 0 && line->has_proc)
		r = strv_add(out, "none:/proc:proc:");
	return r;
}

int nsjail_line(const struct launch_line *line, struct strv *out)
{
	static const char *const always[] = {
		"nsjail",
		"--mode",
		"o",
		"--quiet",
		"--time_limit",
		"0",
		"--disable_rlimits",
		"--skip_setsid",
		"--hostname",
		STAGE_HOSTNAME,
		"--cap",
		LAUNCH_CAPABILITY,
		"--cap",
		"CAP_SYS_ADMIN",
		"--cap",
		"CAP_DAC_READ_SEARCH",
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

/* A line of its log without what stands before the text: "[E][time][pid] function():1 ". */
static void nsjail_text(const char *line, size_t len, struct buf *out)
{
	static const char before[] = "():";
	const char *at = memmem(line, len, before, strlen(before));
	const char *text = at ? at + strlen(before) : line;

	while (at && text < line + len && isdigit((unsigned char)*text))
		text++;
	if (at && text < line + len && *text == ' ')
		text++;
	if (out->len > 0)
		buf_str(out, ": ");
	buf_add(out, text, len - (size_t)(text - line));
}

/* The first error of the log, of its child's alone or of anybody's. */
static void nsjail_error(const char *said, bool is_child, struct buf *out)
{
	static const char child[] =
		"][1] "; /* the first process of the namespace writes there, too */
	const char *warned = NULL;

	for (const char *line = said; *line; line += *line == '\n') {
		size_t len = strcspn(line, "\n");
		bool is_told = !is_child || memmem(line, len, child, strlen(child));

		if (is_told && (str_starts(line, "[E]") || str_starts(line, "[F]"))) {
			if (warned)
				nsjail_text(warned, strcspn(warned, "\n"), out);
			nsjail_text(line, len, out);
			return;
		}
		if (is_told)
			warned = str_starts(line, "[W]") ? line : NULL;
		line += len;
	}
}

void nsjail_complaint(const char *said, struct buf *out)
{
	/* What getopt says of an option that this version does not know; the help follows. */
	if (*said != '[')
		return;
	nsjail_error(said, /* is_child= */ true, out);
	/* What its child says of itself says more than that it failed. */
	if (out->len == 0)
		nsjail_error(said, /* is_child= */ false, out);
}

static const struct launch_tool nsjail_tool = {
	.info = &backend_infos[BACKEND_NSJAIL],
	.program = "nsjail",
	.package = "nsjail (from its sources where the distribution has no package)",
	.keeps_network = true,
	.wakes_by_signal = true,
	.leaves_covers = true,
	.strips_root = true,
	.line = nsjail_line,
	.complaint = nsjail_complaint,
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
