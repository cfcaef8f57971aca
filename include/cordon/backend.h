/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backends: the mechanisms that confine a call, and which of them work here.  Answers come from trying
 * the mechanism, not from versions; they may take some milliseconds.
 */
#pragma once

#include <cordon/error.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Borrows; valid during the callback. */
struct cordon_backend_info {
	size_t struct_size;
	const char *name;
	const char *level; /* none, process, wasm, container or vm */
	int strength;      /* 100 is the strongest */
	int available;
	const char *reason;            /* what was found; why not, and what to do */
	const char *const *guarantees; /* NULL-terminated names; empty when not available */
};
/* Returns 0 to go on, anything else to end the walk. */
typedef int cordon_backend_fn(void *data, const struct cordon_backend_info *info);
/* Every backend that cordon knows, strongest first, also those that this build does not have.
 * 0, or 1 when the callback ended it. */
CORDON_API CORDON_MUST_CHECK int cordon_backends(cordon_backend_fn *fn, void *data,
						 struct cordon_error *err);

/* Can this build confine a call with the backend here?  1, 0, or CORDON_E_INVALID for an unknown name. */
CORDON_API CORDON_MUST_CHECK int cordon_backend_available(const char *name,
							  struct cordon_error *err);
/* Is there any mechanism beyond none at all?  1 or 0.  Two names for one question. */
CORDON_API int cordon_available(void);
CORDON_API int cordon_is_available(void);
/* cordon_backend_available() of one backend, 1 or 0. */
CORDON_API int cordon_docker_available(void);
CORDON_API int cordon_gvisor_available(void);
CORDON_API int cordon_landlock_available(void);
CORDON_API int cordon_seatbelt_available(void);

/* What `docker run` is told to use gVisor: NULL-terminated words, constant.  Whether that Docker has the runtime is
 * Docker's to say; cordon's own backend gvisor needs no Docker. */
CORDON_API const char *const *cordon_gvisor_docker_args(void);

struct cordon_selection {
	size_t struct_size;
	const char *backend; /* a backend's name, or "none"; constant */
	const char *reason;  /* constant */
};
/* The backend for default, enhanced, container, maximum or off isolation, on this machine and without
 * looking at a policy.  Set ret->struct_size before. */
CORDON_API CORDON_MUST_CHECK int cordon_select(const char *isolation, struct cordon_selection *ret,
					       struct cordon_error *err);

#ifdef __cplusplus
}
#endif
