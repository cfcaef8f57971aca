/* SPDX-License-Identifier: Apache-2.0 */
/* See code.h. */
#include "workspace/snap/code.h"

#include "workspace/snap/digest.h"

#include <errno.h>
#include <string.h>

const uint8_t *snap_get_raw(struct snap_reader *r, size_t len)
{
	const uint8_t *p = r->p;

	if (r->is_bad || len > (size_t)(r->end - r->p)) {
		r->is_bad = true;
		return NULL;
	}
	r->p += len;
	return p;
}

uint64_t snap_get(struct snap_reader *r, size_t width)
{
	const uint8_t *p = snap_get_raw(r, width);
	uint64_t v = 0;

	for (size_t i = 0; p && i < width; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

const char *snap_get_str(struct snap_reader *r, size_t max, size_t *ret_len)
{
	size_t len = (size_t)snap_get(r, 2);
	const uint8_t *p = snap_get_raw(r, len + 1);

	if (!p)
		return NULL;
	if (len > max || strnlen((const char *)p, len + 1) != len) {
		r->is_bad = true;
		return NULL;
	}
	if (ret_len)
		*ret_len = len;
	return (const char *)p;
}

bool snap_get_end(const struct snap_reader *r)
{
	return !r->is_bad && r->p == r->end;
}

void snap_put(struct buf *b, uint64_t v, size_t width)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < width; i++)
		bytes[i] = (uint8_t)(v >> 8 * i);
	buf_add(b, bytes, width);
}

void snap_put_str(struct buf *b, const char *s)
{
	size_t len = strlen(s);

	if (len > UINT16_MAX) {
		b->error = b->error ? b->error : -E2BIG;
		return;
	}
	snap_put(b, len, 2);
	buf_add(b, s, len + 1);
}

void snap_put_seal(struct buf *b)
{
	uint8_t digest[SNAP_DIGEST];

	snap_digest(b->data, b->len, digest);
	buf_add(b, digest, sizeof(digest));
}

bool snap_check_seal(const void *data, size_t *len)
{
	uint8_t digest[SNAP_DIGEST];

	if (*len < SNAP_DIGEST)
		return false;
	snap_digest(data, *len - SNAP_DIGEST, digest);
	if (memcmp(digest, (const uint8_t *)data + *len - SNAP_DIGEST, SNAP_DIGEST) != 0)
		return false;
	*len -= SNAP_DIGEST;
	return true;
}
