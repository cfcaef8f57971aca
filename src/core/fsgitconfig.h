/* SPDX-License-Identifier: Apache-2.0 */
/* The .gitconfig of a private home: of the person's own what a commit needs. */
#pragma once

#include "base/buf.h"
#include "policy/policy.h"

#define FSGITCONFIG_MAX 65536

/* home: of the host.  agent: of ssh, or NULL; commits are signed only where it is granted.  0 or -errno. */
CORDON_MUST_CHECK int fsgitconfig_write(const struct policy *p, const char *home, const char *agent,
					struct buf *out);
