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

enum hello_form {
	HELLO_FORM_NO,    /* no server would take it for TLS */
	HELLO_FORM_SHORT, /* too little to know */
	HELLO_FORM_TLS,   /* a record with the beginning of a client's hello, well formed or not */
};

/* Does a stream that begins so want TLS?  Only what cannot be TLS is none: the head of a record of a handshake, with
 * any minor version (servers do not look at it here), and then the kind of message. */
enum hello_form hello_form(const uint8_t *bytes, size_t len);

enum hello_result hello_parse(const uint8_t *bytes, size_t len, struct hello *ret);
