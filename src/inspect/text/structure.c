/* SPDX-License-Identifier: Apache-2.0 */
/* See structure.h. */
#include "inspect/text/structure.h"

#include "base/mem.h"
#include "inspect/text/classes.h"

#include <math.h>
#include <string.h>

extern const struct structure_file text_structure;

/* What stands together counts by these groups, so that few examples say much. */
enum group {
	GROUP_READER, /* nobody but a machine */
	GROUP_HELPER, /* maybe one */
	GROUP_NOTE,
	GROUP_MUST,
	GROUP_ORDER,   /* a verb where an order has it */
	GROUP_DOES,    /* a machine and what it does, as orders are given in reports */
	GROUP_HARM,    /* what is done with things of others */
	GROUP_SPEAK,   /* say, recommend, rate */
	GROUP_THING,   /* what is secret or costs money, or keeps people safe */
	GROUP_WHERE,   /* outside */
	GROUP_SECRECY, /* do not ask, do not tell, hide */
	GROUP_PERMIT,
	GROUP_PRAISE,
	GROUP_YOU,
	GROUP_USER,
	GROUP_ABOUT, /* it is only spoken of */
	GROUP_PEOPLE,
	GROUP_MAY,
	GROUP_COUNT
};

enum template {
	TEMPLATE_CLASS = 1,
	TEMPLATE_FORM,
	TEMPLATE_PAIR,
	TEMPLATE_NEAR,
	TEMPLATE_TRIPLE,
	TEMPLATE_SKIP,
	TEMPLATE_TWO,
	TEMPLATE_THREE,
};

enum { STRUCTURE_SKIP = 7, STRUCTURE_GAP = 3, STRUCTURE_BLANKS = 8 };

#define STRUCTURE_NOTHING (-2.5)

struct structure_walk {
	struct structure_sentence *to;
	unsigned gap;
};

static void structure_add(struct structure_walk *w, enum class class, unsigned form)
{
	struct structure_sentence *to = w->to;

	if (to->n == STRUCTURE_ITEMS)
		return;
	to->items[to->n++] =
		(struct structure_item){(uint8_t) class, (uint8_t)(form & FORM_MASK),
					(uint8_t)(w->gap < STRUCTURE_GAP ? w->gap : STRUCTURE_GAP)};
	w->gap = 0;
}

/* A word of a script that is written without spaces, or of one that glues words together: whatever is in it. */
static void structure_open_word(struct structure_walk *w, const unsigned char *word, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t most = n - i < CLASSES_WORD ? n - i : CLASSES_WORD, len = 0;
		const struct classes_slot *slot = classes_find(word + i, most, true, &len);

		if (slot)
			structure_add(w, slot->class, slot->form);
		i += slot ? len : 1;
		while (i < n && (word[i] & 0xc0) == 0x80)
			i++;
	}
}

static void structure_word(struct structure_walk *w, const char *text, size_t n)
{
	unsigned char word[CLASSES_WORD];
	const unsigned char *quote;
	const struct classes_slot *slot;
	size_t len, unused, at;

	/* From here on are the scripts of East Asia. */
	if ((unsigned char)text[0] >= CLASSES_OPEN) {
		structure_open_word(w, (const unsigned char *)text, n);
		return;
	}
	len = classes_lower(text, n, word);
	slot = classes_find(word, len, false, &unused);
	/* l'agent, the agent's */
	quote = slot ? NULL : memchr(word, '\'', len);
	if (quote) {
		at = (size_t)(quote - word);
		slot = classes_find(word, at, false, &unused);
		if (!slot)
			slot = classes_find(quote + 1, len - at - 1, false, &unused);
	}
	/* Arabic writes its article and its prepositions to the word. */
	for (at = 2; !slot && at <= 6 && at + 4 <= len && word[0] >= 0xd8 && word[0] <= 0xdb;
	     at += 2)
		slot = classes_find(word + at, len - at, false, &unused);
	if (slot)
		structure_add(w, slot->class, slot->form);
	else
		w->gap++;
}

static bool structure_is_letter(unsigned char c)
{
	return (c | 0x20) - (unsigned)'a' < 26 || c >= 0x80;
}

