/* SPDX-License-Identifier: Apache-2.0 */
/* See level.h. */
#include "policy/level.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	const char *doc;
} level_rows[] = {
#define LEVEL_ROW(id, name, doc) [LEVEL_##id] = {name, doc},
	LEVEL_TABLE(LEVEL_ROW)
#undef LEVEL_ROW
};
static_assert(ARRAY_LEN(level_rows) == LEVEL_COUNT, "one row per level");

const char *level_name(enum level level)
{
	return (unsigned)level < LEVEL_COUNT ? level_rows[level].name : "invalid";
}

const char *level_doc(enum level level)
{
	return (unsigned)level < LEVEL_COUNT ? level_rows[level].doc : "invalid";
}

int level_from_name(const char *name, enum level *ret)
{
	for (size_t i = 0; i < LEVEL_COUNT; i++) {
		if (strcmp(level_rows[i].name, name) == 0) {
			*ret = (enum level)i;
			return 0;
		}
	}
	return -EINVAL;
}
