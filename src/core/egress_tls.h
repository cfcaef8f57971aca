/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS that ends in the proxy, seen from the call: whether it does at all, the certificates that servers are checked
 * with, and how the certificate of the session's authority reaches the programs inside.
 */
#pragma once

#include "base/str.h"
#include "core/fsplan.h"
#include "policy/policy.h"
#include "proxy/proxy.h"

#define EGRESS_TLS_DIR PLAN_OWN "tls" /* inside alone, in a root that is the call's own */
#define EGRESS_TLS_BUNDLE EGRESS_TLS_DIR "/ca.pem"
#define EGRESS_TLS_WGETRC EGRESS_TLS_DIR "/wgetrc"

/* Does TLS to some host end in the proxy: does a rule name methods or paths, or do secrets stop there? */
bool egress_tls_is_due(const struct policy *p);
/* The file with the certificates that servers are checked with: the system's bundle, or $CORDON_CA_FILE of the caller
 * (for a private authority; it is the caller's word, no project file can say it).  Borrows. */
CORDON_MUST_CHECK int egress_tls_trust(const char **ret_path, struct cordon_error *err);
/* The authorities of the proxies, and after them what is in that file.  Gives *out. */
CORDON_MUST_CHECK int egress_tls_bundle(const char *trust, const struct proxy *proxies, size_t n,
					struct buf *out, struct cordon_error *err);
/* Adds that bundle to what the call sees. */
CORDON_MUST_CHECK int egress_tls_view(const char *trust, const struct proxy *proxy,
				      struct fsplan *view, struct cordon_error *err);
/* The variables of programs that name a bundle, but for those that are there.  0 or -errno. */
CORDON_MUST_CHECK int egress_tls_name(struct strv *env, const char *bundle);
/* The variables that tell programs of it, but for those that the policy sets itself.  0 or -errno. */
CORDON_MUST_CHECK int egress_tls_environment(struct strv *env);
