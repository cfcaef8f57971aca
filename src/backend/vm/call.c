/* SPDX-License-Identifier: Apache-2.0 */
/* See call.h: the half that reads. */
#include "backend/vm/call.h"

#include <errno.h>
#include <string.h>

int vm_call_read(const char *data, size_t len, struct vm_call *ret)
{
	struct vm_call_place place;
	size_t at = 0;

	if (len < sizeof(ret->head))
		return -EINVAL;
	memcpy(&ret->head, data, sizeof(ret->head));
	if (ret->head.magic != VM_CALL_MAGIC ||
	    (uint64_t)ret->head.places_bytes + ret->head.image_bytes != len - sizeof(ret->head))
		return -EINVAL;
	ret->places = data + sizeof(ret->head);
	ret->image = ret->places + ret->head.places_bytes;
	for (uint32_t i = 0; i < ret->head.n_places; i++)
		if (!vm_call_next(ret, &at, &place))
			return -EINVAL;
	return at == ret->head.places_bytes ? 0 : -EINVAL;
}

bool vm_call_next(const struct vm_call *c, size_t *at, struct vm_call_place *ret)
{
	size_t left = c->head.places_bytes - *at;
	const char *p = c->places + *at;
	const char *nul;

	if (left < sizeof(ret->place) + 2)
		return false;
	memcpy(&ret->place, p, sizeof(ret->place));
	ret->path = p + sizeof(ret->place);
	nul = memchr(ret->path, '\0', left - sizeof(ret->place));
	if (!nul || ret->path[0] != '/' || ret->place.kind >= VM_PLACE_COUNT)
		return false;
	*at += (size_t)(nul + 1 - p);
	return true;
}
