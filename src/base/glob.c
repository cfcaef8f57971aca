/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See glob.h.  The matcher simulates the pattern as an automaton: the set of pattern positions that
 * are alive after each character is a bit set, so time is O(pattern × text) whatever the input.
 */
#include "base/glob.h"

#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum glob_op {
	GLOB_CHAR,
	GLOB_ANY,      /* ? */
	GLOB_SET,      /* [...] */
	GLOB_STAR,     /* *: any run without a slash */
	GLOB_GLOBSTAR, /* **: any run */
	GLOB_END,
};

struct glob_item {
	enum glob_op op;
	unsigned char c;
	bool negated;
	const char *set; /* after '[' and '!', up to the closing ']' */
	size_t set_len;
};

/* Reads one item at *p and moves on.  0 or -EINVAL. */
static int glob_next(const char **p, struct glob_item *ret)
{
	const char *s = *p;

	*ret = (struct glob_item){.op = GLOB_CHAR, .c = (unsigned char)*s};
	switch (*s) {
	case '\0':
		ret->op = GLOB_END;
		return 0;
	case '?':
		ret->op = GLOB_ANY;
		*p = s + 1;
		return 0;
	case '*':
		ret->op = s[1] == '*' ? GLOB_GLOBSTAR : GLOB_STAR;
		while (*s == '*')
			s++;
		*p = s;
		return 0;
	case '\\':
		if (!s[1])
			return -EINVAL;
		ret->c = (unsigned char)s[1];
		*p = s + 2;
		return 0;
	case '[': {
		const char *end;

		s++;
		ret->negated = *s == '!' || *s == '^';
		if (ret->negated)
			s++;
		end = strchr(*s == ']' ? s + 1 : s, ']');
		if (!end)
			return -EINVAL;
		ret->op = GLOB_SET;
		ret->set = s;
		ret->set_len = (size_t)(end - s);
		*p = end + 1;
		return 0;
	}
	default:
		*p = s + 1;
		return 0;
	}
}

int glob_check(const char *pattern)
{
	struct glob_item item;

	if (strlen(pattern) > LIMIT_GLOB_BYTES)
		return -E2BIG;
	do {
		int r = glob_next(&pattern, &item);

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

static bool glob_set_has(const struct glob_item *item, unsigned char c)
{
	bool found = false;

	for (size_t i = 0; i < item->set_len && !found; i++) {
		unsigned char low = (unsigned char)item->set[i], high = low;

		if (i + 2 < item->set_len && item->set[i + 1] == '-') {
			high = (unsigned char)item->set[i + 2];
			i += 2;
		}
		found = c >= low && c <= high;
	}
	return found != item->negated;
}

static bool glob_accepts(const struct glob_item *item, unsigned char c, bool star_crosses)
{
	switch (item->op) {
	case GLOB_CHAR:
		return item->c == c;
	case GLOB_ANY:
		return star_crosses || c != '/';
	case GLOB_SET:
		return (star_crosses || c != '/') && glob_set_has(item, c);
	case GLOB_STAR:
		return star_crosses || c != '/';
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

/* Stars may match nothing: whatever stands before one may also stand after it.  "a/" before a "**" that
 * is followed by "/" also matches with nothing between, so that a/ ** /b matches a/b. */
static void glob_spread(const struct glob_item *items, size_t n, uint8_t *alive)
{
	for (size_t i = 0; i < n; i++) {
		if (!alive[i] || !glob_is_star(&items[i]))
			continue;
		alive[i + 1] = 1;
		if (items[i].op == GLOB_GLOBSTAR && items[i + 1].op == GLOB_CHAR &&
		    items[i + 1].c == '/' &&
		    (i == 0 || (items[i - 1].op == GLOB_CHAR && items[i - 1].c == '/')) &&
		    alive[i] == 2)
			alive[i + 2] = 1;
	}
}

static bool glob_run(const struct glob_item *items, size_t n, const char *text, bool star_crosses,
		     uint8_t *now, uint8_t *next)
{
	/* 2 marks "entered here without consuming": only then may a leading or inner "**" and its slash be
	 * skipped together. */
	now[0] = 2;
	for (;; text++) {
		glob_spread(items, n, now);
		if (*text == '\0')
			return now[n] != 0;
		memset(next, 0, n + 3);
		for (size_t i = 0; i < n; i++) {
			if (!now[i] || !glob_accepts(&items[i], (unsigned char)*text, star_crosses))
				continue;
			if (glob_is_star(&items[i]))
				next[i] = next[i] ? next[i] : 1;
			else
				next[i + 1] = 2;
		}
		memcpy(now, next, n + 3);
	}
}

static bool glob_match_mode(const char *pattern, const char *text, bool star_crosses)
{
	AUTO_FREE struct glob_item *items = NULL;
	AUTO_FREE uint8_t *sets = NULL;
	size_t n = 0, max = strlen(pattern) + 1;

	if (max > LIMIT_GLOB_BYTES + 1)
		return false;
	items = calloc(max, sizeof(*items));
	sets = calloc(2, max + 3);
	if (!items || !sets)
		return false;
	for (;;) {
		if (glob_next(&pattern, &items[n]) < 0)
			return false;
		if (items[n].op == GLOB_END)
			break;
		n++;
	}
	return glob_run(items, n, text, star_crosses, sets, sets + max + 3);
}

bool glob_match(const char *pattern, const char *text)
{
	return glob_match_mode(pattern, text, false);
}

bool glob_match_text(const char *pattern, const char *text)
{
	return glob_match_mode(pattern, text, true);
}
