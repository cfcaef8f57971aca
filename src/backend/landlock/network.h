/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the command's filter and the bridge hold what they are for, tried live, in processes of their own. */
#pragma once

#include "backend/backend.h"
#include "backend/confine/seccomp.h"

/* The filter of a command with this plan (landlock.c). */
struct seccomp_policy lock_filter(const struct plan *plan, enum seccomp_files files);

/* Is every way to a network shut? */
bool lock_denies_network(void);
/* Does a connection reach who serves it, with its target, and is every other way shut?  *why says what failed. */
CORDON_MUST_CHECK bool lock_leads_network(char why[static PROBE_REASON_MAX]);
