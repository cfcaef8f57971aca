/* SPDX-License-Identifier: Apache-2.0 */
/* See wanted.h.  The table is made by gen-wanted at build time. */
#include "inspect/text/wanted.h"

#include "base/mem.h"

#include <string.h>

struct wanted_piece {
	char text[22];
	uint8_t n;
	bool is_right; /* no letter is behind it */
};

/* The rows in wanted_anchored whose rarest clause, their anchor, a piece fits: they are looked at when it is met. */
struct wanted_use {
	uint16_t first;
	uint8_t n;
	bool is_whole; /* no letter is before it, nor behind it */
};

struct wanted_row {
	uint16_t far;  /* bytes of a match, at most */
	uint16_t lead; /* those before the word of its first clause */
	uint16_t tail; /* those behind the word of its last clause */
	uint16_t n;
	uint16_t sets[WANTED_CLAUSES];
	uint16_t asks[WANTED_CLAUSES -
		      1]; /* the clauses but the anchor, by their bits in wanted_there */
};

/* A character that is not ASCII. */
struct wanted_char {
	uint32_t code; /* its bytes, the first one lowest; 0: nothing is here */
	uint16_t piece;
};

#include "inspect/text_wanted.inc"

_Static_assert((int)WANTED_PIECES < WANTED_PART, "a piece's number fits");

enum { WANTED_BITS = 64 };

/* The pieces of a part of a text.  Which words a text has is what a processor guesses worst: hence tables and sums in
 * the place of questions. */
struct wanted_part {
	const struct wanted_note *notes;
	size_t n;
	uint64_t seen[WANTED_PIECES / WANTED_BITS + 1];
	wanted_vector there;         /* clauses that one of them fits */
	uint8_t fits[WANTED_PIECES]; /* which clauses of the row that is looked at, as bits */
	size_t low, high;            /* where an expression may match; from high to low at first */
};

static bool wanted_is_letter(unsigned char c)
{
	return c >= 'a' && c <= 'z';
}

/* The first eight bytes of a word or a piece; a word has as many behind its end. */
static uint64_t wanted_eight(const char *s)
{
	uint64_t v;

	memcpy(&v, s, sizeof(v));
	return v;
}

/* Adds the pieces from number k to end - 1 that the n letters at s begin with.  Eight letters are compared at once. */
static unsigned wanted_compare(const char *s, size_t n, unsigned k, unsigned end, unsigned have,
			       uint16_t *pieces)
{
	uint64_t eight = wanted_eight(s);

	for (; k < end; k++) {
		const struct wanted_piece *p = &wanted_pieces[k];
		unsigned unlike = p->n < 8 ? 64 - p->n * 8U : 0;

		if ((eight ^ wanted_eight(p->text)) << unlike != 0 || p->n > n ||
		    (p->is_right && p->n != n) ||
		    (p->n > 8 && memcmp(p->text + 8, s + 8, p->n - 8U) != 0))
			continue;
		if (have == WANTED_MATCHES) {
			pieces[0] = WANTED_ANY;
			return have;
		}
		pieces[have++] = (uint16_t)(k + 1);
	}
	return have;
}

/* Where the pieces are that begin as the n letters at s do.  Letters that stand alone are before those with a second
 * one. */
static unsigned wanted_bucket(const char *s, size_t n)
{
	return (unsigned)(s[0] - 'a') * 27 + (n > 1 ? (unsigned)(s[1] - 'a') + 1 : 0);
}

/* May a piece begin with the three letters at s? */
static bool wanted_three(const uint32_t *threes, const char *s)
{
	unsigned i = ((unsigned)(s[0] - 'a') * 26 + (unsigned)(s[1] - 'a')) * 26 +
		     (unsigned)(s[2] - 'a');

	return threes[i / 32] >> (i % 32) & 1;
}

