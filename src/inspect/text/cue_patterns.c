/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The expressions of cues.def for the generator of the database; their numbers are the rows'.
 */
#include "match/pattern.h"

#include <stddef.h>

static const char *const cue_expressions[] = {
#define CUE(id, class, level, percent, reason, expression, hit, miss) expression,
#include "inspect/text/cues.def"
#undef CUE
};

void match_patterns(match_add_fn *add, void *data)
{
	for (unsigned i = 0; i < sizeof(cue_expressions) / sizeof(cue_expressions[0]); i++)
		add(data, i, cue_expressions[i], MATCH_NOCASE | MATCH_DOTALL);
}
