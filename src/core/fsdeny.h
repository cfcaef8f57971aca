/* SPDX-License-Identifier: Apache-2.0 */
/* Is a path closed by the policy's denied_paths, itself or with a directory above it? */
#pragma once

#include "policy/policy.h"

/* path is canonical.  The entry that closes it, or NULL.  Links in entries are followed. */
const struct item *fsdeny_find(const struct policy *p, const char *path);
