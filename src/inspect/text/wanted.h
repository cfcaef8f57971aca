/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can a cue be in a part of a text at all?  Every expression of cues.def needs certain words; gen-wanted finds out
 * which.  The words of a text are noted as the model reads them, and a part that has not all the words of
 * any expression needs no search.  A search costs some ten times what it costs to know that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WANTED_CLAUSES = 6,   /* of one row; CLAUSES in gen-wanted */
	WANTED_MATCHES = 8,   /* pieces in one word; one with more may be anything */
	WANTED_WORD = 32,     /* bytes of a word, at most */
	WANTED_NAME = 32,     /* bytes of words that are joined; more may be anything */
	WANTED_PART = 0x4000, /* beside a piece: found in a word that is not of letters only */
	WANTED_ANY = 0xffff,
};

struct wanted_note {
	uint32_t at; /* where the word begins */
	uint16_t piece;
};

/* The pieces that a word has: numbers from 1 on, maybe with WANTED_PART, or WANTED_ANY.  Returns how many. */
unsigned wanted_find(const char *word, size_t n, uint16_t pieces[static WANTED_MATCHES]);
/* The piece that a mark is, or 0. */
unsigned wanted_mark(unsigned char c);
/* May an expression match between *low and *high, where these pieces are in the order of their places?  If so, only
 * between what is in *low and *high then. */
bool wanted_narrow(const struct wanted_note *notes, size_t n, size_t *low, size_t *high);
