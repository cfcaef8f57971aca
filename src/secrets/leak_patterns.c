/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patterns of leak detection, for the generator of src/match.  A token's pattern is its longest
 * literal with the class before it and some of the class behind it; a form's is its trigger.  Ids are
 * places in the table of leak_rules.c.
 */
#include "match/pattern.h"
#include "secrets/shape.h"

#include <stdio.h>
#include <stdlib.h>

static void patterns_add_class(char *out, size_t max, size_t *n, const struct shape_part *part,
			       size_t times)
{
	*n += (size_t)snprintf(out + *n, max - *n, "[");
	for (int c = 0; c < 256; c++)
		if (shape_has(part, (char)c))
			*n += (size_t)snprintf(out + *n, max - *n, "\\x%02x", (unsigned)c);
	*n += (size_t)snprintf(out + *n, max - *n, "]{%zu}", times);
}

static void patterns_add_token(match_add_fn *add, void *data, unsigned id, const char *text)
{
	static char out[8192];
	struct shape s;
	size_t n = 0, tail;

	if (shape_parse(text, &s) < 0 || s.anchor == s.n) {
		(void)fprintf(stderr, "no shape to search for: %s\n", text);
		exit(1);
	}
	if (s.anchor > 0 && !s.part[s.anchor - 1].literal && s.part[s.anchor - 1].min > 0)
		patterns_add_class(out, sizeof(out), &n, &s.part[s.anchor - 1],
				   s.part[s.anchor - 1].min < 4 ? s.part[s.anchor - 1].min : 4);
	for (size_t i = 0; i < s.part[s.anchor].max; i++)
		n += (size_t)snprintf(out + n, sizeof(out) - n, "\\x%02x",
				      (unsigned char)s.part[s.anchor].literal[i]);
	tail = shape_anchor_tail(&s);
	if (tail > 0)
		patterns_add_class(out, sizeof(out), &n, &s.part[s.anchor + 1], tail);
	add(data, id, out, 0);
}

void match_patterns(match_add_fn *add, void *data)
{
	unsigned id = 0;

#define LEAK_TOKEN(id_, what, shape, percent, ...) patterns_add_token(add, data, id++, shape);
#define LEAK_FORM(id_, what, trigger, form, hit, miss) add(data, id++, trigger, MATCH_NOCASE);
#include "secrets/leak_tokens.def"

#include "secrets/leak_forms.def"
}
