/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The corridor.  Each step is one function here and one call into one folder:
 *
 *   door ─► request ─► policy ─► inspect ─► verdict ─► plan ─► backend ─► run ─► audit ─► reply
 *
 * The door made the request and loaded the policy; it prints the reply.  A step either lets the call
 * go on, refuses it (a record and exit code 126), or fails (exit code 125); nothing falls through to
 * something weaker.
 */
#include "core/pipeline.h"

#include "backend/cgroup/cgroup.h"
#include "backend/confine/seccomp.h"
#include "backend/native/ahead.h"
#include "backend/registry.h"
#include "backend/scratch.h"
#include "backend/wasm/module.h"
#include "backend/wasm/wasm.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "core/aftermath.h"
#include "core/calls.h"
#include "core/constrain.h"
#include "core/denied.h"
#include "core/egress.h"
#include "core/environment.h"
#include "core/fsplan.h"
#include "core/grants.h"
#include "core/inject.h"
#include "core/judge.h"
#include "core/look.h"
#include "core/needs.h"
#include "core/output.h"
#include "core/ports.h"
#include "core/rate.h"
#include "core/record.h"
#include "core/remember.h"
#include "core/screen.h"
#include "core/undo.h"
#include "core/workset.h"
#include "policy/check.h"
#include "policy/rules.h"
#include "secrets/leak.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct corridor {
	const struct policy *policy; /* in force for this call; constrained if need be */
	struct policy *constrained;  /* the report's, or NULL */
	struct policy *tightened; /* owned: without the network, for a tainted session; or NULL */
	struct remember remember;
	const struct request *request;
	const struct pipeline_options *options;
	const char *backend; /* requested */
	guarantee_set needs;
	guarantee_set strict; /* of these, what may not be given up */
	struct record record;
	struct report *report;
	struct cordon_error *err;
};

enum step { STEP_ON, STEP_REFUSED }; /* or a negative code */

/* Refuses the call: kind, target, rule and remedy go to the report, one line to the error. */
static int corridor_refuse(struct corridor *c, const char *kind, const char *target,
			   const char *rule, const char *remedy)
{
	c->report->is_refused = true;
	c->report->exit_code = SUPERVISE_EXIT_REFUSED;
	if (report_deny(c->report, kind, target, rule, remedy) < 0)
		return cordon_nomem(c->err);
	(void)cordon_hint(c->err, cordon_fail(c->err, CORDON_E_REFUSED, "refused by %s", rule),
			  "%s", remedy);
	return STEP_REFUSED;
}

/* inspect: what the manifest itself forbids. */
static int corridor_gate(struct corridor *c)
{
	struct refusal refusal;
	int r = gate_check(c->policy, c->request, &refusal, c->err);

	if (r < 0)
		return r;
	if (!refusal.is_refused)
		return STEP_ON;
	return corridor_refuse(c, refusal.kind, refusal.target, refusal.rule, refusal.remedy);
}

static enum approval corridor_ask(const struct corridor *c, const char *reason, int64_t timeout_ms)
{
	const struct pipeline_options *o = c->options;

	return o->approve ? o->approve(o->approve_data, c->request->text, reason, timeout_ms)
			  : approve_ask(c->request, reason, timeout_ms);
}

static int corridor_approval(struct corridor *c, const struct rule *rule, const char *name)
{
	int64_t seconds = origin_is_set(&rule->origin[RULE_APPROVAL_TIMEOUT_ROW])
				  ? rule->approval_timeout_s
				  : c->policy->approval_timeout_s;
	enum approval answer = corridor_ask(c, rule->reason, seconds * 1000);
	bool silence_allows = origin_is_set(&rule->origin[RULE_APPROVAL_DEFAULT_ROW]) &&
			      rule->approval_default == TIMEOUT_ALLOW;
	bool granted = answer == APPROVAL_GRANTED ||
		       (answer == APPROVAL_TIMED_OUT && silence_allows);
	int r = 0;

	if (c->policy->log_approvals)
		r = record_approval(&c->record, c->request, name, answer, granted, c->err);
	if (r < 0 || granted)
		return r;
	return corridor_refuse(
		c, "rule", c->request->tool, name,
		answer == APPROVAL_NOBODY
			? "run it where there is a terminal to ask on, or change the rule"
			: "approve it when asked, or change the rule");
}

