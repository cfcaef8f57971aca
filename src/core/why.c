/* SPDX-License-Identifier: Apache-2.0 */
/* See why.h: the answer itself, and commands.  Paths and hosts have files of their own. */
#include "core/why_answer.h"

#include "base/json.h"
#include "inspect/gate.h"
#include "policy/rules.h"

#include <assert.h>
#include <string.h>

static const char *const why_words[] = {
	[WHY_ALLOW] = "allow",
	[WHY_DENY] = "deny",
	[WHY_ASK] = "ask",
};
static_assert(ARRAY_LEN(why_words) == WHY_DECISION_COUNT, "one word per decision");

const char *why_decision_name(enum why_decision decision)
{
	return decision < WHY_DECISION_COUNT ? why_words[decision] : "?";
}

void why_done(struct why *w)
{
	if (!w)
		return;
	buf_done(&w->rule);
	buf_done(&w->remedy);
	buf_done(&w->option);
	buf_done(&w->under);
	buf_done(&w->yaml);
	strv_done(&w->notes);
	free(w->resolved);
	*w = (struct why){0};
}

static void why_decided(struct why *w, enum why_decision decision, const struct origin *origin)
{
	w->decision = decision;
	w->origin = *origin;
	buf_clear(&w->rule);
	buf_clear(&w->remedy);
	buf_clear(&w->option);
	buf_clear(&w->under);
	buf_clear(&w->yaml);
}

void why_decide(struct why *w, enum why_decision decision, enum policy_row row, const char *entry,
		const struct origin *origin)
{
	why_decided(w, decision, origin);
	buf_str(&w->rule, shape_policy.fields[row].path);
	if (entry)
		buf_printf(&w->rule, " '%s'", entry);
}

void why_decide_builtin(struct why *w, enum why_decision decision, const char *rule)
{
	const struct origin builtin = {.layer = LAYER_BUILTIN};

	why_decided(w, decision, &builtin);
	buf_str(&w->rule, rule);
}

void why_remove(struct why *w, const struct policy *p, enum policy_row row, const char *entry,
		const struct origin *origin)
{
	buf_printf(&w->remedy, "remove '%s' from %s (", entry, shape_policy.fields[row].path);
	policy_origin_text(p, origin, &w->remedy);
	buf_char(&w->remedy, ')');
}

void why_note(struct why *w, const char *fmt, ...)
{
	struct buf b = BUF_INIT(WHY_TEXT_MAX);
	va_list ap;
	int r;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	r = buf_error(&b);
	if (r == 0)
		r = strv_add(&w->notes, buf_cstr(&b));
	if (w->error == 0)
		w->error = r;
	buf_done(&b);
}

void why_level(struct why *w, const struct policy *p, enum policy_row row)
{
	if (p->level != LEVEL_NONE)
		return;
	if (w->decision == WHY_ALLOW) {
		why_note(w, "at level none nothing of this is enforced");
	} else if (policy_is_written(p, row)) {
		why_note(w,
			 "at level none nothing of this is enforced; because somebody wrote this "
			 "restriction, noop is not eligible and a call needs a backend that "
			 "holds it");
	} else {
		why_decide(w, WHY_ALLOW, POLICY_LEVEL, "none", &p->origin[POLICY_LEVEL]);
		buf_printf(&w->remedy, "cordon run --level process, or write %s",
			   shape_policy.fields[row].path);
		why_note(w, "at level none nothing of this is enforced: values that no layer wrote "
			    "have no effect there");
	}
}

int why_finish(struct why *w, int r, struct why *ret, struct cordon_error *err)
{
	const struct buf *texts[] = {&w->rule, &w->remedy, &w->option, &w->under, &w->yaml};
	int leaf = w->error;

	for (size_t i = 0; leaf == 0 && i < ARRAY_LEN(texts); i++)
		leaf = buf_error(texts[i]);
	if (r == 0 && leaf < 0)
		r = cordon_fail_leaf(err, leaf, "answer");
	if (r < 0) {
		why_done(w);
		return r;
	}
	*ret = *w;
	return 0;
}