static bool structure_is_digit(unsigned char c)
{
	return c - (unsigned)'0' < 10;
}

/* What stands around a word and is no part of it. */
static bool structure_is_around(char c)
{
	switch (c) {
	case '"':
	case '\'':
	case '<':
	case '>':
	case '(':
	case ')':
	case '[':
	case ']':
	case '{':
	case '}':
	case '`':
		return true;
	default:
		return false;
	}
}

/* How many bytes are no blanks, at most as many as an address has. */
static size_t structure_token(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && (unsigned char)text[i] > ' ' && !structure_is_around(text[i]) &&
	       (unsigned char)text[i] < 0x80)
		i++;
	return i;
}

/* len: 2 at least. */
static bool structure_has_scheme(const char *text, size_t len)
{
	const char *p = text;

	while ((p = memchr(p, ':', len - 2 - (size_t)(p - text)))) {
		if (p[1] == '/' && p[2] == '/')
			return true;
		p++;
	}
	return false;
}

/* An address or the name of a file at text, n bytes.  Returns its length, 0 if there is none. */
static size_t structure_address(struct structure_walk *w, const char *text, size_t n)
{
	size_t len = structure_token(text, n);
	const char *sign;

	if (len < 4)
		return 0;
	if (structure_has_scheme(text, len) || strncmp(text, "www.", 4) == 0) {
		structure_add(w, CLASS_URL, FORM_NONE);
		return len;
	}
	sign = memchr(text + 1, '@', len - 1);
	if (sign && (size_t)(sign - text) + 3 < len &&
	    memchr(sign, '.', len - (size_t)(sign - text))) {
		structure_add(w, CLASS_EMAIL, FORM_NONE);
		return len;
	}
	if (((text[0] == '~' || text[0] == '.') && text[1] == '/') ||
	    (text[0] == '/' && structure_is_letter((unsigned char)text[1]) &&
	     memchr(text + 1, '/', len - 1))) {
		structure_add(w, CLASS_PATH, FORM_NONE);
		/* The words in it count, too. */
		return 1;
	}
	return 0;
}

/* Digits and what joins them, from i on.  Returns where they end. */
static size_t structure_number(struct structure_walk *w, const char *text, size_t i, size_t end)
{
	unsigned digits = 0;

	for (; i < end; i++) {
		unsigned char c = (unsigned char)text[i];

		if (structure_is_digit(c))
			digits++;
		else if (!strchr(".,-/ ", c) || i + 1 >= end ||
			 !structure_is_digit((unsigned char)text[i + 1]))
			break;
	}
	structure_add(w, digits > 6 ? CLASS_LONGNUMBER : CLASS_NUMBER, FORM_NONE);
	return i;
}

static void structure_mark(struct structure_walk *w, const char *text, size_t i, size_t start)
{
	static const uint8_t marks[128] = {
		[':'] = CLASS_COLON,    ['('] = CLASS_OPEN,  ['['] = CLASS_OPEN,
		['<'] = CLASS_OPEN,     ['{'] = CLASS_OPEN,  ['"'] = CLASS_OPEN,
		['#'] = CLASS_OPEN,     ['*'] = CLASS_OPEN,  ['@'] = CLASS_AT,
		['?'] = CLASS_QUESTION, ['!'] = CLASS_SHOUT, [','] = CLASS_COMMA,
		['`'] = CLASS_TICK,     ['|'] = CLASS_SHELL, ['$'] = CLASS_SHELL,
		['\n'] = CLASS_START,
	};
	unsigned char c = (unsigned char)text[i];

	/* The same again says nothing new. */
	if (c < 128 && marks[c] && (i == start || text[i - 1] != (char)c))
		structure_add(w, marks[c], FORM_NONE);
}

