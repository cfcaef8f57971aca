/* SPDX-License-Identifier: Apache-2.0 */
/* See unpack.h. */
#include "proxy/unpack.h"

#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define UNPACK_PIECE 16384
#define UNPACK_GZIP_BITS (15 + 16)
#define UNPACK_ZLIB_BITS 15

struct unpack {
	z_stream z;
	enum unpack_coding coding;
	uint64_t in;
	uint64_t out;
	bool is_whole; /* a member has ended, and nothing of another has come */
	uint8_t piece[UNPACK_PIECE];
};

static enum unpack_coding unpack_word(struct http_slice word)
{
	if (http_slice_is(word, "identity"))
		return UNPACK_NONE;
	if (http_slice_is(word, "gzip") || http_slice_is(word, "x-gzip"))
		return UNPACK_GZIP;
	return http_slice_is(word, "deflate") ? UNPACK_ZLIB : UNPACK_OTHER;
}

/* The codings of one field on top of those before it. */
static enum unpack_coding unpack_list(struct http_slice list, enum unpack_coding before)
{
	static const char blanks[] = " \t,";

	for (size_t i = 0; i < list.len;) {
		enum unpack_coding coding;
		size_t n = 0;

		if (memchr(blanks, list.p[i], sizeof(blanks) - 1)) {
			i++;
			continue;
		}
		while (i + n < list.len && !memchr(blanks, list.p[i + n], sizeof(blanks) - 1))
			n++;
		coding = unpack_word((struct http_slice){.p = list.p + i, .len = n});
		if (coding != UNPACK_NONE)
			before = before == UNPACK_NONE ? coding : UNPACK_OTHER;
		i += n;
	}
	return before;
}

enum unpack_coding unpack_coding(const struct http_head *head)
{
	enum unpack_coding coding = UNPACK_NONE;

	for (size_t i = 0; i < head->n; i++)
		if (http_slice_is(head->fields[i].name, "content-encoding"))
			coding = unpack_list(head->fields[i].value, coding);
	return coding;
}

const char *unpack_name(enum unpack_coding coding)
{
	return coding == UNPACK_GZIP ? "gzip" : "deflate";
}

struct unpack *unpack_new(enum unpack_coding coding)
{
	struct unpack *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->coding = coding;
	if (inflateInit2(&u->z, coding == UNPACK_GZIP ? UNPACK_GZIP_BITS : UNPACK_ZLIB_BITS) !=
	    Z_OK) {
		free(u);
		return NULL;
	}
	return u;
}

void unpack_free(struct unpack *u)
{
	if (!u)
		return;
	(void)inflateEnd(&u->z);
	explicit_bzero(u->piece, sizeof(u->piece));
	free(u);
}

bool unpack_is_whole(const struct unpack *u)
{
	return u->is_whole;
}

/* What the library said, as one of ours.  A member of gzip may follow another. */
static int unpack_result(struct unpack *u, int r)
{
	if (r == Z_MEM_ERROR)
		return -ENOMEM;
	if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
		return -EBADMSG;
	u->is_whole = r == Z_STREAM_END;
	if (r == Z_STREAM_END && u->z.avail_in > 0 &&
	    (u->coding != UNPACK_GZIP || inflateReset(&u->z) != Z_OK))
		return -EBADMSG;
	return 0;
}

int unpack_feed(struct unpack *u, const char *bytes, size_t len,
		int give(void *data, const char *bytes, size_t len), void *data)
{
	/* A feed is a piece of a request: far less than what fits into the library's number. */
	if (len > UINT32_MAX)
		return -E2BIG;
	if (len > 0 && u->is_whole && (u->coding != UNPACK_GZIP || inflateReset(&u->z) != Z_OK))
		return -EBADMSG;
	u->z.next_in = (Bytef *)(uintptr_t)bytes;
	u->z.avail_in = (uInt)len;
	u->in += len;
	while (u->z.avail_in > 0 || u->z.avail_out == 0) {
		uInt before = u->z.avail_in;
		size_t n;
		int r;

		u->z.next_out = u->piece;
		u->z.avail_out = sizeof(u->piece);
		r = unpack_result(u, inflate(&u->z, Z_NO_FLUSH));
		if (r < 0)
			return r;
		n = sizeof(u->piece) - u->z.avail_out;
		u->out += n;
		if (u->out > UNPACK_FREE && u->out / UNPACK_RATIO > u->in)
			return -E2BIG;
		r = n > 0 ? give(data, (const char *)u->piece, n) : 0;
		if (r < 0)
			return r;
		if (n == 0 && u->z.avail_in == before)
			break; /* it wants more */
	}
	u->z.avail_out = 1; /* nothing of it waits */
	return 0;
}
