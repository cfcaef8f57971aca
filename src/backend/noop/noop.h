/* SPDX-License-Identifier: Apache-2.0 */
/* The backend that isolates nothing: the command runs with our own rights, supervised. */
#pragma once

#include "backend/backend.h"

extern const struct cordon_backend noop_backend;
