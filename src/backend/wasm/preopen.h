/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the steps of a plan to the directories that a module is given.  Pure, but for a look at what a path is.
 *
 * A module sees what somebody granted: directories of the host, private ones and caches, under their own names, and the
 * working directory as ".".  It does not see the system's directories, /dev and /proc, which a program of the
 * machine needs and a module does not.  Of a granted file it sees the directory, where that holds nothing else.
 */
#pragma once

#include "backend/wasm/engine.h"

struct wasm_preopens {
	struct wasm_dir *v;
	size_t n;
	size_t cap;
	struct strv strings; /* what they borrow */
};

void wasm_preopens_done(struct wasm_preopens *p);
/* CORDON_E_UNSUPPORTED for a path that engines cannot be told: with a colon. */
CORDON_MUST_CHECK int wasm_preopens_of(const struct plan *plan, struct wasm_preopens *ret,
				       struct cordon_error *err);
