/* SPDX-License-Identifier: Apache-2.0 */
/* See pattern.h. */
#include "policy/pattern.h"

#include "base/buf.h"
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

/*
 * PCRE2 counts its steps for each place of the text anew, so its limit alone does not bound a search: a
 * pattern that stays below it everywhere may still cost length × limit.  A callout at the start of
 * the pattern is run once for every place and looks at the clock.
 */
#define PATTERN_CALLOUT "(?C1)"

static int pattern_on_callout(pcre2_callout_block *block, void *data)
{
	const int64_t *deadline_ns = data;

	(void)block;
	return clock_ns() > *deadline_ns ? PCRE2_ERROR_CALLOUT : 0;
}

/* How much of source are settings such as (*UTF), which must stay in front. */
static size_t pattern_settings(const char *source)
{
	size_t n = 0;

	while (source[n] == '(' && source[n + 1] == '*') {
		size_t word = strspn(source + n + 2, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=");

		if (source[n + 2 + word] != ')')
			break;
		n += word + 3;
	}
	return n;
}

static pcre2_code *pattern_code(const char *source, uint32_t options, int *ret_code, size_t *ret_at)
{
	struct buf b = BUF_INIT(2 * LIMIT_REGEX_BYTES);
	size_t settings = pattern_settings(source), where = 0;
	pcre2_code *code = NULL;

	buf_add(&b, source, settings);
	buf_str(&b, PATTERN_CALLOUT);
	buf_str(&b, source + settings);
	if (buf_error(&b) == 0)
		code = pcre2_compile((PCRE2_SPTR)buf_cstr(&b), b.len, options, ret_code, &where,
				     NULL);
	else
		*ret_code = PCRE2_ERROR_NOMEMORY;
	*ret_at = where >= settings + strlen(PATTERN_CALLOUT) ? where - strlen(PATTERN_CALLOUT)
							      : where;
	buf_done(&b);
	return code;
}

static int pattern_new(const char *source, uint32_t match_limit, uint32_t options,
		       struct pattern **ret, struct cordon_error *err)
{
	struct pattern *p;
	size_t where = 0;
	int code = 0;

	if (strlen(source) > LIMIT_REGEX_BYTES)
		return cordon_fail(err, CORDON_E_LIMIT, "a pattern of more than %d bytes",
				   LIMIT_REGEX_BYTES);
	p = calloc(1, sizeof(*p));
	if (!p)
		return cordon_nomem(err);
	p->code = pattern_code(source, PCRE2_NEVER_BACKSLASH_C | options, &code, &where);
	if (!p->code) {
		char text[128] = "";

		(void)pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof(text));
		pattern_free(p);
		if (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED)
			return cordon_nomem(err);
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_POLICY,
				    "not a valid regular expression: %s at character %zu", text,
				    where + 1),
			"Perl's syntax; put \\ before characters that are meant literally");
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
	return pattern_new(source, LIMIT_REGEX_MATCH, /* options= */ 0, ret, err);
}

int pattern_search(const struct pattern *p, const char *text, size_t len)
{
	int64_t deadline_ns = clock_ns() + LIMIT_REGEX_MS * INT64_C(1000000);
	int r;

	(void)pcre2_set_callout(p->context, pattern_on_callout, &deadline_ns);
	r = pcre2_match(p->code, (PCRE2_SPTR)text, len, 0, 0, p->data, p->context);

	if (r >= 0)
		return 1;
	return r == PCRE2_ERROR_NOMATCH ? 0 : CORDON_E_LIMIT;
}

enum {
	PROVOKE_LEN = 28,        /* long enough for 2^n, short enough for n^3 */
	PROVOKE_VISITS = 60000,  /* of pattern items, on one text: n^3 passes, fib(n) does not */
	PROVOKE_TOTAL = 2000000, /* on all texts: bounds what checking a pattern costs */
	PROVOKE_LETTERS = 40,    /* distinct letters to repeat */
	PROVOKE_FIRST = 6,       /* of the pattern's own letters, those put before the others */
};

