/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The authority of one session, in cordon-proxy alone: a key that never leaves this memory, and certificates for the
 * hosts to which TLS ends here, made when they are first asked for.
 */
#pragma once

#include "net/host.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

#define CA_LEAVES_MAX 256 /* that are kept */
#define CA_DAYS 30        /* a session is shorter */

struct ca_leaf {
	struct host host;
	X509 *certificate;
};

struct ca {
	EVP_PKEY *key;
	X509 *certificate;
	EVP_PKEY *leaf_key; /* of all leaves */
	struct ca_leaf leaves[CA_LEAVES_MAX];
	size_t n_leaves;
	size_t oldest;
};

/* 0 or -ENOMEM (the library does not say more). */
CORDON_MUST_CHECK int ca_make(struct ca *ca);
void ca_done(struct ca *ca);
/* The certificate for a host; borrows.  NULL: it cannot be made. */
X509 *ca_leaf(struct ca *ca, const struct host *host);
