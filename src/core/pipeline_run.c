/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The corridor's last step: what the call sees, gets and may use is planned, it is supervised, and what came of it is
 * read from all who watched it.
 */
#include "core/corridor.h"

#include "backend/native/ahead.h"
#include "backend/view/upper.h"
#include "backend/wasm/wasm.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/path.h"
#include "core/aftermath.h"
#include "core/calls.h"
#include "core/denied.h"
#include "core/egress.h"
#include "core/environment.h"
#include "core/fsplan.h"
#include "core/fsgrant.h"
#include "core/grants.h"
#include "core/inject.h"
#include "core/output.h"
#include "core/keeper.h"
#include "core/keeper_view.h"
#include "core/ports.h"
#include "core/sandbox_set.h"
#include "core/screen.h"
#include "core/since.h"
#include "core/undo.h"
#include "core/workset.h"
#include "run/show.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct plan_limit corridor_limit(const struct policy *p, enum policy_row row)
{
	int64_t v = *(const int64_t *)field_value_const(&shape_policy.fields[row], p);

	return policy_has(p, row) ? PLAN_LIMIT((uint64_t)v) : (struct plan_limit){0};
}

/* The limits that the call ran into, with the option that would raise them. */
static int corridor_limits_hit(struct corridor *c)
{
	const struct supervise_result *s = &c->report->result;
	const struct {
		bool hit;
		enum policy_row row;
		const char *remedy;
	} rows[] = {
		{s->is_timed_out, POLICY_TIMEOUT, "--timeout DURATION"},
		/* without a limit of the policy it was our capture that was full, which ended nothing */
		{s->is_output_truncated && policy_has(c->policy, POLICY_OUTPUT), POLICY_OUTPUT,
		 "--max-output SIZE"},
		{s->is_oom, POLICY_MEMORY, "--memory SIZE"},
		{s->is_fork_refused, POLICY_PROCESSES, "--max-processes N"},
		{wasm_is_out_of_fuel(c->report->selection.backend, s->signal), POLICY_WASM_FUEL,
		 "enforcement.wasm.fuel_limit: N"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *path = shape_policy.fields[rows[i].row].path;
		struct buf rule = BUF_INIT(1024);
		int r = 0;

		if (!rows[i].hit)
			continue;
		buf_printf(&rule, "%s (", path);
		policy_origin_text(c->policy, &c->policy->origin[rows[i].row], &rule);
		buf_char(&rule, ')');
		r = report_deny(c->report, "limit", strrchr(path, '.') + 1, buf_cstr(&rule),
				rows[i].remedy);
		buf_done(&rule);
		if (r < 0)
			return cordon_nomem(c->err);
	}
	return 0;
}

/* Where the call writes what it writes to its workspace. */
static int corridor_workset(struct corridor *c, struct workset *ret)
{
	AUTO_FREE char *workspace = NULL;
	struct workset_input in = {
		.policy = c->policy,
		.state_dir = c->options->state_dir,
		.cow = c->options->cow,
		.rolls_back = c->options->rollback_on_failure,
		.level = c->report->selection.backend->info->level,
		.copies = c->report->selection.backend->copies_workspace,
	};

	if (!workset_is_needed(&in))
		return 0;
	if (path_resolve(c->request->cwd, &workspace) < 0)
		return cordon_nomem(c->err);
	in.workspace = workspace;
	return workset_begin(&in, ret, c->err);
}

/* Does the backend lay an overlay over it, because something in it is kept from the call? */
static bool corridor_is_overlaid(const struct fsplan *view, const struct plan_op *grant)
{
	struct stat st;

	if (grant->kind != PLAN_OP_BIND_RW)
		return false;
	for (size_t i = 0; i < view->n; i++)
		if ((view->ops[i].kind == PLAN_OP_PROTECT || view->ops[i].kind == PLAN_OP_DENY) &&
		    path_is_within(view->ops[i].path, grant->path) &&
		    strcmp(view->ops[i].path, grant->path) != 0)
			return stat(grant->path, &st) == 0 && S_ISDIR(st.st_mode);
	return false;
}

/* The top of a mount, a network's file system, or one with others in it: if overlayfs cannot take what is written to, a backend
 * that has no use for it is chosen, if one can hold the policy. */
static int corridor_without_overlay(struct corridor *c, const struct fsplan *view)
{
	struct buf why = BUF_INIT(LIMIT_PATH_BYTES + sizeof(c->no_overlay));
	int r = 0;

	for (size_t i = 0; i < view->n && why.len == 0; i++)
		if (corridor_is_overlaid(view, &view->ops[i]) &&
		    !view_upper_is_possible(view->ops[i].path, &why))
			(void)snprintf(c->no_overlay, sizeof(c->no_overlay),
				       "in '%.96s' they need an overlay: %s", view->ops[i].path,
				       buf_cstr(&why));
	if (why.len > 0)
		r = corridor_select_again(c);
	buf_done(&why);
	return r;
}

/* What the call sees of files and network. */
static int corridor_view(struct corridor *c, struct plan *plan, const struct inject *inject,
			 struct workset *set, struct fsplan *view)
{
	AUTO_FREE char *config_dir = NULL;
	AUTO_FREE char *runtime_dir = NULL;
	struct fsplan_input in = {
		.policy = c->policy,
		.request = c->request,
		.envp = plan->envp,
		.state_dir = c->options->state_dir,
		.is_root = geteuid() == 0,
	};
	int r = env_config_dir(&config_dir);

	if (r < 0 && r != -ENOENT)
		return cordon_fail_leaf(c->err, r, "find the configuration directory");
	r = corridor_workset(c, set);
	if (r < 0)
		return r;
	in.config_dir = config_dir;
	if (env_runtime_dir(&runtime_dir) == -ENOMEM)
		return cordon_nomem(c->err);
	in.runtime_dir = runtime_dir;
	in.cow_dir = set->cow ? set->cow->dir : NULL;
	native_ahead_map(); /* we pass by */
	r = fsplan_build(&in, view, c->err);
	native_ahead_map();
	if (r == 0 && !set->cow && !c->report->selection.backend->copies_workspace)
		r = corridor_without_overlay(c, view);
	if (r == 0)
		r = inject_files(inject, view, c->err);
	if (r == 0)
		r = workset_prepare(set, view, plan, c->err);
	plan->ops = view->ops;
	plan->op_count = view->n;
	plan->seals_unix = view->seals_unix;
	plan->net = egress_is_needed(c->policy)            ? PLAN_NET_PROXY
		    : c->policy->net_mode == NET_ALLOW_ALL ? PLAN_NET_HOST
							   : PLAN_NET_NONE;
	plan->separates_exec = c->policy->write_xor_execute;
	plan->platform = c->policy->gvisor_platform;
	plan->seatbelt = c->policy->seatbelt_profile;
	plan->allows_ptrace = c->policy->debug;
	return r;
}

/* A call that is held tighter than its sandbox that stays cannot have these taken away. */
static int corridor_refuse_grants(struct corridor *c, const struct fsplan *view)
{
	for (size_t i = 0; i < view->n; i++) {
		enum plan_op_kind kind = view->ops[i].kind;

		if (strcmp(view->ops[i].path, SECRET_FILE_DIR) == 0 || kind == PLAN_OP_SOCKET)
			return corridor_refuse(c, "verdict", view->ops[i].path,
					       "a call without the sandbox's network may have "
					       "neither its secrets nor a socket of the host",
					       "use a sandbox without this grant, or 'cordon run'");
		if (kind == PLAN_OP_BIND_RW || kind == PLAN_OP_DEVICE || kind == PLAN_OP_CACHE)
			return corridor_refuse(c, "verdict", view->ops[i].path,
					       "a call without the sandbox's network may write to "
					       "its change set alone",
					       "use a sandbox without this grant, or 'cordon run'");
	}
	return 0;
}

/* Others in the sandbox have what is to be kept from the call, and could hand it over. */
static int corridor_refuse_company(struct corridor *c)
{
	c->report->has_run = false;
	return corridor_refuse(c, "verdict", "sandbox",
			       "a call without the sandbox's network runs alone, and other "
			       "processes live there",
			       "end them, or use 'cordon run'");
}

/* How many placeholders the proxy of the sandbox saw where they must not go, and what else must not leave, up to now. */
static int corridor_alarms(const struct corridor *c, uint64_t *ret, struct proxy_leaked *ret_leaked)
{
	const struct sandbox *s = c->options->sandbox;
	struct serve_answer answer = {0};
	int r = 0;

	if (s && egress_secrets_are_sought(c->policy)) {
		AUTO_CLOSE int fd = keeper_connect(s->dir, s->row.socket);

		r = fd < 0 ? fd : keeper_ask(fd, SERVE_STATUS, &answer);
	}
	*ret = answer.alarms;
	*ret_leaked = (struct proxy_leaked){.stored = answer.leaked_stored,
					    .by_rule = answer.leaked_by_rule};
	return r < 0 ? cordon_fail_leaf(c->err, r, "ask what the sandbox's proxy saw") : 0;
}

/* One that was seen since the call began is its doing, or that of what runs beside it. */
static int corridor_alarmed(struct corridor *c)
{
	AUTO_FREE struct proxy_tally *tally = NULL;
	struct proxy_leaked leaked;
	uint64_t now;
	int r = corridor_alarms(c, &now, &leaked);

	if (r == 0)
		r = egress_secrets_leaked(c->policy, &c->leaked, &leaked, c->report, c->err);
	if (r < 0 || now <= c->alarms)
		return r;
	tally = calloc(1, sizeof(*tally));
	if (!tally)
		return cordon_nomem(c->err);
	tally->alarms = now - c->alarms;
	return egress_secrets_judge(c->policy, tally, c->report, c->err);
}

/* What a call in a sandbox that stays can see was decided when that was made; here it is what refusals are judged by, and
 * what is watched. */
static int corridor_join(struct corridor *c, struct plan *plan, struct fsplan *view,
			 struct since *since)
{
	const struct sandbox *s = c->options->sandbox;
	bool is_copy = c->report->selection.backend->copies_workspace;
	int r = s ? keeper_view_read(s->dir, view, c->err) : 0;

	if (r == 0 && s)
		r = since_begin(c->options->state_dir, &s->row, is_copy, c->policy, since, view,
				c->err);
	/* There the workspace is the copy. */
	if (r == 0 && s && is_copy && path_is_within(plan->cwd, s->row.workspace)) {
		if (strv_addf(&view->strings, "%s%s", since->upper,
			      plan->cwd + strlen(s->row.workspace)) < 0)
			return cordon_nomem(c->err);
		plan->cwd = view->strings.v[view->strings.n - 1];
	}
	if (r == 0)
		r = corridor_alarms(c, &c->alarms, &c->leaked);
	plan->ops = view->ops;
	plan->op_count = view->n;
	plan->seen = &c->report->seen;
	return r == 0 && plan->seals_net ? corridor_refuse_grants(c, view) : r;
}

/* What stands in the workspace and is no part of what it did to it. */
static int corridor_submounts(struct corridor *c)
{
	const struct policy *p = c->policy;

	for (size_t i = 0; i < p->submounts.n; i++) {
		const char *path = p->submounts.items[i].text;

		if (strv_addf(&c->report->submounts, "%s %s",
			      fsgrant_is_writable(p, path) ? "rw" : "ro", path) < 0)
			return cordon_nomem(c->err);
	}
	return 0;
}

/* What it did to the workspace. */
static int corridor_changes(struct corridor *c, struct fsplan *view, struct workset *set,
			    struct since *since)
{
	int r = corridor_submounts(c);

	if (r < 0)
		return r;
	if (c->options->entry) {
		r = c->options->sandbox ? since_read(since, c->report, c->err) : 0;
		return r == 0 ? corridor_alarmed(c) : r;
	}
	r = aftermath_new_git(&view->newgit, &c->report->findings, c->err);
	return r == 0 ? workset_read(set, c->report, c->err) : r;
}

/* What was seen becomes what was denied. */
static int corridor_denied(struct corridor *c, const struct plan *plan)
{
	AUTO_FREE char *workspace = NULL;
	AUTO_FREE char *home = NULL;
	struct denied_input in = {
		.policy = c->policy,
		.plan = plan,
		.state_dir = c->options->state_dir,
	};

	if (c->report->seen.n == 0)
		return 0;
	if (path_resolve(c->options->sandbox ? c->options->sandbox->row.workspace : c->request->cwd,
			 &workspace) < 0)
		return cordon_nomem(c->err);
	in.workspace = workspace;
	for (char *const *e = plan->envp; *e; e++)
		if (str_starts(*e, "HOME=/") && path_resolve(*e + strlen("HOME="), &home) == 0)
			break;
	in.home = home;
	return denied_judge(&in, c->report, c->err);
}

/* The output is read, and what is left of what was held back passed on. */
static int corridor_output(struct corridor *c, const int *stdio)
{
	struct supervise_result *s = &c->report->result;
	int r;

	if (!output_is_judged(c->policy))
		return 0;
	r = output_judge(c->policy, c->request, c->report, c->err);
	if (r < 0 || c->options->is_quiet || !output_is_held(c->policy))
		return r;
	r = show_write(stdio[1], buf_cstr(&s->stdout_data), s->stdout_data.len, CLOCK_NEVER);
	if (r == 0)
		r = show_write(stdio[2], buf_cstr(&s->stderr_data), s->stderr_data.len,
			       CLOCK_NEVER);
	/* Who does not read it any more does not miss it. */
	return r < 0 && r != -EPIPE ? cordon_fail_leaf(c->err, r, "pass the output on") : 0;
}

/* The stored secrets of the call; those that are variables are in the plan's environment from here on. */
static int corridor_inject(struct corridor *c, struct inject *inject,
			   struct egress_secrets *secrets, struct strv *env, struct plan *plan)
{
	int r = inject_begin(c->policy, c->options->state_dir, c->needs, inject, c->err);

	if (r == 0 && c->options->sandbox && egress_secrets_are_due(c->policy))
		r = keeper_placeholders_read(c->options->sandbox->dir, env, c->err);
	else if (r == 0)
		r = egress_secrets_make(c->policy, &inject->grants, secrets, c->err);
	if (r == 0 && egress_secrets_environment(secrets, env) < 0)
		r = cordon_nomem(c->err);
	if (r == 0)
		r = inject_environment(inject, env, &plan->envp, c->err);
	plan->has_secrets = inject->grants.n > 0;
	if (r == 0 && inject_report(inject, c->report) < 0)
		r = cordon_nomem(c->err);
	if (r != CORDON_E_REFUSED)
		return r;
	c->report->is_refused = true;
	c->report->exit_code = SUPERVISE_EXIT_REFUSED;
	if (report_deny(c->report, "rule", shape_policy.fields[POLICY_SECRET_GRANTS].path,
			c->err ? c->err->message : "", c->err ? c->err->hint : "") < 0)
		return cordon_nomem(c->err);
	return STEP_REFUSED;
}

/* Before a SUSPICIOUS call in a sandbox that stays: what it changes can be rolled back. */
static int corridor_checkpoint(struct corridor *c)
{
	AUTO_FREE char *name = NULL;
	int r = sandbox_checkpoint(c->options->state_dir, c->options->sandbox->row.id, &name,
				   c->err);

	if (r < 0)
		return cordon_wrap(c->err, r, "save what a SUSPICIOUS call may change");
	(void)snprintf(c->report->checkpoint, sizeof(c->report->checkpoint), "%s", name);
	return 0;
}

/* What the answer to the proxy's questions depends on. */
static void corridor_asked(struct corridor *c, const char *workspace, struct asked *ret)
{
	ret->policy = c->policy;
	ret->request = c->request;
	ret->workspace = workspace;
	ret->state_dir = c->options->state_dir;
	ret->record = &c->record;
	ret->report = c->report;
	ret->is_tainted = remember_denies_egress(&c->remember);
	ret->ask = c->options->approve;
	ret->ask_data = c->options->approve_data;
}

/* In a sandbox that stays the proxy is the keeper's, and so are its questions; they are put to who has a call in it. */
static int corridor_questions(struct corridor *c, struct egress_call *egress, struct plan *plan,
			      struct supervise_options *so)
{
	const struct sandbox *s = c->options->sandbox;
	int r;

	if (!s || plan->seals_net || !c->policy->net_ask || c->policy->net_mode != NET_ALLOWLIST)
		return 0;
	r = egress_authority(c->policy, egress, c->err);
	if (r < 0)
		return r;
	corridor_asked(c, s->row.workspace, &egress->asked);
	egress->asked.authority = &egress->authority;
	egress->entry = plan->entry;
	plan->is_tainted = egress->asked.is_tainted;
	plan->answers = !plan->is_tainted;
	so->network_event = egress_asked_inside;
	so->network_data = egress;
	return 0;
}

/* The network through the proxy, which is started here. */
static int corridor_network(struct corridor *c, const struct egress_secrets *secrets,
			    char **ret_workspace, struct fsplan *view, struct egress_call *egress,
			    struct plan *plan, struct supervise_options *so)
{
	const struct policy *p = c->policy;
	int r = 0;

	if (plan->entry)
		return corridor_questions(c, egress, plan, so);
	if (p->net_ask && path_resolve(c->request->cwd, ret_workspace) < 0)
		return cordon_nomem(c->err);
	r = egress_start(p, secrets, view, egress, c->err);
	plan->ops = view->ops;
	plan->op_count = view->n;
	plan->take_network = egress_take;
	plan->network_data = so->network_data = egress;
	if (r == 0 && p->net_ask && p->net_mode == NET_ALLOWLIST) {
		corridor_asked(c, *ret_workspace, &egress->asked);
		so->network_event = egress_asked;
		so->network_fd = egress->proxy.control;
	}
	return r;
}

/* The plan before there is a view.  Into a sandbox that stays the limits of its processes are not given: it has them
 * since it was made. */
static struct plan corridor_plan(const struct corridor *c, const int *stdio)
{
	const struct policy *p = c->policy;
	struct plan plan = {
		.id = c->request->id,
		.argv = c->request->argv.v,
		.cwd = c->request->cwd,
		.stdin_fd = stdio[0],
		.stdout_fd = stdio[1],
		.stderr_fd = stdio[2],
		.scratch_dir = c->options->state_dir,
		.image = p->image,
		.warm = (unsigned)p->container_warm,
		.warm_idle_s = (unsigned)p->container_idle_s,
		.runtime = p->container_runtime,
		.net = PLAN_NET_HOST, /* until a view says otherwise */
		.max_open_files = corridor_limit(p, POLICY_OPEN_FILES),
		.fuel = corridor_limit(p, POLICY_WASM_FUEL),
		.compiles = p->wasm_aot,
		.entry = c->options->entry,
		/* Held tighter than the sandbox is, or in a tainted session. */
		.seals_net = c->options->entry && (c->constrained || c->tightened),
		.is_alone = c->is_alone,
	};

	if (plan.entry)
		return plan;
	plan.memory_bytes = corridor_limit(p, POLICY_MEMORY);
	plan.cpu_shares = corridor_limit(p, POLICY_CPU_SHARES);
	plan.cpu_percent = corridor_limit(p, POLICY_CPU_PERCENT);
	plan.max_processes = corridor_limit(p, POLICY_PROCESSES);
	return plan;
}

static int64_t corridor_timeout(const struct corridor *c)
{
	int64_t own = c->options->timeout_ms;

	if (!policy_has(c->policy, POLICY_TIMEOUT))
		return own > 0 ? own : -1;
	return own > 0 && own < c->policy->timeout_ms ? own : c->policy->timeout_ms;
}

/* The start record, where the backend asks for it while it builds. */
struct corridor_late {
	struct corridor *c;
	bool is_asked;
	int r;
};

static int corridor_before(void *arg, struct cordon_error *err)
{
	struct corridor_late *late = arg;

	late->is_asked = true;
	late->r = record_start(&late->c->record, late->c->report, err);
	return late->r;
}

/* The command, under the backend that was selected.  One that could not be started has a start record, too. */
static int corridor_supervise(struct corridor *c, struct plan *plan,
			      const struct supervise_options *so, bool is_late)
{
	struct corridor_late late = {.c = c};
	int r;

	if (is_late) {
		plan->before = corridor_before;
		plan->before_arg = &late;
	}
	r = supervise_run(c->report->selection.backend, plan, so, &c->report->result, c->err);
	if (is_late && !late.is_asked && record_start(&c->record, c->report, NULL) < 0)
		late.r = CORDON_E_SYSTEM; /* the end record will say so */
	c->report->has_run = late.r == 0;
	return r;
}

int corridor_run(struct corridor *c)
{
	static const int own_stdio[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
	const int *stdio = c->options->stdio ? c->options->stdio : own_stdio;
	const struct policy *p = c->policy;
	struct strv env = {0};
	struct plan plan = corridor_plan(c, stdio);
	struct supervise_options so = {
		.timeout_ms = corridor_timeout(c),
		.grace_ms = p->grace_ms,
		.max_output_bytes = corridor_limit(p, POLICY_OUTPUT),
		.captures = c->options->captures || p->log_outputs || output_is_judged(p),
		.is_quiet = c->options->is_quiet || output_is_held(p),
		.uses_terminal = c->options->uses_terminal,
		.forwards_signals = c->options->forwards_signals,
	};
	bool has_view = c->report->selection.backend->info->level > LEVEL_NONE &&
			!c->options->entry;
	struct egress_call egress = EGRESS_CALL;
	struct egress_secrets secrets = {0};
	struct inject inject = {0};
	struct screen screen = {0};
	struct callset calls = {0};
	struct fsplan view = {0};
	AUTO(workset_done) struct workset set = WORKSET_NONE;
	AUTO(since_done) struct since since = {0};
	struct ports ports;
	AUTO_FREE char *workspace = NULL;
	bool is_late;
	int r = environment_build(p, c->request, c->options->environ, &env, c->err);

	plan.envp = env.v;
	if (r == 0)
		r = corridor_inject(c, &inject, &secrets, &env, &plan);
	if (r == 0 && has_view) {
		plan.seen = &c->report->seen;
		plan.watch = c->options->watches_paths ? PLAN_WATCH_PATHS : PLAN_WATCH_REFUSED;
		c->report->watch = plan.watch;
		r = grants_make_caches(p, c->request->cwd, c->options->state_dir, c->err);
	}
	if (r == 0 && has_view)
		r = corridor_view(c, &plan, &inject, &set, &view);
	if (r == 0 && c->options->entry)
		r = corridor_join(c, &plan, &view, &since);
	else if (r == 0)
		r = ports_plan(p, &ports, &plan, c->err);
	plan.by_rlimit = c->report->selection.by_rlimit;
	if (r == 0)
		r = calls_plan(p, &calls, &plan, c->err);
	plan.needs = c->needs & ~c->report->selection.degraded;
	so.sensitive = &view.sensitive;
	if (r == 0)
		r = undo_prepare(p, c->request, c->options->state_dir, &plan, c->report, c->err);
	if (r == 0 && c->options->sandbox && c->constrained)
		r = corridor_checkpoint(c);
	if (r == 0)
		r = remember_start(&c->remember, c->err);
	/* The first record of all makes the state directory, which the view has to find; and of one that is not ours it says so. */
	is_late = c->report->selection.backend->asks_late && plan.net != PLAN_NET_PROXY &&
		  !plan.entry && access(c->options->state_dir, W_OK | X_OK) == 0;
	if (r == 0 && !is_late)
		r = record_start(&c->record, c->report, c->err);
	if (r == 0 && (plan.net == PLAN_NET_PROXY || plan.entry))
		r = corridor_network(c, &secrets, &workspace, &view, &egress, &plan, &so);
	if (r == 0)
		r = screen_begin(p, &inject.grants, &screen, so.stages, c->err);
	newgit_begin(&view.newgit);
	if (r == 0) {
		r = corridor_supervise(c, &plan, &so, is_late);
		c->report->result.misses_opened |= view.is_sensitive_cut;
		c->report->exit_code = r < 0 ? 125 : c->report->result.exit_code;
	}
	if (r == CORDON_E_LIMIT && plan.is_alone)
		r = corridor_refuse_company(c);
	if (r == 0)
		r = corridor_changes(c, &view, &set, &since);
	if (r == 0)
		r = corridor_denied(c, &plan);
	if (r == 0)
		r = egress_end(&egress, c->report, c->err);
	if (r == 0)
		r = egress_secrets_judge(p, egress.proxy.tally, c->report, c->err);
	egress_done(&egress);
	egress_secrets_done(&secrets);
	if (r == 0)
		r = remember_end(&c->remember, c->report, c->err);
	if (r == 0)
		r = screen_end(&screen, c->report, c->err);
	if (r == 0)
		r = corridor_output(c, stdio);
	if (r == 0)
		r = workset_end(&set, c->report, c->err);
	screen_done(&screen);
	fsplan_done(&view);
	inject_done(&inject);
	strv_done(&env);
	return r != 0 ? r : corridor_limits_hit(c);
}