/* policy: the ordered rules. */
static int corridor_rules(struct corridor *c)
{
	struct strv paths = {0};
	struct rule_call call = {
		.tool = c->request->tool,
		.category = c->request->category,
		.paths = &paths,
		.arguments = &c->request->arguments,
	};
	struct rule_answer answer;
	struct buf name = BUF_INIT(1024);
	int r;

	if (c->policy->rules.n == 0)
		return STEP_ON;
	r = request_paths(c->request, &paths, c->err);
	if (r == 0) {
		rules_evaluate(c->policy, &call, &answer);
		if (answer.rule) {
			buf_printf(&name, "policy.rules '%.100s' (", answer.rule->id);
			policy_origin_text(c->policy, &answer.rule->origin[RULE_ID_ROW], &name);
			buf_char(&name, ')');
		} else {
			buf_str(&name, "policy.rules: no rule matches");
		}
		if (buf_error(&name) == -ENOMEM)
			r = cordon_nomem(c->err);
		else if (answer.action == RULE_REQUIRE_APPROVAL)
			r = corridor_approval(c, answer.rule, buf_cstr(&name));
		else if (answer.action == RULE_DENY)
			r = corridor_refuse(c, "rule", c->request->tool, buf_cstr(&name),
					    answer.rule && answer.rule->reason
						    ? answer.rule->reason
						    : "add a rule that allows this call");
		if (r == STEP_ON && answer.rule)
			(void)snprintf(c->report->rule, sizeof(c->report->rule), "%s",
				       buf_cstr(&name));
	}
	strv_done(&paths);
	buf_done(&name);
	return r;
}

static int corridor_rate(struct corridor *c)
{
	struct buf rule = BUF_INIT(1024);
	bool allowed = true;
	int r;

	if (!policy_has(c->policy, POLICY_CALLS_PER_MINUTE))
		return STEP_ON;
	r = rate_take(c->options->state_dir, c->policy->calls_per_minute, &allowed, c->err);
	if (r < 0 || allowed)
		return r;
	buf_printf(&rule, "%s (", shape_policy.fields[POLICY_CALLS_PER_MINUTE].path);
	policy_origin_text(c->policy, &c->policy->origin[POLICY_CALLS_PER_MINUTE], &rule);
	buf_char(&rule, ')');
	r = corridor_refuse(c, "limit", "tool_calls_per_minute", buf_cstr(&rule),
			    "wait a minute, or raise the limit");
	buf_done(&rule);
	return r;
}

static const char *corridor_home(const struct corridor *c)
{
	for (char *const *e = c->options->environ; e && *e; e++)
		if (str_starts(*e, "HOME=/"))
			return *e + strlen("HOME=");
	return NULL;
}

/* policy.secret_scanning of what goes in: a command cannot be run with its words hidden, so that it is refused. */
static int corridor_secrets(struct corridor *c)
{
	struct buf text = BUF_INIT((size_t)8 * LIMIT_ARG_BYTES);
	struct findings *f = &c->report->findings;
	size_t before = f->n;
	int r;

	if (!output_scans_input(c->policy))
		return STEP_ON;
	look_text(c->request, &text);
	r = leak_inspect(buf_cstr(&text), text.len, f, c->err);
	buf_done(&text);
	if (r < 0 || f->n == before || !output_refuses_input(c->policy))
		return r;
	return corridor_refuse(c, "input", f->items[before].rule, "policy.secret_scanning",
			       "keep the secret out of the command");
}

/* inspect: what the detectors find, the caller's and ours, and what the session did before. */
static int corridor_inspect(struct corridor *c)
{
	struct report *report = c->report;
	int r;

	for (size_t i = 0; c->options->findings && i < c->options->findings->n; i++)
		if (findings_add(&report->findings, &c->options->findings->items[i]) < 0)
			return cordon_nomem(c->err);
	r = look_at_call(c->policy, c->request, corridor_home(c), &report->findings, c->err);
	if (r == 0)
		r = remember_begin(c->policy, c->request, c->options->state_dir, corridor_home(c),
				   &c->remember, &report->findings, c->err);
	return r < 0 ? r : corridor_secrets(c);
}

/* verdict: SAFE, SUSPICIOUS or MALICIOUS, and what the policy does about it. */
static int corridor_verdict(struct corridor *c)
{
	struct report *report = c->report;
	struct judgement j = {.findings = report->findings};
	int r = 0;

	judge_findings(c->policy, c->request->tool, c->request->agent, &j);
	report->verdict = j.verdict;
	report->action = j.action;
	if (c->options->constrains && (report->is_dry_run || report->action < ACTION_CONSTRAIN)) {
		report->action = ACTION_CONSTRAIN;
		report->is_dry_run = false;
	}
	if (report->action == ACTION_BLOCK && !report->is_dry_run)
		return corridor_refuse(c, "verdict", verdict_name(report->verdict.kind),
				       report->verdict.matched,
				       "look at the findings; --dry-run only records them");
	if (report->action != ACTION_CONSTRAIN)
		return STEP_ON;
	if (c->options->entry && !report->is_dry_run)
		return corridor_refuse(c, "verdict", verdict_name(report->verdict.kind),
				       "a sandbox that stays cannot be held tighter for one call",
				       "look at the findings; 'cordon run' holds it tighter");
	/* constrain: the same call, held tighter; in dry run only shown */
	if (report->is_dry_run)
		return constrain_plan(c->policy, c->request->tool, c->request->agent,
				      c->options->backend, &report->constrained, c->err);
	r = constrain_policy(c->policy, c->request->tool, &report->constrained.policy, c->err);
	c->constrained = report->constrained.policy;
	return r;
}

