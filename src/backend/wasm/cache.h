/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was made of modules, kept in the state directory: a file for each, named by everything that it was made from
 * (content, engine, options), which begins with the digest of the rest.  A file that is somebody else's, that others can
 * write, or that does not have its digest is an error: what is in it would run.
 */
#pragma once

#include "base/buf.h"

#define WASM_CACHE_DIR "wasm"
#define WASM_CACHE_FILES 128 /* the oldest go first */

/* The name for parts, which are separated. */
void wasm_cache_name(const char *const *parts, size_t n, char ret[static 65]);
/* Appends what is kept under the name to *out.  1; 0 when there is nothing; or an error. */
CORDON_MUST_CHECK int wasm_cache_get(const char *state_dir, const char *name, struct buf *out,
				     struct cordon_error *err);
/* Keeps it.  What cannot be kept is made again. */
void wasm_cache_put(const char *state_dir, const char *name, const void *data, size_t len);
