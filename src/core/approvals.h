/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts that a person allowed for longer than one call: for a session, or for a project (a workspace), each until a
 * time.  One small file of lines in the state directory, never in the workspace, where a call could write it.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum approval_scope {
	APPROVAL_ONCE, /* this call */
	APPROVAL_SESSION,
	APPROVAL_PROJECT,
	APPROVAL_SCOPE_COUNT
};

#define APPROVAL_SESSION_MS (INT64_C(12) * 60 * 60 * 1000)
#define APPROVAL_PROJECT_MS (INT64_C(30) * 24 * 60 * 60 * 1000)
#define APPROVAL_WHO_MAX 96

const char *approval_scope_name(enum approval_scope s);

/* Whose they are: the id of a session, or the canonical path of a workspace.  host: as `--allow-host` takes it. */
struct approval_of {
	enum approval_scope scope; /* not APPROVAL_ONCE */
	const char *owner;
	const char *host;
};

/* 1 and who allowed it; 0: nobody, or it is over.  A file that cannot be read is an error. */
CORDON_MUST_CHECK int approvals_find(const char *state_dir, const struct approval_of *of,
				     char ret_who[static APPROVAL_WHO_MAX],
				     struct cordon_error *err);
/* Keeps one, and forgets those that are over. */
CORDON_MUST_CHECK int approvals_add(const char *state_dir, const struct approval_of *of,
				    const char *who, struct cordon_error *err);

/* One that holds.  Borrows. */
struct approval_kept {
	int64_t until_ms; /* wall clock */
	enum approval_scope scope;
	const char *owner; /* NULL: not known, kept by an older version */
	const char *host;
	const char *who;
};

/* 0, or an error with which it ends. */
typedef int approval_fn(void *data, const struct approval_kept *a, struct cordon_error *err);
/* All that hold, oldest first. */
CORDON_MUST_CHECK int approvals_each(const char *state_dir, approval_fn *fn, void *data,
				     struct cordon_error *err);

/* Of whom, and for which host; NULL: any.  With both, of either. */
struct approval_choice {
	const char *session;
	const char *project; /* canonical */
	const char *host;    /* canonical, as `--allow-host` takes it */
};

/* Forgets them; fn is told of each before.  How many, or an error, and then all still hold. */
CORDON_MUST_CHECK int approvals_revoke(const char *state_dir, const struct approval_choice *which,
				       approval_fn *fn, void *data, struct cordon_error *err);
