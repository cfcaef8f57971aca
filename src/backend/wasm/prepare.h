/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is made of a module before it runs: bytes of its text form (.wat; by wat2wasm, for an engine that does not read it),
 * and code of this machine where the policy wants it (enforcement.wasm.aot; by WasmEdge's compiler).  Both are made in
 * a sandbox of their own without a network, in the call's control group, and kept (cache.h).
 */
#pragma once

#include "backend/wasm/engine.h"

/* Is what is made of a module machine code? */
bool wasm_compiles(const struct plan *plan, const struct wasm_engine *engine);
/* Appends to *out what is to run instead of the module; nothing when it runs as it is. */
CORDON_MUST_CHECK int wasm_prepare_module(const struct plan *plan, const struct wasm_engine *engine,
					  const char *module, struct buf *out,
					  struct cordon_error *err);
