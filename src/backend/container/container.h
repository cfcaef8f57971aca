/* SPDX-License-Identifier: Apache-2.0 */
/* Level container through an engine that speaks Docker's interface on a Unix socket; spec.h says what runs. */
#pragma once

#include "backend/backend.h"

#include <limits.h>

extern const struct cordon_backend docker_backend;
extern const struct cordon_backend podman_backend;

/* The socket of the engine with this name ("docker", "podman"), on which somebody listens.  0, or -errno with the reason
 * in ret_why. */
CORDON_MUST_CHECK int container_socket(const char *name, char ret[static PATH_MAX],
				       char ret_why[static PROBE_REASON_MAX]);
