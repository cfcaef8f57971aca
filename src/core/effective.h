/* SPDX-License-Identifier: Apache-2.0 */
/* The places of this user and machine, and the policy in force for a working directory. */
#pragma once

#include "policy/load.h"

/* Not to be moved by the environment: what stands there binds whoever calls us. */
#define EFFECTIVE_SYSTEM_DIR "/etc/cordon"

struct effective {
	char *workspace;  /* absolute, real */
	char *home;       /* or NULL */
	char *venv;       /* or NULL */
	char *config_dir; /* or NULL */
	char *state_dir;
	struct policy_context context; /* borrows from here */
	bool no_user;                  /* layers to leave out, set before effective_load() */
	bool no_project;
	struct policy *policy; /* after effective_load() */
};

/* Where to look instead; NULL means the usual place. */
struct effective_places {
	const char *cwd;        /* the current directory */
	const char *config_dir; /* absolute; of this user */
	const char *state_dir;  /* absolute; of this user */
};

/* Finds the places.  cwd NULL: the current directory. */
CORDON_MUST_CHECK int effective_init(const char *cwd, struct effective *ret,
				     struct cordon_error *err);
CORDON_MUST_CHECK int effective_init_at(const struct effective_places *places,
					struct effective *ret, struct cordon_error *err);
/* Loads every layer.  files and options may be NULL. */
CORDON_MUST_CHECK int effective_load(struct effective *e, const struct strv *files,
				     const struct policy *options, struct cordon_error *err);
/* The same, with policies that are not in files. */
CORDON_MUST_CHECK int effective_load_texts(struct effective *e, const struct strv *files,
					   const struct policy_text *texts, size_t n_texts,
					   const struct policy *options, struct cordon_error *err);
void effective_done(struct effective *e);
