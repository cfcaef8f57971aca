/* SPDX-License-Identifier: Apache-2.0 */
/* See pattern.h. */
#include "policy/pattern.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct pattern {
	pcre2_code *code;
	pcre2_match_context *context;
	pcre2_match_data *data;
};

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	pcre2_match_data_free(p->data);
	pcre2_match_context_free(p->context);
	pcre2_code_free(p->code);
	free(p);
}

static int pattern_new(const char *source, uint32_t options, uint32_t match_limit,
		       struct pattern **ret, struct cordon_error *err)
{
	struct pattern *p;
	PCRE2_SIZE where = 0;
	int code = 0;

	if (strlen(source) > LIMIT_REGEX_BYTES)
		return cordon_fail(err, CORDON_E_LIMIT, "a pattern of more than %d bytes",
				   LIMIT_REGEX_BYTES);
	p = calloc(1, sizeof(*p));
	if (!p)
		return cordon_nomem(err);
	p->code = pcre2_compile((PCRE2_SPTR)source, PCRE2_ZERO_TERMINATED,
				PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT | options, &code, &where,
				NULL);
	if (!p->code) {
		char text[128] = "";

		(void)pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof(text));
		pattern_free(p);
		return cordon_fail(err, CORDON_E_POLICY,
				   "not a valid regular expression: %s at character %zu", text,
				   where + 1);
	}
	p->context = pcre2_match_context_create(NULL);
	p->data = pcre2_match_data_create(1, NULL);
	if (!p->context || !p->data) {
		pattern_free(p);
		return cordon_nomem(err);
	}
	(void)pcre2_set_match_limit(p->context, match_limit);
	(void)pcre2_set_depth_limit(p->context, LIMIT_REGEX_DEPTH);
	(void)pcre2_set_heap_limit(p->context, LIMIT_REGEX_HEAP_KB);
	*ret = p;
	return 0;
}

int pattern_compile(const char *source, struct pattern **ret, struct cordon_error *err)
{
	return pattern_new(source, 0, LIMIT_REGEX_MATCH, ret, err);
}

/* PCRE2 counts its steps anew at each start in the text, and a repeat of one character is one step
 * however long it is: \s+x on a megabyte of blanks stays below every limit for hours.  So there is a
 * deadline too. */
static int pattern_tick(pcre2_callout_block *block, void *data)
{
	(void)block;
	return clock_ms() > *(const int64_t *)data ? PCRE2_ERROR_CALLOUT : 0;
}

int pattern_search(const struct pattern *p, const char *text, size_t len)
{
	int64_t deadline = clock_deadline(LIMIT_REGEX_MS);
	int r = pcre2_set_callout(p->context, pattern_tick, &deadline);

	if (r != 0)
		return CORDON_E_INTERNAL;
	r = pcre2_match(p->code, (PCRE2_SPTR)text, len, 0, 0, p->data, p->context);

	if (r >= 0)
		return 1;
	return r == PCRE2_ERROR_NOMATCH ? 0 : CORDON_E_LIMIT;
}

enum {
	PROVOKE_LEN = 40,      /* long enough for 2^n, short enough for n^3 */
	PROVOKE_STEPS = 60000, /* 40^2 starts and widths pass easily, 2^20 does not */
	PROVOKE_UNITS = 48,    /* distinct texts to repeat */
};

/* Does the pattern give up on unit repeated to PROVOKE_LEN bytes, followed by a byte that ends hope? */
static bool pattern_explodes_on(const struct pattern *p, const char *unit, size_t unit_len)
{
	static const char tails[] = {'!', '\x01', 'X'};
	char text[PROVOKE_LEN + 1];

	for (size_t i = 0; i < PROVOKE_LEN; i++)
		text[i] = unit[i % unit_len];
	for (size_t i = 0; i < sizeof(tails); i++) {
		text[PROVOKE_LEN] = tails[i];
		if (pattern_search(p, text, sizeof(text)) < 0)
			return true;
	}
	return false;
}

/*
 * Tries texts made of the pattern's own letters, alone and in pairs, and of one member of each usual
 * class.  This finds the common exponential forms, (a+)+, (a|aa)*, (\w*\s*)*; what it misses still
 * stops at the limit when it is used.
 */
static bool pattern_explodes(const struct pattern *p, const char *source)
{
	static const char classes[] = "a0 _\t-.,;/=\"'A";
	char letters[PROVOKE_UNITS];
	size_t n = 0;

	for (const char *s = classes; *s; s++)
		letters[n++] = *s;
	for (const char *s = source; *s && n < sizeof(letters); s++)
		if (!memchr(letters, *s, n) && !strchr("\\()[]{}*+?|^$", *s))
			letters[n++] = *s;
	for (size_t i = 0; i < n; i++) {
		if (pattern_explodes_on(p, &letters[i], 1))
			return true;
		if (i > 0 && pattern_explodes_on(p, &letters[i - 1], 2))
			return true;
	}
	return false;
}

int pattern_check(const char *source, struct cordon_error *err)
{
	struct pattern *p = NULL;
	bool explodes;
	int r;

	/* Else (a+)+b is never tried on a text without a b, and looks harmless. */
	r = pattern_new(source, PCRE2_NO_START_OPTIMIZE, PROVOKE_STEPS, &p, err);
	if (r < 0)
		return r;
	explodes = pattern_explodes(p, source);
	pattern_free(p);
	if (!explodes)
		return 0;
	r = cordon_fail(err, CORDON_E_POLICY,
			"a regular expression that can take exponential time");
	return cordon_hint(err, r,
			   "do not repeat a group that already repeats, such as (a+)+; write a+");
}
