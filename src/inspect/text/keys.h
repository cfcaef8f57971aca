/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words that make a sentence worth a search for cues whatever the model thinks of its words.  They are rare in
 * ordinary text; most cues cannot be without one of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEYS_BITS = 16 };

struct keys {
	uint64_t set[(1 << KEYS_BITS) / 64];
};

/* The hash of a word as the caller computes it from its lower-case letters. */
typedef uint32_t keys_hash_fn(const char *word, size_t len);

void keys_init(struct keys *k, keys_hash_fn *hash);
/* May say yes for a word that is not there, never no for one that is. */
static inline bool keys_has(const struct keys *k, uint32_t hash)
{
	uint32_t slot = (hash ^ hash >> 13) & ((1U << KEYS_BITS) - 1);

	return k->set[slot / 64] >> (slot % 64) & 1;
}
