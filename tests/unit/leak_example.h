/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that a leak rule must find and must not, made from the rule: no credential stands in this
 * repository, not even a false one.
 */
#pragma once

#include "base/buf.h"
#include "secrets/leak_rules.h"
#include "secrets/shape.h"

#include <stdint.h>
#include <string.h>

static inline unsigned example_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(*seed >> 33);
}

/* n characters of the class. */
static inline void example_class(struct buf *out, const struct shape_part *part, size_t n,
				 uint64_t *seed)
{
	char set[256];
	size_t k = 0;

	for (int c = 1; c < 256; c++)
		if (shape_has(part, (char)c))
			set[k++] = (char)c;
	for (size_t i = 0; i < n; i++)
		buf_char(out, set[example_random(seed) % k]);
}

/* The last class that has a least length. */
static inline size_t example_last(const struct shape *s)
{
	size_t last = s->n;

	for (size_t i = 0; i < s->n; i++)
		if (!s->part[i].literal && s->part[i].min > 1)
			last = i;
	return last;
}

/* A text of the shape; with is_short, one character less than it asks for. */
static inline void example_shape(struct buf *out, const char *text, uint64_t seed, bool is_short)
{
	struct shape s;

	if (shape_parse(text, &s) < 0)
		return;
	for (size_t i = 0; i < s.n; i++) {
		if (s.part[i].literal)
			buf_add(out, s.part[i].literal, s.part[i].max);
		else
			example_class(out, &s.part[i],
				      s.part[i].min - (is_short && i == example_last(&s)), &seed);
	}
}

/* The example of a form: % stands for twenty random letters and digits. */
static inline void example_form(struct buf *out, const char *text, uint64_t seed)
{
	static const char set[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	for (; *text; text++) {
		if (*text != '%') {
			buf_char(out, *text);
			continue;
		}
		for (int i = 0; i < 20; i++)
			buf_char(out, set[example_random(&seed) % (sizeof(set) - 1)]);
	}
}

/* The text of a rule that hits (or not), with words around it. */
static inline void example_text(struct buf *out, const struct leak_rule *rule, uint64_t seed,
				bool is_hit)
{
	buf_clear(out);
	switch (rule->kind) {
	case LEAK_KIND_TOKEN:
		buf_str(out, "first line\nsee ");
		example_shape(out, rule->shape, seed, !is_hit);
		buf_str(out, " for it\n");
		break;
	case LEAK_KIND_KEYED:
		buf_str(out, "first line\n");
		buf_add(out, rule->words, strcspn(rule->words, ","));
		buf_str(out, " secret_key = \"");
		example_shape(out, rule->shape, seed, !is_hit);
		buf_str(out, "\"\n");
		break;
	case LEAK_KIND_FORM:
		example_form(out, is_hit ? rule->hit : rule->miss, seed);
		break;
	}
}
