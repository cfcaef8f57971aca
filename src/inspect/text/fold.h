/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Characters as a reader sees them: which ASCII letters a character stands for, and which characters
 * are not seen at all.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum fold_class {
	FOLD_KEEP,       /* itself */
	FOLD_STYLE,      /* a form of ASCII: fullwidth, mathematical, with accents, circled */
	FOLD_LOOKALIKE,  /* a letter of another script that looks like an ASCII letter */
	FOLD_ZERO_WIDTH, /* not seen: zero width, soft hyphen, fillers */
	FOLD_BIDI,       /* marks, embeddings and isolates */
	FOLD_OVERRIDE,   /* U+202D, U+202E: turns the order of what follows */
	FOLD_TAG,        /* U+E0000..U+E007F: ASCII that is not seen */
	FOLD_SELECTOR,   /* variation selectors: bytes that are not seen */
	FOLD_BLANK,      /* a space of another width, a line or paragraph separator */
};

enum { FOLD_TO_MAX = 6 };

/* The class of a character that is not ASCII.  For STYLE and LOOKALIKE the ASCII text is written to to, NUL-terminated. */
enum fold_class fold_char(uint32_t code, char to[static FOLD_TO_MAX + 1]);
/* The byte that a tag or a variation selector hides, or -1. */
int fold_hidden_byte(uint32_t code);
