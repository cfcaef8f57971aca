/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of classes.def, to look up.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CLASSES_WORD = 48, /* bytes of a word that is known */
	CLASSES_OPEN =
		0xe1, /* the first byte of scripts that are written without spaces, from here on */
	CLASSES_PREFIX = 4, /* beside a form: whatever begins so */
};

enum class {
	CLASS_NONE,
#define CLASS(id, kind) CLASS_##id,
#include "inspect/text/classes.def"
	CLASS_COUNT
};

/* Of a verb: as an order or behind "to"; as somebody does it; done, or still going on. */
enum form { FORM_NONE, FORM_BASE, FORM_THIRD, FORM_PAST, FORM_MASK = 3 };

struct classes_slot {
	uint32_t hash;
	uint8_t class; /* CLASS_NONE: nothing is here */
	uint8_t form;  /* maybe with CLASSES_PREFIX */
};

/* What a word hints at, in bits. */
enum {
	CLASSES_READER = 1 << 0,
	CLASSES_ADDRESS = 1 << 1,
	CLASSES_ACT = 1 << 2,
	CLASSES_THING = 1 << 3,
	CLASSES_WHERE = 1 << 4,
	CLASSES_PERSON = 1 << 5,
	CLASSES_SECRECY = 1 << 6,
	CLASSES_NO = 1 << 7,
	CLASSES_FOREIGN = 1 << 8, /* of another script */
};

static inline bool classes_is_act(unsigned class)
{
	return class >= CLASS_SEND && class <= CLASS_FORGET;
}

/* A word in lower case.  Returns how many bytes of it are in out. */
size_t classes_lower(const char *s, size_t n, unsigned char out[static CLASSES_WORD]);
/* A word in lower case, or the longest beginning of it that is known: as a word if is_open, else as such a beginning.
 * *ret_n: how long that is.  NULL: none. */
const struct classes_slot *classes_find(const unsigned char *word, size_t n, bool is_open,
					size_t *ret_n);
/* What a word as it stands in a text hints at. */
unsigned classes_hints(const char *word, size_t n);
/* Can a sentence with these hints be an order to a machine?  For long texts, of which most cannot. */
static inline bool classes_is_worth(unsigned hints)
{
	bool is_secret = (hints & CLASSES_SECRECY) && (hints & CLASSES_NO);
	bool is_outside = (hints & CLASSES_THING) && (hints & CLASSES_WHERE);

	if (!(hints & CLASSES_ACT))
		return false;
	if (hints & (CLASSES_READER | CLASSES_FOREIGN))
		return true;
	return (hints & CLASSES_ADDRESS) && (is_outside || (is_secret && (hints & CLASSES_PERSON)));
}
