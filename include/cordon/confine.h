/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confining the calling process itself, for programs that do not start another one.  Both are
 * irreversible, hold for everything that the process starts, and set no_new_privs.
 */
#pragma once

#include <cordon/error.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The system call filter that cordon_seccomp_apply() installs, as struct sock_filter instructions for
 * seccomp(2).  Gives *ret_bytes, for cordon_free(). */
CORDON_API CORDON_MUST_CHECK int cordon_seccomp_profile(void **ret_bytes, size_t *ret_len,
							struct cordon_error *err);
/* Installs it on every thread of the process.  TCP, UDP and Unix sockets stay open; kernel interfaces
 * that no program of a user needs are closed, other architectures' calls end the process. */
CORDON_API CORDON_MUST_CHECK int cordon_seccomp_apply(struct cordon_error *err);

struct cordon_landlock;

/* Read and write in project_dir and /tmp, read in the system directories; nothing else.  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_landlock_new(const char *project_dir,
						     struct cordon_landlock **ret,
						     struct cordon_error *err);
CORDON_API void cordon_landlock_free(struct cordon_landlock *l);
/* One more path; it must exist when it is applied. */
CORDON_API CORDON_MUST_CHECK int cordon_landlock_add_read_only(struct cordon_landlock *l,
							       const char *path,
							       struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_landlock_add_read_write(struct cordon_landlock *l,
								const char *path,
								struct cordon_error *err);
/* From now on.  CORDON_E_UNSUPPORTED where the kernel cannot hold it (Landlock ABI 3 is needed) or the
 * process has more than one thread; then nothing has changed.  Descriptors that are open stay usable. */
CORDON_API CORDON_MUST_CHECK int cordon_landlock_apply(const struct cordon_landlock *l,
						       struct cordon_error *err);

#ifdef __cplusplus
}
#endif
