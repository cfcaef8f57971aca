/* SPDX-License-Identifier: Apache-2.0 */
/* See call.h. */
#include "backend/wasm/call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const wasm_keys[WASM_KEY_COUNT] = {
#define WASM_KEY_NAME(id, key) [WASM_KEY_##id] = (key),
	WASM_KEY_TABLE(WASM_KEY_NAME)
#undef WASM_KEY_NAME
};

void wasm_call_add(struct buf *out, enum wasm_key key, const char *value)
{
	buf_add(out, wasm_keys[key], strlen(wasm_keys[key]) + 1);
	buf_add(out, value, strlen(value) + 1);
}

void wasm_call_number(struct buf *out, enum wasm_key key, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	wasm_call_add(out, key, text);
}

/* The string at *at, which is passed; NULL when none is left. */
static const char *call_string(const char **at, const char *end)
{
	const char *s = *at;
	const char *nul = s < end ? memchr(s, '\0', (size_t)(end - s)) : NULL;

	if (!nul)
		return NULL;
	*at = nul + 1;
	return s;
}

int wasm_call_next(const char **at, const char *end, enum wasm_key *ret_key, const char **ret_value)
{
	const char *key = call_string(at, end);
	const char *value = key ? call_string(at, end) : NULL;

	for (int i = 0; value && i < WASM_KEY_COUNT; i++) {
		if (strcmp(key, wasm_keys[i]) != 0)
			continue;
		if (i == WASM_KEY_END)
			return *at == end ? 0 : -EINVAL;
		*ret_key = (enum wasm_key)i;
		*ret_value = value;
		return 1;
	}
	return -EINVAL;
}
