/* SPDX-License-Identifier: Apache-2.0 */
/* What the policy says about a connection, before anything is resolved or dialled. */
#pragma once

#include "net/host.h"
#include "policy/policy.h"

struct reach {
	bool is_allowed;
	char reason[512]; /* what decided, and where that was written */
};

/* host->port is not looked at.  0 and *ret, or an error (then nothing may be reached). */
CORDON_MUST_CHECK int reach_host(const struct policy *p, const struct host *host, uint16_t port,
				 struct reach *ret, struct cordon_error *err);
