/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that hold between values of one file, and the runtime that a level implies. */
#pragma once

#include "policy/policy.h"

/* Checks what one file says as a whole.  Messages carry the place of the offending value. */
CORDON_MUST_CHECK int policy_check(const struct policy *p, const struct strv *files,
				   struct strv *warnings, struct cordon_error *err);
/* The level that a runtime implements. */
enum level runtime_level(enum runtime runtime);
/* The backend that carries a runtime's name in cordon ("wasmtime" is the backend "wasm"). */
const char *runtime_backend(enum runtime runtime);
