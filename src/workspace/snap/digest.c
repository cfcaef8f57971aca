/* SPDX-License-Identifier: Apache-2.0 */
/* See digest.h. */
#include "workspace/snap/digest.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <string.h>

struct snap_hash {
	struct sha256_ctx ctx;
};

int snap_hash_new(struct snap_hash **ret)
{
	struct snap_hash *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	sha256_init(&h->ctx);
	*ret = h;
	return 0;
}

void snap_hash_free(struct snap_hash *h)
{
	free(h);
}

void snap_hash_add(struct snap_hash *h, const void *data, size_t len)
{
	sha256_update(&h->ctx, len, data);
}

void snap_hash_finish(struct snap_hash *h, uint8_t ret[static SNAP_DIGEST])
{
	sha256_digest(&h->ctx, SNAP_DIGEST, ret);
}

void snap_digest(const void *data, size_t len, uint8_t ret[static SNAP_DIGEST])
{
	struct snap_hash h;

	sha256_init(&h.ctx);
	if (len > 0)
		sha256_update(&h.ctx, len, data);
	sha256_digest(&h.ctx, SNAP_DIGEST, ret);
}

void snap_hex(const uint8_t digest[static SNAP_DIGEST], char ret[static SNAP_HEX])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < SNAP_DIGEST; i++) {
		ret[2 * i] = digits[digest[i] >> 4];
		ret[2 * i + 1] = digits[digest[i] & 15];
	}
	ret[SNAP_HEX - 1] = '\0';
}

static int digest_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool snap_unhex(const char *text, size_t len, uint8_t ret[static SNAP_DIGEST])
{
	if (len != SNAP_HEX - 1)
		return false;
	for (size_t i = 0; i < SNAP_DIGEST; i++) {
		int high = digest_digit(text[2 * i]), low = digest_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		ret[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

bool snap_digest_is_hole(const uint8_t digest[static SNAP_DIGEST])
{
	static const uint8_t none[SNAP_DIGEST];

	return memcmp(digest, none, SNAP_DIGEST) == 0;
}