/* Reads the words of a sentence that was only noted. */
static void structure_look(const struct structure *s, struct structure_sentence *to)
{
	const char *text = s->text;
	size_t start = to->start, end = to->end;
	struct structure_walk w;

	to->is_read = true;
	w = (struct structure_walk){.to = to};
	for (size_t i = start; i < end && to->n < STRUCTURE_ITEMS;) {
		unsigned char c = (unsigned char)text[i];
		bool is_first = i == start || (unsigned char)text[i - 1] <= ' ' ||
				structure_is_around(text[i - 1]) || text[i - 1] == '=' ||
				text[i - 1] == ',';
		size_t n = is_first ? structure_address(&w, text + i, end - i) : 0;

		if (n > 0) {
			i += n;
		} else if (structure_is_digit(c)) {
			i = structure_number(&w, text, i, end);
		} else if (structure_is_letter(c)) {
			for (n = 1; i + n < end &&
				    (structure_is_letter((unsigned char)text[i + n]) ||
				     (text[i + n] == '\'' && i + n + 1 < end &&
				      structure_is_letter((unsigned char)text[i + n + 1])));)
				n++;
			structure_word(&w, text + i, n);
			i += n;
		} else {
			structure_mark(&w, text, i, start);
			i++;
		}
	}
}

/* ---- features ---- */

static void structure_feature(struct structure *s, enum template t, uint32_t a, uint32_t b,
			      uint32_t c)
{
	uint32_t h = ((uint32_t)t * 0x9e3779b1U) ^ (a * 0x85ebca6bU) ^ ((b + 1) * 0xc2b2ae35U) ^
		     ((c + 1) * 0x27d4eb2fU);

	h ^= h >> 15;
	h *= 0x2c1b3c6dU;
	h ^= h >> 12;
	h *= 0x297a2d39U;
	h = (h ^ h >> 15) & (STRUCTURE_WEIGHTS - 1);
	if (s->seen[h / 64] >> (h % 64) & 1 || s->n_features == STRUCTURE_FEATURES)
		return;
	s->seen[h / 64] |= (uint64_t)1 << (h % 64);
	s->features[s->n_features++] = h;
}

/* May an order begin behind it? */
static bool structure_is_boundary(const struct structure_item *i)
{
	static const bool is[CLASS_COUNT] = {
		[CLASS_START] = true,  [CLASS_BREAK] = true, [CLASS_COLON] = true,
		[CLASS_COMMA] = true,  [CLASS_OPEN] = true,  [CLASS_ANDTHEN] = true,
		[CLASS_PLEASE] = true, [CLASS_NOT] = true,   [CLASS_SHOUT] = true,
		[CLASS_MUST] = true,   [CLASS_NOW] = true,   [CLASS_ALWAYS] = true,
		[CLASS_AT] = true,
	};

	return is[i->class];
}

static bool structure_is_machine(const struct structure_item *i)
{
	return i->class == CLASS_READER || i->class == CLASS_HELPER || i->class == CLASS_SYSTEM;
}

