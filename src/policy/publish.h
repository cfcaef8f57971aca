/* SPDX-License-Identifier: Apache-2.0 */
/* A published port, as it is written: PORT, HOSTPORT:PORT or ADDRESS:HOSTPORT:PORT, an IPv6 address in brackets. */
#pragma once

#include "base/error.h"

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

union publish_address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

struct publish {
	union publish_address address; /* of the host: 127.0.0.1 unless another is written */
	uint16_t port;                 /* inside */
};

/* Pure.  A name is no address, and port 0 none. */
CORDON_MUST_CHECK int publish_parse(const char *text, struct publish *ret,
				    struct cordon_error *err);
