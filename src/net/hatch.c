/* SPDX-License-Identifier: Apache-2.0 */
/* See hatch.h. */
#include "net/hatch.h"

#include <errno.h>
#include <string.h>

static const uint8_t hatch_magic[4] = {'c', 'd', 'h', 1};

void hatch_write(const struct hatch_head *h, uint8_t ret[static HATCH_HEAD_SIZE])
{
	memset(ret, 0, HATCH_HEAD_SIZE);
	memcpy(ret, hatch_magic, sizeof(hatch_magic));
	ret[4] = (uint8_t)h->kind;
	if (h->kind != HATCH_ADDRESS)
		return;
	ret[6] = (uint8_t)(h->port >> 8);
	ret[7] = (uint8_t)h->port;
	memcpy(ret + 8, h->addr, ADDR_LEN);
}

int hatch_read(const uint8_t bytes[static HATCH_HEAD_SIZE], struct hatch_head *ret)
{
	static const uint8_t nothing[HATCH_HEAD_SIZE] = {0};
	struct hatch_head h = {.port = (uint16_t)(bytes[6] << 8 | bytes[7])};

	if (memcmp(bytes, hatch_magic, sizeof(hatch_magic)) != 0 || bytes[5] != 0)
		return -EBADMSG;
	memcpy(h.addr, bytes + 8, ADDR_LEN);
	switch (bytes[4]) {
	case HATCH_PROXY:
	case HATCH_NAMES:
		if (memcmp(bytes + 6, nothing, HATCH_HEAD_SIZE - 6) != 0)
			return -EBADMSG;
		break;
	case HATCH_ADDRESS:
		if (h.port == 0)
			return -EBADMSG;
		break;
	default:
		return -EBADMSG;
	}
	h.kind = (enum hatch_kind)bytes[4];
	*ret = h;
	return 0;
}
