/* SPDX-License-Identifier: Apache-2.0 */
/* See output.h. */
#include "core/output.h"

#include "base/limits.h"
#include "core/judge.h"
#include "inspect/inspect.h"
#include "secrets/leak.h"

#include <stdio.h>
#include <stdlib.h>

static bool output_has_injection(const struct policy *p)
{
	return policy_has(p, POLICY_PI_DETECTION) && p->pi_detection != DETECT_NONE &&
	       p->pi_action != PI_IGNORE;
}

/* Must a stream be withheld that speaks to the agent? */
static bool output_stops_injection(const struct policy *p)
{
	return output_has_injection(p) && p->pi_action == PI_BLOCK_AND_LOG;
}

static bool output_scans(const struct policy *p)
{
	return p->secret_scan && !(policy_has(p, POLICY_SCAN_SCOPE) && p->scan_scope == SCAN_INPUT);
}

bool output_scans_input(const struct policy *p)
{
	return p->secret_scan &&
	       !(policy_has(p, POLICY_SCAN_SCOPE) && p->scan_scope == SCAN_OUTPUT);
}

static enum scan_action output_scan_action(const struct policy *p)
{
	/* A manifest that says nothing of it hides. */
	return policy_has(p, POLICY_SCAN_ACTION) ? (enum scan_action)p->scan_action : SECRET_REDACT;
}

bool output_refuses_input(const struct policy *p)
{
	return output_scans_input(p) && output_scan_action(p) != SECRET_WARN;
}

/* The tighter of what both say; leak detection has no action of its own and hides. */
static enum scan_action output_secret_action(const struct policy *p)
{
	enum scan_action a = SECRET_WARN;

	if (p->leak_detection)
		a = SECRET_REDACT;
	if (output_scans(p) && output_scan_action(p) > a)
		a = output_scan_action(p);
	return a;
}

bool output_looks_for_leaks(const struct policy *p)
{
	return output_scans(p) || p->leak_detection;
}

bool output_is_screened(const struct policy *p)
{
	return output_looks_for_leaks(p) && !output_stops_injection(p) &&
	       output_secret_action(p) == SECRET_REDACT;
}

/* Are credentials looked for in the whole of it? */
static bool output_finds_secrets(const struct policy *p)
{
	return output_looks_for_leaks(p) && !output_is_screened(p);
}

bool output_is_judged(const struct policy *p)
{
	return output_has_injection(p) || output_finds_secrets(p);
}

bool output_is_held(const struct policy *p)
{
	return output_stops_injection(p) ||
	       (output_finds_secrets(p) && output_secret_action(p) == SECRET_BLOCK);
}

enum scan_action output_stored_action(const struct policy *p)
{
	enum scan_action a = output_scans(p) ? output_scan_action(p) : SECRET_REDACT;

	return p->leak_detection && a < SECRET_REDACT ? SECRET_REDACT : a;
}

struct output_leaks {
	struct leak *items;
	size_t n;
	size_t cap;
	int error;
};

static void output_note(void *data, const struct leak *leak)
{
	struct output_leaks *l = data;
	void *p = l->items;
	int r = mem_grow(&p, &l->cap, l->n + 1, sizeof(*leak), LIMIT_OUTPUT_LEAKS);

	l->items = p;
	if (r < 0)
		l->error = r;
	else
		l->items[l->n++] = *leak;
}

