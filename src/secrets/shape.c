/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See shape.h.
 */
#include "secrets/shape.h"

#include <errno.h>
#include <string.h>

static const struct {
	char letter;
	const char *set; /* with ranges */
} shape_classes[] = {
	{'d', "0-9"},
	{'h', "0-9a-f"},
	{'H', "0-9a-fA-F"},
	{'x', "0-9A-F"},
	{'l', "a-z0-9"},
	{'u', "A-Z0-9"},
	{'w', "A-Za-z0-9"},
	{'a', "a-z"},
	{'A', "A-Z"},
	{'m', "A-Za-z0-9_"},
	{'b', "A-Za-z0-9_-"},
	{'B', "A-Za-z0-9+/"},
	{'f', "A-Za-z0-9+/_-"},
	{'2', "A-Z2-7"},
	{'.', "A-Za-z0-9_.-"},
	{'=', "="},
	{'p', "!#-&(-;=?-_a-~"},
};

static void shape_set_add(struct shape_part *part, const char *set, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned from = (unsigned char)set[i], to = from;

		if (i + 2 < len && set[i + 1] == '-') {
			to = (unsigned char)set[i + 2];
			i += 2;
		}
		for (; from <= to; from++)
			part->set[from / 64] |= UINT64_C(1) << (from % 64);
	}
}

bool shape_has(const struct shape_part *part, char c)
{
	unsigned char u = (unsigned char)c;

	return part->set[u / 64] >> (u % 64) & 1;
}

/* A decimal number; moves *p behind it. */
static size_t shape_number(const char **p)
{
	size_t n = 0;

	for (; **p >= '0' && **p <= '9' && n < SHAPE_MAX; (*p)++)
		n = n * 10 + (size_t)(**p - '0');
	return n;
}

/* What stands behind the percent sign, up to the closing brace; moves *p behind it. */
static int shape_parse_class(const char **p, struct shape_part *part)
{
	const char *s = *p;
	bool found = false;

	if (*s == '[') {
		const char *end = strchr(s, ']');

		if (!end)
			return -EINVAL;
		shape_set_add(part, s + 1, (size_t)(end - s) - 1);
		found = true;
		s = end + 1;
	} else {
		for (size_t i = 0; i < sizeof(shape_classes) / sizeof(shape_classes[0]); i++)
			if (*s && shape_classes[i].letter == *s) {
				shape_set_add(part, shape_classes[i].set,
					      strlen(shape_classes[i].set));
				found = true;
			}
		s++;
	}
	if (!found || *s++ != '{')
		return -EINVAL;
	part->min = part->max = shape_number(&s);
	if (*s == ',') {
		s++;
		part->max = *s == '}' ? SHAPE_MAX : shape_number(&s);
	}
	if (*s != '}' || part->max < part->min || part->max == 0)
		return -EINVAL;
	*p = s + 1;
	return 0;
}

int shape_parse(const char *text, struct shape *ret)
{
	*ret = (struct shape){0};
	while (*text) {
		struct shape_part *part = &ret->part[ret->n];

		if (ret->n == SHAPE_PARTS_MAX)
			return -EINVAL;
		if (text[0] == '%' && text[1] != '%') {
			text++;
			if (shape_parse_class(&text, part) < 0)
				return -EINVAL;
		} else if (text[0] == '%') {
			part->literal = "%";
			part->min = part->max = 1;
			text += 2;
		} else {
			part->literal = text;
			part->min = part->max = strcspn(text, "%");
			text += part->max;
		}
		ret->n++;
	}
	ret->anchor = ret->n;
	for (size_t i = 0; i < ret->n; i++)
		if (ret->part[i].literal &&
		    (ret->anchor == ret->n || ret->part[i].max > ret->part[ret->anchor].max))
			ret->anchor = i;
	return ret->n ? 0 : -EINVAL;
}

/* The length of one part at the start of text; SIZE_MAX when it is not there. */
static size_t shape_part_match(const struct shape_part *part, const char *text, size_t len)
{
	size_t n = 0;

	if (part->literal)
		return len >= part->max && memcmp(text, part->literal, part->max) == 0 ? part->max
										       : SIZE_MAX;
	while (n < len && n < part->max && shape_has(part, text[n]))
		n++;
	return n >= part->min ? n : SIZE_MAX;
}

/* Parts from to the end, forwards. */
static size_t shape_match_from(const struct shape *s, size_t from, const char *text, size_t len)
{
	size_t at = 0;

	for (size_t i = from; i < s->n; i++) {
		size_t n = shape_part_match(&s->part[i], text + at, len - at);

		if (n == SIZE_MAX)
			return 0;
		at += n;
	}
	/* Longer than it may be is something else. */
	if (!s->part[s->n - 1].literal && at < len && shape_has(&s->part[s->n - 1], text[at]))
		return 0;
	return at;
}

size_t shape_match(const struct shape *s, const char *text, size_t len)
{
	return shape_match_from(s, 0, text, len);
}

bool shape_is(const struct shape *s, const char *text, size_t len)
{
	return len > 0 && shape_match(s, text, len) == len;
}

bool shape_around(const struct shape *s, const char *text, size_t len, size_t at, size_t *ret_start,
		  size_t *ret_end)
{
	size_t start = at, n;

	n = shape_match_from(s, s->anchor, text + at, len - at);
	if (n == 0)
		return false;
	for (size_t i = s->anchor; i-- > 0;) {
		const struct shape_part *part = &s->part[i];
		size_t k = 0;

		if (part->literal) {
			if (start < part->max ||
			    memcmp(text + start - part->max, part->literal, part->max) != 0)
				return false;
			start -= part->max;
			continue;
		}
		while (k < part->max && k < start && shape_has(part, text[start - k - 1]))
			k++;
		if (k < part->min)
			return false;
		start -= k;
		if (i == 0 && start > 0 && shape_has(part, text[start - 1]))
			return false;
	}
	*ret_start = start;
	*ret_end = at + n;
	return true;
}

void shape_add_none(void *data, const struct shape_part *part, size_t n)
{
	(void)data, (void)part, (void)n;
}

size_t shape_tail(const struct shape *s, shape_add_fn *add, void *data)
{
	const struct shape_part *next = &s->part[s->anchor + 1];
	size_t lead = s->part[s->anchor].max, want = lead >= 5 ? 6 : lead >= 3 ? 8 : 16;

	if (s->anchor + 1 >= s->n || next->literal)
		return 0;
	if (next->min == next->max && next->max <= 32 && s->anchor + 2 < s->n && next[1].literal &&
	    lead < 5) {
		add(data, next, next->max);
		add(data, &next[1], next[1].max);
		return next->max + next[1].max;
	}
	if (next->min < want)
		want = next->min;
	if (want > 0)
		add(data, next, want);
	return want;
}