static unsigned wanted_letters(const char *s, size_t n, unsigned have, uint16_t *pieces)
{
	unsigned b = wanted_bucket(s, n);

	if (n < 3 || wanted_three(wanted_first_threes, s))
		have = wanted_compare(s, n, wanted_firsts[b], wanted_firsts[b + 1], have, pieces);
	for (size_t i = 0; i < n; i++) {
		if (n - i > 2 && !wanted_three(wanted_other_threes, s + i))
			continue;
		b = wanted_bucket(s + i, n - i);
		if (wanted_others[b] < wanted_others[b + 1])
			have = wanted_compare(s + i, n - i, WANTED_OTHERS + wanted_others[b],
					      WANTED_OTHERS + wanted_others[b + 1], have, pieces);
	}
	return have;
}

/* The piece that begins with the n bytes at s, of which the first is no letter of ASCII, or 0. */
static unsigned wanted_other(const char *s, size_t n)
{
	unsigned char c = (unsigned char)s[0];
	size_t size = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	uint32_t code = 0;

	if (c < 0x80)
		return wanted_bytes[c];
	if (c < 0xc0 || size > n)
		return 0;
	for (size_t i = 0; i < size; i++)
		code |= (uint32_t)(unsigned char)s[i] << i * 8;
	for (uint32_t at = (code * 0x9e3779b1U) >> (32 - WANTED_CHAR_BITS);;
	     at = (at + 1) & ((1U << WANTED_CHAR_BITS) - 1)) {
		if (wanted_chars[at].code == code)
			return wanted_chars[at].piece;
		if (wanted_chars[at].code == 0)
			return 0;
	}
}

unsigned wanted_find(const char *word, size_t n, uint16_t pieces[static WANTED_MATCHES])
{
	char s[WANTED_WORD + sizeof(uint64_t)];
	unsigned have = 0;
	bool is_mixed = false;

	if (n > WANTED_WORD) {
		pieces[0] = WANTED_ANY;
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		s[i] = (char)(word[i] | ((word[i] >= 'A' && word[i] <= 'Z') << 5));
	memset(s + n, 0, sizeof(uint64_t));
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		if (!wanted_is_letter((unsigned char)s[i])) {
			unsigned piece = wanted_other(s + i, n - i);

			is_mixed = true;
			if (piece && have < WANTED_MATCHES)
				pieces[have++] = (uint16_t)piece;
			else if (piece)
				pieces[0] = WANTED_ANY;
			continue;
		}
		while (end < n && wanted_is_letter((unsigned char)s[end]))
			end++;
		have = wanted_letters(s + i, end - i, have, pieces);
	}
	for (unsigned i = 0; is_mixed && i < have && pieces[0] != WANTED_ANY; i++)
		pieces[i] |= WANTED_PART;
	return have;
}

unsigned wanted_mark(unsigned char c)
{
	return c < 0x80 ? wanted_bytes[c] : 0;
}

static unsigned wanted_number(unsigned piece)
{
	return (piece & ~(unsigned)WANTED_PART) - 1;
}

/* Is there a piece of every clause? */
static bool wanted_has_all(const struct wanted_part *p, const struct wanted_row *row)
{
	bool has = true;

	for (unsigned i = 0; i < ARRAY_LEN(row->asks); i++)
		has &= p->there[row->asks[i] / WANTED_BITS] >> (row->asks[i] % WANTED_BITS) & 1;
	return has;
}

/* Notes of every piece which clauses of a row it fits, or forgets that. */
static void wanted_fit_row(struct wanted_part *p, const struct wanted_row *row, bool is_on)
{
	for (unsigned c = 0; c < row->n; c++)
		for (unsigned i = wanted_sets[row->sets[c]]; i < wanted_sets[row->sets[c] + 1]; i++)
			if (is_on)
				p->fits[wanted_members[i]] |= (uint8_t)(1U << c);
			else
				p->fits[wanted_members[i]] = 0;
}

/* A word: which clauses it fits as a whole, and which with a part of it. */
struct wanted_fit {
	uint32_t at;
	unsigned whole, part;
};

/* Of the words that fit a clause and those before it in their order: behind which byte the first of them is, of those
 * where it is the newest and the oldest one, or 0. */
struct wanted_begins {
	uint32_t newest[WANTED_CLAUSES], oldest[WANTED_CLAUSES];
};

