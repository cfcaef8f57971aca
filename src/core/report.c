/* SPDX-License-Identifier: Apache-2.0 */
/* See report.h. */
#include "core/report.h"

#include "base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void denied_done(struct denied *d)
{
	free(d->target);
	free(d->rule);
	free(d->remedy);
	free(d->grant);
	free(d->under);
	free(d->yaml);
}

int report_approval(struct report *r, const char *host, const char *scope, const char *by)
{
	struct report_approval *more =
		reallocarray(r->approvals, r->n_approvals + 1, sizeof(*r->approvals));

	if (!more)
		return -ENOMEM;
	r->approvals = more;
	more += r->n_approvals++;
	*more = (struct report_approval){0};
	(void)snprintf(more->host, sizeof(more->host), "%s", host);
	(void)snprintf(more->scope, sizeof(more->scope), "%s", scope);
	(void)snprintf(more->by, sizeof(more->by), "%s", by);
	return 0;
}

int report_host(struct report *r, const char *name, uint64_t count, uint64_t bytes)
{
	struct report_host *h = NULL;

	for (size_t i = 0; i < r->n_hosts && !h; i++)
		if (strcmp(r->hosts[i].name, name) == 0)
			h = &r->hosts[i];
	if (!h && r->n_hosts >= LIMIT_DENIED)
		return 0;
	if (!h) {
		if (mem_grow((void **)&r->hosts, &r->hosts_cap, r->n_hosts + 1, sizeof(*h),
			     LIMIT_DENIED) < 0)
			return -ENOMEM;
		h = &r->hosts[r->n_hosts++];
		*h = (struct report_host){0};
		(void)snprintf(h->name, sizeof(h->name), "%s", name);
	}
	h->count += count;
	h->bytes += bytes;
	return 0;
}

void report_done(struct report *r)
{
	free(r->approvals);
	free(r->hosts);
	findings_done(&r->findings);
	constrained_done(&r->constrained);
	if (r->has_run)
		supervise_result_done(&r->result);
	for (size_t i = 0; i < r->n_denied; i++)
		denied_done(&r->denied[i]);
	free(r->denied);
	seen_done(&r->seen);
	strv_done(&r->secrets);
	strv_done(&r->submounts);
	changes_done(&r->changes);
	strv_done(&r->left_out);
	*r = (struct report){0};
}

int report_deny_more(struct report *r, const struct denied *d)
{
	struct denied own = *d;
	void *p = r->denied;
	int e;

	if (r->n_denied >= LIMIT_DENIED) {
		r->denied_dropped++;
		return 0;
	}
	e = mem_grow(&p, &r->denied_cap, r->n_denied + 1, sizeof(*d), LIMIT_DENIED);
	r->denied = p;
	if (e < 0)
		return e;
	own.target = strdup(d->target);
	own.rule = strdup(d->rule);
	own.remedy = strdup(d->remedy);
	own.grant = d->grant ? strdup(d->grant) : NULL;
	own.under = d->under ? strdup(d->under) : NULL;
	own.yaml = d->yaml ? strdup(d->yaml) : NULL;
	if (!own.target || !own.rule || !own.remedy || (d->grant && !own.grant) ||
	    (d->under && !own.under) || (d->yaml && !own.yaml)) {
		denied_done(&own);
		return -ENOMEM;
	}
	r->denied[r->n_denied++] = own;
	return 0;
}

int report_deny(struct report *r, const char *kind, const char *target, const char *rule,
		const char *remedy)
{
	struct denied d = {0};
	const struct {
		char **to;
		const char *text;
	} texts[] = {{&d.target, target}, {&d.rule, rule}, {&d.remedy, remedy}};
	int e = 0;

	(void)snprintf(d.kind, sizeof(d.kind), "%s", kind);
	for (size_t i = 0; e == 0 && i < ARRAY_LEN(texts); i++) {
		*texts[i].to = strdup(texts[i].text);
		e = *texts[i].to ? 0 : -ENOMEM;
	}
	if (e == 0)
		e = report_deny_more(r, &d);
	denied_done(&d);
	return e;
}

void denied_json(const struct denied *d, struct json *out)
{
	json_object(out, NULL);
	json_str(out, "kind", d->kind);
	json_str(out, "target", d->target);
	if (d->access[0])
		json_str(out, "access", d->access);
	json_str(out, "rule", d->rule);
	json_str(out, "remedy", d->remedy);
	if (d->yaml) {
		json_str(out, "under", d->under);
		json_str(out, "yaml", d->yaml);
	}
	if (d->is_inferred)
		json_bool(out, "inferred", true);
	if (d->count)
		json_int(out, "count", (int64_t)d->count);
	if (d->comm[0])
		json_str(out, "process", d->comm);
	json_end_object(out);
}

