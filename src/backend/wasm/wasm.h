/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend "wasm": a WebAssembly module in an engine, and the engine in the sandbox of native.  What a module can
 * reach is so held twice: by the engine, which gives it only the directories of preopen.h, and by mounts, Landlock,
 * the system call filter and the namespaces around the engine, whatever that does.
 */
#pragma once

#include "backend/backend.h"

extern const struct cordon_backend wasm_backend;

/* Did a call of this backend end because its fuel was used up? */
bool wasm_is_out_of_fuel(const struct cordon_backend *backend, int signal);
