/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts that somebody has allowed: those of the policy's allowlist, and those that a granted secret is bound to.
 * What cannot be read as a host is allowed by nobody.
 */
#pragma once

#include "base/str.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdint.h>

/* Is the host in the policy's list?  port 0: on any of the usual ports. */
bool allow_host(const struct policy *p, const char *name, size_t len, uint16_t port);
/* Is it in that list of rules? */
bool allow_listed(const struct strv *list, const char *name, size_t len, uint16_t port);
/* Does a URL lead to a host of the list, or of the grant of that secret (NULL: of none)?  is_whole: nothing follows the
 * text; else anything may. */
bool allow_secret_url(const struct policy *p, const char *secret, const char *url, size_t len,
		      bool is_whole);