static void report_request(const struct report *r, struct json *out)
{
	json_object(out, "request");
	if (r->request->caller_id)
		json_str(out, "id", r->request->caller_id);
	json_array(out, "argv");
	for (size_t i = 0; i < r->request->argv.n; i++)
		json_str(out, NULL, r->request->argv.v[i]);
	json_end_array(out);
	json_str(out, "cwd", r->request->cwd);
	json_str(out, "tool", r->request->tool);
	if (r->request->agent)
		json_str(out, "agent", r->request->agent);
	if (r->request->session)
		json_str(out, "session", r->request->session);
	json_end_object(out);
}

static void report_verdict(const struct report *r, struct json *out)
{
	json_object(out, "verdict");
	json_str(out, "verdict", verdict_name(r->verdict.kind));
	json_double(out, "confidence", r->verdict.confidence, 2);
	json_str(out, "action", names_word(&names_action, (int)r->action));
	json_bool(out, "dry_run", r->is_dry_run);
	json_str(out, "matched", r->verdict.matched);
	findings_json(&r->findings, "findings", LIMIT_FINDINGS, out);
	if (r->findings.is_cut)
		json_bool(out, "findings_cut", true);
	if (r->constrained.policy)
		constrained_json(&r->constrained, "constrain", out);
	json_end_object(out);
}

/* What this build learns nothing about: empty lists there do not mean that nothing happened. */
static void report_untracked(const struct report *r, struct json *out)
{
	json_array(out, "untracked");
	if (!r->has_changes || r->changes.is_cut)
		json_str(out, NULL, "changes");
	if (!(r->selection.guarantees & (GUARANTEE_BIT(NET_DENY) | GUARANTEE_BIT(NET_ALLOWLIST))))
		json_str(out, NULL, "network");
	if (!r->result.is_told)
		json_str(out, NULL, "syscalls");
	if (!r->result.is_told || r->watch != PLAN_WATCH_PATHS)
		json_str(out, NULL, "reads");
	if (r->result.misses_opened)
		json_str(out, NULL, "opened");
	json_end_array(out);
}

static void report_isolation(const struct report *r, struct json *out)
{
	const struct cordon_backend *b = r->selection.backend;

	json_object(out, "isolation");
	json_object(out, "requested");
	json_str(out, "level", level_name(r->requested_level));
	if (r->requested_backend)
		json_str(out, "backend", r->requested_backend);
	json_end_object(out);
	if (b) {
		json_object(out, "achieved");
		json_str(out, "level", level_name(b->info->level));
		json_str(out, "backend", b->info->name);
		json_str(out, "reason", r->selection.reason);
		guarantee_json(r->selection.guarantees, "guarantees", out);
		guarantee_json(r->selection.degraded, "degraded", out);
		report_untracked(r, out);
		json_end_object(out);
	} else {
		json_null(out, "achieved");
	}
	json_end_object(out);
}

static void report_usage(const struct supervise_usage *u, struct json *out)
{
	json_object(out, "usage");
	json_int(out, "max_rss_kb", u->max_rss_kb);
	json_double(out, "user_ms", u->user_ms, 3);
	json_double(out, "sys_ms", u->sys_ms, 3);
	if (u->memory_peak_kb >= 0)
		json_int(out, "memory_peak_kb", u->memory_peak_kb);
	if (u->processes >= 0)
		json_int(out, "processes", u->processes);
	else
		json_null(out, "processes");
	json_end_object(out);
}

static void report_result(const struct report *r, struct json *out)
{
	const struct supervise_result *s = &r->result;

	if (!r->has_run) {
		json_null(out, "result");
		return;
	}
	json_object(out, "result");
	json_int(out, "exit_code", s->exit_code);
	if (s->signal)
		json_int(out, "signal", s->signal);
	else
		json_null(out, "signal");
	json_bool(out, "timed_out", s->is_timed_out);
	json_bool(out, "oom", s->is_oom);
	json_bool(out, "output_truncated", s->is_output_truncated);
	if (r->output_withheld)
		json_int(out, "output_withheld", (int64_t)r->output_withheld);
	if (r->output_hidden)
		json_int(out, "output_hidden", (int64_t)r->output_hidden);
	json_double(out, "duration_ms", s->duration_ms, 3);
	report_usage(&s->usage, out);
	json_strn(out, "stdout", buf_cstr(&s->stdout_data), s->stdout_data.len);
	json_strn(out, "stderr", buf_cstr(&s->stderr_data), s->stderr_data.len);
	json_end_object(out);
}

