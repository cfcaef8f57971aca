/* SPDX-License-Identifier: Apache-2.0 */
/* Level vm: one virtual machine per call, by Firecracker. */
#pragma once

#include "backend/backend.h"

extern const struct cordon_backend firecracker_backend;
