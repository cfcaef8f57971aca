/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a call: a short list that is kept, what the policy passes and sets, and ours. */
#pragma once

#include "policy/policy.h"
#include "request/request.h"

/* Builds "NAME=VALUE" strings from the caller's environment `from` (NULL-terminated). */
CORDON_MUST_CHECK int environment_build(const struct policy *p, const struct request *r,
					char *const *from, struct strv *ret,
					struct cordon_error *err);
