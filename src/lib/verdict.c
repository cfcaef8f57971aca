/* SPDX-License-Identifier: Apache-2.0 */
/* Findings and verdicts; the public enums are the inner ones under other names. */
#include "lib/lib.h"

#include "base/parse.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert((int)CORDON_VERDICT_MALICIOUS == (int)VERDICT_MALICIOUS &&
		      (int)CORDON_VERDICT_COUNT == (int)VERDICT_COUNT,
	      "verdicts differ");
static_assert((int)CORDON_THREAT_CRITICAL == (int)THREAT_CRITICAL &&
		      (int)CORDON_THREAT_COUNT == (int)THREAT_COUNT,
	      "threats differ");
static_assert((int)CORDON_ACTION_BLOCK == (int)ACTION_BLOCK &&
		      (int)CORDON_ACTION_CONSTRAIN == (int)ACTION_CONSTRAIN &&
		      (int)CORDON_ACTION_COUNT == (int)ACTION_COUNT,
	      "actions differ");
static_assert(CORDON_FINDING_RULE_MAX + 1 == sizeof(((struct finding *)NULL)->rule) &&
		      CORDON_FINDING_MESSAGE_MAX + 1 == sizeof(((struct finding *)NULL)->message) &&
		      CORDON_FINDING_SNIPPET_MAX + 1 == sizeof(((struct finding *)NULL)->snippet),
	      "sizes differ");
static_assert(sizeof(((struct cordon_decision *)NULL)->matched) ==
		      sizeof(((struct verdict *)NULL)->matched),
	      "sizes differ");

const char *cordon_verdict_name(enum cordon_verdict verdict)
{
	return (unsigned)verdict < VERDICT_COUNT ? verdict_name((enum verdict_kind)verdict) : "?";
}

const char *cordon_threat_name(enum cordon_threat level)
{
	return (unsigned)level < THREAT_COUNT ? threat_name((enum threat)level) : "?";
}

const char *cordon_action_name(enum cordon_action action)
{
	return names_word(&names_action, (int)action);
}

int cordon_findings_new(struct cordon_findings **ret, struct cordon_error *err)
{
	struct cordon_findings *f;

	lib_enter(err);
	if (!ret)
		return lib_leave(lib_missing(err, "place for the findings"), err);
	f = calloc(1, sizeof(*f));
	if (!f)
		return lib_leave(cordon_nomem(err), err);
	*ret = f;
	return 0;
}

void cordon_findings_free(struct cordon_findings *f)
{
	if (!f)
		return;
	findings_done(&f->list);
	free(f);
}

static int finding_type_from_name(const char *name, enum finding_type *ret)
{
	for (int i = 0; i < FINDING_TYPE_COUNT; i++) {
		*ret = (enum finding_type)i;
		if (strcmp(finding_type_name(*ret), name) == 0)
			return 0;
	}
	return -1;
}

/* Copies text, cut at a character when it is too long. */
static void finding_cut(char *dst, size_t size, const char *text)
{
	size_t len = strlen(text);

	if (len >= size)
		len = utf8_check(text, size - 1); /* the first incomplete character begins here */
	memcpy(dst, text, len);
	dst[len] = '\0';
}

static int finding_check(const struct cordon_finding *f, struct finding *ret,
			 struct cordon_error *err)
{
	int r = 0;

	if (!f->rule || !*f->rule || !f->type)
		return lib_missing(err, "rule or type of a finding");
	if (strlen(f->rule) > CORDON_FINDING_RULE_MAX)
		return cordon_fail(err, CORDON_E_LIMIT, "a rule's name of more than %d bytes",
				   CORDON_FINDING_RULE_MAX);
	if (finding_type_from_name(f->type, &ret->type) < 0)
		return cordon_fail(err, CORDON_E_INVALID, "unknown type of finding '%.100s'",
				   f->type);
	if ((unsigned)f->level >= CORDON_THREAT_COUNT)
		return cordon_fail(err, CORDON_E_INVALID, "unknown threat level %d", (int)f->level);
	if (!(f->confidence >= 0 && f->confidence <= 1)) /* NaN, too */
		return cordon_fail(err, CORDON_E_INVALID, "a confidence that is not from 0 to 1");
	r = lib_text(f->rule, "rule", err);
	if (r == 0)
		r = lib_text(f->message, "message", err);
	return r == 0 ? lib_text(f->snippet, "snippet", err) : r;
}

