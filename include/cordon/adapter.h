/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sandbox adapters: restrict with lists, then apply or run.  The vocabulary of the SandboxAdapter protocol.
 *
 * An adapter starts with nothing granted: the system's directories can be read and executed, nothing else, and
 * there is no network.  What can be written cannot be executed (write-xor-execute), but in the paths of
 * executable_writable.  An operation that the backend cannot honour is CORDON_E_UNSUPPORTED, never a success.
 *
 * cordon_adapter_apply_restrictions() confines the calling process itself; cordon_adapter_run() runs a call in
 * a sandbox of the backend, with the protection of credentials and protected names that every call has.
 */
#pragma once

#include <cordon/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cordon_adapter;

/* The adapter of a backend; NULL or "auto": the strongest of level process that works here.  Gives.
 * CORDON_E_INVALID for an unknown name, CORDON_E_NO_BACKEND when it does not work here. */
CORDON_API CORDON_MUST_CHECK int cordon_adapter_new(const char *backend,
						    struct cordon_adapter **ret,
						    struct cordon_error *err);
CORDON_API void cordon_adapter_free(struct cordon_adapter *a);
/* The backend's name; constant. */
CORDON_API const char *cordon_adapter_name(const struct cordon_adapter *a);

/* Lists are NULL-terminated and may be NULL; paths are absolute and exist.  Each function replaces what an
 * earlier call of it said, and is an error (CORDON_E_INVALID) once the restrictions are applied. */

/* writable: read and write.  readable: read and execute.  executable_writable: all three. */
CORDON_API CORDON_MUST_CHECK int cordon_adapter_restrict_filesystem(
	struct cordon_adapter *a, const char *const *writable, const char *const *readable,
	const char *const *executable_writable, struct cordon_error *err);
/* Empty: no network.  "*" alone: the host's.  Else hosts as in a policy's allowlist (HOST, HOST:PORT, *.DOMAIN):
 * cordon_adapter_run() lets nothing else be reached; cordon_adapter_apply_restrictions() cannot hold such a list.
 * CORDON_E_UNSUPPORTED where the backend cannot. */
CORDON_API CORDON_MUST_CHECK int cordon_adapter_restrict_network(struct cordon_adapter *a,
								 const char *const *allow,
								 struct cordon_error *err);
/* Only these are left: names of system calls, or the sets @basic, @files, @process, @network, @ipc and @system.
 * Those that cordon always refuses stay refused; execve, exit, exit_group and rt_sigreturn stay. */
CORDON_API CORDON_MUST_CHECK int cordon_adapter_restrict_syscalls(struct cordon_adapter *a,
								  const char *const *allowed,
								  struct cordon_error *err);

/* Confines the calling process and everything that it starts, for good, by Landlock and a system call filter.
 * Once per adapter; needs a process of one thread and Landlock ABI 3.  Nothing has changed after
 * CORDON_E_UNSUPPORTED and CORDON_E_INVALID.  Weaker than a sandbox of its own: descriptors that are open stay
 * usable, names outside the lists can be stat()ed, and a loader can map a file that cannot be executed. */
CORDON_API CORDON_MUST_CHECK int cordon_adapter_apply_restrictions(struct cordon_adapter *a,
								   struct cordon_error *err);
/* Runs a call in a sandbox of the adapter's backend under its restrictions, as cordon_run() does; neither the
 * user's policy nor the project's is read, the machine's ceiling holds.  Any number of times. */
CORDON_API CORDON_MUST_CHECK int cordon_adapter_run(struct cordon_adapter *a,
						    const struct cordon_request *request,
						    const struct cordon_run_options *options,
						    struct cordon_report **ret,
						    struct cordon_error *err);

/* Saves the state of the paths that were named as writable: directories with all that is in them, files, and names
 * that are not there.  *ret_name is given, for cordon_free().  On every backend, also one that cannot restrict
 * anything to those paths.  Let no call run meanwhile.  CORDON_E_INVALID when no path is writable, or when the
 * restrictions were applied to this process, which then cannot reach the store. */
CORDON_API CORDON_MUST_CHECK int cordon_adapter_snapshot(struct cordon_adapter *a, char **ret_name,
							 struct cordon_error *err);
/* Gives them that state back: content, modes, owners, times, links, attributes, what was removed.  Of what was not
 * there then, only what was made while a cordon_adapter_run() of this adapter was going on is removed; other files are
 * neither touched nor removed.  The state before is saved first, as "undo-NAME". */
CORDON_API CORDON_MUST_CHECK int cordon_adapter_rollback(struct cordon_adapter *a, const char *name,
							 struct cordon_error *err);

/* What was restricted, applied, run and denied, oldest first, as a JSON array of objects with "time", "event"
 * and "result".  Gives, for cordon_free(). */
CORDON_API CORDON_MUST_CHECK int cordon_adapter_get_audit_log(struct cordon_adapter *a,
							      char **ret_json, size_t *ret_len,
							      struct cordon_error *err);

#ifdef __cplusplus
}
#endif