/* A tainted session keeps what an allowlist names and loses the rest of the network. */
static int corridor_taint(struct corridor *c)
{
	int r;

	if (!remember_denies_egress(&c->remember))
		return STEP_ON;
	if (c->constrained && c->constrained->net_mode == NET_ALLOW_ALL)
		c->constrained->net_mode = NET_DENY;
	if (c->policy->net_mode != NET_ALLOW_ALL)
		return STEP_ON;
	if (c->options->entry)
		return corridor_refuse(c, "network", "allow-all",
				       "policy.taint: the session is tainted",
				       "a person can run 'cordon session lift'");
	r = constrain_egress(c->policy, &c->tightened, c->err);
	if (r < 0)
		return r;
	c->policy = c->tightened;
	return report_deny(c->report, "network", "allow-all",
			   "policy.taint: the session is tainted",
			   "a person can run 'cordon session lift'") < 0
		       ? cordon_nomem(c->err)
		       : STEP_ON;
}

/* Names the value that asks for what no backend gives here. */
static int corridor_explain(struct corridor *c, const struct candidate *candidates, size_t n, int r)
{
	struct buf why = BUF_INIT(CORDON_ERROR_HINT_MAX);
	guarantee_set have = GUARANTEE_NONE;
	enum guarantee missing;

	for (size_t i = 0; i < n; i++)
		if (candidates[i].probe.is_available)
			have |= candidates[i].probe.guarantees;
	missing = guarantee_first_missing(c->strict, have);
	if (missing != GUARANTEE_COUNT)
		needs_reason(c->policy, missing, &why);
	if (why.len > 0)
		r = cordon_hint(c->err, r, "%s is needed by %s%s", guarantee_name(missing),
				buf_cstr(&why),
				missing == GUARANTEE_MEMORY_TREE
					? "; memory_scope: process permits a limit of each process"
					: "");
	buf_done(&why);
	return r;
}

/* Is the command a WebAssembly module?  Its file is looked at only by who asked for such a level. */
static bool corridor_is_module(const struct corridor *c, const struct select_request *request)
{
	const char *command = c->request->argv.v[0];
	bool is_asked = request->floor == LEVEL_WASM ||
			(request->backend &&
			 strcmp(request->backend, backend_infos[BACKEND_WASM].name) == 0);

	return is_asked ? wasm_is_module(command, c->request->cwd) : wasm_has_module_name(command);
}

static int corridor_request(struct corridor *c, struct select_request *ret)
{
	struct needs needs;
	int r = needs_of(c->policy, &needs, c->err);

	if (r < 0)
		return r;
	if (c->options->rollback_on_failure)
		needs.guarantees |= GUARANTEE_BIT(ROLLBACK);
	ret->floor = (enum level)c->policy->level;
	if (corridor_is_module(c, ret)) {
		needs.guarantees &= ~GUARANTEE_BIT(NATIVE_CODE);
		needs.guarantees |= GUARANTEE_BIT(WASM_CODE);
	}
	ret->needs = c->needs = needs.guarantees;
	ret->may_give_up = needs.may_give_up;
	c->strict = needs.guarantees & ~needs.may_give_up;
	return 0;
}

/* enforcement.fallback: noop.  The call runs as a SAFE one would, never with less: what the policy
 * itself asks for still has to be held; only what constraining added is given up, and listed. */
static int corridor_fall_back(struct corridor *c, const struct policy *unconstrained)
{
	struct candidate candidates[BACKEND_COUNT];
	struct select_request request = {.backend = c->backend};
	struct selection *s = &c->report->selection;
	guarantee_set wanted = c->needs;
	int r;

	c->policy = unconstrained;
	r = corridor_request(c, &request);
	if (r == 0)
		r = backend_select(candidates,
				   registry_probe_for(PROBE_QUICK, &request, candidates), &request,
				   s, c->err);
	if (r < 0)
		return r;
	s->degraded |= wanted & ~s->guarantees;
	(void)snprintf(s->reason, sizeof(s->reason),
		       "no backend can constrain the call and enforcement.fallback is noop");
	return 0;
}

