/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SOCKS 5 (RFC 1928) as a server sees it: a greeting without authentication, then a request to connect.  SOCKS 4
 * and the other commands are refused.
 */
#pragma once

#include "net/host.h"

enum socks_reply {
	SOCKS_GRANTED = 0,
	SOCKS_FAILED = 1,
	SOCKS_FORBIDDEN = 2,
	SOCKS_UNREACHABLE = 4,
	SOCKS_REFUSED = 5,
	SOCKS_NO_COMMAND = 7,
	SOCKS_NO_ADDRESS = 8,
};

/* Returns the bytes that the greeting takes; 0: there is more to come; -EBADMSG: not ours; -EPROTONOSUPPORT: it offers no
 * way without authentication. */
CORDON_MUST_CHECK int socks_greeting(const uint8_t *bytes, size_t len);
/* The same for the request.  -EBADMSG: *ret_reply says what to answer.  ret->port is always set. */
CORDON_MUST_CHECK int socks_request(const uint8_t *bytes, size_t len, struct host *ret,
				    enum socks_reply *ret_reply);
/* An answer: ten bytes. */
void socks_answer(enum socks_reply reply, uint8_t out[static 10]);
