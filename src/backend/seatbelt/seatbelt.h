/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls under macOS's own sandbox, through its sandbox-exec.  There are no mounts and no namespaces: what is closed can
 * still be seen to exist, /tmp and home are the user's, and what the command leaves behind stays.
 */
#pragma once

#include "backend/backend.h"

#define SEATBELT_PROGRAM "sandbox-exec"
#define SEATBELT_STRICT "strict"
#define SEATBELT_MODERATE "moderate"

extern const struct cordon_backend seatbelt_backend;

/* The profile of a plan; plan->seatbelt says which: NULL or "strict", "moderate", or the path of one's own, which is
 * taken as it is.  CORDON_E_UNSUPPORTED where that one does not hold what the plan needs. */
CORDON_MUST_CHECK int seatbelt_profile(const struct plan *plan, struct buf *out,
				       struct cordon_error *err);
/* The words that run a command under a profile. */
CORDON_MUST_CHECK int seatbelt_line(const char *program, const char *profile, char *const *argv,
				    struct strv *out);
