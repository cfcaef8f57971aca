/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See model.h.  Speed is in three things: one pass over the bytes that hashes words, a cache of words (text
 * repeats its words) that holds what a word adds by itself, and a cascade: pairs and triples are looked up
 * only for sentences whose words alone leave a doubt, which few do.
 */
#include "inspect/text/model.h"

#include "inspect/text/classes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <threads.h>

extern const struct model_file text_model;

enum { MODEL_WORD_MAX = WANTED_WORD, MODEL_FOUR = 4, MODEL_LIST = 0x8000, MODEL_NAME = 0x8000 };

_Static_assert(MODEL_WORD_MAX == MODEL_SALT * 8, "a word has a number for all its bytes");
_Static_assert((int)MODEL_WORD_MAX <= SPANS_MARGIN, "the bits of a word are in one window");

/* Once for the process: a call for every text would cost more than a short text does. */
static once_flag model_once = ONCE_FLAG_INIT;
static uint64_t model_salt[MODEL_SALT];
static int model_salt_error;

/* Words alone below this: the sentence is what it seems. */
#define MODEL_DOUBT (-0.8)

/*
 * What a word adds to its sentence is one number, and so are the sums: from the lowest bit on, keys, words and features,
 * of which a sentence has too few to reach the next, and the weights, which may be below zero.
 */
enum { MODEL_ADD_WORDS = 12, MODEL_ADD_N = 24, MODEL_ADD_SUM = 40 };

_Static_assert((MODEL_SENTENCE_MAX + MODEL_WORD_MAX) * 3 < 1 << MODEL_ADD_WORDS,
	       "keys and words fit");
_Static_assert((MODEL_SENTENCE_MAX + MODEL_WORD_MAX) * (MODEL_WORD_MAX + 2) <
		       1 << (MODEL_ADD_SUM - MODEL_ADD_N),
	       "features fit");

/* One sentence on its way: first its words are found, then looked up, so that the processor fetches many at once. */
struct model_walk {
	struct model *m;
	const char *text;
	size_t len, start;
	unsigned n; /* of tokens */
};

static uint32_t model_mix(uint32_t h)
{
	h ^= h >> 16;
	h *= 0x7feb352dU;
	h ^= h >> 15;
	h *= 0x846ca68bU;
	return h ^ h >> 16;
}

/* The next n (1 to 8) bytes of a word, letters in lower case; avail bytes may be read. */
static inline uint64_t model_part(const char *s, size_t n, size_t avail)
{
	uint64_t v = 0;

	if (avail >= 8)
		memcpy(&v, s, 8);
	else
		memcpy(&v, s, n);
	return (v | 0x2020202020202020U) & UINT64_MAX >> (64 - n * 8);
}

/* Hashes a word eight bytes at a time. */
static inline uint32_t model_hash_at(const char *s, size_t n, size_t avail)
{
	uint64_t h = n * 0x9e3779b97f4a7c15U;

	for (; n > 8; s += 8, n -= 8, avail -= 8) {
		h = (h ^ model_part(s, 8, avail)) * 0xff51afd7ed558ccdU;
		h ^= h >> 32;
	}
	h = (h ^ model_part(s, n, avail)) * 0xff51afd7ed558ccdU;
	return (uint32_t)(h ^ h >> 32);
}

static uint32_t model_hash(const char *word, size_t n)
{
	return model_hash_at(word, n, n);
}

/* Eight bytes of a word, the letters A to Z in lower case and all others as they are; 0 behind its end. */
static inline uint64_t model_exact(const char *s, uint64_t mask)
{
	uint64_t v;

	memcpy(&v, s, sizeof(v));
	return (v | (~(v >> 2) & 0x2020202020202020U)) & mask;
}

static inline uint64_t model_product(uint64_t a, uint64_t b)
{
	unsigned __int128 v = (unsigned __int128)a * b;

	return (uint64_t)v ^ (uint64_t)(v >> 64);
}

/* Tells a word of 1 to MODEL_WORD_MAX bytes from others; so many may be read.  Sums with secret numbers are multiplied:
 * who does not know them cannot make two words of one key. */
