/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan for the calling process itself, without namespaces and mounts: what of it Landlock and the system
 * call filter can hold, and an error for the rest.
 *
 * Weaker than a sandbox of native: names outside the scope can still be stat()ed, a file without the right to
 * execute can still be mapped by the loader (Landlock does not see mmap()), descriptors that are open stay
 * open, and /tmp is everybody's.
 */
#pragma once

#include "backend/plan.h"
#include "base/buf.h"

/* Irreversible.  Nothing has changed after CORDON_E_UNSUPPORTED and CORDON_E_INVALID.  Appends what is in force
 * to log, as members of a JSON object. */
CORDON_MUST_CHECK int self_apply(const struct plan *plan, struct buf *log,
				 struct cordon_error *err);
