/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox in eight values, for programs that configure one this way.  It becomes a policy; nothing
 * in it is a hint: what this machine cannot hold is refused when the call is run.
 */
#pragma once

#include <cordon/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cordon_config {
	size_t struct_size;
	int enabled;       /* 0: level none, whatever the rest says */
	const char *type;  /* namespace, docker, chroot, seatbelt or none */
	int allow_network; /* all of it, or nothing */
	int allow_write;   /* 0: the file system is read-only, and writable_dirs must be empty */
	const char *const *read_only_dirs; /* NULL-terminated; may be NULL */
	const char *const *writable_dirs;
	int64_t max_memory_mb; /* 0: no limit */
	int64_t max_cpu_pct;   /* percent of one processor; 0: no limit */
};

/* Not enabled, type none, network and writing allowed, 512 MiB, 50 percent.  Set struct_size before. */
CORDON_API CORDON_MUST_CHECK int cordon_config_default(struct cordon_config *ret,
						       struct cordon_error *err);
/* Sets the options that a configuration stands for. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_options_config(struct cordon_policy_options *o,
							      const struct cordon_config *config,
							      struct cordon_error *err);
/* The policy in force for a configuration alone: without the user's and the project's layer.  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_policy_from_config(const struct cordon_config *config,
							   const char *workspace,
							   struct cordon_policy **ret,
							   struct cordon_error *err);

#ifdef __cplusplus
}
#endif
