/* SPDX-License-Identifier: Apache-2.0 */
/* See record.h. */
#include "core/record.h"

#include "base/limits.h"
#include "secrets/redact.h"

#include <string.h>

enum {
	RECORD_INPUT_MAX = 16384, /* of a redacted command kept with audit.log_inputs */
	RECORD_FINDINGS_MAX = 32,
	RECORD_DENIED_MAX = 32,
	RECORD_OPENED_MAX = 16,
	RECORD_OUTPUT_MAX = 4096, /* of each stream kept with audit.log_outputs */
};

int record_open(const struct policy *p, const char *state_dir, struct record *ret,
		struct cordon_error *err)
{
	struct audit_options o = {
		.struct_size = sizeof(o),
		.dir = state_dir,
		.retention_ms = policy_has(p, POLICY_RETENTION) ? p->retention_ms : 0,
	};
	int r;

	*ret = (struct record){.policy = p};
	r = audit_open(&o, &ret->audit, err);
	return r < 0 ? cordon_wrap(err, r, "audit trail") : 0;
}

void record_done(struct record *r)
{
	audit_close(r->audit);
	r->audit = NULL;
}

/* Begins a JSON object whose braces are not part of the record's body. */
static struct json record_body(struct buf *b)
{
	struct json j = JSON_INIT(b);

	json_object(&j, NULL);
	return j;
}

static int record_append(struct record *r, struct audit_event *ev, struct json *body,
			 struct cordon_error *err)
{
	int e;

	json_end_object(body);
	e = buf_error(body->out);
	if (e == 0) {
		ev->body = body->out->data + 1;
		ev->body_len = body->out->len - 2;
		e = audit_append(r->audit, ev, NULL, err);
	} else {
		e = cordon_fail_leaf(err, e, "record");
	}
	return e < 0 ? cordon_wrap(err, e, "audit trail") : 0;
}

/* Of a text that is too long, up to the last whole word: half a token does not look like one. */
static size_t record_cut(const char *text, size_t len, size_t max)
{
	size_t cut = len;

	if (len <= max)
		return len;
	for (cut = max; cut > 0 && !strchr(" \t\n", text[cut]); cut--)
		;
	return cut;
}

static void record_redacted(struct json *j, const char *name, const char *text, size_t len,
			    size_t max)
{
	struct buf b = BUF_INIT(2 * LIMIT_AUDIT_RECORD);

	redact_text(&b, text, record_cut(text, len, max));
	json_strn(j, name, buf_cstr(&b), b.len);
	buf_done(&b);
}

/* Words keep their edges while they are redacted; the cut comes after, so that it hides no beginning. */
static void record_words(struct json *j, const char *name, char *const *argv, size_t max)
{
	struct buf b = BUF_INIT((size_t)16 * LIMIT_ARG_BYTES);

	redact_words(&b, argv);
	json_strn(j, name, buf_cstr(&b), record_cut(buf_cstr(&b), b.len, max));
	buf_done(&b);
}

static void record_input(const struct record *r, const struct report *report, struct json *j)
{
	const struct request *q = report->request;
	char hash[AUDIT_ARGV_HASH_LEN];

	audit_hash_argv(q->argv.v, hash);
	json_str(j, "tool", q->tool);
	json_str(j, "cwd", q->cwd);
	json_str(j, "argv_hash", hash);
	if (!r->policy->log_inputs)
		return;
	if (q->kind == REQUEST_SHELL)
		record_redacted(j, "input", q->text, q->text_len, RECORD_INPUT_MAX);
	else
		record_words(j, "input", q->argv.v, RECORD_INPUT_MAX);
}

static void record_verdict(const struct report *report, struct json *j)
{
	json_object(j, "verdict");
	json_str(j, "verdict", verdict_name(report->verdict.kind));
	json_double(j, "confidence", report->verdict.confidence, 2);
	json_str(j, report->is_dry_run ? "would_apply" : "action",
		 names_word(&names_action, (int)report->action));
	/* Not all of them: a record that is too long would not be written at all. */
	findings_json(&report->findings, "findings", RECORD_FINDINGS_MAX, j);
	if (report->findings.n > RECORD_FINDINGS_MAX)
		json_int(j, "findings_total", (int64_t)report->findings.n);
	json_end_object(j);
}