static inline uint64_t model_key(const struct model *m, const char *s, size_t n)
{
	const uint64_t *mask = m->masks[n];
	uint64_t h = model_product(model_exact(s, mask[0]) + m->salt[0],
				   model_exact(s + 8, mask[1]) + m->salt[1]);

	if (n > 16) {
		mask = m->masks[n - 16];
		h += model_product(model_exact(s + 16, mask[0]) + m->salt[2],
				   model_exact(s + 24, mask[1]) + m->salt[3]);
	}
	return h;
}

/* The same near the end of a text: only the word's own bytes may be read. */
__attribute__((noinline)) static uint64_t model_key_at_end(const struct model *m, const char *s,
							   size_t n)
{
	char word[MODEL_WORD_MAX];

	memcpy(word, s, n);
	return model_key(m, word, n);
}

static inline int32_t model_weight(struct model *m, uint32_t hash)
{
	uint32_t feature = model_mix(hash) >> (32 - MODEL_BITS);

	if (m->fn)
		m->fn(m->data, feature);
	return m->file->weights[feature];
}

static inline struct model_pair *model_slot(struct model *m, uint64_t key)
{
	return &m->cache[key & m->mask];
}

static inline uint32_t model_check(uint64_t key)
{
	return (uint32_t)(key >> 32) | 1;
}

/* What wanted.h says of a word, in a number. */
static unsigned model_wanted(struct model *m, const char *word, size_t n)
{
	uint16_t pieces[WANTED_MATCHES];
	unsigned have = wanted_find(word, n, pieces), at;

	if (have == 0)
		return 0;
	if (have == 1 || pieces[0] == WANTED_ANY)
		return pieces[0];
	if (m->n_lists + have + 1 > MODEL_LISTS) { /* begin anew */
		memset(m->cache, 0, (m->mask + 1U) * sizeof(*m->cache));
		m->n_lists = 0;
		m->log.lists = m->log.n;
	}
	at = m->n_lists;
	m->lists[m->n_lists++] = (uint16_t)have;
	for (unsigned i = 0; i < have; i++)
		m->lists[m->n_lists++] = pieces[i];
	return MODEL_LIST | at;
}

/* Adds a note, or does nothing that is seen: words are known or not in no order that a processor could guess. */
static inline void model_note(struct model *m, size_t at, uint16_t wanted)
{
	m->log.notes[m->log.n % MODEL_LOG] = (struct model_note){(uint32_t)at, wanted};
	m->log.n += wanted > 0;
}

/* Adds up a word and the fours of "^word$". */
static uint64_t model_add_up(struct model *m, uint32_t hash, const char *word, size_t n)
{
	uint32_t window = '^', fours = 0, key;
	int32_t sum = model_weight(m, hash);

	for (size_t i = 0; i <= n && n > 2; i++) {
		window = window << 8 | (i < n ? m->fold[(unsigned char)word[i]] : '$');
		if (i + 2 < MODEL_FOUR)
			continue;
		sum += model_weight(m, window ^ 0x5bd1e995U);
		fours++;
	}
	/* Words of other scripts are few in most texts, and no list of them is long enough. */
	key = n > 0 && (unsigned char)word[0] >= 0x80 ? KEYS_WORTH : keys_value(&m->keys, hash);
	return ((uint64_t)(int64_t)sum << MODEL_ADD_SUM) + ((uint64_t)(1 + fours) << MODEL_ADD_N) +
	       ((uint64_t)(n > 1) << MODEL_ADD_WORDS) + key;
}

/* The hash of a word, or of what is none. */
static uint32_t model_token_hash(const struct model_walk *w, const struct model_token *t)
{
	size_t at = w->start + t->at, n = t->n & ~(unsigned)MODEL_NAME;

	return n > 0 ? model_hash_at(w->text + at, n, w->len - at) : t->hash;
}

/* Takes a word into the cache, in the place of the one of the pair that was met before the other.  Apart from its caller,
 * which seldom comes here. */
