/* SPDX-License-Identifier: Apache-2.0 */
/* See judge.h.  Inspectors and credentials stand side by side on one floor; they meet here. */
#include "core/judge.h"

#include "policy/rules.h"
#include "secrets/leak.h"

#include <stdio.h>

void judgement_done(struct judgement *j)
{
	findings_done(&j->findings);
}

static int judge_cut(const struct judge_input *in, size_t len, struct findings *ret,
		     struct cordon_error *err)
{
	struct finding f = {
		.rule = JUDGE_RULE_CUT,
		.type = FINDING_INPUT,
		.level = THREAT_MEDIUM,
		.confidence = 1,
	};

	if (!in->is_cut)
		return 0;
	(void)snprintf(f.message, sizeof(f.message), "only the first %zu bytes were read", len);
	return findings_add(ret, &f) < 0 ? cordon_nomem(err) : 0;
}

/* Credentials are looked for in what an agent reads; in a command they are its own. */
static bool judge_has_leaks(enum inspect_kind kind)
{
	return kind == INSPECT_TEXT || kind == INSPECT_OUTPUT || kind == INSPECT_AUTO;
}

void judge_findings(const struct policy *p, const char *tool, const char *agent,
		    struct judgement *j)
{
	static const enum policy_row rows[VERDICT_COUNT] = {
		POLICY_ACTION_SAFE, POLICY_ACTION_SUSPICIOUS, POLICY_ACTION_MALICIOUS};

	policy_thresholds(p, tool, agent, &j->thresholds.suspicious, &j->thresholds.malicious);
	verdict_of(&j->findings, &j->thresholds, tool, &j->verdict);
	j->action = (enum action) *
		    (const int *)field_value_const(&shape_policy.fields[rows[j->verdict.kind]], p);
	j->is_dry_run = !policy_is_enforcing(p);
}

int judge_text(const struct judge_input *in, const char *text, size_t len, struct judgement *ret,
	       struct cordon_error *err)
{
	struct inspect_context c = {
		.policy = in->policy,
		.cwd = in->cwd,
		.home = in->home,
		.path = in->path,
	};
	int r = judge_cut(in, len, &ret->findings, err);

	if (r == 0)
		r = inspect(&c, in->kind, text, len, &ret->findings, err);
	if (r == 0 && judge_has_leaks(in->kind))
		r = leak_inspect(text, len, &ret->findings, err);
	if (r == 0)
		judge_findings(in->policy, in->tool, in->agent, ret);
	return r;
}
