/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See map.h.  Open addressing, at most half full.  The place is mixed with a number of this process: an importer's
 * file chooses the keys, and must not choose who collides.
 */
#include "workspace/snap/map.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

struct snap_slot {
	uint8_t key[SNAP_DIGEST];
	uint64_t value;
	bool is_used;
};

static uint64_t map_salt(void)
{
	static uint64_t salt;

	if (salt == 0 && getrandom(&salt, sizeof(salt), GRND_NONBLOCK) != (ssize_t)sizeof(salt))
		salt = (uint64_t)(uintptr_t)&salt;
	return salt | 1;
}

static uint64_t map_mix(const uint8_t key[static SNAP_DIGEST])
{
	uint64_t h = map_salt();

	for (size_t i = 0; i < SNAP_DIGEST; i += 8) {
		uint64_t word;

		memcpy(&word, key + i, sizeof(word));
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h;
}

static struct snap_slot *map_slot(struct snap_slot *slots, size_t size,
				  const uint8_t key[static SNAP_DIGEST])
{
	size_t i = (size_t)map_mix(key) & (size - 1);

	while (slots[i].is_used && memcmp(slots[i].key, key, SNAP_DIGEST) != 0)
		i = (i + 1) & (size - 1);
	return &slots[i];
}

void snap_map_done(struct snap_map *m)
{
	free(m->slots);
	*m = (struct snap_map){0};
}

uint64_t *snap_map_get(const struct snap_map *m, const uint8_t key[static SNAP_DIGEST])
{
	struct snap_slot *slot = m->size ? map_slot(m->slots, m->size, key) : NULL;

	return slot && slot->is_used ? &slot->value : NULL;
}

static int map_grow(struct snap_map *m)
{
	size_t size = m->size ? m->size * 2 : 64;
	struct snap_slot *slots;

	if (size > SIZE_MAX / sizeof(*slots))
		return -ENOMEM;
	slots = calloc(size, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->size; i++)
		if (m->slots[i].is_used)
			*map_slot(slots, size, m->slots[i].key) = m->slots[i];
	free(m->slots);
	m->slots = slots;
	m->size = size;
	return 0;
}

int snap_map_put(struct snap_map *m, const uint8_t key[static SNAP_DIGEST], uint64_t value)
{
	struct snap_slot *slot;

	if (2 * (m->n + 1) > m->size && map_grow(m) < 0)
		return -ENOMEM;
	slot = map_slot(m->slots, m->size, key);
	if (slot->is_used)
		return 0;
	memcpy(slot->key, key, SNAP_DIGEST);
	slot->value = value;
	slot->is_used = true;
	m->n++;
	return 1;
}

void snap_map_key(uint64_t a, uint64_t b, uint8_t ret[static SNAP_DIGEST])
{
	memset(ret, 0, SNAP_DIGEST);
	memcpy(ret, &a, sizeof(a));
	memcpy(ret + sizeof(a), &b, sizeof(b));
}
