/* SPDX-License-Identifier: Apache-2.0 */
/* See guarantee.h. */
#include "backend/guarantee.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	const char *doc;
} guarantee_rows[] = {
#define GUARANTEE_ROW(id, name, doc) [GUARANTEE_##id] = {name, doc},
	GUARANTEE_TABLE(GUARANTEE_ROW)
#undef GUARANTEE_ROW
};
static_assert(ARRAY_LEN(guarantee_rows) == GUARANTEE_COUNT, "one row per guarantee");
static_assert(GUARANTEE_COUNT < 64, "a set is one 64-bit mask");

const char *guarantee_name(enum guarantee g)
{
	return (unsigned)g < GUARANTEE_COUNT ? guarantee_rows[g].name : "invalid";
}

const char *guarantee_doc(enum guarantee g)
{
	return (unsigned)g < GUARANTEE_COUNT ? guarantee_rows[g].doc : "invalid";
}

int guarantee_from_name(const char *name, enum guarantee *ret)
{
	for (size_t i = 0; i < GUARANTEE_COUNT; i++) {
		if (strcmp(guarantee_rows[i].name, name) == 0) {
			*ret = (enum guarantee)i;
			return 0;
		}
	}
	return -EINVAL;
}

enum guarantee guarantee_first_missing(guarantee_set need, guarantee_set have)
{
	guarantee_set missing = need & ~have & GUARANTEE_ALL;

	return missing ? (enum guarantee)__builtin_ctzll(missing) : GUARANTEE_COUNT;
}

void guarantee_list(guarantee_set set, struct buf *out)
{
	const char *separator = "";

	if (!(set & GUARANTEE_ALL))
		buf_str(out, "nothing");
	for (size_t i = 0; i < GUARANTEE_COUNT; i++) {
		if (!(set & ((guarantee_set)1 << i)))
			continue;
		buf_str(out, separator);
		buf_str(out, guarantee_rows[i].name);
		separator = ", ";
	}
}

void guarantee_json(guarantee_set set, const char *name, struct json *out)
{
	json_array(out, name);
	for (size_t i = 0; i < GUARANTEE_COUNT; i++)
		if (set & ((guarantee_set)1 << i))
			json_str(out, NULL, guarantee_rows[i].name);
	json_end_array(out);
}
