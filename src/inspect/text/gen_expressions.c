/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the build, not of the product: writes the expressions of cues.def for gen-wanted, each with a NUL
 * behind it.
 */
#include "match/pattern.h"

#include <stdio.h>
#include <string.h>

static void expression_write(void *data, unsigned id, const char *expression, unsigned flags)
{
	size_t *written = data;

	(void)id, (void)flags;
	*written += fwrite(expression, strlen(expression) + 1, 1, stdout);
}

int main(void)
{
	size_t written = 0;

	match_patterns(expression_write, &written);
	return fflush(stdout) == 0 && written > 0 ? 0 : 1;
}
