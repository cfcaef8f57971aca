/* SPDX-License-Identifier: Apache-2.0 */
/* The rows, and an index of the names in them by their last part, made once. */
#include "inspect/code/rule.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>
#include <threads.h>

/* Eleven lines of what base64 makes of text, for the row about encoded strings. */
#define CODE_LONG_LINE "QXR0YWNrUGF5bG9hZE51bWJlcjAtQXR0YWNrUGF5bG9hZE51bWJlcjAt"
#define CODE_LONG_LINES CODE_LONG_LINE CODE_LONG_LINE CODE_LONG_LINE CODE_LONG_LINE
#define CODE_LONG_EXAMPLE                                                                          \
	CODE_LONG_LINES CODE_LONG_LINES CODE_LONG_LINES CODE_LONG_LINES CODE_LONG_LINES            \
		CODE_LONG_LINES CODE_LONG_LINES CODE_LONG_LINES CODE_LONG_LINES CODE_LONG_LINES

#define code_when_always NULL
const struct code_rule code_rules[CODE_RULE_COUNT] = {
#define CODE_RULE(sym, id_, language_, kind_, names_, when_, type_, error_, weight_, reason_,      \
		  hit_, miss_)                                                                     \
	[CODE_RULE_##sym] = {.id = id_,                                                            \
			     .language = CODE_FOR_##language_,                                     \
			     .kind = CODE_RULE_##kind_,                                            \
			     .names = names_,                                                      \
			     .when = code_when_##when_,                                            \
			     .type = FINDING_##type_,                                              \
			     .is_error = error_,                                                   \
			     .weight = CODE_##weight_,                                             \
			     .reason = reason_,                                                    \
			     .hit = hit_,                                                          \
			     .miss = miss_},
#include "inspect/code/rules_python.def"
#include "inspect/code/rules_lint.def"
#include "inspect/code/rules_go.def"
#undef CODE_RULE
};

#define ENTRIES_MAX 4096
#define HEADS 1024

struct entry {
	const char *name;
	uint16_t len;
	uint16_t rule;
	uint16_t next; /* 0: none; indexes start at 1 */
};

static struct entry entries[ENTRIES_MAX];
static uint16_t heads[HEADS];
static unsigned n_entries;
static once_flag index_once = ONCE_FLAG_INIT;

/* Where the last part of a name begins. */
static const char *last_part(const char *name, size_t len)
{
	const char *dot = memrchr(name, '.', len);

	return dot ? dot + 1 : name;
}

static unsigned hash(const char *s, size_t len)
{
	unsigned h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h % HEADS;
}

static unsigned hash_name(const struct code_rule *rule, const char *name, size_t len)
{
	const char *part = name;

	if (rule->kind == CODE_RULE_CALL || rule->kind == CODE_RULE_USE)
		part = last_part(name, len);
	return hash(part, len - (size_t)(part - name));
}

static void index_build(void)
{
	for (unsigned i = CODE_RULE_COUNT; i > 0; i--) {
		const struct code_rule *rule = &code_rules[i - 1];
		const char *at = rule->names;

		while (*at) {
			size_t len = strcspn(at, " "), key = strcspn(at, " =");
			bool is_field = rule->kind == CODE_RULE_FIELD;
			unsigned slot = hash_name(rule, at, is_field ? key : len);

			assert(n_entries + 1 < ENTRIES_MAX);
			entries[++n_entries] = (struct entry){at, (uint16_t)len, (uint16_t)(i - 1),
							      heads[slot]};
			heads[slot] = (uint16_t)n_entries;
			at += len;
			at += strspn(at, " ");
		}
	}
}

static bool entry_matches(const struct entry *e, enum code_rule_kind kind, const char *name,
			  size_t len)
{
	const char *part;

	switch (kind) {
	case CODE_RULE_FIELD: /* name is "key=value" */
		if (e->name[e->len - 1] == '*')
			return len >= e->len && memcmp(e->name, name, e->len - 1u) == 0;
		return e->len == len && memcmp(e->name, name, len) == 0;
	case CODE_RULE_IMPORT:
		return e->len == len && memcmp(e->name, name, len) == 0;
	case CODE_RULE_CALL:
	case CODE_RULE_USE:
		if (e->name[0] != '*')
			return e->len == len && memcmp(e->name, name, len) == 0;
		part = e->name + 1; /* ".x" or ".a.b" */
		return len > e->len - 1u &&
		       memcmp(name + len - (e->len - 1u), part, e->len - 1u) == 0;
	case CODE_RULE_ACT:
	case CODE_RULE_KIND_COUNT:
		break;
	}
	return false;
}

const struct code_rule *code_rule_next(enum code_rule_kind kind, enum code_language language,
				       const char *name, unsigned *next)
{
	enum code_rule_language want = language == CODE_GO ? CODE_FOR_GO : CODE_FOR_PYTHON;
	size_t len = strlen(name), key = kind == CODE_RULE_FIELD ? strcspn(name, "=") : len;
	struct code_rule probe = {.kind = kind};
	unsigned at;

	call_once(&index_once, index_build);
	at = *next ? entries[*next].next : heads[hash_name(&probe, name, key)];
	for (; at; at = entries[at].next) {
		const struct code_rule *rule = &code_rules[entries[at].rule];
		/* Rows of acts that both languages have are written for python. */
		bool fits = (rule->language & want) || strncmp(rule->id, "CODE-", 5) == 0;

		if (rule->kind == kind && fits && entry_matches(&entries[at], kind, name, len)) {
			*next = at;
			return rule;
		}
	}
	return NULL;
}

void code_weight_of(enum code_weight weight, enum code_standing standing, enum threat *ret_level,
		    double *ret_confidence)
{
	static const struct {
		enum threat level;
		double confidence[CODE_STANDING_COUNT];
	} weights[CODE_WEIGHT_COUNT] = {
		[CODE_NOTE] = {THREAT_NONE, {0, 0, 0}},
		[CODE_LINT] = {THREAT_LOW, {0.2, 0.15, 0.1}},
		[CODE_ODD] = {THREAT_LOW, {0.35, 0.25, 0.2}},
		[CODE_DUAL] = {THREAT_MEDIUM, {0.5, 0.45, 0.25}},
		[CODE_RISK] = {THREAT_MEDIUM, {0.6, 0.55, 0.35}},
		[CODE_BAD] = {THREAT_HIGH, {0.85, 0.8, 0.75}},
	};

	*ret_level = weights[weight].level;
	*ret_confidence = weights[weight].confidence[standing];
}