/* backend: who can hold all of it. */
static int corridor_select(struct corridor *c)
{
	struct candidate candidates[BACKEND_COUNT];
	struct select_request request = {.backend = c->backend};
	const struct policy *unconstrained = c->policy;
	size_t n;
	int r;

	if (c->constrained) {
		c->policy = c->constrained;
		request.backend = constrain_backend(c->policy, c->request->tool, c->request->agent,
						    c->options->backend);
	}
	r = corridor_request(c, &request);
	if (r == 0 && c->options->entry)
		c->report->selection = *c->options->held;
	if (r < 0 || c->options->entry)
		return r;
	n = registry_probe_for(PROBE_QUICK, &request, candidates);
	r = backend_select(candidates, n, &request, &c->report->selection, c->err);
	if (r == CORDON_E_NO_BACKEND && c->constrained && c->policy->fallback == FALLBACK_NOOP)
		r = corridor_fall_back(c, unconstrained);
	else if (r == 0 && c->constrained)
		c->report->constrained.selection = c->report->selection;
	return r == CORDON_E_NO_BACKEND ? corridor_explain(c, candidates, n, r) : r;
}

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
		.copies = c->report->selection.backend->copies_workspace,
	};

	if (!workset_is_needed(&in))
		return 0;
	if (path_resolve(c->request->cwd, &workspace) < 0)
		return cordon_nomem(c->err);
	in.workspace = workspace;
	return workset_begin(&in, ret, c->err);
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
	plan->allows_ptrace = c->policy->debug;
	return r;
}

/* What it did to the workspace. */
static int corridor_changes(struct corridor *c, struct fsplan *view, struct workset *set)
{
	int r = aftermath_new_git(&view->newgit, &c->report->findings, c->err);

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
	if (path_resolve(c->request->cwd, &workspace) < 0)
		return cordon_nomem(c->err);
	in.workspace = workspace;
	for (char *const *e = plan->envp; *e; e++)
		if (str_starts(*e, "HOME=/") && path_resolve(*e + strlen("HOME="), &home) == 0)
			break;
	in.home = home;
	return denied_judge(&in, c->report, c->err);
}

/* What was held back is read, and what is left of it passed on. */
static int corridor_output(struct corridor *c, const int *stdio)
{
	struct supervise_result *s = &c->report->result;
	int r;

	if (!output_is_judged(c->policy))
		return 0;
	r = output_judge(c->policy, c->request, c->report, c->err);
	if (r < 0 || c->options->is_quiet)
		return r;
	r = io_write(stdio[1], buf_cstr(&s->stdout_data), s->stdout_data.len, CLOCK_NEVER);
	if (r == 0)
		r = io_write(stdio[2], buf_cstr(&s->stderr_data), s->stderr_data.len, CLOCK_NEVER);
	/* Who does not read it any more does not miss it. */
	return r < 0 && r != -EPIPE ? cordon_fail_leaf(c->err, r, "pass the output on") : 0;
}

/* The stored secrets of the call; those that are variables are in the plan's environment from here on. */
static int corridor_inject(struct corridor *c, struct inject *inject,
			   struct egress_secrets *secrets, struct strv *env, struct plan *plan)
{
	int r = inject_begin(c->policy, c->options->state_dir, c->needs, inject, c->err);

	if (r == 0)
		r = egress_secrets_make(&inject->grants, secrets, c->err);
	if (r == 0 && egress_secrets_environment(secrets, env) < 0)
		r = cordon_nomem(c->err);
	if (r == 0)
		r = inject_environment(inject, env, &plan->envp, c->err);
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

/* The network through the proxy, which is started here. */
static int corridor_network(struct corridor *c, const struct egress_secrets *secrets,
			    char **ret_workspace, struct fsplan *view, struct egress_call *egress,
			    struct plan *plan, struct supervise_options *so)
{
	const struct policy *p = c->policy;
	int r = 0;

	if (p->net_ask && path_resolve(c->request->cwd, ret_workspace) < 0)
		return cordon_nomem(c->err);
	r = egress_start(p, secrets, view, egress, c->err);
	plan->ops = view->ops;
	plan->op_count = view->n;
	so->take_network = egress_take;
	so->network_data = egress;
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
		.net = PLAN_NET_HOST, /* until a view says otherwise */
		.max_open_files = corridor_limit(p, POLICY_OPEN_FILES),
		.fuel = corridor_limit(p, POLICY_WASM_FUEL),
		.compiles = p->wasm_aot,
		.entry = c->options->entry,
	};

