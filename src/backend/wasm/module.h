/* SPDX-License-Identifier: Apache-2.0 */
/* Is the command of a call a WebAssembly module, and where does it stand? */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* By its name alone: it ends in .wasm or .wat. */
bool wasm_has_module_name(const char *command);
/* By its first bytes, or by its name.  For callers who asked for this level: it opens the file. */
bool wasm_is_module(const char *command, const char *cwd);
/* The absolute path that a command names.  A module is no program of PATH: a name without a slash stands in cwd. */
CORDON_MUST_CHECK int wasm_module_path(const char *command, const char *cwd, char **ret);
