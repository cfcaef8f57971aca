/* SPDX-License-Identifier: Apache-2.0 */
/* What a module imports, read from its bytes: for messages, because engines tell it only to standard output. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define WASM_MAGIC "\0asm\1\0\0" /* with its NUL: the header of version 1 */
#define WASM_MAGIC_LEN 8
#define WASM_IMPORT_MAX 160

/* "'module' 'name'" of the first import that is not of WASI preview 1; false when there is none or the bytes cannot
 * be read. */
bool wasm_foreign_import(const char *data, size_t len, char ret[static WASM_IMPORT_MAX]);
