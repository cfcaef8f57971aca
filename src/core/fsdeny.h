/* SPDX-License-Identifier: Apache-2.0 */
/* Paths by name: those that the policy closes, and those of which it wants to know when they are opened. */
#pragma once

#include "policy/policy.h"
#include "workspace/walk.h"

/* path is canonical.  The entry that closes it, or NULL.  Links in entries are followed. */
const struct item *fsdeny_find(const struct policy *p, const char *path);
/* Appends the names in the directory path that are sensitive by the built-in table or match one of listed, up to
 * LIMIT_SENSITIVE in all; *ret_is_cut is set when there was one more. */
CORDON_MUST_CHECK int fsdeny_note_sensitive(const struct item_list *listed, const char *path,
					    const struct walk_names *names, struct strv *ret,
					    bool *ret_is_cut, struct cordon_error *err);
/* Is any of the closed paths a pattern, for which directories have to be looked through? */
bool fsdeny_has_globs(const struct policy *p);
/* The same, or of those whose opening is to be known? */
bool fsdeny_has_patterns(const struct policy *p);
/* For a policy without patterns: is there no name in the directory that is sensitive or that git has a part in?
 * Then what a plan says about it does not depend on the names (struct walk_options). */
bool fsdeny_is_plain(const char *path, const struct walk_names *names, void *arg);
