/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads of HTTP/1 messages, read strictly.  Two readers that see two different messages in the same bytes
 * are how requests are smuggled; so whatever a lenient reader would mend is refused here: a bare LF, folded
 * lines, blanks before a colon, two lengths, a length beside a coding, a host that is not the target's.
 *
 * Slices borrow from the bytes that were read.
 */
#pragma once

#include "base/buf.h"
#include "net/host.h"

#define HTTP_HEAD_MAX 32768 /* bytes of a head */
#define HTTP_FIELDS_MAX 100
#define HTTP_TARGET_MAX 8192

struct http_slice {
	const char *p;
	size_t len;
};

struct http_field {
	struct http_slice name;
	struct http_slice value; /* without blanks around it */
};

enum http_form {
	HTTP_ORIGIN,    /* /path */
	HTTP_ABSOLUTE,  /* http://host/path */
	HTTP_AUTHORITY, /* host:port, of CONNECT */
	HTTP_ASTERISK,  /* *, of OPTIONS */
};

enum http_body {
	HTTP_BODY_NONE,
	HTTP_BODY_LENGTH,
	HTTP_BODY_CHUNKED,
	HTTP_BODY_CLOSE, /* of an answer: until the end */
};

struct http_head {
	size_t len;               /* of the head with its last empty line */
	struct http_slice method; /* of a request */
	struct http_slice target; /* as it was written */
	struct http_slice
		path; /* of a request, with the query; "/" when an absolute target has none */
	enum http_form form;
	struct host host; /* canonical, port 0 when none was written */
	bool has_host;
	unsigned status; /* of an answer */
	unsigned minor;  /* HTTP/1.minor */
	enum http_body body;
	uint64_t body_len; /* of HTTP_BODY_LENGTH */
	bool is_kept;      /* the connection is kept after this message */
	bool is_upgrade;   /* Connection: upgrade with an Upgrade field */
	bool expects;      /* Expect: 100-continue */
	size_t n;
	struct http_field fields[HTTP_FIELDS_MAX];
	/* of a failure */
	unsigned error;     /* 400, 414, 417, 431, 501 or 505 */
	const char *reason; /* a constant */
};

/* Reads the head of a request.  1: whole; 0: there is more to come; -EBADMSG: ret->error and ret->reason. */
CORDON_MUST_CHECK int http_request_parse(const char *bytes, size_t len, struct http_head *ret);
/* The same for an answer to a request with that method (which decides whether there is a body). */
CORDON_MUST_CHECK int http_answer_parse(const char *bytes, size_t len, struct http_slice method,
					struct http_head *ret);
bool http_slice_is(struct http_slice s, const char *text); /* without regard to case */
/* The one field of that name, or NULL. */
const struct http_field *http_find(const struct http_head *h, const char *name);
/* Is there such a field, and has every one of them that value? */
bool http_each_is(const struct http_head *h, const char *name, const char *value);
/* Must a proxy not pass this field on: a field about the connection itself? */
bool http_is_hop(const struct http_head *h, struct http_slice name);

/* Follows a chunked body to its end without keeping any of it. */
struct http_chunks {
	unsigned state;
	unsigned digits;
	uint64_t left;
	unsigned trailer;
};

/* Takes bytes of the body.  Returns how many of them belong to it; *ret_done when it ended with them.  -EBADMSG when
 * they are no chunks. */
CORDON_MUST_CHECK ssize_t http_chunks_take(struct http_chunks *c, const char *bytes, size_t len,
					   bool *ret_done);
/* The same, and appends what the chunks hold to data (which may be NULL). */
CORDON_MUST_CHECK ssize_t http_chunks_copy(struct http_chunks *c, const char *bytes, size_t len,
					   struct buf *data, bool *ret_done);
