/* SPDX-License-Identifier: Apache-2.0 */
/* See check_explain.h. */
#include "cli/check_explain.h"

#include "base/limits.h"
#include "policy/rules.h"
#include "verdict/fuse.h"

#include <string.h>

static const char *const check_actions[ACTION_COUNT] = {
	[ACTION_ALLOW] = "let the call run",
	[ACTION_LOG] = "let the call run and record it",
	[ACTION_CONSTRAIN] = "hold the call tighter",
	[ACTION_BLOCK] = "refuse the call",
};

/* Where a threshold was written: by tool, by agent, or for all. */
static void check_threshold_origin(const struct check_explanation *e, enum policy_row row,
				   enum override_row override_row, struct buf *b)
{
	const struct override *o =
		policy_override(e->policy, e->tool, e->agent, (size_t)override_row);

	if (o) {
		buf_printf(b, "for %.100s, ", o->name);
		policy_origin_text(e->policy, &o->origin[override_row], b);
	} else if (policy_is_written(e->policy, row)) {
		policy_origin_text(e->policy, &e->policy->origin[row], b);
	} else {
		buf_str(b, "built-in default");
	}
}

static void check_effect(const struct check_explanation *e, const struct finding *f, struct buf *b)
{
	const struct thresholds *t = &e->judgement->thresholds;
	enum verdict_kind claim = finding_claim(f);
	enum verdict_kind kind = verdict_of_claim(claim, f->confidence, t);

	buf_printf(b, "%s claims %s: ", threat_name(f->level), verdict_name(claim));
	if (claim == VERDICT_SAFE)
		buf_str(b, "changes nothing");
	else if (kind == VERDICT_MALICIOUS)
		buf_printf(b, "%.2f reaches %.2f", f->confidence, t->malicious);
	else if (kind == VERDICT_SAFE)
		buf_printf(b, "%.2f does not reach %.2f, so it does not count", f->confidence,
			   t->suspicious);
	else if (claim == VERDICT_MALICIOUS)
		buf_printf(b, "%.2f does not reach %.2f but %.2f, so it counts as SUSPICIOUS",
			   f->confidence, t->malicious, t->suspicious);
	else
		buf_printf(b, "%.2f reaches %.2f", f->confidence, t->suspicious);
}

static void check_line(struct out *out, const char *label, const struct buf *b)
{
	out_styled(out, OUT_DIM, label);
	out_escaped(out, buf_cstr(b));
	out_str(out, "\n");
}

static void check_finding(const struct check_explanation *e, const struct finding *f,
			  struct out *out)
{
	struct buf b = BUF_INIT(4096);

	out_styled(out, OUT_BOLD, f->rule);
	out_printf(out, " %.2f", f->confidence);
	if (f->line)
		out_printf(out, " at line %u, column %u", f->line, f->column);
	out_str(out, "\n");
	buf_str(&b, f->message);
	check_line(out, "  reason:  ", &b);
	if (f->snippet[0]) {
		buf_clear(&b);
		buf_str(&b, f->snippet);
		check_line(out, "  text:    ", &b);
	}
	buf_clear(&b);
	check_effect(e, f, &b);
	check_line(out, "  effect:  ", &b);
	buf_done(&b);
}

static const char *const check_modes[FUSE_MODE_COUNT] = {
	[FUSE_STANDARD] = "standard",
	[FUSE_STRICT] = "strict",
	[FUSE_LENIENT] = "lenient",
};

/* The strongest of each kind of evidence, and what they come to together. */
static void check_evidence(const struct judgement *j, struct buf *b)
{
	double strongest[SIGNAL_COUNT] = {0};
	const char *comma = "";

	for (size_t i = 0; i < j->findings.n; i++) {
		const struct finding *f = &j->findings.items[i];

		if (finding_claim(f) != VERDICT_SAFE && f->signal < SIGNAL_COUNT &&
		    f->confidence > strongest[f->signal])
			strongest[f->signal] = f->confidence;
	}
	for (unsigned i = 0; i < SIGNAL_COUNT; i++) {
		if (strongest[i] > 0) {
			buf_printf(b, "%s%s %.2f (weight %.2f)", comma,
				   signal_name((enum signal_kind)i), strongest[i],
				   fuse_weight((enum signal_kind)i, j->thresholds.mode));
			comma = ", ";
		}
	}
	buf_printf(b, "%stogether %.2f; read in mode %s", b->len ? ", " : "none, ",
		   j->verdict.confidence, check_modes[j->thresholds.mode]);
}

