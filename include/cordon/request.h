/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: the call that somebody wants to run.  Made once, never changed. */
#pragma once

#include <cordon/error.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cordon_request;

/* What is known about the call.  Everything may be NULL. */
struct cordon_request_options {
	size_t struct_size;
	const char *cwd;      /* where it runs; the current directory */
	const char *tool;     /* the name by which rules know it; "Bash" */
	const char *category; /* of the tool */
	const char *agent;
	const char *session;
	const char *caller_id; /* your own number for it; comes back in the report */
};

/* A command as words, NULL-terminated.  options may be NULL in all three.  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_request_argv(const char *const *argv,
						     const struct cordon_request_options *options,
						     struct cordon_request **ret,
						     struct cordon_error *err);
/* A string for a shell.  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_request_shell(const char *command,
						      const struct cordon_request_options *options,
						      struct cordon_request **ret,
						      struct cordon_error *err);
/* {"argv":[…]} or {"command":"…"}, with "id", "cwd", "tool", "category", "agent" and "session"; another
 * key is an error.  default_cwd (may be NULL) stands in for a missing "cwd".  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_request_json(const char *json, size_t len,
						     const char *default_cwd,
						     struct cordon_request **ret,
						     struct cordon_error *err);
CORDON_API void cordon_request_free(struct cordon_request *r);
/* "c-" and 16 hexadecimal digits, as in report and audit trail.  Borrows. */
CORDON_API const char *cordon_request_id(const struct cordon_request *r);
/* The whole call as one string, which is what textual rules look at.  Borrows. */
CORDON_API const char *cordon_request_text(const struct cordon_request *r);

#ifdef __cplusplus
}
#endif