/* Takes a word. */
static void wanted_take(const struct wanted_row *row, struct wanted_begins *b,
			const struct wanted_fit *f)
{
	struct wanted_begins before = *b;

	for (unsigned c = 0; c < row->n; c++) {
		/* A whole word is not taken for two clauses; parts of one word may be. */
		const struct wanted_begins *from = f->part >> c & 1 ? b : &before;
		uint32_t newest = c == 0 ? f->at + 1 : from->newest[c - 1];
		uint32_t oldest = c == 0 ? f->at + 1 : from->oldest[c - 1];

		if (!((f->whole | f->part) >> c & 1) || newest == 0 ||
		    newest - 1 + row->far + WANTED_WORD < f->at)
			continue;
		b->newest[c] = newest;
		if (b->oldest[c] == 0 || oldest < b->oldest[c])
			b->oldest[c] = oldest;
	}
}

/* Where a match of the row may be whose last clause is at f.  It is no longer than row->far; where the oldest first word
 * is as near as that, no match begins before that word. */
static void wanted_widen(struct wanted_part *p, const struct wanted_row *row,
			 const struct wanted_begins *b, const struct wanted_fit *f)
{
	size_t low = f->at > row->far ? f->at - row->far : 0;
	size_t high = f->at + WANTED_WORD + row->tail;
	size_t first = b->oldest[row->n - 1] - 1;

	first = first > row->lead ? first - row->lead : 0;
	if (first > low)
		low = first;
	p->low = low < p->low ? low : p->low;
	p->high = high > p->high ? high : p->high;
}

/* Are the clauses there in their order, and near one another?  Then a match of the row has the last word. */
static void wanted_look(struct wanted_part *p, const struct wanted_row *row)
{
	struct wanted_begins begins = {0};
	size_t i = 0;

	wanted_fit_row(p, row, true);
	while (i < p->n) {
		struct wanted_fit f = {.at = p->notes[i].at};
		unsigned last = 1U << (row->n - 1);

		if (!p->fits[wanted_number(p->notes[i].piece)]) {
			i++;
			continue;
		}
		for (; i < p->n && p->notes[i].at == f.at; i++) {
			unsigned number = wanted_number(p->notes[i].piece);

			if (wanted_uses[number].is_whole && !(p->notes[i].piece & WANTED_PART))
				f.whole |= p->fits[number];
			else
				f.part |= p->fits[number];
		}
		wanted_take(row, &begins, &f);
		if ((f.whole | f.part) & last && begins.newest[row->n - 1])
			wanted_widen(p, row, &begins, &f);
	}
	wanted_fit_row(p, row, false);
}

bool wanted_narrow(const struct wanted_note *notes, size_t n, size_t *low, size_t *high)
{
	struct wanted_part p = {.notes = notes, .n = n, .low = *high, .high = *low};
	wanted_vector there = {0};

	there[WANTED_ALWAYS / WANTED_BITS] = (uint64_t)1 << (WANTED_ALWAYS % WANTED_BITS);
	for (size_t i = 0; i < n; i++) {
		unsigned number = wanted_number(notes[i].piece);

		if (notes[i].piece == WANTED_ANY)
			return true;
		p.seen[number / WANTED_BITS] |= (uint64_t)1 << (number % WANTED_BITS);
		there |= wanted_there[number];
	}
	p.there = there;
	for (unsigned w = 0; w < ARRAY_LEN(p.seen); w++)
		for (uint64_t left = p.seen[w] & wanted_anchors[w]; left; left &= left - 1) {
			const struct wanted_use *use =
				&wanted_uses[w * WANTED_BITS + (unsigned)__builtin_ctzll(left)];

			for (unsigned i = 0; i < use->n; i++) {
				const struct wanted_row *row =
					&wanted_rows[wanted_anchored[use->first + i]];

				if (wanted_has_all(&p, row))
					wanted_look(&p, row);
			}
		}
	if (p.low >= p.high)
		return false;
	*low = p.low > *low ? p.low : *low;
	*high = p.high < *high ? p.high : *high;
	return *low < *high;
}
