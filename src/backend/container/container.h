/* SPDX-License-Identifier: Apache-2.0 */
/* Level container through an engine that speaks Docker's interface on a Unix socket; spec.h says what runs. */
#pragma once

#include "backend/backend.h"

extern const struct cordon_backend docker_backend;
extern const struct cordon_backend podman_backend;
