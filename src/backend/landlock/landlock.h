/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend "landlock": the same policy without any namespace, for machines where user namespaces are
 * forbidden.  Landlock and a system call filter confine; what they cannot hold, a broker inside the sandbox does
 * (broker.h).  It never gives a private /tmp or hides that files exist.
 */
#pragma once

#include "backend/backend.h"

extern const struct cordon_backend landlock_backend;
