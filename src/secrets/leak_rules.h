/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All rules of leak detection as one table, made from the three .def files.  Ids are SECRET-...
 */
#pragma once

#include "secrets/leak_judge.h"

#include <stdbool.h>
#include <stddef.h>

enum leak_kind { LEAK_KIND_TOKEN, LEAK_KIND_KEYED, LEAK_KIND_FORM };

struct leak_text;
struct leak_hit;

struct leak_rule {
	const char *id;
	const char *what;
	enum leak_kind kind;
	const char *shape;   /* of tokens and keyed values */
	const char *words;   /* of keyed values: one of them must be near; commas part them */
	const char *trigger; /* of forms */
	bool (*form)(const struct leak_text *t, struct leak_hit *hit);
	const char *hit; /* of forms: examples for the tests */
	const char *miss;
	double confidence;
	enum leak_check check;
	unsigned entropy; /* tenths of bits per character; 0 for the usual */
	bool is_plain;
};

extern const struct leak_rule leak_rules[];
extern const size_t leak_rules_n;
