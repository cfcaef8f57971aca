/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words that make a sentence worth a search for cues whatever the model thinks of its words: one that is rare in
 * ordinary text, or two that are not.  Few cues can be without them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEYS_BITS = 16, KEYS_WORTH = 2 };

struct keys {
	uint64_t strong[(1 << KEYS_BITS) / 64], weak[(1 << KEYS_BITS) / 64];
};

/* The hash of a word as the caller computes it from its lower-case letters. */
typedef uint32_t keys_hash_fn(const char *word, size_t len);

void keys_init(struct keys *k, keys_hash_fn *hash);
/* How telling a word is: KEYS_WORTH and more in one sentence make it worth a search.  May say too much of a word that
 * is not there, never too little of one that is. */
static inline unsigned keys_value(const struct keys *k, uint32_t hash)
{
	uint32_t slot = (hash ^ hash >> 13) & ((1U << KEYS_BITS) - 1);

	if (k->strong[slot / 64] >> (slot % 64) & 1)
		return KEYS_WORTH;
	return k->weak[slot / 64] >> (slot % 64) & 1;
}
