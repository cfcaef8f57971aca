/* SPDX-License-Identifier: Apache-2.0 */
/* The system call filter that a plan asks for, in namespaces of its own. */
#pragma once

#include "backend/confine/seccomp.h"
#include "backend/plan.h"

/* Without a pid namespace, limits and priorities of other processes are closed as well. */
struct seccomp_policy filter_of(const struct plan *plan, bool has_pid_namespace);
