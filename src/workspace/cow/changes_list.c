/* SPDX-License-Identifier: Apache-2.0 */
/* See changes.h: the list itself, for every system. */
#include "workspace/cow/changes.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

static const char *const change_words[] = {
	[CHANGE_ADDED] = "added",
	[CHANGE_DELETED] = "deleted",
	[CHANGE_MODIFIED] = "modified",
};
static_assert(ARRAY_LEN(change_words) == CHANGE_OP_COUNT, "one word per op");

const char *change_word(enum change_op op)
{
	return (unsigned)op < CHANGE_OP_COUNT ? change_words[op] : "invalid";
}

void changes_done(struct changes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].path);
		free(c->v[i].from);
	}
	free(c->v);
	*c = (struct changes){0};
}

size_t changes_count(const struct changes *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += !c->v[i].is_implied;
	return n;
}
