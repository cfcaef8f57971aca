/* SPDX-License-Identifier: Apache-2.0 */
/* See rules.h. */
#include "policy/rules.h"

#include "base/glob.h"
#include "base/path.h"

#include <string.h>

/* The value of "name=value" in a vector, or NULL. */
static const char *rule_pair(const struct strv *v, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; v && i < v->n; i++)
		if (strncmp(v->v[i], name, n) == 0 && v->v[i][n] == '=')
			return v->v[i] + n + 1;
	return NULL;
}

static bool rule_restricts(const struct rule *r)
{
	return r->action == RULE_DENY || r->action == RULE_REQUIRE_APPROVAL;
}

/* A glob against a fact that may be missing. */
static bool rule_text(const struct rule *r, const char *pattern, const char *fact)
{
	if (!pattern)
		return true;
	return fact ? glob_match_text(pattern, fact) : rule_restricts(r);
}

static bool rule_arguments(const struct rule *r, const struct rule_call *call)
{
	for (size_t i = 0; i < r->match_arguments.n; i++) {
		const struct word *w = r->match_arguments.records[i];
		const char *value = rule_pair(call->arguments, w->name);

		if (!value || !glob_match_text(w->value, value))
			return false;
	}
	return true;
}

static bool rule_annotations(const struct rule *r, const struct rule_call *call)
{
	if (r->match_annotations.n == 0)
		return true;
	if (!rule_restricts(r))
		return false;
	for (size_t i = 0; i < r->match_annotations.n; i++) {
		const struct word *w = r->match_annotations.records[i];
		const char *value = rule_pair(call->annotations, w->name);

		if (value && strcmp(value, w->value) != 0)
			return false;
	}
	return true;
}

/* An allow needs every path inside, a restriction needs one. */
static bool rule_paths(const struct rule *r, const struct rule_call *call)
{
	size_t n = call->paths ? call->paths->n : 0, inside = 0;

	if (!r->path_within)
		return true;
	for (size_t i = 0; i < n; i++)
		inside += path_is_within(call->paths->v[i], r->path_within);
	if (rule_restricts(r))
		return n == 0 || inside > 0;
	return n > 0 && inside == n;
}

static bool rule_has_tool_match(const struct rule *r)
{
	return r->match_name || r->match_tool || r->match_arguments.n || r->match_annotations.n;
}

static bool rule_matches(const struct rule *r, const struct rule_call *call)
{
	if (r->scope == SCOPE_CATEGORY && !r->match_category && !rule_restricts(r))
		return false;
	if (r->scope == SCOPE_TOOL && !rule_has_tool_match(r) && !rule_restricts(r))
		return false;
	if (r->other_conditions.n && !rule_restricts(r))
		return false;
	return rule_text(r, r->match_category, call->category) &&
	       rule_text(r, r->match_name, call->tool) && rule_text(r, r->match_tool, call->tool) &&
	       rule_arguments(r, call) && rule_annotations(r, call) && rule_paths(r, call);
}

static bool rule_same_set(const struct rule *a, const struct rule *b)
{
	return a->origin[RULE_ID_ROW].layer == b->origin[RULE_ID_ROW].layer &&
	       a->origin[RULE_ID_ROW].root == b->origin[RULE_ID_ROW].root;
}

/* Of two that ask for approval, silence must not allow what one of them denies. */
static bool rule_is_stricter(const struct rule_answer *a, const struct rule_answer *b)
{
	return a->action == RULE_REQUIRE_APPROVAL && b->action == RULE_REQUIRE_APPROVAL &&
	       b->rule->approval_default == TIMEOUT_ALLOW &&
	       a->rule->approval_default != TIMEOUT_ALLOW;
}

void rules_evaluate(const struct policy *p, const struct rule_call *call, struct rule_answer *ret)
{
	size_t i = 0;

	*ret = (struct rule_answer){.action = RULE_ALLOW};
	while (i < p->rules.n) {
		const struct rule *first = p->rules.records[i];
		struct rule_answer set = {.action = RULE_DENY};
		bool decided = false;

		for (; i < p->rules.n && rule_same_set(first, p->rules.records[i]); i++) {
			const struct rule *r = p->rules.records[i];

			if (decided || !rule_matches(r, call))
				continue;
			decided = true;
			set = (struct rule_answer){.action = (enum rule_action)r->action,
						   .rule = r};
		}
		if (set.action > ret->action || (set.action == ret->action && !ret->rule) ||
		    rule_is_stricter(&set, ret))
			*ret = set;
	}
}

static const struct override *override_find(const struct record_list *l, const char *name)
{
	for (size_t i = 0; name && i < l->n; i++) {
		const struct override *o = l->records[i];

		if (strcmp(o->name, name) == 0)
			return o;
	}
	return NULL;
}

const struct override *policy_override(const struct policy *p, const char *tool, const char *agent,
				       size_t row)
{
	const struct override *by[] = {override_find(&p->tool_overrides, tool),
				       override_find(&p->agent_overrides, agent)};

	for (size_t i = 0; i < ARRAY_LEN(by); i++)
		if (by[i] && origin_is_set(&by[i]->origin[row]))
			return by[i];
	return NULL;
}

void policy_thresholds(const struct policy *p, const char *tool, const char *agent,
		       double *ret_suspicious, double *ret_malicious)
{
	const struct override *suspicious = policy_override(p, tool, agent, OVERRIDE_SUSPICIOUS);
	const struct override *malicious = policy_override(p, tool, agent, OVERRIDE_MALICIOUS);

	*ret_suspicious = suspicious ? suspicious->suspicious_floor : p->suspicious_floor;
	*ret_malicious = malicious ? malicious->malicious_floor : p->malicious_floor;
}

enum adapter policy_adapter(const struct policy *p, const char *tool, const char *agent)
{
	const struct override *o = policy_override(p, tool, agent, OVERRIDE_ADAPTER);

	return o ? (enum adapter)o->adapter : (enum adapter)p->adapter;
}
