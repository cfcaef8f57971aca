/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call read before it runs: its words as a command, and the files that it hands to interpreters or runs itself,
 * wherever in the command or in such a file they are named, when they lie in the workspace.
 */
#pragma once

#include "policy/policy.h"
#include "request/request.h"
#include "verdict/verdict.h"

/* Adds what the inspectors find.  home may be NULL. */
CORDON_MUST_CHECK int look_at_call(const struct policy *p, const struct request *r,
				   const char *home, struct findings *ret,
				   struct cordon_error *err);
/* The call as one command for a shell, words quoted; appends. */
void look_text(const struct request *r, struct buf *out);