/* The group that a class belongs to by itself, or GROUP_COUNT. */
static enum group structure_group(enum class class)
{
	static const uint8_t groups[CLASS_COUNT] = {
		[CLASS_READER] = GROUP_READER + 1, [CLASS_HELPER] = GROUP_HELPER + 1,
		[CLASS_SYSTEM] = GROUP_HELPER + 1, [CLASS_KIND] = GROUP_HELPER + 1,
		[CLASS_NOTE] = GROUP_NOTE + 1,     [CLASS_STEP] = GROUP_NOTE + 1,
		[CLASS_URGENT] = GROUP_NOTE + 1,   [CLASS_MUST] = GROUP_MUST + 1,
		[CLASS_SECRET] = GROUP_THING + 1,  [CLASS_DATA] = GROUP_THING + 1,
		[CLASS_MONEY] = GROUP_THING + 1,   [CLASS_CHECK] = GROUP_THING + 1,
		[CLASS_ADMIN] = GROUP_THING + 1,   [CLASS_URL] = GROUP_WHERE + 1,
		[CLASS_EMAIL] = GROUP_WHERE + 1,   [CLASS_LONGNUMBER] = GROUP_WHERE + 1,
		[CLASS_ACCOUNT] = GROUP_WHERE + 1, [CLASS_CONCEAL] = GROUP_SECRECY + 1,
		[CLASS_PERMIT] = GROUP_PERMIT + 1, [CLASS_VENDOR] = GROUP_PERMIT + 1,
		[CLASS_PRAISE] = GROUP_PRAISE + 1, [CLASS_YOU] = GROUP_YOU + 1,
		[CLASS_YOUR] = GROUP_YOU + 1,      [CLASS_USER] = GROUP_USER + 1,
		[CLASS_NOBODY] = GROUP_USER + 1,   [CLASS_ATTACK] = GROUP_ABOUT + 1,
		[CLASS_EXAMPLE] = GROUP_ABOUT + 1, [CLASS_HOWTO] = GROUP_ABOUT + 1,
		[CLASS_LETS] = GROUP_ABOUT + 1,    [CLASS_SORRY] = GROUP_PEOPLE + 1,
		[CLASS_WE] = GROUP_PEOPLE + 1,     [CLASS_PAST] = GROUP_PEOPLE + 1,
		[CLASS_MAY] = GROUP_MAY + 1,       [CLASS_SAY] = GROUP_SPEAK + 1,
		[CLASS_RATE] = GROUP_SPEAK + 1,    [CLASS_SEND] = GROUP_HARM + 1,
		[CLASS_PAY] = GROUP_HARM + 1,      [CLASS_APPROVE] = GROUP_HARM + 1,
		[CLASS_DISABLE] = GROUP_HARM + 1,  [CLASS_DELETE] = GROUP_HARM + 1,
		[CLASS_RUN] = GROUP_HARM + 1,      [CLASS_FETCH] = GROUP_HARM + 1,
		[CLASS_GRANT] = GROUP_HARM + 1,    [CLASS_BUY] = GROUP_HARM + 1,
		[CLASS_REVEAL] = GROUP_HARM + 1,   [CLASS_FORGET] = GROUP_HARM + 1,
	};

	return groups[class] ? (enum group)(groups[class] - 1) : GROUP_COUNT;
}

/* The groups that the items from i on make: those of i and what it is to the ones before it. */
static uint32_t structure_groups_at(const struct structure_item *row, unsigned i)
{
	const struct structure_item *at = &row[i], *before = i > 0 ? &row[i - 1] : at;
	bool is_act = classes_is_act(at->class) && at->form != FORM_PAST;
	enum group own = structure_group(at->class);
	uint32_t groups = 0;

	/* What was done is no deed. */
	if (own != GROUP_COUNT && (own != GROUP_HARM || is_act))
		groups |= 1U << own;
	if (is_act && at->form == FORM_BASE && at->gap <= 1 && structure_is_boundary(before))
		groups |= 1U << GROUP_ORDER;
	for (unsigned k = 1; is_act && k <= 3 && k <= i; k++)
		if (structure_is_machine(&row[i - k]))
			groups |= 1U << GROUP_DOES;
	if (at->class == CLASS_TELL || at->class == CLASS_ASK)
		for (unsigned k = 1; k <= 3 && k <= i; k++)
			if (row[i - k].class == CLASS_NOT || row[i - k].class == CLASS_NOBODY)
				groups |= 1U << GROUP_SECRECY;
	/* Where the verb comes last, so does the word for no. */
	if (at->class == CLASS_NOT)
		for (unsigned k = 1; k <= 2 && k <= i; k++)
			if (row[i - k].class == CLASS_TELL || row[i - k].class == CLASS_ASK)
				groups |= 1U << GROUP_SECRECY;
	return groups;
}

static void structure_together(struct structure *s, uint32_t groups)
{
	for (unsigned a = 0; a < GROUP_COUNT; a++) {
		if (!(groups >> a & 1))
			continue;
		structure_feature(s, TEMPLATE_TWO, a, a, 0);
		for (unsigned b = a + 1; b < GROUP_COUNT; b++) {
			if (!(groups >> b & 1))
				continue;
			structure_feature(s, TEMPLATE_TWO, a, b, 0);
			for (unsigned c = b + 1; c < GROUP_COUNT; c++)
				if (groups >> c & 1)
					structure_feature(s, TEMPLATE_THREE, a, b, c);
		}
	}
}

/* A class with the form of a verb. */
static uint32_t structure_fine(const struct structure_item *i)
{
	return (uint32_t)i->class << 2 | i->form;
}

