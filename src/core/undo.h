/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before a call that was judged SUSPICIOUS runs, what it may write is saved: the call is held tighter, and what it does
 * within that can be taken back.  Costs nothing for other calls, in dry run, where nothing can be written, and where
 * changes are kept apart anyway.
 */
#pragma once

#include "backend/plan.h"
#include "core/report.h"
#include "policy/policy.h"

#define UNDO_OWNER "checkpoint"
#define UNDO_MS 30000 /* to save a workspace */

/* Saves what the call may write, if that is due, and puts the name into the report.  What cannot be saved is an error:
 * then the call does not run. */
CORDON_MUST_CHECK int undo_prepare(const struct policy *p, const struct request *request,
				   const char *state_dir, const struct plan *plan, struct report *r,
				   struct cordon_error *err);