static void record_isolation(const struct report *report, struct json *j)
{
	json_object(j, "isolation");
	json_str(j, "requested", level_name(report->requested_level));
	if (report->selection.backend) {
		json_str(j, "achieved", level_name(report->selection.backend->info->level));
		json_str(j, "backend", report->selection.backend->info->name);
		if (report->selection.degraded)
			guarantee_json(report->selection.degraded, "degraded", j);
	}
	json_end_object(j);
}

/* "dry-run" where an action was only recorded. */
static const char *record_decision(const struct report *report)
{
	if (report->is_refused || !report->selection.backend)
		return "deny";
	if (report->is_dry_run && report->action > ACTION_LOG)
		return "dry-run";
	return names_word(&names_action, (int)report->action);
}

int record_start(struct record *r, const struct report *report, struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_AUDIT_RECORD);
	struct audit_event ev = {
		.type = AUDIT_EVENT_START,
		.session_id = report->request->session,
		.call_id = report->request->id,
		.decision = record_decision(report),
		.rule = report->rule[0] ? report->rule : NULL,
	};
	struct json j = record_body(&b);
	int e;

	record_input(r, report, &j);
	record_verdict(report, &j);
	record_isolation(report, &j);
	r->started_with = report->findings.n;
	e = record_append(r, &ev, &j, err);
	buf_done(&b);
	return e;
}

/* What was found while the call ran and in what it printed. */
static void record_late(const struct record *r, const struct report *report, struct json *j)
{
	struct findings late = report->findings;

	if (report->output_withheld)
		json_int(j, "output_withheld", (int64_t)report->output_withheld);
	if (report->output_hidden)
		json_int(j, "output_hidden", (int64_t)report->output_hidden);
	if (late.n <= r->started_with)
		return;
	late.items += r->started_with;
	late.n -= r->started_with;
	findings_json(&late, "findings", RECORD_FINDINGS_MAX, j);
}

static void record_result(const struct record *r, const struct report *report, struct json *j)
{
	const struct supervise_result *s = &report->result;

	json_int(j, "exit_code", report->exit_code);
	if (s->signal)
		json_int(j, "signal", s->signal);
	if (s->is_timed_out)
		json_bool(j, "timed_out", true);
	if (s->is_output_truncated)
		json_bool(j, "output_truncated", true);
	json_double(j, "duration_ms", s->duration_ms, 3);
	if (!r->policy->log_outputs)
		return;
	record_redacted(j, "stdout", buf_cstr(&s->stdout_data), s->stdout_data.len,
			RECORD_OUTPUT_MAX);
	record_redacted(j, "stderr", buf_cstr(&s->stderr_data), s->stderr_data.len,
			RECORD_OUTPUT_MAX);
}

/* A record that is too long would not be written at all.  An entry is less than half of one: four paths of
 * which each byte takes six. */
static bool record_has_room(const struct json *j)
{
	return j->out->len < LIMIT_AUDIT_RECORD / 2;
}

static void record_denied(const struct report *report, struct json *j)
{
	size_t opened = 0;

	if (report->n_denied) {
		size_t n = 0;

		json_array(j, "denied");
		while (n < report->n_denied && n < RECORD_DENIED_MAX && record_has_room(j))
			denied_json(&report->denied[n++], j);
		json_end_array(j);
		if (n < report->n_denied || report->denied_dropped)
			json_int(j, "denied_total",
				 (int64_t)(report->n_denied + report->denied_dropped));
	}
	if (report->seen.lost)
		json_int(j, "seen_lost", (int64_t)report->seen.lost);
	for (size_t i = 0; i < report->seen.n && record_has_room(j); i++) {
		if (report->seen.events[i].kind != SEEN_OPENED || opened >= RECORD_OPENED_MAX)
			continue;
		if (opened++ == 0)
			json_array(j, "opened");
		json_str(j, NULL, report->seen.events[i].text);
	}
	if (opened)
		json_end_array(j);
}

int record_end(struct record *r, const struct report *report, const struct cordon_error *failure,
	       struct cordon_error *err)
{
	const struct denied *why = report->n_denied ? &report->denied[0] : NULL;
	struct buf b = BUF_INIT(LIMIT_AUDIT_RECORD);
	struct audit_event ev = {
		.type = report->has_run ? AUDIT_EVENT_CALL : AUDIT_EVENT_REFUSED,
		.session_id = report->request->session,
		.call_id = report->request->id,
		.decision = record_decision(report),
		.rule = !report->has_run && why ? why->rule : NULL,
	};
	struct json j = record_body(&b);
	int e;

