/* SPDX-License-Identifier: Apache-2.0 */
/* Does the backend "wasm" work here?  Two modules of a few bytes say so: one that exits, and one that never would. */
#pragma once

#include "backend/backend.h"

void wasm_probe(enum probe_form form, guarantee_set wanted, struct probe *ret);
CORDON_MUST_CHECK int wasm_spawn(const struct plan *plan, struct spawn_result *ret,
				 struct cordon_error *err);
