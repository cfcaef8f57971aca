/* SPDX-License-Identifier: Apache-2.0 */
/* See verdict.h. */
#include "verdict/verdict.h"

#include "base/limits.h"
#include "base/mem.h"
#include "verdict/fuse.h"

#include <errno.h>
#include <stdio.h>

static const char *const verdict_words[VERDICT_COUNT] = {"SAFE", "SUSPICIOUS", "MALICIOUS"};
static const char *const threat_words[THREAT_COUNT] = {"NONE", "LOW", "MEDIUM", "HIGH", "CRITICAL"};
static const char *const finding_words[FINDING_TYPE_COUNT] = {
#define FINDING_TYPE_WORD(id, word) word,
	FINDING_TYPES(FINDING_TYPE_WORD)
#undef FINDING_TYPE_WORD
};

const char *verdict_name(enum verdict_kind kind)
{
	return kind < VERDICT_COUNT ? verdict_words[kind] : "?";
}

const char *threat_name(enum threat level)
{
	return level < THREAT_COUNT ? threat_words[level] : "?";
}

const char *finding_type_name(enum finding_type type)
{
	return type < FINDING_TYPE_COUNT ? finding_words[type] : "?";
}

void findings_done(struct findings *f)
{
	free(f->items);
	*f = (struct findings){0};
}

static bool finding_is_weaker(const struct finding *a, const struct finding *b)
{
	if (a->level != b->level)
		return a->level < b->level;
	return a->confidence < b->confidence;
}

int findings_add(struct findings *f, const struct finding *item)
{
	void *p = f->items;
	size_t weakest = 0;
	int r;

	if (f->n < LIMIT_FINDINGS) {
		r = mem_grow(&p, &f->cap, f->n + 1, sizeof(*item), LIMIT_FINDINGS);
		f->items = p;
		if (r < 0)
			return r;
		f->items[f->n++] = *item;
		return 0;
	}
	f->is_cut = true;
	for (size_t i = 1; i < f->n; i++)
		if (finding_is_weaker(&f->items[i], &f->items[weakest]))
			weakest = i;
	if (finding_is_weaker(&f->items[weakest], item))
		f->items[weakest] = *item;
	return 0;
}

enum verdict_kind verdict_of_claim(enum verdict_kind claim, double confidence,
				   const struct thresholds *t)
{
	/* Written so that a confidence that is no number reaches every threshold. */
	if (claim == VERDICT_MALICIOUS && !(confidence < t->malicious))
		return VERDICT_MALICIOUS;
	if (claim != VERDICT_SAFE && !(confidence < t->suspicious))
		return VERDICT_SUSPICIOUS;
	return VERDICT_SAFE;
}

enum verdict_kind finding_claim(const struct finding *f)
{
	switch (f->level) {
	case THREAT_CRITICAL:
	case THREAT_HIGH:
		return VERDICT_MALICIOUS;
	case THREAT_MEDIUM:
	case THREAT_LOW:
		return VERDICT_SUSPICIOUS;
	case THREAT_NONE:
	case THREAT_COUNT:
		break;
	}
	return VERDICT_SAFE;
}

/* A confidence that is no number counts as certain. */
static void verdict_raise(double *to, double confidence)
{
	if (!(confidence <= *to))
		*to = confidence <= 1 ? confidence : 1;
}

/* The confidence that the findings together give a claim: findings that claim it lead, all others support. */
static bool verdict_fused(const struct findings *f, enum verdict_kind claim, enum fuse_mode mode,
			  double *ret)
{
	double lead[SIGNAL_COUNT] = {0};
	double support[SIGNAL_COUNT] = {0};
	bool has_claim = false;

	for (size_t i = 0; i < f->n; i++) {
		const struct finding *item = &f->items[i];
		unsigned signal = item->signal < SIGNAL_COUNT ? item->signal : SIGNAL_PATTERN;

		if (finding_claim(item) == VERDICT_SAFE)
			continue;
		verdict_raise(&support[signal], item->confidence);
		if (finding_claim(item) < claim)
			continue;
		verdict_raise(&lead[signal], item->confidence);
		has_claim = true;
	}
	*ret = fuse_confidence(lead, support, mode);
	return has_claim;
}

void verdict_of(const struct findings *f, const struct thresholds *t, const char *tool,
		struct verdict *ret)
{
	struct verdict v = {.kind = VERDICT_SAFE, .matched = "safe"};
	double malicious, suspicious;

	if (verdict_fused(f, VERDICT_MALICIOUS, t->mode, &malicious))
		v.kind = verdict_of_claim(VERDICT_MALICIOUS, malicious, t);
	if (verdict_fused(f, VERDICT_SUSPICIOUS, t->mode, &suspicious) && v.kind == VERDICT_SAFE)
		v.kind = verdict_of_claim(VERDICT_SUSPICIOUS, suspicious, t);
	if (v.kind != VERDICT_SAFE)
		v.confidence = v.kind == VERDICT_MALICIOUS ? malicious : suspicious;
	if (v.kind == VERDICT_MALICIOUS)
		(void)snprintf(v.matched, sizeof(v.matched), "malicious(confidence=%.2f)",
			       v.confidence);
	else if (v.kind == VERDICT_SUSPICIOUS)
		(void)snprintf(v.matched, sizeof(v.matched),
			       "suspicious(tool=%.40s, confidence=%.2f)", tool ? tool : "",
			       v.confidence);
	*ret = v;
}

void findings_json(const struct findings *f, const char *name, size_t max, struct json *out)
{
	json_array(out, name);
	for (size_t i = 0; i < f->n && i < max; i++) {
		const struct finding *item = &f->items[i];

		json_object(out, NULL);
		json_str(out, "rule", item->rule);
		json_str(out, "type", finding_type_name(item->type));
		json_str(out, "level", threat_name(item->level));
		json_str(out, "severity",
			 finding_claim(item) == VERDICT_MALICIOUS ? "error" : "warning");
		json_double(out, "confidence", item->confidence, 2);
		json_int(out, "line", item->line);
		json_int(out, "column", item->column);
		json_str(out, "message", item->message);
		json_str(out, "snippet", item->snippet);
		json_end_object(out);
	}
	json_end_array(out);
}
