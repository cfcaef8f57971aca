/* SPDX-License-Identifier: Apache-2.0 */
/* The call in the audit trail.  Inputs are hashes unless the policy asks for more, and then redacted. */
#pragma once

#include "audit/audit.h"
#include "core/approve.h"
#include "core/report.h"

struct record {
	struct audit *audit;
	const struct policy *policy;
	size_t started_with; /* findings that are in the start record */
};

CORDON_MUST_CHECK int record_open(const struct policy *p, const char *state_dir, struct record *ret,
				  struct cordon_error *err);
void record_done(struct record *r);
/* Before the command starts: what was decided.  If this fails the call must not run. */
CORDON_MUST_CHECK int record_start(struct record *r, const struct report *report,
				   struct cordon_error *err);
/* After it ended, or when it was refused or could not be run; failure (may be NULL) says why. */
CORDON_MUST_CHECK int record_end(struct record *r, const struct report *report,
				 const struct cordon_error *failure, struct cordon_error *err);
CORDON_MUST_CHECK int record_approval(struct record *r, const struct request *request,
				      const char *rule, enum approval answer, bool is_granted,
				      struct cordon_error *err);
/* A hook's question and the answer to it; the call itself is the agent's and runs, if it runs, outside. */
CORDON_MUST_CHECK int record_hook(struct record *r, const struct report *report, const char *event,
				  const char *answer, struct cordon_error *err);
/* A policy that could not be loaded, so that a call did not come in at all. */
CORDON_MUST_CHECK int record_rejected(const char *state_dir, const struct cordon_error *why,
				      struct cordon_error *err);
/* A person took the taint of a session away. */
CORDON_MUST_CHECK int record_lifted(const char *state_dir, const char *session, const char *taint,
				    struct cordon_error *err);
/* A person took back that a host was allowed; session: NULL for a project. */
CORDON_MUST_CHECK int record_revoked(const char *state_dir, const char *session, const char *host,
				     struct cordon_error *err);
