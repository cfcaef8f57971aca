/* SPDX-License-Identifier: Apache-2.0 */
/* What cordon-proxy needs for TLS, made before it is confined. */
#pragma once

#include "proxy/ca.h"
#include "proxy/tls.h"

#include <openssl/ssl.h>

struct tls_room {
	struct ca ca;
	BIO_METHOD *method;
	SSL_CTX *server; /* towards clients */
	SSL_CTX *client; /* towards servers */
	char *trust;     /* certificates that were not taken in yet */
	size_t trust_len;
};

extern const struct tls_ops tls_openssl; /* its data is a struct tls_room */

/* 0 or -ENOMEM; give it back in any case. */
CORDON_MUST_CHECK int tls_room_make(struct tls_room *room);
/* The file with the certificates that servers are checked with.  0 or -errno. */
CORDON_MUST_CHECK int tls_room_trust(struct tls_room *room, const char *path);
void tls_room_done(struct tls_room *room);
