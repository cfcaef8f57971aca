/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies: what a call may touch.  A policy in force is made of layers: built-in, the machine's, the
 * user's, the project's (which may only tighten), the files and texts that you name, and the options
 * that you set, all under the machine's ceiling.  A program that wants no YAML sets options only.
 */
#pragma once

#include <cordon/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cordon_policy;         /* in force; never changes */
struct cordon_policy_options; /* where to look and what to set */

/*
 * Options.  A value that cannot be taken is refused at once, and from then on the options are spoilt:
 * cordon_policy_load() fails too, so that an unchecked return value never makes a policy wider than it
 * was meant to be.
 */

/* workspace: the directory that the calls work in; NULL for the current one.  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_new(const char *workspace,
							   struct cordon_policy_options **ret,
							   struct cordon_error *err);
CORDON_API void cordon_policy_options_free(struct cordon_policy_options *o);

/* Where to look; NULL means the usual place. */
struct cordon_policy_places {
	size_t struct_size;
	const char *workspace;
	const char *config_dir; /* of policy.yaml and manifests, absolute */
	const char *state_dir;  /* of the audit trail, absolute */
};
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_new_at(
	const struct cordon_policy_places *places, struct cordon_policy_options **ret,
	struct cordon_error *err);

enum cordon_policy_flags {
	CORDON_POLICY_NO_USER = 1,   /* leave the user's policy out */
	CORDON_POLICY_NO_PROJECT = 2 /* leave the workspace's .cordon.yaml out */
};
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_flags(struct cordon_policy_options *o,
							     unsigned flags,
							     struct cordon_error *err);

/* A policy file or claw:// URI, as `cordon run --policy`: the first replaces, others only tighten. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_file(struct cordon_policy_options *o,
							    const char *path,
							    struct cordon_error *err);
/* The same from memory, after the files.  It cannot refer to files.  name stands in messages. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_text(struct cordon_policy_options *o,
							    const char *text, size_t len,
							    const char *name,
							    struct cordon_error *err);

/*
 * Sets an option of `cordon run` by its long name, without dashes, from the text that one would type:
 * ("read", "~/data"), ("memory", "512M"), ("timeout", "30s"), ("env", "NAME=VALUE").  One that takes
 * no value ("gpu", "enforce", "dry-run") takes NULL.  Those that can be repeated add up.  Options that
 * say what to do with the result ("report", "json", "cwd", "command", "tool") are not among them.
 */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_set(struct cordon_policy_options *o,
							   const char *option, const char *value,
							   struct cordon_error *err);

/* The same one by one.  none, process, wasm, container, vm */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_level(struct cordon_policy_options *o,
							     const char *level,
							     struct cordon_error *err);
/* auto, strongest, or the name of a backend */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_backend(struct cordon_policy_options *o,
							       const char *backend,
							       struct cordon_error *err);
/* deny, read-only, scoped, full */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_fs(struct cordon_policy_options *o,
							  const char *mode,
							  struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_read(struct cordon_policy_options *o,
							    const char *path,
							    struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_write(struct cordon_policy_options *o,
							     const char *path,
							     struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_deny(struct cordon_policy_options *o,
							    const char *path,
							    struct cordon_error *err);
/* deny, allowlist, allow-all */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_net(struct cordon_policy_options *o,
							   const char *mode,
							   struct cordon_error *err);
/* HOST, HOST:PORT or *.DOMAIN; implies the mode allowlist */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_allow_host(struct cordon_policy_options *o,
								  const char *host,
								  struct cordon_error *err);
/* Sets a variable, or passes the caller's on when value is NULL. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_env(struct cordon_policy_options *o,
							   const char *name, const char *value,
							   struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_memory(struct cordon_policy_options *o,
							      uint64_t bytes,
							      struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_cpu_shares(struct cordon_policy_options *o,
								  int64_t shares,
								  struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_cpu_percent(struct cordon_policy_options *o,
								   int64_t percent,
								   struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_max_processes(
	struct cordon_policy_options *o, int64_t count, struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_max_open_files(
	struct cordon_policy_options *o, int64_t count, struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_max_output(struct cordon_policy_options *o,
								  uint64_t bytes,
								  struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_timeout_ms(struct cordon_policy_options *o,
								  int64_t timeout_ms,
								  struct cordon_error *err);
/* 1: act on verdicts; 0: only record what they would do (dry run). */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_enforce(struct cordon_policy_options *o,
							       int enforce,
							       struct cordon_error *err);
/* strict: file system read-only, no network; workspace: the workspace can be written, no network; off:
 * level none.  Another word is an error, never off. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_mode(struct cordon_policy_options *o,
							    const char *mode,
							    struct cordon_error *err);
/* The mode that was set, or NULL when none was: then the policy decides.  Constant. */
CORDON_API const char *cordon_policy_options_get_mode(const struct cordon_policy_options *o);

/* The policy in force for these options, which are borrowed and can be used again.  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_load(const struct cordon_policy_options *o,
						    struct cordon_policy **ret,
						    struct cordon_error *err);
/* One text, over the built-in values and under the ceiling, without the user's and the project's layer.
 * workspace as in cordon_policy_options_new(); name stands in messages.  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_parse(const char *text, size_t len, const char *name,
						     const char *workspace,
						     struct cordon_policy **ret,
						     struct cordon_error *err);
CORDON_API void cordon_policy_free(struct cordon_policy *p);

/* The workspace, absolute and without links.  Borrows. */
CORDON_API const char *cordon_policy_workspace(const struct cordon_policy *p);
/* The value of "sandbox.capabilities.network.mode" and the like, as one would write it.  Gives.
 * CORDON_E_INVALID there is no such field; CORDON_E_NOT_FOUND nothing set it. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_get(const struct cordon_policy *p, const char *field,
						   char **ret_value, struct cordon_error *err);

/* One value and who set it.  Borrows; valid during the callback. */
struct cordon_policy_value {
	size_t struct_size;
	const char *field;
	const char *value;
	const char *layer; /* built-in, system, user, project, --policy, option, ceiling… */
	const char *from;  /* the layer, with file, line and column where it has them */
	const char *file;  /* or NULL */
	unsigned line;     /* from 1; 0 without a file */
	unsigned column;
	int entry;   /* of a list, from 0; -1 for a value that is no list */
	int implied; /* it follows from something left out */
};
/* Returns 0 to go on, anything else to end the walk. */
typedef int cordon_policy_value_fn(void *data, const struct cordon_policy_value *value);
/* Every value that is set, in a fixed order.  0, or 1 when the callback ended it. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_explain(const struct cordon_policy *p,
						       cordon_policy_value_fn *fn, void *data,
						       struct cordon_error *err);
/* The policy as JSON.  Gives; ret_len may be NULL. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_show_json(const struct cordon_policy *p,
							 char **ret_json, size_t *ret_len,
							 struct cordon_error *err);
/* What a person should know about the policy: "file:line:column: …".  Borrows; NULL beyond the last. */
CORDON_API const char *cordon_policy_warning(const struct cordon_policy *p, size_t index);
/* The thresholds for a tool of an agent (both may be NULL); see verdict.h. */
struct cordon_thresholds;
CORDON_API CORDON_MUST_CHECK int cordon_policy_thresholds(const struct cordon_policy *p,
							  const char *tool, const char *agent,
							  struct cordon_thresholds *ret,
							  struct cordon_error *err);
/* The JSON Schema of policy files.  Gives; ret_len may be NULL. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_schema(char **ret_json, size_t *ret_len,
						      struct cordon_error *err);

#ifdef __cplusplus
}
#endif
