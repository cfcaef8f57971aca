/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See model.h.  Speed is in three things: one pass over the bytes that hashes words, a cache of words (text
 * repeats its words) that holds what a word adds by itself, and a cascade: pairs and triples are looked up
 * only for sentences whose words alone leave a doubt, which few do.
 */
#include "inspect/text/model.h"

#include <math.h>
#include <string.h>

extern const struct model_file text_model;

enum { MODEL_WORD_MAX = 32, MODEL_FOUR = 4 };

/* Words alone below this: the sentence is what it seems. */
#define MODEL_DOUBT (-1.8)

/* One sentence on its way. */
struct model_walk {
	struct model *m;
	struct model_sentence s;
	unsigned n_tokens;
};

static uint32_t model_mix(uint32_t h)
{
	h ^= h >> 16;
	h *= 0x7feb352dU;
	h ^= h >> 15;
	h *= 0x846ca68bU;
	return h ^ h >> 16;
}

/* Hashes a word eight bytes at a time, letters in lower case; avail bytes may be read. */
static inline uint32_t model_hash_at(const char *s, size_t n, size_t avail)
{
	uint64_t h = n * 0x9e3779b97f4a7c15U, v;

	for (;;) {
		size_t part = n < 8 ? n : 8;
		uint64_t mask = part == 8 ? UINT64_MAX : ((uint64_t)1 << part * 8) - 1;

		v = 0;
		if (avail >= 8)
			memcpy(&v, s, 8);
		else
			memcpy(&v, s, part);
		v = (v | 0x2020202020202020U) & mask;
		h = (h ^ v) * 0xff51afd7ed558ccdU;
		h ^= h >> 32;
		if (n <= 8)
			return (uint32_t)h;
		s += 8;
		n -= 8;
		avail -= 8;
	}
}

static uint32_t model_hash(const char *word, size_t n)
{
	return model_hash_at(word, n, n);
}

static int32_t model_weight(struct model *m, uint32_t hash)
{
	uint32_t feature = model_mix(hash) >> (32 - MODEL_BITS);

	if (m->fn)
		m->fn(m->data, feature);
	return m->file->weights[feature];
}

/* Adds up a word and the fours of "^word$". */
static void model_meet(struct model *m, struct model_cache *c, uint32_t hash, const char *word,
		       size_t n)
{
	uint32_t window = '^';
	int32_t sum = model_weight(m, hash);

	*c = (struct model_cache){.hash = hash, .n = 1, .is_word = n > 1};
	for (size_t i = 0; i <= n && n > 2; i++) {
		window = window << 8 | (i < n ? m->fold[(unsigned char)word[i]] : '$');
		if (i + 2 < MODEL_FOUR)
			continue;
		sum += model_weight(m, window ^ 0x5bd1e995U);
		c->n++;
	}
	c->sum = (int16_t)sum;
	/* Words of other scripts are few in most texts, and no list of them is long enough. */
	c->key = n > 0 && (unsigned char)word[0] >= 0x80 ? KEYS_WORTH
							 : keys_value(&m->keys, hash) & 3;
}

static inline void model_token(struct model_walk *w, uint32_t hash, const char *word, size_t n)
{
	struct model_cache *c = &w->m->cache[(hash ^ hash >> 15) % MODEL_CACHE];

	if (c->hash != hash || w->m->fn)
		model_meet(w->m, c, hash, word, n);
	w->s.sum += c->sum;
	w->s.n += c->n;
	w->s.words += c->is_word;
	w->s.keys += c->key;
	if (w->n_tokens < MODEL_TOKENS)
		w->m->tokens[w->n_tokens++] = hash;
}

/* Reads a word at *pos.  Numbers and names with digits are all one word. */
static inline void model_read_word(struct model_walk *w, const char *text, size_t len, size_t *pos)
{
	size_t start = *pos, i = start,
	       max = len - start < MODEL_WORD_MAX ? len : start + MODEL_WORD_MAX;
	unsigned char c, digit = 0;

	while (i < max && (c = w->m->fold[(unsigned char)text[i]])) {
		digit |= c == '0';
		i++;
	}
	*pos = i;
	if (digit) {
		model_token(w, 0x7654321U, "", 0);
		return;
	}
	/* Shouting. */
	if (i - start > 2 && (unsigned char)(text[start] - 'A') < 26 &&
	    (unsigned char)(text[i - 1] - 'A') < 26)
		model_token(w, 0x1234567U, "", 0);
	model_token(w, model_hash_at(text + start, i - start, len - start), text + start,
		    i - start);
}

enum { MODEL_SKIP, MODEL_MARK, MODEL_STOP, MODEL_STOP_MARK, MODEL_LINE };

