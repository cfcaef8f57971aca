/* SPDX-License-Identifier: Apache-2.0 */
/* An open hash over the entries; entries never move and never go. */
#include "proxy/alias.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

#define ALIAS_V4_FIRST 0xc6120000u /* 198.18.0.0; the first 256 are left out */
#define ALIAS_V4_OFFSET 256u
/* A unique local prefix of ours: fd5a:c0d0:2d00::/48. */
static const uint8_t alias_prefix[12] = {0xfd, 0x5a, 0xc0, 0xd0, 0x2d, 0x00};

static uint64_t alias_hash(const char *name)
{
	uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * UINT64_C(1099511628211);
	return h;
}

void alias_done(struct aliases *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->entries[i]);
	free(names->entries);
	free(names->slots);
	memset(names, 0, sizeof(*names));
}

static size_t alias_slot(const struct aliases *names, const char *name)
{
	size_t at = alias_hash(name) & (names->n_slots - 1);

	while (names->slots[at] &&
	       strcmp(names->entries[names->slots[at] - 1]->host.name, name) != 0)
		at = (at + 1) & (names->n_slots - 1);
	return at;
}

/* Twice as many slots, or the first ones. */
static int alias_rehash(struct aliases *names)
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
		names->slots[alias_slot(names, names->entries[i]->host.name)] = (uint32_t)i + 1;
	free(old);
	return 0;
}

struct alias *alias_get(struct aliases *names, const struct host *host)
{
	struct alias *entry;
	size_t slot;

	if (names->n * 2 >= names->n_slots && alias_rehash(names) < 0)
		return NULL;
	slot = alias_slot(names, host->name);
	if (names->slots[slot])
		return names->entries[names->slots[slot] - 1];
	if (names->n >= ALIAS_MAX || mem_grow((void **)&names->entries, &names->cap, names->n + 1,
					      sizeof(struct alias *), ALIAS_MAX) < 0)
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
static int64_t alias_number(const uint8_t addr[static ADDR_LEN])
{
	uint32_t low = (uint32_t)addr[12] << 24 | (uint32_t)addr[13] << 16 |
		       (uint32_t)addr[14] << 8 | addr[15];

	if (addr_is_v4(addr))
		return (low & 0xfffe0000u) == ALIAS_V4_FIRST
			       ? (int64_t)(low - ALIAS_V4_FIRST) - ALIAS_V4_OFFSET
			       : -1;
	return memcmp(addr, alias_prefix, sizeof(alias_prefix)) == 0
		       ? (int64_t)low - ALIAS_V4_OFFSET
		       : -1;
}

bool alias_has_address(const uint8_t addr[static ADDR_LEN])
{
	uint32_t low = (uint32_t)addr[12] << 24 | (uint32_t)addr[13] << 16;

	return addr_is_v4(addr) ? (low & 0xfffe0000u) == ALIAS_V4_FIRST
				: memcmp(addr, alias_prefix, sizeof(alias_prefix)) == 0;
}

struct alias *alias_find(const struct aliases *names, const uint8_t addr[static ADDR_LEN])
{
	int64_t number = alias_number(addr);

	return number >= 0 && (size_t)number < names->n ? names->entries[number] : NULL;
}

void alias_address4(const struct alias *entry, uint8_t out[static 4])
{
	uint32_t value = ALIAS_V4_FIRST + ALIAS_V4_OFFSET + entry->number;

	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(value >> (24 - 8 * i));
}

void alias_address6(const struct alias *entry, uint8_t out[static ADDR_LEN])
{
	uint32_t value = ALIAS_V4_OFFSET + entry->number;

	memcpy(out, alias_prefix, sizeof(alias_prefix));
	for (int i = 0; i < 4; i++)
		out[12 + i] = (uint8_t)(value >> (24 - 8 * i));
}

void alias_settle(struct alias *entry, enum alias_state state)
{
	struct alias_waiter *w = entry->waiters;

	entry->state = state;
	entry->waiters = NULL;
	while (w) {
		struct alias_waiter *next = w->next;

		w->fn(w, entry);
		w = next;
	}
	/* Who asks again later may find the server back. */
	if (state == ALIAS_FAILED && entry->state == ALIAS_FAILED)
		entry->state = ALIAS_NEW;
}
