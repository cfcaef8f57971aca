/* SPDX-License-Identifier: Apache-2.0 */
/* See classes.h.  The table is made by gen-classes. */
#include "inspect/text/classes.h"

#include "base/mem.h"

#include <string.h>

#include "inspect/text_classes.inc"

_Static_assert((CLASSES_SLOTS & (CLASSES_SLOTS - 1)) == 0, "a power of two");

static uint32_t classes_hash_on(uint32_t h, unsigned char c)
{
	return (h ^ c) * 0x01000193U;
}

static const struct classes_slot *classes_slot(uint32_t hash)
{
	/* Most are none, and this is small. */
	if (!(classes_known[hash >> 16 >> 6] >> (hash >> 16 & 63) & 1))
		return NULL;
	for (uint32_t i = hash & (CLASSES_SLOTS - 1);; i = (i + 1) & (CLASSES_SLOTS - 1)) {
		const struct classes_slot *slot = &classes_slots[i];

		if (slot->class == CLASS_NONE)
			return NULL;
		if (slot->hash == hash)
			return slot;
	}
}

/* A byte of a word in lower case.  Of Cyrillic, the second one of a letter changes, and for some the first. */
size_t classes_lower(const char *s, size_t n, unsigned char out[static CLASSES_WORD])
{
	size_t k = n < CLASSES_WORD ? n : CLASSES_WORD;

	for (size_t i = 0; i < k; i++) {
		unsigned char c = (unsigned char)s[i];

		out[i] = c >= 'A' && c <= 'Z' ? c | 0x20 : c;
		if (i == 0 || out[i - 1] != 0xd0)
			continue;
		if (c >= 0x90 && c <= 0x9f) {
			out[i] = c + 0x20;
		} else if (c >= 0xa0 && c <= 0xaf) {
			out[i - 1] = 0xd1;
			out[i] = c - 0x20;
		} else if (c == 0x81) {
			out[i - 1] = 0xd1;
			out[i] = 0x91;
		}
	}
	return k;
}

/* The word, or the longest beginning of it that is known as one.  *ret_n: how long that is. */
const struct classes_slot *classes_find(const unsigned char *word, size_t n, bool is_open,
					size_t *ret_n)
{
	const struct classes_slot *best = NULL;
	uint32_t h = 0x811c9dc5U;

	for (size_t i = 0; i < n; i++) {
		const struct classes_slot *slot;

		h = classes_hash_on(h, word[i]);
		if (i + 1 < n && (i < 1 || (word[i + 1] & 0xc0) == 0x80))
			continue;
		slot = classes_slot(h);
		if (slot && (i + 1 == n || is_open || slot->form & CLASSES_PREFIX)) {
			best = slot;
			*ret_n = i + 1;
		}
	}
	return best;
}

/* Which hint a class is. */
static unsigned classes_hint(const struct classes_slot *slot)
{
	switch (slot->class) {
	case CLASS_READER:
	case CLASS_HELPER:
		return CLASSES_READER;
	case CLASS_MUST:
	case CLASS_NOTE:
	case CLASS_PLEASE:
	case CLASS_PERMIT:
	case CLASS_YOU:
	case CLASS_YOUR:
		return CLASSES_ADDRESS;
	case CLASS_SECRET:
	case CLASS_DATA:
	case CLASS_MONEY:
	case CLASS_CHECK:
	case CLASS_ADMIN:
		return CLASSES_THING;
	case CLASS_ACCOUNT:
		return CLASSES_WHERE;
	case CLASS_USER:
	case CLASS_NOBODY:
		return CLASSES_PERSON;
	case CLASS_CONCEAL:
	case CLASS_TELL:
	case CLASS_ASK:
		return slot->form == FORM_PAST ? 0 : CLASSES_SECRECY;
	case CLASS_NOT:
		return CLASSES_NO;
	default:
		return classes_is_act(slot->class) && slot->form != FORM_PAST ? CLASSES_ACT : 0;
	}
}

unsigned classes_hints(const char *word, size_t n)
{
	unsigned char low[CLASSES_WORD];
	const struct classes_slot *slot;
	unsigned hints = 0;
	size_t len;

	if ((unsigned char)word[0] < CLASSES_OPEN) {
		n = classes_lower(word, n, low);
		slot = classes_find(low, n, false, &len);
		return slot ? classes_hint(slot) : low[0] >= 0x80 ? CLASSES_FOREIGN : 0;
	}
	for (size_t i = 0; i < n; i += len) {
		slot = classes_find((const unsigned char *)word + i, n - i, true, &len);
		if (slot)
			hints |= classes_hint(slot);
		else
			len = 1;
	}
	return hints | CLASSES_FOREIGN;
}
