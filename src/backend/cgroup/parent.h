/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the group below which the call's group is made; cgroup.h says what is tried. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* Opens our own group, having made sure that it is one (and not what was mounted over it).  Returns the
 * descriptor or -errno. */
CORDON_MUST_CHECK int cgroup_parent_open(const char *path, bool is_v2);
/* A version 2 group below which these controllers can be used (a NULL-terminated list, possibly empty).
 * Returns the descriptor; -ENOENT when a controller is not there, -EBUSY when the group has other processes,
 * -EACCES and others when it is not ours to change. */
CORDON_MUST_CHECK int cgroup_parent_v2(const char *own, const char *const *controllers);
/* What ends processes that we started ahead of the call: where we have to be alone in our group they are in the
 * way. */
void cgroup_parent_helpers(void (*end)(void));