__attribute__((noinline)) static struct model_cache *model_meet(const struct model_walk *w,
								const struct model_token *t)
{
	struct model *m = w->m;
	size_t n = t->n & ~(unsigned)MODEL_NAME;
	const char *word = w->text + w->start + t->at;
	struct model_pair *pair = model_slot(m, t->key);
	struct model_cache c = {.check = model_check(t->key)};

	/* What has letters beside digits is no word to the model, but it may hold a piece. */
	if (n > 0) {
		c.wanted = (uint16_t)model_wanted(m, word, n);
		c.hints = (uint16_t)classes_hints(word, n);
	}
	if (n == 0 && m->mark[(unsigned char)word[0]])
		c.wanted = (uint16_t)wanted_mark((unsigned char)word[0]);
	if (!(t->n & MODEL_NAME))
		c.adds = model_add_up(m, model_token_hash(w, t), word, n);
	if (pair->of[0].check != c.check)
		pair->of[1] = pair->of[0];
	pair->of[0] = c;
	return &pair->of[0];
}

/* Adds a word. */
static inline void model_word(struct model_walk *w, struct model_token t)
{
	if (w->n == MODEL_READ)
		return;
	__builtin_prefetch(model_slot(w->m, t.key));
	w->m->tokens[w->n++] = t;
}

/* Looks up the words that were found.  Returns what they add up to. */
static uint64_t model_look_up(const struct model_walk *w, unsigned *ret_hints)
{
	struct model *m = w->m;
	uint64_t adds = 0;
	unsigned hints = 0;

	for (unsigned i = 0; i < w->n; i++) {
		const struct model_token *t = &m->tokens[i];
		struct model_pair *pair = model_slot(m, t->key);
		uint32_t check = model_check(t->key);
		const struct model_cache *c = &pair->of[pair->of[0].check != check];

		if (t->n == MODEL_NAME) {
			model_note(m, w->start + t->at, WANTED_ANY);
			continue;
		}
		if (c->check != check || m->fn)
			c = model_meet(w, t);
		/* A word again and again, as in a table, says it once. */
		adds += i > 0 && t->key == t[-1].key ? 0 : c->adds;
		hints |= c->hints;
		model_note(m, w->start + t->at, c->wanted);
	}
	*ret_hints = hints;
	return adds;
}

/* Adds what is no word: its hash is its own. */
static inline void model_token(struct model_walk *w, uint32_t hash, size_t at, size_t n)
{
	model_word(w, (struct model_token){hash * 0x9e3779b97f4a7c15U + w->m->salt[0], hash,
					   (uint16_t)(at - w->start), (uint16_t)n});
}

/* How many bytes of a word, at most MODEL_WORD_MAX, are at a place of the text that is known. */
static inline size_t model_length(const struct spans *s, size_t at)
{
	uint64_t words = spans_window(s->words, at - s->low);

	return (size_t)__builtin_ctzll(~words | (uint64_t)1 << MODEL_WORD_MAX);
}

/* Reads a word at i and returns how long it is.  Numbers and names with digits are all one word. */
static inline size_t model_read_word(struct model_walk *w, size_t i)
{
	const struct spans *s = &w->m->spans;
	const char *word = w->text + i;
	size_t n = model_length(s, i);
	uint64_t all = ((uint64_t)1 << n) - 1;
	uint64_t digits = spans_window(s->digits, i - s->low) & all, key;

	if (digits) {
		model_token(w, 0x7654321U, i, 0);
		if (digits == all)
			return n;
	} else if (((unsigned char)(word[0] - 'A') < 26) &
		   ((unsigned char)(word[n - 1] - 'A') < 26) & (n > 2)) { /* shouting */
		model_token(w, 0x1234567U, i, 0);
	}
	if (n == MODEL_WORD_MAX) /* cut, maybe: the rest is read as a word of its own */
		model_token(w, 0, i, MODEL_NAME);
	key = w->len - i < MODEL_WORD_MAX ? model_key_at_end(w->m, word, n)
					  : model_key(w->m, word, n);
	model_word(w, (struct model_token){key, 0, (uint16_t)(i - w->start),
					   (uint16_t)(digits ? n | MODEL_NAME : n)});
	return n;
}