static void check_constrained(const struct constrained *c, struct out *out)
{
	struct buf b = BUF_INIT(8192);

	if (c->selection.backend)
		buf_printf(&b, "%s", c->selection.backend->info->name);
	else
		buf_printf(&b, "none: %s", c->problem);
	check_line(out, "  backend: ", &b);
	buf_clear(&b);
	buf_str(&b, names_word(&names_net_mode, c->policy->net_mode));
	for (size_t i = 0; i < c->policy->allowed_hosts.n; i++)
		buf_printf(&b, " %s", c->policy->allowed_hosts.items[i].text);
	check_line(out, "  network: ", &b);
	buf_clear(&b);
	buf_printf(&b, "%s", names_word(&names_fs_mode, c->policy->fs_mode));
	for (size_t i = 0; i < c->policy->mounts.n; i++) {
		const struct mount *m = c->policy->mounts.records[i];

		buf_printf(&b, " %s (%s)", m->path, names_word(&names_permission, m->permissions));
	}
	check_line(out, "  files:   ", &b);
	buf_done(&b);
}

void check_explain_text(const struct check_explanation *e, struct out *out)
{
	const struct judgement *j = e->judgement;
	struct buf b = BUF_INIT(4096);

	buf_printf(&b, "%s %.2f", verdict_name(j->verdict.kind), j->verdict.confidence);
	check_line(out, "verdict:   ", &b);
	buf_clear(&b);
	buf_printf(&b, "SUSPICIOUS from %.2f (", j->thresholds.suspicious);
	check_threshold_origin(e, POLICY_SUSPICIOUS, OVERRIDE_SUSPICIOUS, &b);
	buf_printf(&b, "), MALICIOUS from %.2f (", j->thresholds.malicious);
	check_threshold_origin(e, POLICY_MALICIOUS, OVERRIDE_MALICIOUS, &b);
	buf_char(&b, ')');
	check_line(out, "threshold: ", &b);
	buf_clear(&b);
	check_evidence(j, &b);
	check_line(out, "evidence:  ", &b);
	for (size_t i = 0; i < j->findings.n; i++)
		check_finding(e, &j->findings.items[i], out);
	buf_clear(&b);
	buf_printf(&b, "%s: 'cordon run' would %s%s", names_word(&names_action, (int)j->action),
		   check_actions[j->action],
		   j->is_dry_run && j->action > ACTION_LOG ? "; in dry run it only records that"
							   : "");
	check_line(out, "action:    ", &b);
	if (e->constrained)
		check_constrained(e->constrained, out);
	buf_done(&b);
}

void check_explain_json(const struct check_explanation *e, struct json *j)
{
	const struct judgement *judged = e->judgement;
	struct buf b = BUF_INIT(4096);

	json_object(j, "explain");
	json_object(j, "thresholds");
	json_double(j, "suspicious", judged->thresholds.suspicious, 2);
	check_threshold_origin(e, POLICY_SUSPICIOUS, OVERRIDE_SUSPICIOUS, &b);
	json_str(j, "suspicious_from", buf_cstr(&b));
	json_double(j, "malicious", judged->thresholds.malicious, 2);
	buf_clear(&b);
	check_threshold_origin(e, POLICY_MALICIOUS, OVERRIDE_MALICIOUS, &b);
	json_str(j, "malicious_from", buf_cstr(&b));
	json_end_object(j);
	json_array(j, "effects");
	for (size_t i = 0; i < judged->findings.n; i++) {
		buf_clear(&b);
		check_effect(e, &judged->findings.items[i], &b);
		json_str(j, NULL, buf_cstr(&b));
	}
	json_end_array(j);
	buf_clear(&b);
	check_evidence(judged, &b);
	json_str(j, "evidence", buf_cstr(&b));
	json_str(j, "matched", judged->verdict.matched);
	if (e->constrained)
		constrained_json(e->constrained, "constrain", j);
	json_end_object(j);
	buf_done(&b);
}
