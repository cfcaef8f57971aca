/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laying one layer over another.  Theory of operation: a layer is a struct policy in which only what
 * it says is set.
 *
 *   replace  trusted layers: what it says wins; lists of restrictions grow (a deny is never undone)
 *   extend   options of the command line: as replace, but lists of grants grow too
 *   tighten  project files and further --policy files: each value must be at least as tight as what
 *            is in force, else the whole layer is refused with the reason
 *   ceiling  what is in force must be within it; a built-in default that is not is lowered to it,
 *            anything that somebody wrote is an error
 */
#pragma once

#include "policy/read.h"

enum merge_mode { MERGE_REPLACE, MERGE_EXTEND, MERGE_TIGHTEN, MERGE_CEILING };

/* Applies layer to p.  files: names for messages. */
CORDON_MUST_CHECK int policy_merge(struct policy *p, const struct policy *layer,
				   enum merge_mode mode, const struct policy_context *context,
				   struct cordon_error *err);
/* A CKP Sandbox manifest is complete: what it does not set returns to the built-in default (given),
 * and nothing but its own mounts is mounted. */
CORDON_MUST_CHECK int policy_reset_sandbox(struct policy *p, const struct policy *builtin,
					   struct cordon_error *err);