static void why_command_refused(struct why *w, const struct refusal *refusal)
{
	why_decided(w, WHY_DENY, &refusal->origin);
	buf_add(&w->rule, refusal->rule, refusal->rule_len);
	buf_str(&w->remedy, refusal->remedy);
}

static void why_rule_remedy(struct why *w, const struct policy *p, const struct rule_answer *answer)
{
	if (!answer->rule) {
		buf_str(&w->remedy,
			"add a rule to policy.rules: - {id: allow-bash, action: allow, scope: "
			"tool, match: {name: Bash}}");
		return;
	}
	buf_printf(&w->remedy, "change the action of rule '%s' (", answer->rule->id);
	policy_origin_text(p, &answer->rule->origin[RULE_ID_ROW], &w->remedy);
	buf_str(&w->remedy, "), or put a rule before it");
}

/* policy.rules, as a run would ask them. */
static int why_command_rules(struct why *w, const struct policy *p, const struct request *request,
			     struct cordon_error *err)
{
	static const enum why_decision decisions[RULE_ACTION_COUNT] = {
		[RULE_ALLOW] = WHY_ALLOW,
		[RULE_AUDIT_ONLY] = WHY_ALLOW,
		[RULE_REQUIRE_APPROVAL] = WHY_ASK,
		[RULE_DENY] = WHY_DENY,
	};
	struct strv paths = {0};
	struct rule_call call = {
		.tool = request->tool,
		.category = request->category,
		.paths = &paths,
		.arguments = &request->arguments,
	};
	struct rule_answer answer;
	int r = request_paths(request, &paths, err);

	if (r == 0) {
		rules_evaluate(p, &call, &answer);
		why_decide(w, decisions[answer.action], POLICY_RULES,
			   answer.rule ? answer.rule->id : NULL,
			   answer.rule ? &answer.rule->origin[RULE_ID_ROW]
				       : &p->origin[POLICY_RULES]);
		if (!answer.rule)
			buf_str(&w->rule, ": no rule matches");
		why_rule_remedy(w, p, &answer);
		if (answer.rule && answer.rule->reason)
			why_note(w, "the rule's reason: %s", answer.rule->reason);
	}
	strv_done(&paths);
	return r;
}

static void why_command_notes(struct why *w, const struct policy *p)
{
	if (w->decision == WHY_DENY)
		return;
	if (w->decision == WHY_ASK)
		why_note(w, "a run asks on its terminal; where there is none it refuses");
	if (policy_has(p, POLICY_CALLS_PER_MINUTE))
		why_note(w, "at most %lld calls a minute (%s)", (long long)p->calls_per_minute,
			 shape_policy.fields[POLICY_CALLS_PER_MINUTE].path);
	why_note(w,
		 "what the command does is held by the sandbox, not by its text: ask about paths "
		 "and hosts with --path and --host");
	if (p->level == LEVEL_NONE)
		why_note(w, "at level none there is no sandbox; only these rules, time and output "
			    "limits hold");
}

int why_command(const struct policy *p, const struct policy_context *c, const char *command,
		struct why *ret, struct cordon_error *err)
{
	AUTO(request_freep) struct request *request = NULL;
	struct request_options o = {.cwd = c->workspace, .tool = "Bash"};
	struct refusal refusal = {0};
	struct why w = WHY_INIT;
	int r = request_from_shell(command, &o, &request, err);

	if (r == 0)
		r = gate_check(p, request, &refusal, err);
	if (r < 0)
		return why_finish(&w, r, ret, err);
	if (refusal.is_refused) {
		why_command_refused(&w, &refusal);
	} else if (p->rules.n > 0) {
		r = why_command_rules(&w, p, request, err);
	} else {
		why_decide_builtin(&w, WHY_ALLOW, "no rule and no list forbids it");
		buf_printf(&w.remedy, "to forbid it: %s: [",
			   shape_policy.fields[POLICY_BLOCKED_COMMANDS].path);
		json_quote(&w.remedy, command, strlen(command));
		buf_char(&w.remedy, ']');
	}
	if (r == 0)
		why_command_notes(&w, p);
	return why_finish(&w, r, ret, err);
}
