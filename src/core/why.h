/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the policy in force says about one path, host or command: the decision, the value that decided,
 * where that value was written, and what to change for another answer.  Nothing is run or opened; of
 * the disk only symbolic links are read, because the kernel follows them too.
 *
 * The answer is the policy's, with the tables of credentials and protected names that every sandbox adds.
 * What only a run can know (addresses that a name has, detectors) is said in the notes.
 */
#pragma once

#include "base/str.h"
#include "policy/read.h"

enum why_decision { WHY_ALLOW, WHY_DENY, WHY_ASK, WHY_DECISION_COUNT };

struct why {
	enum why_decision decision;
	struct buf rule;      /* "sandbox.capabilities.filesystem.denied_paths '/x'" */
	struct origin origin; /* of the rule; LAYER_BUILTIN when no file wrote it */
	struct buf remedy;    /* an option of `cordon run`, or a line of YAML */
	/* The same for programs: empty where nothing of that kind helps. */
	struct buf option; /* "--read /x", quoted for a shell */
	struct buf under;  /* the key below which the line of YAML stands */
	struct buf yaml;   /* "- {path: \"/x\", permissions: ro}" */
	struct strv notes;
	char *resolved; /* the path that the kernel would reach, or the canonical host; or NULL */
	int error;      /* while it is written: the first failure, -errno */
};

/* "allow", "deny" or "ask". */
const char *why_decision_name(enum why_decision decision);
void why_done(struct why *w);

/* May path (relative to the workspace; `~` is the home) be read, or written?  Both the path as named
 * and the one that its links lead to must be granted, and neither denied. */
CORDON_MUST_CHECK int why_path(const struct policy *p, const struct policy_context *c,
			       const char *path, bool write, struct why *ret,
			       struct cordon_error *err);
/* The same of what the host has there: that a call has a /tmp and a home of its own does not count. */
CORDON_MUST_CHECK int why_path_of_host(const struct policy *p, const struct policy_context *c,
				       const char *path, bool write, struct why *ret,
				       struct cordon_error *err);
/* May HOST, HOST:PORT or the host of a URL be reached?  Without a port: 443 or 80. */
CORDON_MUST_CHECK int why_host(const struct policy *p, const char *text, struct why *ret,
			       struct cordon_error *err);
/* May the shell string be run with the tool Bash? */
CORDON_MUST_CHECK int why_command(const struct policy *p, const struct policy_context *c,
				  const char *command, struct why *ret, struct cordon_error *err);
