/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sandboxes that stay between calls, and their manager.  A sandbox keeps the policy and the environment that it was
 * made with; processes that a call leaves in the background go on; what is written to the workspace is kept apart
 * until it is committed.  The command `cordon sandbox` works with the same ones.
 *
 * A sandbox is held by a process of its own, a fork of the caller that outlives it.  So the process that makes,
 * resumes, discards or restores one must have a single thread: otherwise that is CORDON_E_UNSUPPORTED.
 *
 * id is an id ("sb-" and twelve hexadecimal digits), the beginning of one, or a name.
 */
#pragma once

#include <cordon/policy.h>
#include <cordon/run.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cordon_sandbox_manager;

/* state_dir: absolute, NULL for this user's own.  max_sandboxes: refuse to make more, 0 for the greatest number.
 * Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_manager_new(const char *state_dir,
							    size_t max_sandboxes,
							    struct cordon_sandbox_manager **ret,
							    struct cordon_error *err);
CORDON_API void cordon_sandbox_manager_free(struct cordon_sandbox_manager *m);

enum cordon_sandbox_status {
	CORDON_SANDBOX_CREATED, /* it is being made, or that was broken off */
	CORDON_SANDBOX_RUNNING,
	CORDON_SANDBOX_PAUSED,
	CORDON_SANDBOX_STOPPED, /* its files are there, its processes are gone */
	CORDON_SANDBOX_ERROR
};
/* "created", "running", ...  Constant. */
CORDON_API const char *cordon_sandbox_status_name(enum cordon_sandbox_status status);

struct cordon_sandbox_state {
	size_t struct_size;
	char id[16];
	char name[65]; /* or "" */
	enum cordon_sandbox_status status;
	char why[256]; /* of an end or an error; or "" */
	char work_dir[4096];
	int64_t created_ms; /* since 1970 */
	int64_t used_ms;
	int64_t paused_ms; /* 0: never */
	int64_t resumed_ms;
};

/* Zero and NULL are the defaults. */
struct cordon_sandbox_options {
	size_t struct_size;
	const char *name;
	const char *const *environment; /* NAME=VALUE, NULL-terminated, to pick from; NULL: ours */
	int64_t idle_timeout_ms;        /* end its processes after so long without a call */
};

/* Makes a sandbox of the policy's workspace.  options may be NULL.  ret (its struct_size set before) may be NULL. */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_create(struct cordon_sandbox_manager *m,
						       const struct cordon_policy *policy,
						       const struct cordon_sandbox_options *options,
						       struct cordon_sandbox_state *ret,
						       struct cordon_error *err);
/* Runs a call in it, as cordon_run(), under the policy of the sandbox; options may be NULL, its backend is not used. */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_exec(struct cordon_sandbox_manager *m,
						     const char *id,
						     const struct cordon_request *request,
						     const struct cordon_run_options *options,
						     struct cordon_report **ret,
						     struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_get(struct cordon_sandbox_manager *m,
						    const char *id,
						    struct cordon_sandbox_state *ret,
						    struct cordon_error *err);
/* NAME=VALUE of its environment, and NULL.  Gives one block for cordon_free(). */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_env(struct cordon_sandbox_manager *m,
						    const char *id, char ***ret_env,
						    struct cordon_error *err);

/* Stops every process of it, until cordon_sandbox_resume(). */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_pause(struct cordon_sandbox_manager *m,
						      const char *id, struct cordon_error *err);
/* Return: 0 when it goes on; 1 when its processes were gone and it was started again over its files. */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_resume(struct cordon_sandbox_manager *m,
						       const char *id, struct cordon_error *err);

/* Saves what it changed so far.  name NULL: one is made up.  ret_name (may be NULL) gives it, for cordon_free(). */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_snapshot(struct cordon_sandbox_manager *m,
							 const char *id, const char *name,
							 char **ret_name, struct cordon_error *err);
/* Gives it back the changes of a snapshot; NULL: the newest.  Its processes are ended, and it is started again if it
 * ran. */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_restore(struct cordon_sandbox_manager *m,
							const char *id, const char *name,
							struct cordon_error *err);
/* Sorted lines "added: PATH", "modified: PATH", "deleted: PATH", and NULL.  Gives one block for cordon_free(). */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_diff(struct cordon_sandbox_manager *m,
						     const char *id, char ***ret_lines,
						     struct cordon_error *err);
/* Writes all changes to the workspace.  CORDON_E_REFUSED when some were changed outside as well, unless forced.
 * Return: how many paths changed. */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_commit(struct cordon_sandbox_manager *m,
						       const char *id, int forced,
						       struct cordon_error *err);
/* Forgets all changes.  Its processes are ended, and it is started again if it ran. */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_discard(struct cordon_sandbox_manager *m,
							const char *id, struct cordon_error *err);
/* Ends and removes it.  With changes that were not committed, or calls in it, only when forced. */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_remove(struct cordon_sandbox_manager *m,
						       const char *id, int forced,
						       struct cordon_error *err);

/* All sandboxes, newest first: up to n states into ret, whose first element has its struct_size set; ret may be NULL
 * when n is 0.  Return: how many there are. */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_list(struct cordon_sandbox_manager *m,
						     struct cordon_sandbox_state *ret, size_t n,
						     struct cordon_error *err);
/* Removes those that were not used for so long, unless a call runs in them.  Return: how many. */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_cleanup(struct cordon_sandbox_manager *m,
							int64_t max_age_ms,
							struct cordon_error *err);
/* A text about all of them, for people.  Gives, for cordon_free(). */
CORDON_API CORDON_MUST_CHECK int cordon_sandbox_format_status(struct cordon_sandbox_manager *m,
							      char **ret, struct cordon_error *err);

#ifdef __cplusplus
}
#endif
