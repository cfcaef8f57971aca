/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patterns of test_match.c, compiled by the build like those of the program.
 */
#include "match/pattern.h"

void match_patterns(match_add_fn *add, void *data)
{
	add(data, 1, "needle", MATCH_LITERAL);
	add(data, 2, "Any.Case", MATCH_LITERAL | MATCH_NOCASE);
	add(data, 3, "k[0-9]{4}z", MATCH_START);
	add(data, 4, "^begin", 0);
	add(data, 5, "last$", 0);
	add(data, 6, "once", MATCH_ONCE);
	add(data, 7, "a.b", MATCH_DOTALL);
}