	if (plan.entry)
		return plan;
	plan.memory_bytes = corridor_limit(p, POLICY_MEMORY);
	plan.cpu_shares = corridor_limit(p, POLICY_CPU_SHARES);
	plan.cpu_percent = corridor_limit(p, POLICY_CPU_PERCENT);
	plan.max_processes = corridor_limit(p, POLICY_PROCESSES);
	return plan;
}

/* plan and run. */
static int corridor_run(struct corridor *c)
{
	static const int own_stdio[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
	const int *stdio = c->options->stdio ? c->options->stdio : own_stdio;
	const struct policy *p = c->policy;
	struct strv env = {0};
	struct plan plan = corridor_plan(c, stdio);
	struct supervise_options so = {
		.timeout_ms = policy_has(p, POLICY_TIMEOUT) ? p->timeout_ms : -1,
		.grace_ms = p->grace_ms,
		.max_output_bytes = corridor_limit(p, POLICY_OUTPUT),
		.captures = c->options->captures || p->log_outputs || output_is_judged(p),
		.is_quiet = c->options->is_quiet || output_is_judged(p),
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
	struct ports ports;
	AUTO_FREE char *workspace = NULL;
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
	if (r == 0 && !c->options->entry)
		r = ports_plan(p, &ports, &plan, c->err);
	plan.by_rlimit = c->report->selection.by_rlimit;
	if (r == 0)
		r = calls_plan(p, &calls, &plan, c->err);
	plan.needs = c->needs & ~c->report->selection.degraded;
	so.sensitive = &view.sensitive;
	if (r == 0)
		r = undo_prepare(p, c->request, c->options->state_dir, &plan, c->report, c->err);
	if (r == 0)
		r = remember_start(&c->remember, c->err);
	if (r == 0)
		r = record_start(&c->record, c->report, c->err);
	if (r == 0 && plan.net == PLAN_NET_PROXY)
		r = corridor_network(c, &secrets, &workspace, &view, &egress, &plan, &so);
	if (r == 0)
		r = screen_begin(p, &inject.grants, &screen, so.stages, c->err);
	newgit_begin(&view.newgit);
	if (r == 0) {
		r = supervise_run(c->report->selection.backend, &plan, &so, &c->report->result,
				  c->err);
		c->report->has_run = true;
		c->report->exit_code = r < 0 ? 125 : c->report->result.exit_code;
	}
	if (r == 0)
		r = corridor_changes(c, &view, &set);
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

static int corridor_walk(struct corridor *c)
{
	static int (*const steps[])(struct corridor * c) = {
		corridor_gate,    corridor_rules, corridor_rate,   corridor_inspect,
		corridor_verdict, corridor_taint, corridor_select, corridor_run,
	};
	int r = STEP_ON;

	for (size_t i = 0; i < ARRAY_LEN(steps) && r == STEP_ON; i++)
		r = steps[i](c);
	return r;
}

/* audit: the outcome, whatever it was.  If it cannot be recorded the caller hears of that, not of
 * success. */
static int corridor_record(struct corridor *c, int e)
{
	struct cordon_error late = {0};

	if (record_end(&c->record, c->report, e < 0 ? c->err : NULL, &late) >= 0 || e < 0)
		return e;
	if (c->err)
		*c->err = late;
	c->report->exit_code = 125;
	return late.code;
}

int pipeline_run(const struct policy *p, const struct request *r, const struct pipeline_options *o,
		 struct report *ret, struct cordon_error *err)
{
	struct corridor c = {
		.policy = p,
		.request = r,
		.options = o,
		.backend = o->backend,
		.report = ret,
		.err = err,
	};
	int e;

	if (!c.backend && policy_has(p, POLICY_RUNTIME))
		c.backend = runtime_backend((enum runtime)p->runtime);
	*ret = (struct report){
		.request = r,
		.requested_level = (enum level)p->level,
		.requested_backend = c.backend,
		.verdict = {.matched = "not judged"},
		.is_dry_run = !policy_is_enforcing(p),
		.exit_code = 125,
	};
	e = record_open(p, o->state_dir, &c.record, err);
	if (e < 0)
		return e;
	scratch_sweep(o->state_dir);
	cow_sweep(o->state_dir);
	cgroup_expect(r->id, o->state_dir);
	e = corridor_walk(&c);
	cgroup_expect(NULL, NULL);
	e = corridor_record(&c, e);
	record_done(&c.record);
	remember_done(&c.remember);
	policy_free(c.tightened);
	return e < 0 ? e : 0;
}
