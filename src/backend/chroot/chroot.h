/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend "chroot", for root where user or pid namespaces cannot be had: a mount, network, IPC and UTS namespace, the
 * same view as native's entered with chroot(), no capabilities, Landlock and the filter on top.
 */
#pragma once

#include "backend/backend.h"

extern const struct cordon_backend chroot_backend;
