/* SPDX-License-Identifier: Apache-2.0 */
/* System calls by name, as a policy has them. */
#pragma once

#include "base/callname.h"
#include "base/error.h"

#include <stdbool.h>

/* Does the text, a call or a set, stand for the call of that name? */
bool seccomp_text_has(const char *text, const char *name);
/* Adds a call or set by its name, with the numbers of this architecture.  0, -EINVAL or -EOPNOTSUPP. */
CORDON_MUST_CHECK int seccomp_callset_add(struct callset *s, const char *text);
