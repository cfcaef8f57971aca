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

struct patterns_text {
	char text[16384];
	size_t n;
};

static void patterns_add_part(void *data, const struct shape_part *part, size_t times)
{
	struct patterns_text *out = data;

#define ADD(...)                                                                                   \
	(out->n += (size_t)snprintf(out->text + out->n, sizeof(out->text) - out->n, __VA_ARGS__))
	if (part->literal) {
		for (size_t i = 0; i < times; i++)
			ADD("\\x%02x", (unsigned char)part->literal[i]);
		return;
	}
	ADD("[");
	for (int c = 0; c < 256; c++)
		if (shape_has(part, (char)c))
			ADD("\\x%02x", (unsigned)c);
	ADD("]{%zu}", times);
#undef ADD
}

static void patterns_add_token(match_add_fn *add, void *data, unsigned id, const char *text)
{
	static struct patterns_text out;
	const struct shape_part *before;
	struct shape s;

	if (shape_parse(text, &s) < 0 || s.anchor == s.n) {
		(void)fprintf(stderr, "no shape to search for: %s\n", text);
		exit(1);
	}
	out.n = 0;
	before = s.anchor > 0 ? &s.part[s.anchor - 1] : NULL;
	if (before && !before->literal && before->min > 0)
		patterns_add_part(&out, before, before->min < 8 ? before->min : 8);
	patterns_add_part(&out, &s.part[s.anchor], s.part[s.anchor].max);
	(void)shape_tail(&s, patterns_add_part, &out);
	add(data, id, out.text, 0);
}

void match_patterns(match_add_fn *add, void *data)
{
	unsigned id = 0;

#define LEAK_TOKEN(id_, what, shape, percent, ...) patterns_add_token(add, data, id++, shape);
#define LEAK_FORM(id_, what, trigger, form, hit, miss) add(data, id++, trigger, MATCH_NOCASE);
#include "secrets/leak_tokens.def"

#include "secrets/leak_forms.def"
}
