/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stored secrets on their way into a call: as variables, or as files in memory that only the sandbox sees.  A value
 * that is inside can be sent wherever the call can send anything, so that a secret which is bound to hosts goes in
 * only where the network holds the binding.
 */
#pragma once

#include "core/fsplan.h"
#include "core/report.h"
#include "secrets/grant.h"

struct inject {
	struct secret_grants grants;
	char **envp; /* what inject_environment() made; borrows */
};

/* Reads what the policy grants and looks whether it may go in; needs are those of the call.  Nothing is granted:
 * nothing is done.  Free with inject_done() in any case. */
CORDON_MUST_CHECK int inject_begin(const struct policy *p, const char *state_dir,
				   guarantee_set needs, struct inject *ret,
				   struct cordon_error *err);
/* The environment with the secrets that are variables. */
CORDON_MUST_CHECK int inject_environment(struct inject *in, const struct strv *env,
					 char *const **ret, struct cordon_error *err);
/* The steps for those that are files. */
CORDON_MUST_CHECK int inject_files(const struct inject *in, struct fsplan *view,
				   struct cordon_error *err);
/* Which went in, for the report: names, never values. */
CORDON_MUST_CHECK int inject_report(const struct inject *in, struct report *report);
/* Wipes. */
void inject_done(struct inject *in);
