/* SPDX-License-Identifier: Apache-2.0 */
/* See info.h. */
#include "backend/info.h"

#include "base/str.h"

#include <string.h>

#define INFO_TYPO_MAX 2 /* a name further away than this is not a slip of the finger */

const struct backend_info backend_infos[BACKEND_COUNT] = {
#define BACKEND_ROW(id, name, level, strength)                                                     \
	[BACKEND_##id] = {BACKEND_##id, name, LEVEL_##level, strength},
	BACKEND_TABLE(BACKEND_ROW)
#undef BACKEND_ROW
};

const struct backend_info *backend_info_find(const char *name)
{
	for (size_t i = 0; i < BACKEND_COUNT; i++)
		if (strcmp(backend_infos[i].name, name) == 0)
			return &backend_infos[i];
	return NULL;
}

const char *backend_info_nearest(const char *name)
{
	static const char *const words[] = {"auto", "strongest"};
	size_t best = INFO_TYPO_MAX + 1;
	const char *nearest = NULL;

	for (size_t i = 0; i < BACKEND_COUNT + ARRAY_LEN(words); i++) {
		const char *known = i < BACKEND_COUNT ? backend_infos[i].name
						      : words[i - BACKEND_COUNT];
		size_t distance = str_distance(name, known, INFO_TYPO_MAX);

		if (distance < best) {
			best = distance;
			nearest = known;
		}
	}
	return nearest;
}
