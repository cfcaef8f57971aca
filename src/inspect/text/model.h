/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a sentence sounds like an order to a model.  Hashed words, pairs and triples of words and the
 * character fours of each word are looked up in one table of weights and added up; windows of one to three
 * sentences are judged by the sum over the square root of how many there were.  The table comes from
 * tools/train-text.
 */
#pragma once

#include "base/error.h"
#include "inspect/text/keys.h"
#include "inspect/text/spans.h"
#include "inspect/text/wanted.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MODEL_BITS = 19,
	MODEL_WEIGHTS = 1 << MODEL_BITS,
	MODEL_WINDOW = 3,                     /* sentences in a window */
	MODEL_SENTENCE_MAX = 400,             /* bytes; longer ones are cut at a word */
	MODEL_WORDS_MIN = 4,                  /* a window with fewer is not judged */
	MODEL_TOKENS = 128,                   /* of one sentence, of which pairs are made */
	MODEL_READ = MODEL_SENTENCE_MAX + 64, /* of one sentence: no more than it has bytes */
	MODEL_CACHE_SMALL = 1 << 10,          /* pairs of words that are remembered */
	MODEL_CACHE_LARGE = 1 << 13,          /* in a text of more than MODEL_LARGE bytes */
	MODEL_LARGE = 1 << 15,
	MODEL_LOG = 1024,   /* words that are remembered for model_narrow() */
	MODEL_ALIGN = 64,   /* bytes that a processor fetches at a time */
	MODEL_LISTS = 4096, /* pieces of words that have several */
	MODEL_SALT = 4,     /* numbers: one for each eight bytes of a word */
};

/* Made by tools/train-text: little endian, no holes. */
struct model_file {
	char magic[8]; /* "cordonT1" */
	float scale, bias;
	float slope, offset; /* of the calibration */
	int8_t weights[MODEL_WEIGHTS];
};

struct model_sentence {
	size_t start, end;
	int32_t sum;
	uint32_t n, words;
	uint32_t keys;  /* what its telling words add up to (keys.h) */
	unsigned hints; /* of its words (classes.h) */
	bool is_worth;  /* a search for cues */
	bool is_order;  /* maybe: worth a look at how it is built */
};

/* A word of the sentence that is read. */
struct model_token {
	uint64_t key;
	uint32_t hash; /* of what is no word */
	uint16_t at;   /* behind the sentence's start */
	uint16_t n; /* bytes of a word, or 0; with MODEL_NAME, it does not count, and with no bytes it may be anything */
};

/* A word that was met.  It is known again by its key, of which half is here and half says where: of the very bytes, and of
 * numbers that nobody knows, because anybody can make words of one hash. */
struct model_cache {
	uint64_t adds;  /* what it adds to its sentence, see model.c; 0 for what does not count */
	uint32_t check; /* 0: nothing is here */
	uint16_t wanted; /* a piece, or MODEL_LIST and the place of a list, or WANTED_ANY; 0: wanted.h does not know it */
	uint16_t hints; /* of classes.h */
};

/* The newer one is first. */
struct model_pair {
	struct model_cache of[2];
};

/* A word that wanted.h knows. */
struct model_note {
	uint32_t at;
	uint16_t wanted; /* as in the cache */
};

struct model_log {
	size_t n;     /* the last MODEL_LOG of these are there */
	size_t lists; /* the lists of those before this one are forgotten */
	struct model_note notes[MODEL_LOG];
};

/* Features one by one, for training. */
typedef void model_feature_fn(void *data, uint32_t feature);

struct model {
	const struct model_file *file;
	unsigned char fold[256]; /* bytes of words in lower case, 0 for all others */
	unsigned char mark[256]; /* what the others are */
	struct keys keys;
	struct model_pair *cache;
	uint32_t mask;             /* of the numbers of pairs */
	uint64_t salt[MODEL_SALT]; /* of the keys: only that a word is the same hangs on it */
	uint64_t masks[WANTED_WORD + 1][2]; /* of the first 16 bytes of a word of so many */
	double least; /* what a window's sum must be, squared, for each feature in it */
	double doubt; /* if a sentence's sum, squared with its sign, is below that for each feature, there is no doubt */
	uint16_t lists[MODEL_LISTS];
	unsigned n_lists;
	struct model_log log; /* of the words that were read */
	struct spans spans;   /* of the text that is read */
	struct model_token tokens[MODEL_READ];
	struct model_sentence last[MODEL_WINDOW]; /* that were judged, in turns */
	unsigned n_last;
	/* Of the sentence before: a line may end in the middle of one. */
	uint32_t keys_before, hints_before;
	model_feature_fn *fn; /* NULL but for training */
	void *data;
};

/* For texts of about len bytes.  least: a likelihood below which model_judge() may say 0.  0, -ENOMEM, or
 * what getrandom() says. */
CORDON_MUST_CHECK int model_init(struct model *m, size_t len, double least);
void model_done(struct model *m);
/* Begins to read a text, which stays where it is until another is begun. */
void model_begin(struct model *m, const char *text, size_t len);
/* Reads the next sentence of the text from *pos on.  false at the end. */
bool model_next(struct model *m, size_t *pos, struct model_sentence *ret);
/* The likelihood, 0 to 1, of the best window that ends with this sentence; where it starts in *ret_start. */
double model_judge(struct model *m, const struct model_sentence *s, size_t *ret_start);
/* May there be a cue between *low and *high, a part of the text that was read?  If so, only between what is in *low and
 * *high then. */
bool model_narrow(const struct model *m, size_t *low, size_t *high);