/* A stop ends a sentence when a blank or a quote follows. */
static bool model_is_end(const char *text, size_t len, size_t i)
{
	return i + 1 >= len || text[i + 1] == ' ' || text[i + 1] == '\n' || text[i + 1] == '"' ||
	       text[i + 1] == '\'';
}

static double model_score(const struct model *m, int32_t sum, uint32_t n)
{
	return (double)m->file->scale * sum / sqrt((double)n) + (double)m->file->bias;
}

/* Pairs, pairs over a gap, and triples; the start of a sentence is a word too. */
static void model_pairs(struct model_walk *w)
{
	uint32_t one = 1, two = 2;

	for (unsigned i = 0; i < w->n_tokens; i++) {
		uint32_t hash = w->m->tokens[i];

		w->s.sum += model_weight(w->m, (one * 0x9e3779b1U) ^ hash);
		w->s.sum += model_weight(w->m, (two * 0x85ebca6bU) ^ hash);
		w->s.sum += model_weight(w->m, (two * 0xc2b2ae35U) ^ (one * 0x27d4eb2fU) ^ hash);
		two = one;
		one = hash;
	}
	w->s.n += 3 * w->n_tokens;
}

void model_init(struct model *m)
{
	memset(m, 0, sizeof(*m));
	m->file = &text_model;
	for (unsigned c = 0; c < 256; c++)
		m->fold[c] = c >= 'A' && c <= 'Z'                  ? (unsigned char)(c | 0x20)
			     : c >= '0' && c <= '9'                ? '0'
			     : (c >= 'a' && c <= 'z') || c >= 0x80 ? (unsigned char)c
								   : 0;
	for (const char *p = ":@<>[]#$"; *p; p++)
		m->mark[(unsigned char)*p] = MODEL_MARK;
	m->mark['.'] = m->mark[';'] = MODEL_STOP;
	m->mark['!'] = m->mark['?'] = MODEL_STOP_MARK;
	m->mark['\n'] = MODEL_LINE;
	keys_init(&m->keys, model_hash);
}

bool model_next(struct model *m, const char *text, size_t len, size_t *pos,
		struct model_sentence *ret)
{
	struct model_walk w;
	size_t i = *pos;

	w.m = m;
	w.n_tokens = 0;
	w.s = (struct model_sentence){0};
	while (i < len && (text[i] == ' ' || text[i] == '\n'))
		i++;
	w.s.start = i;
	while (i < len && i - w.s.start < MODEL_SENTENCE_MAX) {
		unsigned char c = (unsigned char)text[i], mark;

		if (m->fold[c]) {
			model_read_word(&w, text, len, &i);
			continue;
		}
		i++;
		mark = m->mark[c];
		if (mark == MODEL_SKIP)
			continue;
		if ((mark == MODEL_MARK || mark == MODEL_STOP_MARK) &&
		    (i - 1 == w.s.start || text[i - 2] != (char)c))
			model_token(&w, c * 0x01000193U, "", 0);
		/* An image in Markdown: its address may carry data out. */
		w.s.is_worth |= c == '[' && i > 1 && text[i - 2] == '!';
		if (mark == MODEL_LINE || (mark != MODEL_MARK && model_is_end(text, len, i - 1)))
			break;
	}
	w.s.end = i;
	w.s.is_worth |= w.s.keys + (w.s.keys ? m->keys_before : 0) >= KEYS_WORTH;
	m->keys_before = w.s.keys;
	if (w.s.n > 0 && (m->fn || model_score(m, w.s.sum, w.s.n) > MODEL_DOUBT)) {
		w.s.is_worth |= w.s.words >= MODEL_WORDS_MIN;
		model_pairs(&w);
	}
	*pos = i;
	*ret = w.s;
	return w.s.start < i;
}

double model_judge(struct model *m, const struct model_sentence *s, size_t *ret_start)
{
	double best = -1e9;
	int32_t sum = 0;
	uint32_t n = 0, words = 0;

	for (unsigned i = MODEL_WINDOW - 1; i > 0; i--)
		m->last[i] = m->last[i - 1];
	m->last[0] = *s;
	if (m->n_last < MODEL_WINDOW)
		m->n_last++;
	for (unsigned i = 0; i < m->n_last; i++) {
		double z;

		sum += m->last[i].sum;
		n += m->last[i].n;
		words += m->last[i].words;
		if (words < MODEL_WORDS_MIN || sum <= 0)
			continue;
		z = model_score(m, sum, n);
		if (z > best) {
			best = z;
			*ret_start = m->last[i].start;
		}
	}
	if (best < -1e8)
		return 0;
	best = (double)m->file->slope * best + (double)m->file->offset;
	/* A curve from 0 to 1 that needs no exponential function. */
	return 0.5 + 0.5 * best / sqrt(1 + best * best);
}
