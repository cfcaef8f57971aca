/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy as a program of its own, for calls in which TLS ends in it. */
#pragma once

#include "proxy/proxy.h"

/* Descriptors of cordon-proxy, beside 0 to 2 which lead nowhere. */
#define EXTERNAL_CONTROL 3
#define EXTERNAL_BRIEF 4
#define EXTERNAL_TALLY 5

#define EXTERNAL_START_MS 20000 /* until it has said its certificate */
#define EXTERNAL_PEM_MAX 16384

/* proxy_start() calls it; gives ret->authority_pem too. */
CORDON_MUST_CHECK int external_start(const struct proxy_options *o, struct proxy *ret,
				     struct cordon_error *err);