enum { MODEL_SKIP, MODEL_MARK, MODEL_STOP, MODEL_STOP_MARK, MODEL_LINE, MODEL_JOIN };

/* Words and underscores that end at i and are too long for a name: wanted.h knows nothing of what is near. */
static void model_join(struct model_walk *w, size_t i)
{
	size_t n = 0;

	while (n < WANTED_NAME && n < i &&
	       (w->m->fold[(unsigned char)w->text[i - n - 1]] || w->text[i - n - 1] == '_'))
		n++;
	if (n == WANTED_NAME)
		model_token(w, 0, i - 1, MODEL_NAME);
}

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

/* Do the words of a sentence leave a doubt?  A root and a quotient are asked only near the line. */
static bool model_is_doubt(const struct model *m, int32_t sum, uint32_t n)
{
	if (m->fn)
		return true;
	if ((double)sum * abs(sum) < m->doubt * n)
		return false;
	return model_score(m, sum, n) > MODEL_DOUBT;
}

/* Pairs, pairs over a gap, and triples; the start of a sentence is a word too. */
static void model_pairs(const struct model_walk *w, struct model_sentence *s)
{
	struct model *m = w->m;
	uint32_t one = 1, two = 2, n = 0;
	int32_t sum = 0;

	for (unsigned i = 0; i < w->n && n < MODEL_TOKENS; i++) {
		uint32_t hash;

		if (m->tokens[i].n & MODEL_NAME)
			continue;
		hash = model_token_hash(w, &m->tokens[i]);
		if (hash == one)
			continue;
		n++;
		sum += model_weight(m, (one * 0x9e3779b1U) ^ hash);
		sum += model_weight(m, (two * 0x85ebca6bU) ^ hash);
		sum += model_weight(m, (two * 0xc2b2ae35U) ^ (one * 0x27d4eb2fU) ^ hash);
		two = one;
		one = hash;
	}
	s->sum += sum;
	s->n += 3 * n;
}

/* The square of the sum over the number of features that a likelihood asks for: model_judge() backwards, and a
 * little less. */
static double model_least(const struct model_file *f, double least)
{
	double side = 2 * least - 1, z = side / sqrt(1 - side * side);
	double sum =
		((z - (double)f->offset) / (double)f->slope - (double)f->bias) / (double)f->scale;

	return sum > 0 ? sum * sum * 0.999 : 0;
}

/* The same for a sentence whose words alone leave no doubt, with the sum's sign. */
static double model_doubt(const struct model_file *f)
{
	double sum = (MODEL_DOUBT - (double)f->bias) / (double)f->scale;

	return sum * fabs(sum) * (sum < 0 ? 1.001 : 0.999);
}

static void model_draw(void)
{
	ssize_t n;

	do
		n = getrandom(model_salt, sizeof(model_salt), 0);
	while (n < 0 && errno == EINTR);
	model_salt_error = n == (ssize_t)sizeof(model_salt) ? 0 : n < 0 ? -errno : -EIO;
}

int model_init(struct model *m, size_t len, double least)
{
	size_t n = len > MODEL_LARGE ? MODEL_CACHE_LARGE : MODEL_CACHE_SMALL;

	m->cache = NULL;
	call_once(&model_once, model_draw);
	if (model_salt_error < 0)
		return model_salt_error;
	memcpy(m->salt, model_salt, sizeof(m->salt));
	m->mask = (uint32_t)n - 1;
	m->n_last = m->n_lists = 0;
	m->keys_before = m->hints_before = 0;
	model_begin(m, NULL, 0);
	m->fn = NULL;
	m->file = &text_model;
	m->least = model_least(m->file, least);
	m->doubt = model_doubt(m->file);
	memset(m->mark, 0, sizeof(m->mark));
	m->cache = aligned_alloc(MODEL_ALIGN, n * sizeof(*m->cache));
	if (!m->cache)
		return -ENOMEM;
	memset(m->cache, 0, n * sizeof(*m->cache));
	memset(m->masks, 0, sizeof(m->masks));
	for (unsigned k = 0; k <= MODEL_WORD_MAX; k++)
		for (unsigned i = 0; i < k && i < sizeof(m->masks[k]); i++)
			m->masks[k][i / 8] |= (uint64_t)0xff << i % 8 * 8;
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
	m->mark['_'] = MODEL_JOIN;
	keys_init(&m->keys, model_hash);
	return 0;
}

