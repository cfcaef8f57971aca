/* SPDX-License-Identifier: Apache-2.0 */
/* An open hash over the entries; entries never move and never go. */
#include "proxy/names.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

#define NAMES_V4_FIRST 0xc6120000u /* 198.18.0.0; the first 256 are left out */
#define NAMES_V4_OFFSET 256u
/* A unique local prefix of ours: fd5a:c0d0:2d00::/48. */
static const uint8_t names_prefix[12] = {0xfd, 0x5a, 0xc0, 0xd0, 0x2d, 0x00};

static uint64_t names_hash(const char *name)
{
	uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * UINT64_C(1099511628211);
	return h;
}

void names_done(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->entries[i]);
	free(names->entries);
	free(names->slots);
	memset(names, 0, sizeof(*names));
}

static size_t names_slot(const struct names *names, const char *name)
{
	size_t at = names_hash(name) & (names->n_slots - 1);

	while (names->slots[at] &&
	       strcmp(names->entries[names->slots[at] - 1]->host.name, name) != 0)
		at = (at + 1) & (names->n_slots - 1);
	return at;
}

/* Twice as many slots, or the first ones. */
static int names_rehash(struct names *names)
{
	size_t n = names->n_slots ? names->n_slots * 2 : 64;
	uint32_t *old = names->slots;

	names->slots = calloc(n, sizeof(*names->slots));
	if (!names->slots) {
		names->slots = old;
		return -ENOMEM;
	}
	names->n_slots = n;
	for (size_t i = 0; i < names->n; i++)
		names->slots[names_slot(names, names->entries[i]->host.name)] = (uint32_t)i + 1;
	free(old);
	return 0;
}

struct name_entry *names_get(struct names *names, const struct host *host)
{
	struct name_entry *entry;
	size_t slot;

	if (names->n * 2 >= names->n_slots && names_rehash(names) < 0)
		return NULL;
	slot = names_slot(names, host->name);
	if (names->slots[slot])
		return names->entries[names->slots[slot] - 1];
	if (names->n >= NAMES_MAX || mem_grow((void **)&names->entries, &names->cap, names->n + 1,
					      sizeof(struct name_entry *), NAMES_MAX) < 0)
		return NULL;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->host = *host;
	entry->host.port = 0;
	entry->number = (uint32_t)names->n;
	entry->names = names;
	names->entries[names->n++] = entry;
	names->slots[slot] = (uint32_t)names->n;
	return entry;
}

/* The number that an address stands for, or -1 when it is in no range of ours. */
static int64_t names_number(const uint8_t addr[static ADDR_LEN])
{
	uint32_t low = (uint32_t)addr[12] << 24 | (uint32_t)addr[13] << 16 |
		       (uint32_t)addr[14] << 8 | addr[15];

	if (addr_is_v4(addr))
		return (low & 0xfffe0000u) == NAMES_V4_FIRST
			       ? (int64_t)(low - NAMES_V4_FIRST) - NAMES_V4_OFFSET
			       : -1;
	return memcmp(addr, names_prefix, sizeof(names_prefix)) == 0
		       ? (int64_t)low - NAMES_V4_OFFSET
		       : -1;
}

bool names_has_address(const uint8_t addr[static ADDR_LEN])
{
	uint32_t low = (uint32_t)addr[12] << 24 | (uint32_t)addr[13] << 16;

	return addr_is_v4(addr) ? (low & 0xfffe0000u) == NAMES_V4_FIRST
				: memcmp(addr, names_prefix, sizeof(names_prefix)) == 0;
}

struct name_entry *names_find(const struct names *names, const uint8_t addr[static ADDR_LEN])
{
	int64_t number = names_number(addr);

	return number >= 0 && (size_t)number < names->n ? names->entries[number] : NULL;
}

void names_address4(const struct name_entry *entry, uint8_t out[static 4])
{
	uint32_t value = NAMES_V4_FIRST + NAMES_V4_OFFSET + entry->number;

	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(value >> (24 - 8 * i));
}

void names_address6(const struct name_entry *entry, uint8_t out[static ADDR_LEN])
{
	uint32_t value = NAMES_V4_OFFSET + entry->number;

	memcpy(out, names_prefix, sizeof(names_prefix));
	for (int i = 0; i < 4; i++)
		out[12 + i] = (uint8_t)(value >> (24 - 8 * i));
}

void names_settle(struct name_entry *entry, enum name_state state)
{
	struct name_waiter *w = entry->waiters;

	entry->state = state;
	entry->waiters = NULL;
	while (w) {
		struct name_waiter *next = w->next;

		w->fn(w, entry);
		w = next;
	}
	/* Who asks again later may find the server back. */
	if (state == NAME_FAILED && entry->state == NAME_FAILED)
		entry->state = NAME_NEW;
}