int cordon_findings_add(struct cordon_findings *f, const struct cordon_finding *finding,
			struct cordon_error *err)
{
	struct cordon_finding in;
	struct finding own = {0};
	int r;

	lib_enter(err);
	if (!f || !finding)
		return lib_leave(lib_missing(err, f ? "finding" : "findings"), err);
	r = lib_struct_in(&in, sizeof(in), finding, "struct cordon_finding", err);
	if (r == 0)
		r = finding_check(&in, &own, err);
	if (r < 0)
		return lib_leave(r, err);
	own.level = (enum threat)in.level;
	own.confidence = in.confidence;
	own.line = in.line;
	own.column = in.column;
	finding_cut(own.rule, sizeof(own.rule), in.rule);
	finding_cut(own.message, sizeof(own.message), in.message ? in.message : "");
	finding_cut(own.snippet, sizeof(own.snippet), in.snippet ? in.snippet : "");
	r = findings_add(&f->list, &own);
	return lib_leave(r < 0 ? cordon_fail_leaf(err, r, "findings") : 0, err);
}

size_t cordon_findings_count(const struct cordon_findings *f)
{
	return f ? f->list.n : 0;
}

int cordon_findings_get(const struct cordon_findings *f, size_t index, struct cordon_finding *ret,
			struct cordon_error *err)
{
	struct cordon_finding out = {.struct_size = sizeof(out)};
	const struct finding *own;
	int r;

	lib_enter(err);
	if (!f)
		return lib_leave(lib_missing(err, "findings"), err);
	r = lib_struct_check(ret, "struct cordon_finding", err);
	if (r == 0 && index >= f->list.n)
		r = cordon_fail(err, CORDON_E_NOT_FOUND, "there are only %zu findings", f->list.n);
	if (r < 0)
		return lib_leave(r, err);
	own = &f->list.items[index];
	out.rule = own->rule;
	out.type = finding_type_name(own->type);
	out.level = (enum cordon_threat)own->level;
	out.confidence = own->confidence;
	out.line = own->line;
	out.column = own->column;
	out.message = own->message;
	out.snippet = own->snippet;
	lib_struct_out(ret, &out, sizeof(out));
	return 0;
}

/* The caller's, or those of the policy table. */
static int decide_thresholds(const struct cordon_thresholds *given, struct thresholds *ret,
			     struct cordon_error *err)
{
	struct cordon_thresholds in;
	int r;

	if (!given) {
		const struct field *f = shape_policy.fields;

		if (parse_double(f[POLICY_SUSPICIOUS].fallback, 0, 1, &ret->suspicious) < 0 ||
		    parse_double(f[POLICY_MALICIOUS].fallback, 0, 1, &ret->malicious) < 0)
			return cordon_fail(err, CORDON_E_INTERNAL, "built-in thresholds");
		return 0;
	}
	r = lib_struct_in(&in, sizeof(in), given, "struct cordon_thresholds", err);
	if (r < 0)
		return r;
	if (!(in.suspicious >= 0 && in.suspicious <= in.malicious && in.malicious <= 1))
		return cordon_fail(
			err, CORDON_E_INVALID,
			"thresholds must be from 0 to 1, suspicious not above malicious");
	*ret = (struct thresholds){.suspicious = in.suspicious, .malicious = in.malicious};
	return 0;
}

int cordon_verdict_decide(const struct cordon_findings *f,
			  const struct cordon_thresholds *thresholds, const char *tool,
			  struct cordon_decision *ret, struct cordon_error *err)
{
	struct cordon_decision out = {.struct_size = sizeof(out)};
	struct thresholds t;
	struct verdict v;
	int r;

	lib_enter(err);
	if (!f)
		return lib_leave(lib_missing(err, "findings"), err);
	r = lib_struct_check(ret, "struct cordon_decision", err);
	if (r == 0)
		r = decide_thresholds(thresholds, &t, err);
	if (r < 0)
		return lib_leave(r, err);
	verdict_of(&f->list, &t, tool, &v);
	out.verdict = (enum cordon_verdict)v.kind;
	out.confidence = v.confidence;
	memcpy(out.matched, v.matched, sizeof(out.matched));
	lib_struct_out(ret, &out, sizeof(out));
	return 0;
}
