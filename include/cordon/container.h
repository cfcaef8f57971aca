/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container that stays for a project, and the image that the project's Dockerfile describes.  Both are the project's:
 * what one program starts or builds, another one, and the command, finds.  `cordon container` says what such a
 * container is and what it is not.
 */
#pragma once

#include <cordon/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cordon_container;
struct cordon_devenv;

/* For the workspace of the policy, which must outlive the handle.  engine: "docker" (NULL) or "podman".  writable:
 * directories of the project that can be written, NULL-terminated; NULL: none.  Starts nothing.  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_container_new(const struct cordon_policy *policy,
						      const char *engine,
						      const char *const *writable,
						      struct cordon_container **ret,
						      struct cordon_error *err);
/* Leaves the container as it is. */
CORDON_API void cordon_container_free(struct cordon_container *c);

/* Starts it with the image that was set, else the one that was built last.  CORDON_E_BUSY when it runs. */
CORDON_API CORDON_MUST_CHECK int cordon_container_start(struct cordon_container *c,
							struct cordon_error *err);
/* Runs a string of the image's /bin/sh, through the corridor.  timeout_ms: 0, or less than the policy's.  Gives a report,
 * as cordon_run(). */
CORDON_API CORDON_MUST_CHECK int cordon_container_exec(struct cordon_container *c,
						       const char *command, int64_t timeout_ms,
						       struct cordon_report **ret,
						       struct cordon_error *err);
/* No error when there is none. */
CORDON_API CORDON_MUST_CHECK int cordon_container_stop(struct cordon_container *c,
						       struct cordon_error *err);
/* Starts a new one and ends the old one when that runs; if it does not, the old one stays. */
CORDON_API CORDON_MUST_CHECK int cordon_container_hot_swap(struct cordon_container *c,
							   struct cordon_error *err);
/* Builds the image if it is not there, and sets it.  dockerfile: from the project; NULL: Dockerfile. */
CORDON_API CORDON_MUST_CHECK int cordon_container_build(struct cordon_container *c,
							const char *dockerfile,
							struct cordon_error *err);
/* For the next start.  NULL: the one that was built last. */
CORDON_API CORDON_MUST_CHECK int cordon_container_set_image(struct cordon_container *c,
							    const char *image,
							    struct cordon_error *err);
/* The image that was set; "" when none was.  Borrows. */
CORDON_API const char *cordon_container_image(const struct cordon_container *c);
/* As the last call that can fail found it; "" when it did not run.  Borrows. */
CORDON_API const char *cordon_container_id(const struct cordon_container *c);
/* Looks.  1, 0 or a negative code. */
CORDON_API CORDON_MUST_CHECK int cordon_container_running(struct cordon_container *c,
							  struct cordon_error *err);

/* Asked after a rebuild: swap to this image.  0, or anything else for a failure. */
typedef int cordon_swap_fn(void *data, const char *image);

/* The same arguments as of cordon_container_new().  on_swap may be NULL.  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_devenv_new(const struct cordon_policy *policy,
						   const char *engine, cordon_swap_fn *on_swap,
						   void *data, struct cordon_devenv **ret,
						   struct cordon_error *err);
CORDON_API void cordon_devenv_free(struct cordon_devenv *d);
/* The image for the Dockerfile and what it copies as they are now, built if it is not there.  *ret_image is for
 * cordon_free(), here and below. */
CORDON_API CORDON_MUST_CHECK int cordon_devenv_get_or_build(struct cordon_devenv *d,
							    const char *dockerfile,
							    char **ret_image,
							    struct cordon_error *err);
/* Would cordon_devenv_get_or_build() build?  1, 0 or a negative code. */
CORDON_API CORDON_MUST_CHECK int cordon_devenv_is_stale(struct cordon_devenv *d,
							const char *dockerfile,
							struct cordon_error *err);
/* The next build begins from nothing. */
CORDON_API CORDON_MUST_CHECK int cordon_devenv_invalidate(struct cordon_devenv *d,
							  struct cordon_error *err);
/* Builds from nothing, and asks for the swap when that succeeded. */
CORDON_API CORDON_MUST_CHECK int cordon_devenv_rebuild_and_force_swap(struct cordon_devenv *d,
								      const char *dockerfile,
								      char **ret_image,
								      struct cordon_error *err);

#ifdef __cplusplus
}
#endif
