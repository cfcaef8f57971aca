/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Landlock rules that a policy gives on a machine without mounts of our own: paths, kinds of access,
 * and what of the policy no such rule can hold.  Names only; nothing is opened here.
 */
#pragma once

#include "backend/confine/landlock.h"
#include "policy/policy.h"

struct ruleset_entry {
	char *path; /* absolute; exists or not */
	enum landlock_access access;
	const char *why; /* "system", "device", "policy", …; constant */
};

struct ruleset {
	struct ruleset_entry *entries;
	size_t n;
	size_t cap;
	bool denies_tcp;
	struct strv not_held; /* sentences: what needs another mechanism */
};

/* workspace: absolute; what a policy in mode read-only lets see. */
CORDON_MUST_CHECK int ruleset_from_policy(const struct policy *p, const char *workspace,
					  struct ruleset *ret, struct cordon_error *err);
void ruleset_done(struct ruleset *r);