	if (ev.type == AUDIT_EVENT_REFUSED && !why && failure)
		ev.rule = failure->message;
	/* A call that ran has its input, verdict and isolation in its start record. */
	if (!report->has_run) {
		record_input(r, report, &j);
		record_verdict(report, &j);
		record_isolation(report, &j);
	}
	if (failure) /* its text may quote the call */
		json_str(&j, "error", cordon_error_name(failure->code));
	if (report->has_run) {
		record_result(r, report, &j);
		record_late(r, report, &j);
	} else {
		json_int(&j, "exit_code", report->exit_code);
	}
	record_denied(report, &j);
	e = record_append(r, &ev, &j, err);
	buf_done(&b);
	return e;
}

int record_approval(struct record *r, const struct request *request, const char *rule,
		    enum approval answer, bool is_granted, struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_AUDIT_RECORD);
	struct audit_event ev = {
		.type = AUDIT_EVENT_APPROVAL,
		.session_id = request->session,
		.call_id = request->id,
		.decision = is_granted ? "allow" : "deny",
		.rule = rule,
	};
	struct json j = record_body(&b);
	int e;

	json_str(&j, "answer", approval_name(answer));
	e = record_append(r, &ev, &j, err);
	buf_done(&b);
	return e;
}

int record_hook(struct record *r, const struct report *report, const char *event,
		const char *answer, struct cordon_error *err)
{
	const struct denied *why = report->n_denied ? &report->denied[0] : NULL;
	struct buf b = BUF_INIT(LIMIT_AUDIT_RECORD);
	struct audit_event ev = {
		.type = AUDIT_EVENT_HOOK,
		.session_id = report->request->session,
		.call_id = report->request->id,
		.decision = !why && report->is_dry_run && report->action > ACTION_LOG ? "dry-run"
										      : answer,
		.rule = why ? why->rule : NULL,
	};
	struct json j = record_body(&b);
	int e;

	json_str(&j, "agent", report->request->agent);
	json_str(&j, "event", event);
	record_input(r, report, &j);
	record_verdict(report, &j);
	record_denied(report, &j);
	e = record_append(r, &ev, &j, err);
	buf_done(&b);
	return e;
}

int record_rejected(const char *state_dir, const struct cordon_error *why, struct cordon_error *err)
{
	struct audit_options o = {.struct_size = sizeof(o), .dir = state_dir};
	struct audit_event ev = {.type = AUDIT_EVENT_POLICY,
				 .decision = "deny",
				 .rule = cordon_error_name(why->code)};
	struct buf b = BUF_INIT(LIMIT_AUDIT_RECORD);
	struct record r = {0};
	struct json j;
	int e = audit_open(&o, &r.audit, err);

	if (e == 0) {
		j = record_body(&b);
		json_str(&j, "message", why->message);
		e = record_append(&r, &ev, &j, err);
	}
	record_done(&r);
	buf_done(&b);
	return e;
}

/* One record about a session, outside of any call. */
static int record_session(const char *state_dir, struct audit_event *ev, const char *state,
			  const char *name, const char *value, struct cordon_error *err)
{
	struct audit_options o = {.struct_size = sizeof(o), .dir = state_dir};
	struct buf b = BUF_INIT(LIMIT_AUDIT_RECORD);
	struct record r = {0};
	struct json j;
	int e = audit_open(&o, &r.audit, err);

	if (e < 0)
		return cordon_wrap(err, e, "audit trail");
	j = record_body(&b);
	json_str(&j, "state", state);
	json_str(&j, name, value);
	e = record_append(&r, ev, &j, err);
	buf_done(&b);
	record_done(&r);
	return e;
}

int record_lifted(const char *state_dir, const char *session, const char *taint,
		  struct cordon_error *err)
{
	struct audit_event ev = {.type = AUDIT_EVENT_SESSION,
				 .session_id = session,
				 .decision = "allow",
				 .rule = "policy.taint"};

	return record_session(state_dir, &ev, "lifted", "taint", taint, err);
}

int record_revoked(const char *state_dir, const char *session, const char *host,
		   struct cordon_error *err)
{
	struct audit_event ev = {.type = AUDIT_EVENT_SESSION,
				 .session_id = session,
				 .decision = "deny",
				 .rule = "network.ask"};

	return record_session(state_dir, &ev, "revoked", "host", host, err);
}
