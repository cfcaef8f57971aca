/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See seatbelt.h.  The command is started as noop starts one; in its place stands sandbox-exec, which puts the profile on
 * itself and executes the command.  What it holds is seen by the same trial that the other backends go through: a
 * program of that name that does not confine gives no guarantee, and then nothing runs.
 */
#include "backend/seatbelt/seatbelt.h"

#include "backend/launch/tool.h"
#include "backend/noop/noop.h"
#include "backend/restrict.h"
#include "backend/seatbelt/sbpl.h"
#include "backend/trial.h"
#include "base/fd.h"
#include "base/io.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Never given, whatever a trial sees. */
#define SEATBELT_NEVER                                                                             \
	(GUARANTEE_BIT(PRIVATE_TMP) | GUARANTEE_BIT(HIDE_METADATA) | GUARANTEE_BIT(KILL_TREE))

/* One's own: we cannot know what it holds. */
static int seatbelt_own(const struct plan *plan, struct buf *out, struct cordon_error *err)
{
	static const guarantee_set unknown =
		GUARANTEE_BIT(READ_SCOPE) | GUARANTEE_BIT(WRITE_SCOPE) | GUARANTEE_BIT(NET_DENY) |
		GUARANTEE_BIT(DENY_INSIDE_ALLOW) | GUARANTEE_BIT(PROTECT_MISSING);
	enum guarantee g = guarantee_first_missing(plan->needs, ~unknown);
	AUTO_FREE char *text = NULL;
	size_t len;
	int r;

	if (g != GUARANTEE_COUNT)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "profile '%s' cannot be known to give %s",
					       plan->seatbelt, guarantee_name(g)),
				   "enforcement.seatbelt.profile: strict");
	r = io_read_file_at(AT_FDCWD, plan->seatbelt, SBPL_MAX, &text, &len);
	if (r < 0)
		return cordon_fail_errno(err, -r, "read the profile '%s'", plan->seatbelt);
	if (memchr(text, '\0', len))
		return cordon_fail(err, CORDON_E_INVALID, "profile '%s' is not text",
				   plan->seatbelt);
	buf_add(out, text, len);
	return buf_error(out) < 0 ? cordon_fail_leaf(err, buf_error(out), "profile") : 0;
}

int seatbelt_profile(const struct plan *plan, struct buf *out, struct cordon_error *err)
{
	bool is_moderate = plan->seatbelt && strcmp(plan->seatbelt, SEATBELT_MODERATE) == 0;
	struct sbpl_profile profile = {
		.reads_all = is_moderate,
		.allows_network = plan->net == PLAN_NET_HOST,
		.allows_process = true,
		.allows_sysctl = true,
	};
	AUTO_FREE struct sbpl_rule *rules = NULL;
	int r;

	if (plan->seatbelt && !is_moderate && strcmp(plan->seatbelt, SEATBELT_STRICT) != 0)
		return seatbelt_own(plan, out, err);
	if (is_moderate && plan->needs & GUARANTEE_BIT(READ_SCOPE))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "profile 'moderate' does not give read-scope"),
				   "enforcement.seatbelt.profile: strict");
	if (plan->net == PLAN_NET_PROXY)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "seatbelt has no network but none or the host's");
	r = sbpl_rules(plan, &rules, &profile.n, err);
	profile.rules = rules;
	return r < 0 ? r : sbpl_write(&profile, out, err);
}

int seatbelt_line(const char *program, const char *profile, char *const *argv, struct strv *out)
{
	int r = strv_add(out, program);

	if (r == 0)
		r = strv_add(out, "-p");
	if (r == 0)
		r = strv_add(out, profile);
	if (r == 0)
		r = strv_add(out, "--");
	for (; r == 0 && *argv; argv++)
		r = strv_add(out, *argv);
	return r;
}

static int seatbelt_spawn(const struct plan *plan, struct spawn_result *ret,
			  struct cordon_error *err)
{
	AUTO(buf_done) struct buf profile = BUF_INIT(SBPL_MAX);
	AUTO(strv_done) struct strv words = {0};
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX];
	struct plan own = *plan;
	int fd = tool_open(SEATBELT_PROGRAM, path, why);
	int r;

	if (fd < 0)
		return cordon_fail(err, CORDON_E_NO_BACKEND, "%s", why);
	(void)fd_close(fd);
	r = seatbelt_profile(plan, &profile, err);
	if (r < 0)
		return r;
	r = seatbelt_line(path, buf_cstr(&profile), plan->argv, &words);
	if (r < 0)
		return cordon_fail_leaf(err, r, "command line of " SEATBELT_PROGRAM);
	own.argv = words.v;
	/* All of this is the profile's by now. */
	own.ops = NULL;
	own.op_count = 0;
	own.net = PLAN_NET_HOST;
	own.needs = GUARANTEE_NONE;
	return noop_backend.spawn(&own, ret, err);
}

/* Not tried: what a profile says about the network was not seen to hold. */
static bool seatbelt_denies_network(void)
{
	return false;
}

static void seatbelt_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX];
	const struct trial trial = {
		.info = &backend_infos[BACKEND_SEATBELT],
		.spawn = seatbelt_spawn,
		.fix = "use another backend",
		.tool = path,
		.denies_network = seatbelt_denies_network,
	};
	int fd = tool_open(SEATBELT_PROGRAM, path, why);

	(void)wanted;
	*ret = (struct probe){0};
	if (fd < 0) {
		(void)snprintf(ret->reason, sizeof(ret->reason), "%s; only macOS has it", why);
		return;
	}
	(void)fd_close(fd);
	trial_probe(&trial, form, ret);
	ret->guarantees &= ~SEATBELT_NEVER;
}

const struct cordon_backend seatbelt_backend = {
	.info = &backend_infos[BACKEND_SEATBELT],
	.summary = "macOS's own sandbox, with a profile of the plan",
	.takes_cgroup = false,
	.terminal = BACKEND_TERMINAL_HOST,
	.probe = seatbelt_probe,
	.spawn = seatbelt_spawn,
	.restrict_filesystem = backend_default_restrict_filesystem,
	.restrict_network = backend_default_restrict_network,
	.restrict_syscalls = backend_default_restrict_syscalls,
	.apply_restrictions = backend_default_apply_restrictions,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = backend_default_get_audit_log,
};