static void structure_rows(struct structure *s, unsigned n)
{
	const struct structure_item *row = s->row;
	uint32_t groups = 0;

	for (unsigned i = 0; i < n; i++) {
		uint32_t here = structure_fine(&row[i]);

		groups |= structure_groups_at(row, i);
		structure_feature(s, TEMPLATE_CLASS, row[i].class, 0, 0);
		structure_feature(s, TEMPLATE_FORM, here, 0, 0);
		if (i >= 1) {
			unsigned gap = row[i].gap > 1 ? 2 : row[i].gap;

			structure_feature(s, TEMPLATE_PAIR, structure_fine(&row[i - 1]), here, gap);
			structure_feature(s, TEMPLATE_NEAR, row[i - 1].class, row[i].class, 0);
		}
		if (i >= 2)
			structure_feature(s, TEMPLATE_TRIPLE, structure_fine(&row[i - 2]),
					  structure_fine(&row[i - 1]), here);
		for (unsigned k = 2; k <= STRUCTURE_SKIP && k <= i; k++)
			structure_feature(s, TEMPLATE_SKIP, row[i - k].class, here, 0);
	}
	structure_together(s, groups);
}

unsigned structure_window(struct structure *s, unsigned n)
{
	unsigned items = 0;

	for (unsigned i = 0; i < s->n_features; i++)
		s->seen[s->features[i] / 64] = 0;
	s->n_features = 0;
	if (n > s->n_last)
		return 0;
	for (unsigned i = n; i > 0; i--) {
		struct structure_sentence *from = &s->last[(s->n_last - i) % STRUCTURE_WINDOW];

		if (!from->is_read)
			structure_look(s, from);
		s->row[items++] =
			(struct structure_item){.class = i == n ? CLASS_START : CLASS_BREAK};
		memcpy(&s->row[items], from->items, from->n * sizeof(from->items[0]));
		items += from->n;
	}
	s->row[items++] = (struct structure_item){.class = CLASS_BREAK};
	structure_rows(s, items);
	return s->n_features;
}

double structure_likelihood(double z)
{
	return 0.5 + 0.5 * z / sqrt(1 + z * z);
}

double structure_lessened(double p, double built)
{
	double side = 2 * p - 1, less = STRUCTURE_UNBUILT - built;

	if (less <= 0 || p <= 0 || p >= 1)
		return p;
	if (less > STRUCTURE_UNBUILT_MOST)
		less = STRUCTURE_UNBUILT_MOST;
	return structure_likelihood(side / sqrt(1 - side * side) - STRUCTURE_UNBUILT_WEIGHT * less);
}

void structure_init(struct structure *s)
{
	memset(s, 0, sizeof(*s));
	s->file = &text_structure;
}

void structure_begin(struct structure *s, const char *text)
{
	s->text = text;
	s->n_last = 0;
}

void structure_note(struct structure *s, size_t start, size_t end)
{
	const struct structure_sentence *before =
		&s->last[(s->n_last + STRUCTURE_WINDOW - 1) % STRUCTURE_WINDOW];
	struct structure_sentence *to;

	/* Between two sentences in a row are only blanks. */
	if (s->n_last > 0 && (start < before->end || start - before->end > STRUCTURE_BLANKS))
		s->n_last = 0;
	to = &s->last[s->n_last++ % STRUCTURE_WINDOW];
	to->start = start;
	to->end = end;
	to->n = 0;
	to->is_read = false;
}

double structure_judge(struct structure *s)
{
	const struct structure_file *f = s->file;
	double best = STRUCTURE_LEAST;

	for (unsigned size = 1; size <= STRUCTURE_WINDOW; size++) {
		unsigned n = structure_window(s, size);
		int32_t sum = 0;
		double z;

		if (n < STRUCTURE_FEATURES_MIN)
			continue;
		for (unsigned i = 0; i < n; i++)
			sum += f->weights[s->features[i]];
		z = (double)f->scale * sum / sqrt((double)n) + (double)f->bias;
		best = z > best ? z : best;
		/* What comes before makes no order of what is nothing like one. */
		if (best < STRUCTURE_NOTHING)
			break;
	}
	return (double)f->slope * best + (double)f->offset;
}