void model_done(struct model *m)
{
	free(m->cache);
	m->cache = NULL;
}

void model_begin(struct model *m, const char *text, size_t len)
{
	spans_begin(&m->spans, text, len);
	m->n_last = 0;
	m->log.n = m->log.lists = 0;
}

/* Takes the mark before i.  Does it end the sentence? */
static inline bool model_read_mark(struct model_walk *w, size_t i, bool *ret_is_worth)
{
	const char *text = w->text;
	unsigned char c = (unsigned char)text[i - 1], mark = w->m->mark[c];

	if (mark == MODEL_JOIN) {
		model_join(w, i);
		return false;
	}
	/* The same mark again does not count, but an expression may ask for it. */
	if (mark == MODEL_MARK || mark == MODEL_STOP_MARK) {
		if (i - 1 == w->start || text[i - 2] != (char)c)
			model_token(w, c * 0x01000193U, i - 1, 0);
		else
			model_token(w, (c * 0x01000193U) ^ 0x6c62272eU, i - 1, 1 | MODEL_NAME);
	}
	/* An image in Markdown: its address may carry data out. */
	*ret_is_worth |= c == '[' && i > 1 && text[i - 2] == '!';
	return mark == MODEL_LINE || (mark != MODEL_MARK && model_is_end(text, w->len, i - 1));
}

/* Finds the words of the sentence that starts at found->start.  Returns where it ends. */
static size_t model_find(struct model_walk *found, bool *ret_is_worth)
{
	/* A copy of which nobody else knows, so that it can be in registers. */
	struct model_walk own = *found, *w = &own;
	struct spans *s = &w->m->spans;
	size_t i = w->start, stop, block, base;
	uint64_t left;
	bool is_end = w->start >= w->len;

	if (is_end)
		return w->start;
	stop = w->len - w->start < MODEL_SENTENCE_MAX ? w->len : w->start + MODEL_SENTENCE_MAX;
	/* The last word may go on behind the stop. */
	spans_need(s, w->start, MODEL_SENTENCE_MAX + MODEL_WORD_MAX);
	block = (w->start - s->low) / SPANS_BITS;
	base = s->low + block * SPANS_BITS;
	/* A sentence may begin within a word that was cut. */
	left = s->events[block] | (s->words[block] & (uint64_t)1 << (w->start - base));
	left &= UINT64_MAX << (w->start - base);
	while (!is_end) {
		size_t at;

		if (left == 0) {
			base += SPANS_BITS;
			if (base >= stop)
				break;
			left = s->events[++block];
			continue;
		}
		at = base + (size_t)__builtin_ctzll(left);
		if (at >= stop)
			break;
		if (s->words[block] & left & -left) {
			size_t n;

			i = at;
			do { /* what is too long for one word is several */
				n = model_read_word(w, i);
				i += n;
			} while (n == MODEL_WORD_MAX && i < stop && model_length(s, i) > 0);
		} else {
			i = at + 1;
			is_end = model_read_mark(w, i, ret_is_worth);
		}
		left &= left - 1;
	}
	found->n = own.n;
	return is_end || i > stop ? i : stop;
}

