/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend "native": user, mount, pid, network, IPC, UTS and cgroup namespaces, a root of its own,
 * Landlock and a system call filter; no helper program, no root, no daemon.
 */
#pragma once

#include "backend/backend.h"

extern const struct cordon_backend native_backend;
