/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See glob.h.  The matcher simulates the pattern as an automaton: it keeps the set of pattern positions
 * that are alive after each character of the text, so time is O(pattern × text) whatever the input.
 *
 * Matching allocates nothing.  glob_match() answers yes or no, and there is no safe answer to give when
 * memory is short: "no" would open what a deny pattern closes.  LIMIT_GLOB_BYTES keeps the arrays small
 * enough for the stack (some 36 KiB).
 */
#include "base/glob.h"

#include "base/limits.h"
#include "base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

enum glob_op {
	GLOB_END,
	GLOB_CHAR,
	GLOB_ANY,      /* ? */
	GLOB_SET,      /* [...] */
	GLOB_STAR,     /* *: any run without a slash */
	GLOB_GLOBSTAR, /* **: any run */
};

struct glob_item {
	uint32_t c;   /* GLOB_CHAR: the character */
	uint16_t set; /* GLOB_SET: offset of the first member in the pattern */
	uint8_t op;   /* enum glob_op */
	bool negated;
};

static_assert(LIMIT_GLOB_BYTES <= UINT16_MAX, "offsets into a pattern are 16 bits");

enum {
	GLOB_BYTE =
		0x110000, /* a byte that is not UTF-8 is this plus the byte: equal only to itself */
	GLOB_ALIVE = 1,
	GLOB_ENTERED = 2, /* alive, and the item has consumed nothing yet */
};

/* Reads one character (s < end) and returns what follows it. */
static const char *glob_char(const char *s, const char *end, uint32_t *ret)
{
	size_t n = utf8_decode(s, (size_t)(end - s), ret);

	if (n > 0)
		return s + n;
	*ret = GLOB_BYTE + (uint32_t)(unsigned char)*s;
	return s + 1;
}

/* One end of a range in a set.  [:digit:] and its like are refused: read as plain members they would
 * mean something that nobody who writes them expects. */
static int glob_set_char(const char **s, const char *end, uint32_t *ret)
{
	const char *p = *s;

	if (p < end && *p == '\\')
		p++;
	else if (end - p >= 2 && *p == '[' && (p[1] == ':' || p[1] == '.' || p[1] == '='))
		return -EINVAL;
	if (p == end)
		return -EINVAL;
	*s = glob_char(p, end, ret);
	return 0;
}

/* One member of a set: a character or a range.  0 or -EINVAL. */
static int glob_set_member(const char **s, const char *end, uint32_t *ret_low, uint32_t *ret_high)
{
	int r = glob_set_char(s, end, ret_low);

	if (r < 0)
		return r;
	*ret_high = *ret_low;
	if (end - *s < 2 || (*s)[0] != '-' || (*s)[1] == ']')
		return 0;
	(*s)++;
	r = glob_set_char(s, end, ret_high);
	return r < 0 ? r : *ret_low <= *ret_high ? 0 : -EINVAL;
}

/* Reads the set whose '[' is at *s.  0 or -EINVAL. */
static int glob_set(const char *pattern, const char **s, const char *end, struct glob_item *ret)
{
	const char *p = *s + 1;
	uint32_t low, high;

	ret->op = GLOB_SET;
	ret->negated = p < end && (*p == '!' || *p == '^');
	if (ret->negated)
		p++;
	ret->set = (uint16_t)(p - pattern);
	do { /* a ']' that comes first is a member */
		int r = glob_set_member(&p, end, &low, &high);

		if (r < 0)
			return r;
		if (p == end)
			return -EINVAL;
	} while (*p != ']');
	*s = p + 1;
	return 0;
}

/* Reads one item at *s and moves on.  0 or -EINVAL. */
static int glob_next(const char *pattern, const char **s, const char *end, struct glob_item *ret)
{
	const char *p = *s;

	*ret = (struct glob_item){.op = GLOB_END};
	if (p == end)
		return 0;
	switch (*p) {
	case '?':
		ret->op = GLOB_ANY;
		*s = p + 1;
		return 0;
	case '*':
		ret->op = p[1] == '*' ? GLOB_GLOBSTAR : GLOB_STAR;
		while (*p == '*')
			p++;
		*s = p;
		return 0;
	case '[':
		return glob_set(pattern, s, end, ret);
	case '\\':
		if (++p == end)
			return -EINVAL;
		break;
	default:
		break;
	}
	ret->op = GLOB_CHAR;
	*s = glob_char(p, end, &ret->c);
	return 0;
}

int glob_check(const char *pattern)
{
	const char *s = pattern, *end = pattern + strlen(pattern);
	struct glob_item item;

	if (end - pattern > LIMIT_GLOB_BYTES)
		return -E2BIG;
	do {
		int r = glob_next(pattern, &s, end, &item);

		if (r < 0)
			return r;
	} while (item.op != GLOB_END);
	return 0;
}

