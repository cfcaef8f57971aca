/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a call, and its JSON form (the contract of --report and --json). */
#pragma once

#include "backend/select.h"
#include "inspect/gate.h"
#include "policy/policy.h"
#include "request/request.h"
#include "run/supervise.h"
#include "verdict/verdict.h"

struct denied {
	char kind[16]; /* path, host, syscall, limit, command, input, rule, verdict */
	char target[256];
	char rule[320];
	char remedy[320];
};

#define FINDING_RULE_NEW_GIT "new-git-directory" /* the call made one */

struct report {
	const struct request *request; /* borrowed */
	enum level requested_level;
	const char *requested_backend; /* borrowed; NULL: auto */
	struct findings findings;
	struct verdict verdict;
	enum action action; /* what the policy's action map says about the verdict */
	bool is_dry_run;    /* the action was only recorded */
	char rule[320];     /* of policy.rules, that let the call on; "" when there is none */
	bool is_refused;    /* the call did not run, by policy or verdict */
	struct selection selection; /* backend NULL when none was chosen */
	bool has_run;
	struct supervise_result result;
	struct denied *denied;
	size_t n_denied;
	size_t denied_cap;
	int exit_code; /* of `cordon run` */
};

void report_done(struct report *r);
/* Appends; beyond LIMIT_DENIED the entry is dropped.  0 or -ENOMEM. */
CORDON_MUST_CHECK int report_deny(struct report *r, const char *kind, const char *target,
				  const char *rule, const char *remedy);
/* Writes the whole object. */
void report_json(const struct report *r, struct json *out);
