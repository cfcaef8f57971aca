/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first message of a TLS client: which server it asks for.  Only looked at, never changed.
 */
#pragma once

#include "net/host.h"

#define HELLO_MAX 16384 /* bytes of a first message, records' heads included */

enum hello_result {
	HELLO_MORE,    /* there is more to come */
	HELLO_NAME,    /* asks for a name: ret_name */
	HELLO_NONE,    /* is whole and asks for none */
	HELLO_REFUSED, /* is no TLS, or not what this reader understands */
};

struct hello {
	struct host name;   /* of HELLO_NAME */
	bool has_ech;       /* an encrypted hello inside: the name is only the outer one */
	const char *reason; /* of HELLO_REFUSED; a constant */
};

/* Does a stream that begins with this byte want TLS? */
static inline bool hello_starts(uint8_t first)
{
	return first == 0x16;
}

enum hello_result hello_parse(const uint8_t *bytes, size_t len, struct hello *ret);