static void report_denied(const struct report *r, struct json *out)
{
	json_array(out, "denied");
	for (size_t i = 0; i < r->n_denied; i++)
		denied_json(&r->denied[i], out);
	json_end_array(out);
	if (r->denied_dropped + r->seen.dropped)
		json_int(out, "denied_dropped", (int64_t)(r->denied_dropped + r->seen.dropped));
	json_array(out, "opened");
	for (size_t i = 0; i < r->seen.n; i++)
		if (r->seen.events[i].kind == SEEN_OPENED)
			json_str(out, NULL, r->seen.events[i].text);
	json_end_array(out);
}

static void report_secrets(const struct report *r, struct json *out)
{
	if (r->secrets.n == 0)
		return;
	json_object(out, "secrets");
	json_str(out, "injection", names_word(&names_injection, (int)r->injection));
	json_bool(out, "locked", r->secrets_locked);
	json_array(out, "names");
	for (size_t i = 0; i < r->secrets.n; i++)
		json_str(out, NULL, r->secrets.v[i]);
	json_end_array(out);
	json_end_object(out);
}

static void report_submounts(const struct report *r, struct json *out)
{
	if (r->submounts.n == 0)
		return;
	json_array(out, "submounts");
	for (size_t i = 0; i < r->submounts.n; i++) {
		json_object(out, NULL);
		json_str(out, "path", r->submounts.v[i] + strlen("rw "));
		json_str(out, "permissions", r->submounts.v[i][1] == 'w' ? "rw" : "ro");
		json_end_object(out);
	}
	json_end_array(out);
}

static void report_changes(const struct report *r, struct json *out)
{
	size_t left = LIMIT_REPORT_CHANGES;
	size_t dropped = 0;

	json_array(out, "changes");
	for (size_t i = 0; i < r->changes.n; i++) {
		const struct change *c = &r->changes.v[i];

		if (c->is_implied)
			continue;
		if (left == 0) {
			dropped++;
			continue;
		}
		left--;
		json_object(out, NULL);
		json_str(out, "op", change_word(c->op));
		json_str(out, "path", c->path);
		json_end_object(out);
	}
	json_end_array(out);
	if (dropped)
		json_int(out, "changes_dropped", (int64_t)dropped);
	if (r->sandbox[0])
		json_str(out, "sandbox", r->sandbox);
	if (r->is_rolled_back)
		json_bool(out, "rolled_back", true);
	if (r->committed)
		json_int(out, "committed", (int64_t)r->committed);
	if (r->left_out.n > 0) {
		json_array(out, "left_out");
		for (size_t i = 0; i < r->left_out.n; i++)
			json_str(out, NULL, r->left_out.v[i]);
		json_end_array(out);
	}
}

void report_json(const struct report *r, struct json *out)
{
	json_object(out, NULL);
	json_str(out, "id", r->request->id);
	report_request(r, out);
	report_verdict(r, out);
	report_isolation(r, out);
	report_result(r, out);
	report_denied(r, out);
	if (r->checkpoint[0])
		json_str(out, "checkpoint", r->checkpoint);
	report_changes(r, out);
	json_object(out, "network");
	json_int(out, "allowed", (int64_t)r->net_allowed);
	json_int(out, "blocked", (int64_t)r->net_blocked);
	json_int(out, "bytes", (int64_t)r->net_bytes);
	json_array(out, "approved");
	for (size_t i = 0; i < r->n_approvals; i++) {
		json_object(out, NULL);
		json_str(out, "host", r->approvals[i].host);
		json_str(out, "scope", r->approvals[i].scope);
		json_str(out, "by", r->approvals[i].by);
		json_end_object(out);
	}
	json_end_array(out);
	json_object(out, "hosts");
	for (size_t i = 0; i < r->n_hosts; i++) {
		json_object(out, r->hosts[i].name);
		json_int(out, "connections", (int64_t)r->hosts[i].count);
		json_int(out, "bytes", (int64_t)r->hosts[i].bytes);
		json_end_object(out);
	}
	json_end_object(out);
	json_end_object(out);
	report_secrets(r, out);
	report_submounts(r, out);
	json_int(out, "exit_code", r->exit_code);
	json_end_object(out);
}
