/* SPDX-License-Identifier: Apache-2.0 */
/* The places of this user and machine, and the policy in force for a working directory. */
#pragma once

#include "policy/load.h"

/* Not to be moved by the environment: what stands there binds whoever calls us. */
#define EFFECTIVE_SYSTEM_DIR "/etc/cordon"

struct effective {
	char *workspace;  /* absolute, real */
	char *home;       /* or NULL */
	char *config_dir; /* or NULL */
	char *state_dir;
	struct policy_context context; /* borrows from here */
	struct policy *policy;         /* after effective_load() */
};

/* Finds the places.  cwd NULL: the current directory. */
CORDON_MUST_CHECK int effective_init(const char *cwd, struct effective *ret,
				     struct cordon_error *err);
/* Loads every layer.  files and options may be NULL. */
CORDON_MUST_CHECK int effective_load(struct effective *e, const struct strv *files,
				     const struct policy *options, struct cordon_error *err);
void effective_done(struct effective *e);
