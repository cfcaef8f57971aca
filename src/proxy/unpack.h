/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of requests in a coding (gzip, deflate), opened as they come, to be looked at.  What one byte may become is
 * bounded: a body that is all air is refused.
 */
#pragma once

#include "net/httphead.h"

enum unpack_coding {
	UNPACK_NONE,  /* as it is */
	UNPACK_GZIP,  /* RFC 1952, one member or several */
	UNPACK_ZLIB,  /* "deflate": RFC 1950 */
	UNPACK_OTHER, /* one that is not opened here, or several */
};

#define UNPACK_FREE (8 * 1024 * 1024) /* bytes that a body may become, however short it is */
#define UNPACK_RATIO 256              /* and beyond them so many for each of its own */

/* What the fields of a head say. */
enum unpack_coding unpack_coding(const struct http_head *head);
/* As it is written in a field; of the two that are opened. */
const char *unpack_name(enum unpack_coding coding);

struct unpack;

/* NULL: no memory. */
struct unpack *unpack_new(enum unpack_coding coding);
void unpack_free(struct unpack *u);
/* Opens some more of it and gives what comes out, piece by piece; less than 0 from give ends it and is returned.  0;
 * -EBADMSG: it is not in that coding, -E2BIG: it is all air, -ENOMEM. */
CORDON_MUST_CHECK int unpack_feed(struct unpack *u, const char *bytes, size_t len,
				  int give(void *data, const char *bytes, size_t len), void *data);
/* Was that the whole of it? */
bool unpack_is_whole(const struct unpack *u);
