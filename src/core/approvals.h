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