bool glob_has_magic(const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' && s[1])
			s++;
		else if (*s == '*' || *s == '?' || *s == '[')
			return true;
	}
	return false;
}

/* A pattern being matched. */
struct glob_run {
	const char *pattern;
	const char *pattern_end;
	size_t n;   /* items before GLOB_END */
	size_t top; /* no position above this one is alive */
	bool star_crosses;
	struct glob_item items[LIMIT_GLOB_BYTES + 1];
	uint8_t alive[LIMIT_GLOB_BYTES + 1]; /* 0, GLOB_ALIVE or GLOB_ENTERED for each item */
};

static bool glob_set_has(const struct glob_run *run, const struct glob_item *item, uint32_t c)
{
	const char *s = run->pattern + item->set;
	uint32_t low, high;

	do {
		if (glob_set_member(&s, run->pattern_end, &low, &high) < 0)
			return false; /* cannot be: glob_set() has read it before */
		if (c >= low && c <= high)
			return !item->negated;
	} while (*s != ']');
	return item->negated;
}

static bool glob_accepts(const struct glob_run *run, const struct glob_item *item, uint32_t c)
{
	bool wild = run->star_crosses || c != '/';

	switch ((enum glob_op)item->op) {
	case GLOB_CHAR:
		return item->c == c;
	case GLOB_ANY:
	case GLOB_STAR:
		return wild;
	case GLOB_SET:
		return wild && glob_set_has(run, item, c);
	case GLOB_GLOBSTAR:
		return true;
	case GLOB_END:
		return false;
	}
	return false;
}

static bool glob_is_star(const struct glob_item *item)
{
	return item->op == GLOB_STAR || item->op == GLOB_GLOBSTAR;
}

static bool glob_is_slash(const struct glob_item *item)
{
	return item->op == GLOB_CHAR && item->c == '/';
}

static void glob_enter(struct glob_run *run, size_t i)
{
	run->alive[i] = GLOB_ENTERED;
	if (i > run->top)
		run->top = i;
}

/* Stars may match nothing: whatever stands before one may also stand after it.  A "**" that is a whole
 * component may be left out together with the slash after it, so that a/ ** /b matches a/b; but not once
 * it has consumed something, or a/ ** /b would match a/xb. */
static void glob_spread(struct glob_run *run)
{
	for (size_t i = 0; i <= run->top && i < run->n; i++) {
		const struct glob_item *item = &run->items[i];

		if (!run->alive[i] || !glob_is_star(item))
			continue;
		if (item->op == GLOB_GLOBSTAR && run->alive[i] == GLOB_ENTERED &&
		    (i == 0 || glob_is_slash(item - 1)) && glob_is_slash(item + 1))
			glob_enter(run, i + 2);
		glob_enter(run, i + 1);
	}
}

/* Moves every living position over one character, from the top down so that one array is enough: a
 * position feeds only itself and the one above it.  Returns whether any lives on. */
static bool glob_step(struct glob_run *run, uint32_t c)
{
	size_t top = run->top;
	bool any = false;

	for (size_t i = top + 1; i-- > 0;) {
		const struct glob_item *item = &run->items[i];

		if (!run->alive[i])
			continue;
		run->alive[i] = 0;
		if (!glob_accepts(run, item, c))
			continue;
		any = true;
		if (glob_is_star(item))
			run->alive[i] = GLOB_ALIVE;
		else
			glob_enter(run, i + 1);
	}
	while (run->top > 0 && !run->alive[run->top])
		run->top--;
	return any;
}

static bool glob_match_mode(const char *pattern, const char *text, bool star_crosses)
{
	const char *s = pattern, *end = text + strlen(text);
	/* Large, and only as much of it is read as was written. */
	__attribute__((uninitialized)) struct glob_run run;
	size_t len = strlen(pattern);

	if (len > LIMIT_GLOB_BYTES)
		return false;
	run.pattern = pattern;
	run.pattern_end = pattern + len;
	run.star_crosses = star_crosses;
	run.n = 0;
	run.top = 0;
	for (;; run.n++) {
		if (glob_next(pattern, &s, run.pattern_end, &run.items[run.n]) < 0)
			return false;
		if (run.items[run.n].op == GLOB_END)
			break;
	}
	memset(run.alive, 0, run.n + 1);
	glob_enter(&run, 0);
	glob_spread(&run);
	while (text < end) {
		uint32_t c;

		text = glob_char(text, end, &c);
		if (!glob_step(&run, c))
			return false;
		glob_spread(&run);
	}
	return run.alive[run.n] != 0;
}

bool glob_match(const char *pattern, const char *text)
{
	return glob_match_mode(pattern, text, /* star_crosses= */ false);
}

bool glob_match_text(const char *pattern, const char *text)
{
	return glob_match_mode(pattern, text, /* star_crosses= */ true);
}
