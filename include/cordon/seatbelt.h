/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles for macOS's sandbox, and the words that run a command under one.  Profiles can be made anywhere; sandbox-exec
 * is there on macOS alone.
 */
#pragma once

#include <cordon/error.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lists are NULL-terminated and may be NULL; paths are absolute.  The system's directories can always be read. */
struct cordon_seatbelt_policy {
	size_t struct_size;
	int allow_network;
	int allow_write; /* without it nothing of writable_paths is more than readable */
	const char *const *readable_paths;
	const char *const *writable_paths;
	int allow_process; /* fork, and the execution of what can be read */
	int allow_sysctl;
};

/* The policy of a coding agent in work_dir: that can be read and written, processes can be started, there is no network.
 * Gives, in one piece, for cordon_free(); the paths are copies. */
CORDON_API CORDON_MUST_CHECK int cordon_seatbelt_default(const char *work_dir,
							 struct cordon_seatbelt_policy **ret,
							 struct cordon_error *err);
/* The profile as text.  Gives, for cordon_free().  CORDON_E_INVALID for a path that is not absolute or cannot be
 * written in a profile. */
CORDON_API CORDON_MUST_CHECK int cordon_seatbelt_profile(
	const struct cordon_seatbelt_policy *policy, char **ret, struct cordon_error *err);
/* The words that run a shell command under it, NULL-terminated, for an exec of your own.  Gives, for cordon_free(). */
CORDON_API CORDON_MUST_CHECK int cordon_seatbelt_command(
	const char *command, const struct cordon_seatbelt_policy *policy, char ***ret_argv,
	struct cordon_error *err);

#ifdef __cplusplus
}
#endif