static int output_by_start(const void *a, const void *b)
{
	const struct leak *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* The stream with each secret replaced; two that overlap become one. */
static void output_hide(const struct buf *in, struct output_leaks *l, struct buf *out)
{
	uint64_t at = 0;

	if (l->n > 1)
		qsort(l->items, l->n, sizeof(l->items[0]), output_by_start);
	for (size_t i = 0; i < l->n; i++) {
		const struct leak *leak = &l->items[i];
		uint64_t end = leak->end < in->len ? leak->end : in->len;

		if (leak->start >= at) {
			buf_add(out, in->data + at, (size_t)(leak->start - at));
			buf_printf(out, "[hidden: %s]", leak->rule);
		}
		at = end > at ? end : at;
	}
	buf_add(out, in->data + at, (size_t)(in->len - at));
}

static int output_redact(struct buf *stream, size_t *ret_n, struct cordon_error *err)
{
	struct buf out = BUF_INIT((size_t)4 * LIMIT_CAPTURE_BYTES);
	struct output_leaks l = {0};
	struct leak_scanner *scanner = NULL;
	int r = leak_scanner_new(output_note, &l, &scanner, err);

	if (r == 0)
		r = leak_feed(scanner, buf_cstr(stream), stream->len, err);
	if (r == 0)
		r = leak_end(scanner, err);
	leak_scanner_free(scanner);
	if (r == 0 && l.error < 0)
		r = cordon_fail_leaf(err, l.error, "secrets in the output");
	if (r == 0 && l.n > 0) {
		output_hide(stream, &l, &out);
		r = buf_error(&out) < 0 ? cordon_fail_leaf(err, buf_error(&out), "output") : 0;
	}
	if (r == 0 && l.n > 0) {
		buf_done(stream);
		*stream = out;
		out = BUF_INIT(0);
		*ret_n += l.n;
	}
	free(l.items);
	buf_done(&out);
	return r;
}

static void output_withhold(struct buf *stream, const char *why)
{
	buf_clear(stream);
	buf_printf(stream, "[cordon: this output is withheld: %s]\n", why);
}

static int output_secrets(const struct policy *p, struct buf *stream, struct report *report,
			  struct cordon_error *err)
{
	enum scan_action action = output_secret_action(p);
	struct findings found = {0};
	int r = leak_inspect(buf_cstr(stream), stream->len, &found, err);

	for (size_t i = 0; r == 0 && i < found.n; i++)
		if (findings_add(&report->findings, &found.items[i]) < 0)
			r = cordon_nomem(err);
	if (r == 0 && found.n > 0) {
		if (action == SECRET_BLOCK) {
			output_withhold(stream, "it holds secrets");
			report->output_withheld++;
		} else if (action == SECRET_REDACT) {
			r = output_redact(stream, &report->output_hidden, err);
		}
	}
	findings_done(&found);
	return r;
}

static int output_injection(const struct policy *p, const struct request *q, struct buf *stream,
			    struct report *report, struct cordon_error *err)
{
	struct inspect_context c = {
		.policy = p, .cwd = q->cwd, .document = INSPECT_DOCUMENT_OUTPUT};
	struct judgement j = {0};
	int r = inspect(&c, INSPECT_OUTPUT, buf_cstr(stream), stream->len, &j.findings, err);

	if (r == 0)
		judge_findings(p, q->tool, q->agent, &j);
	for (size_t i = 0; r == 0 && i < j.findings.n; i++)
		if (findings_add(&report->findings, &j.findings.items[i]) < 0)
			r = cordon_nomem(err);
	if (r == 0 && j.verdict.kind == VERDICT_MALICIOUS && output_stops_injection(p)) {
		output_withhold(stream, "it speaks to the agent");
		report->output_withheld++;
	}
	judgement_done(&j);
	return r;
}

/* What passed has passed; what of it was not kept was not read. */
static int output_cut(const struct buf *stream, struct findings *ret, struct cordon_error *err)
{
	struct finding f = {.rule = JUDGE_RULE_CUT,
			    .type = FINDING_INPUT,
			    .level = THREAT_MEDIUM,
			    .confidence = 1};

	if (stream->len < LIMIT_CAPTURE_BYTES)
		return 0;
	(void)snprintf(f.message, sizeof(f.message),
		       "only the first %d bytes of the output were read", LIMIT_CAPTURE_BYTES);
	return findings_add(ret, &f) < 0 ? cordon_nomem(err) : 0;
}

int output_judge(const struct policy *p, const struct request *r, struct report *report,
		 struct cordon_error *err)
{
	struct buf *streams[] = {&report->result.stdout_data, &report->result.stderr_data};
	int e = 0;

	for (size_t i = 0; e == 0 && i < ARRAY_LEN(streams); i++) {
		if (streams[i]->len == 0)
			continue;
		if (!output_is_held(p) && report->result.is_output_truncated)
			e = output_cut(streams[i], &report->findings, err);
		if (e == 0 && output_has_injection(p))
			e = output_injection(p, r, streams[i], report, err);
		if (e == 0 && output_finds_secrets(p))
			e = output_secrets(p, streams[i], report, err);
	}
	for (size_t i = 0; e < 0 && i < ARRAY_LEN(streams); i++)
		buf_clear(streams[i]);
	return e;
}
