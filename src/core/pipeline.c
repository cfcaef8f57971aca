/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The corridor.  Each step is one function here and one call into one folder:
 *
 *   door ─► request ─► policy ─► inspect ─► verdict ─► plan ─► backend ─► run ─► audit ─► reply
 *
 * The door made the request and loaded the policy; it prints the reply.  A step either lets the call
 * go on, refuses it (a record and exit code 126), or fails (exit code 125); nothing falls through to
 * something weaker.  The last step is in pipeline_run.c.
 */
#include "core/corridor.h"

#include "backend/cgroup/cgroup.h"
#include "backend/registry.h"
#include "backend/scratch.h"
#include "backend/wasm/module.h"
#include "base/limits.h"
#include "core/constrain.h"
#include "core/judge.h"
#include "core/look.h"
#include "core/needs.h"
#include "core/output.h"
#include "core/rate.h"
#include "core/sandbox.h"
#include "policy/check.h"
#include "policy/rules.h"
#include "secrets/leak.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int corridor_refuse(struct corridor *c, const char *kind, const char *target, const char *rule,
		    const char *remedy)
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
	const struct approve_call call = {
		.request = c->request,
		.policy = c->policy,
		.backend = c->backend,
		.sandbox = o->sandbox ? o->sandbox->row.id : NULL,
		.environ = o->environ,
	};

	return o->approve ? o->approve(o->approve_data, c->request->text, reason, timeout_ms)
			  : approve_ask(&call, reason, timeout_ms);
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

/* A SUSPICIOUS call in a sandbox that stays: without its network, and what it changes can be taken back. */
static int corridor_tighten(struct corridor *c)
{
	struct report *report = c->report;
	struct cordon_error why = {0};
	int r = constrain_inside(c->policy, c->request->tool, c->request->agent,
				 &report->constrained.policy, &why);

	if (r == CORDON_E_REFUSED)
		return corridor_refuse(c, "verdict", verdict_name(report->verdict.kind),
				       why.message,
				       "look at the findings; 'cordon run' holds it tighter");
	if (r < 0) {
		if (c->err)
			*c->err = why;
		return r;
	}
	c->constrained = report->constrained.policy;
	c->is_alone = c->policy->net_mode != NET_DENY || c->policy->secret_grants.n > 0;
	report->constrained.requested = c->options->held->backend->info->name;
	report->constrained.selection = *c->options->held;
	return STEP_ON;
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
		return corridor_tighten(c);
	/* constrain: the same call, held tighter; in dry run only shown */
	if (report->is_dry_run)
		return constrain_plan(c->policy, c->request->tool, c->request->agent,
				      c->options->backend, &report->constrained, c->err);
	r = constrain_policy(c->policy, c->request->tool,
			     constrain_backend(c->policy, c->request->tool, c->request->agent,
					       c->options->backend),
			     &report->constrained.policy, c->err);
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
	r = constrain_egress(c->policy, &c->tightened, c->err);
	if (r < 0)
		return r;
	c->policy = c->tightened;
	c->is_alone = c->options->entry != NULL;
	return report_deny(c->report, "network", "allow-all",
			   "policy.taint: the session is tainted",
			   "a person can run 'cordon session lift'") < 0
		       ? cordon_nomem(c->err)
		       : STEP_ON;
}

/* Names the value that asks for what no backend gives here. */
static int corridor_explain(struct corridor *c, const struct select_request *request,
			    const struct candidate *candidates, size_t n, int r)
{
	const struct backend_info *named = request->backend ? backend_info_find(request->backend)
							    : NULL;
	struct buf why = BUF_INIT(CORDON_ERROR_HINT_MAX);
	guarantee_set have = GUARANTEE_NONE;
	enum guarantee missing;

	for (size_t i = 0; i < n; i++)
		if (candidates[i].probe.is_available)
			have |= candidates[i].probe.guarantees;
	missing = guarantee_first_missing(c->strict, have);
	if (missing != GUARANTEE_COUNT)
		needs_reason(c->policy, missing, &why);
	/* A backend below the floor has its hint. */
	if (why.len > 0 && !(named && named->level < request->floor))
		r = cordon_hint(c->err, r, "%s is needed by %s%s", guarantee_name(missing),
				buf_cstr(&why),
				missing == GUARANTEE_MEMORY_TREE
					? "; sandbox.resource_limits.memory_scope: "
					  "process permits a limit of each process"
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
	ret->no_overlay = c->no_overlay[0] ? c->no_overlay : NULL;
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

/* For the policy in force. */
static int corridor_choose(struct corridor *c, bool falls_back, const struct policy *unconstrained)
{
	struct candidate candidates[BACKEND_COUNT];
	struct select_request request = {.backend = c->backend};
	size_t n;
	int r;

	if (c->constrained)
		request.backend = constrain_backend(c->policy, c->request->tool, c->request->agent,
						    c->options->backend);
	r = corridor_request(c, &request);
	if (r == 0 && c->options->entry)
		c->report->selection = *c->options->held;
	if (r < 0 || c->options->entry)
		return r;
	n = registry_probe_for(PROBE_QUICK, &request, candidates);
	r = backend_select(candidates, n, &request, &c->report->selection, c->err);
	if (r == CORDON_E_NO_BACKEND && falls_back)
		r = corridor_fall_back(c, unconstrained);
	else if (r == 0 && c->constrained)
		c->report->constrained.selection = c->report->selection;
	return r == CORDON_E_NO_BACKEND ? corridor_explain(c, &request, candidates, n, r) : r;
}

/* backend: who can hold all of it. */
static int corridor_select(struct corridor *c)
{
	const struct policy *unconstrained = c->policy;

	if (c->constrained)
		c->policy = c->constrained;
	return corridor_choose(c, c->constrained && c->policy->fallback == FALLBACK_NOOP,
			       unconstrained);
}

int corridor_select_again(struct corridor *c)
{
	/* What was planned already is the policy's in force, which stays. */
	int r = corridor_choose(c, /* falls_back= */ false, NULL);

	return r == CORDON_E_NO_BACKEND
		       ? cordon_hint(c->err, r,
				     "run in a directory below the top of a disk, a volume or a "
				     "tmpfs, or keep what is written apart: --workspace cow")
		       : r;
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
