/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy as a program of its own, for calls in which TLS ends in it. */
#pragma once

#include "proxy/proxy.h"

#include <sys/types.h>

/* Descriptors of cordon-proxy, beside 0 to 2 which lead nowhere. */
#define EXTERNAL_CONTROL 3
#define EXTERNAL_BRIEF 4
#define EXTERNAL_TALLY 5

/* In the memory of EXTERNAL_TALLY, of one that stands alone: its log, where a page begins on every machine. */
#define EXTERNAL_LOG_AT ((off_t)((sizeof(struct proxy_tally) + 65535) / 65536 * 65536))

#define EXTERNAL_START_MS 20000 /* until it has said its certificate */
#define EXTERNAL_PEM_MAX 16384

/* proxy_start() calls it; gives ret->authority_pem too. */
CORDON_MUST_CHECK int external_start(const struct proxy_options *o, struct proxy *ret,
				     struct cordon_error *err);
/* Opens the program: in dir or, only if it is not there, beside self (a path), unless that is within one of the writable
 * directories (NULL-terminated; NULL: none).  A descriptor, -ENOENT, -EPERM (others could change it) or another -errno. */
CORDON_MUST_CHECK int external_open(const char *dir, const char *self, const char *const *writable);