/* A pattern being provoked: counting is exact and the same everywhere, time is not. */
struct provocation {
	const struct pattern *pattern;
	uint32_t visits; /* left on this text */
	uint32_t total;  /* left altogether */
};

static int provoke_on_callout(pcre2_callout_block *block, void *data)
{
	struct provocation *v = data;

	(void)block;
	if (v->visits == 0 || v->total == 0)
		return PCRE2_ERROR_CALLOUT;
	v->visits--;
	v->total--;
	return 0;
}

/* Does the pattern give up on first (unless 0), unit repeated, and a byte that ends hope? */
static bool provoke_with(struct provocation *v, char first, const char *unit, size_t unit_len,
			 char last)
{
	const struct pattern *p = v->pattern;
	char text[PROVOKE_LEN + 2];
	size_t n = 0;
	int r;

	if (first)
		text[n++] = first;
	for (size_t i = 0; i < PROVOKE_LEN; i++)
		text[n++] = unit[i % unit_len];
	text[n++] = last;
	v->visits = PROVOKE_VISITS;
	r = pcre2_match(p->code, (PCRE2_SPTR)text, n, 0, 0, p->data, p->context);
	return r == PCRE2_ERROR_CALLOUT || r == PCRE2_ERROR_MATCHLIMIT ||
	       r == PCRE2_ERROR_DEPTHLIMIT || r == PCRE2_ERROR_HEAPLIMIT;
}

/*
 * Tries texts made of the pattern's own letters, alone and in pairs and after one another, and of one
 * member of each usual class.  This finds the common exponential forms, (a+)+, (a|aa)*, (\w*\s*)*;
 * what it misses still stops at the limits when it is used.
 */
static bool provoke(struct provocation *v, const char *source)
{
	static const char classes[] = "a0 _\t-.,;/=\"'A";
	char letters[PROVOKE_LETTERS];
	size_t n = 0, own;

	for (const char *s = classes; *s; s++)
		letters[n++] = *s;
	own = n;
	for (const char *s = source; *s && n < sizeof(letters); s++)
		if ((unsigned char)*s < 0x80 && !memchr(letters + own, *s, n - own) &&
		    !strchr("\\()[]{}*+?|^$", *s))
			letters[n++] = *s;
	for (size_t i = 0; i < n; i++) {
		if (provoke_with(v, 0, &letters[i], 1, '!') ||
		    provoke_with(v, 0, &letters[i], 1, '\x01') ||
		    provoke_with(v, 0, &letters[i], 1, 'X'))
			return true;
		if (i > 0 && provoke_with(v, 0, &letters[i - 1], 2, '!'))
			return true;
		for (size_t k = own; k < n && k < own + PROVOKE_FIRST; k++)
			if (provoke_with(v, letters[k], &letters[i], 1, '!'))
				return true;
	}
	return false;
}

int pattern_check(const char *source, struct cordon_error *err)
{
	struct pattern *p = NULL;
	struct provocation v = {.total = PROVOKE_TOTAL};
	bool explodes;
	int r;

	r = pattern_compile(source, &p, err);
	if (r < 0)
		return r;
	pattern_free(p);
	p = NULL;
	/* With a callout before each item, for counting, and without the optimisations that refuse a
	 * text at a glance ("no b in it"): whoever wants the explosion puts the b at the end. */
	r = pattern_new(source, LIMIT_REGEX_MATCH, PCRE2_NO_START_OPTIMIZE | PCRE2_AUTO_CALLOUT, &p,
			err);
	if (r < 0)
		return cordon_hint(err, r, "the pattern is too large: use fewer or smaller {n,m}");
	v.pattern = p;
	(void)pcre2_set_callout(p->context, provoke_on_callout, &v);
	explodes = provoke(&v, source);
	pattern_free(p);
	if (!explodes)
		return 0;
	r = cordon_fail(err, CORDON_E_POLICY, "a regular expression that can take endless time");
	return cordon_hint(err, r,
			   "do not repeat a group that already repeats, such as (a+)+; write a+");
}
