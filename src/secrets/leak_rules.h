/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All rules of leak detection as one table, made from the three .def files.  Ids are SECRET-...
 */
#pragma once

#include "secrets/leak_judge.h"

#include <stdbool.h>
#include <stddef.h>

enum leak_kind { LEAK_KIND_TOKEN, LEAK_KIND_KEYED, LEAK_KIND_FORM };

/* X of leak_forms.def: which function is asked. */
enum leak_form_id {
#define LEAK_FORM(id, what, trigger, form, hit, miss) LEAK_FORM_##id,
#include "secrets/leak_forms.def"
#undef LEAK_FORM
	LEAK_FORM_COUNT
};

/* Texts and not pointers to texts: a table of pointers would have to be relocated whenever a static
 * program starts, whether it looks for leaks or not (65 us for this one). */
struct leak_rule {
	char id[40];
	char what[48];
	char shape[136]; /* of tokens and keyed values */
	char words[48];  /* of keyed values: one of them must be near; commas part them */
	double confidence;
	enum leak_kind kind;
	enum leak_form_id form;
	enum leak_check check;
	unsigned entropy; /* tenths of bits per character; 0 for the usual */
	bool is_plain;
};

extern const struct leak_rule leak_rules[];
extern const size_t leak_rules_n;
