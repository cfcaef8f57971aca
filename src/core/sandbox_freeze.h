/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy of a sandbox that stays is the one that was in force when it was made: files that change later do not
 * reach into it.  It is kept as a text; that the text says the same is seen by reading it back.
 */
#pragma once

#include "policy/policy.h"
#include "session/sandbox.h"

/* Gives a text for sandbox_policy().  CORDON_E_UNSUPPORTED when the policy cannot be said in one. */
CORDON_MUST_CHECK int sandbox_freeze(const struct policy *p, const struct sandbox_row *row,
				     const char *home, char **ret, struct cordon_error *err);
