/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in a module, read from its bytes: imports for messages, because engines tell them only to standard output. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define WASM_MAGIC "\0asm\1\0\0" /* with its NUL: the header of version 1 */
#define WASM_MAGIC_LEN 8
#define WASM_IMPORT_MAX 160

/* "'module' 'name'" of the first import that is not of WASI preview 1; false when there is none or the bytes cannot
 * be read. */
bool wasm_foreign_import(const char *data, size_t len, char ret[static WASM_IMPORT_MAX]);
/* Does it bring machine code of its own?  WasmEdge would run that instead of the module: unmetered, and with all that the
 * process may do. */
bool wasm_has_machine_code(const char *data, size_t len);
