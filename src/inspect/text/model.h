/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a sentence sounds like an order to a model.  Hashed words, pairs and triples of words and the
 * character fours of each word are looked up in one table of weights and added up; windows of one to three
 * sentences are judged by the sum over the square root of how many there were.  The table comes from
 * tools/train-text.
 */
#pragma once

#include "inspect/text/keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MODEL_BITS = 18,
	MODEL_WEIGHTS = 1 << MODEL_BITS,
	MODEL_WINDOW = 3,         /* sentences in a window */
	MODEL_SENTENCE_MAX = 400, /* bytes; longer ones are cut at a word */
	MODEL_WORDS_MIN = 4,      /* a window with fewer is not judged */
	MODEL_TOKENS = 128,       /* of one sentence */
	MODEL_CACHE = 4096,
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
	uint32_t keys; /* what its telling words add up to (keys.h) */
	bool is_worth; /* a search for cues */
};

/* A word that was met: the sum of its own weight and those of its fours. */
struct model_cache {
	uint32_t hash;
	int16_t sum;
	uint8_t n;
	uint8_t key : 2, is_word : 1; /* a word has letters only */
};

/* Features one by one, for training. */
typedef void model_feature_fn(void *data, uint32_t feature);

struct model {
	const struct model_file *file;
	unsigned char fold[256]; /* bytes of words in lower case, 0 for all others */
	unsigned char mark[256]; /* what the others are */
	struct keys keys;
	struct model_cache cache[MODEL_CACHE];
	uint32_t tokens[MODEL_TOKENS];
	struct model_sentence last[MODEL_WINDOW]; /* newest first */
	unsigned n_last;
	uint32_t keys_before; /* of the sentence before: a line may end in the middle of one */
	model_feature_fn *fn; /* NULL but for training */
	void *data;
};

void model_init(struct model *m);
/* Reads the next sentence of the text from *pos on.  false at the end. */
bool model_next(struct model *m, const char *text, size_t len, size_t *pos,
		struct model_sentence *ret);
/* The likelihood, 0 to 1, of the best window that ends with this sentence; where it starts in *ret_start. */
double model_judge(struct model *m, const struct model_sentence *s, size_t *ret_start);