bool model_next(struct model *m, size_t *pos, struct model_sentence *ret)
{
	const char *text = m->spans.text;
	struct model_sentence s = {.start = *pos};
	struct model_walk w = {.m = m, .text = text, .len = m->spans.len};
	uint64_t adds;

	while (s.start < w.len && (text[s.start] == ' ' || text[s.start] == '\n'))
		s.start++;
	w.start = s.start;
	s.end = model_find(&w, &s.is_worth);
	adds = model_look_up(&w, &s.hints);
	s.sum = (int32_t)((int64_t)adds >> MODEL_ADD_SUM);
	s.n = adds >> MODEL_ADD_N & ((1U << (MODEL_ADD_SUM - MODEL_ADD_N)) - 1);
	s.words = adds >> MODEL_ADD_WORDS & ((1U << (MODEL_ADD_N - MODEL_ADD_WORDS)) - 1);
	s.keys = adds & ((1U << MODEL_ADD_WORDS) - 1);
	s.is_worth |= s.keys + (s.keys ? m->keys_before : 0) >= KEYS_WORTH;
	m->keys_before = s.keys;
	s.is_order = classes_is_worth(s.hints | (m->hints_before & CLASSES_READER));
	m->hints_before = s.hints;
	if (s.n > 0 && model_is_doubt(m, s.sum, s.n)) {
		s.is_worth |= s.words >= MODEL_WORDS_MIN;
		model_pairs(&w, &s);
	}
	*pos = s.end;
	*ret = s;
	return s.start < s.end;
}

double model_judge(struct model *m, const struct model_sentence *s, size_t *ret_start)
{
	double best = -1e9;
	int32_t sum = 0;
	uint32_t n = 0, words = 0;

	m->last[m->n_last++ % MODEL_WINDOW] = *s;
	for (unsigned i = 0; i < MODEL_WINDOW && i < m->n_last; i++) {
		const struct model_sentence *last = &m->last[(m->n_last - 1 - i) % MODEL_WINDOW];
		double z;

		sum += last->sum;
		n += last->n;
		words += last->words;
		if (words < MODEL_WORDS_MIN || sum <= 0 || (double)sum * sum < m->least * n)
			continue;
		z = model_score(m, sum, n);
		if (z > best) {
			best = z;
			*ret_start = last->start;
		}
	}
	if (best < -1e8)
		return 0;
	best = (double)m->file->slope * best + (double)m->file->offset;
	/* A curve from 0 to 1 that needs no exponential function. */
	return 0.5 + 0.5 * best / sqrt(1 + best * best);
}

/* The pieces of a word that was noted, which is the i-th; if they are forgotten, from the text. */
static inline unsigned model_pieces(const struct model *m, size_t i,
				    uint16_t pieces[static WANTED_MATCHES])
{
	const struct model_note *note = &m->log.notes[i % MODEL_LOG];
	const struct spans *s = &m->spans;
	const uint16_t *list;

	if (!(note->wanted & MODEL_LIST) || note->wanted == WANTED_ANY) {
		pieces[0] = note->wanted;
		return 1;
	}
	if (i < m->log.lists) {
		size_t n = 0;

		while (n < MODEL_WORD_MAX && note->at + n < s->len &&
		       m->fold[(unsigned char)s->text[note->at + n]])
			n++;
		return wanted_find(s->text + note->at, n, pieces);
	}
	list = &m->lists[note->wanted & (MODEL_LIST - 1)];
	memcpy(pieces, list + 1, list[0] * sizeof(*pieces));
	return list[0];
}

bool model_narrow(const struct model *m, size_t *low, size_t *high)
{
	__attribute__((uninitialized)) struct wanted_note notes[MODEL_LOG];
	size_t oldest = m->log.n >= MODEL_LOG ? m->log.n - MODEL_LOG + 1 : 0, i = m->log.n, n = 0;

	while (i > oldest && m->log.notes[(i - 1) % MODEL_LOG].at + WANTED_WORD > *low)
		i--;
	if (i == oldest && oldest > 0)
		return true; /* what was before is forgotten */
	for (; i < m->log.n && m->log.notes[i % MODEL_LOG].at < *high; i++) {
		uint32_t at = m->log.notes[i % MODEL_LOG].at;
		__attribute__((uninitialized)) uint16_t pieces[WANTED_MATCHES];
		unsigned have = model_pieces(m, i, pieces);

		if (n + have > MODEL_LOG)
			return true;
		for (unsigned k = 0; k < have; k++)
			notes[n++] = (struct wanted_note){at, pieces[k]};
	}
	return wanted_narrow(notes, n, low, high);
}
