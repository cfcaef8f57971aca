/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See leak_rules.h.  Of the places in this table the build makes the numbers of the patterns
 * (leak_patterns.c), with the same order of files.  Keyed rows are last: they have no patterns.
 */
#include "secrets/leak_rules.h"

#include "base/mem.h"
#include "secrets/leak_form.h"

#define LEAK_TOKEN(id_, what_, shape_, percent, ...)                                               \
	{.id = "SECRET-" #id_,                                                                     \
	 .what = what_,                                                                            \
	 .kind = LEAK_KIND_TOKEN,                                                                  \
	 .shape = shape_,                                                                          \
	 .confidence = (percent) / 100.0,                                                          \
	 __VA_ARGS__},
#define LEAK_KEYED(id_, what_, words_, shape_)                                                     \
	{.id = "SECRET-" #id_,                                                                     \
	 .what = what_,                                                                            \
	 .kind = LEAK_KIND_KEYED,                                                                  \
	 .words = words_,                                                                          \
	 .shape = shape_,                                                                          \
	 .confidence = 0.8},
#define LEAK_FORM(id_, what_, trigger_, form_, hit_, miss_)                                        \
	{.id = "SECRET-" #id_, .what = what_, .kind = LEAK_KIND_FORM, .form = LEAK_FORM_##id_},

const struct leak_rule leak_rules[] = {
#include "secrets/leak_tokens.def"

#include "secrets/leak_forms.def"

#include "secrets/leak_keyed.def"
};

const size_t leak_rules_n = ARRAY_LEN(leak_rules);
