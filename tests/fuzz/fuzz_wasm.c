/* SPDX-License-Identifier: Apache-2.0 */
/* A module's imports and the call of the host program, from arbitrary bytes: both are read to their end and never beyond;
 * what is shown of a name is printable. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/wasm/call.h"
#include "backend/wasm/imports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1); /* of its own, so that a read beyond is seen */
	char import[WASM_IMPORT_MAX];
	const char *at = copy;
	const char *value = "";
	enum wasm_key key = WASM_KEY_END;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (wasm_foreign_import(copy, size, import))
		for (const char *c = import; *c; c++)
			if (*c < ' ' || *c > '~')
				abort();
	while (wasm_call_next(&at, copy + size, &key, &value) > 0)
		if (value + strlen(value) >= copy + size)
			abort();
	free(copy);
	return 0;
}
