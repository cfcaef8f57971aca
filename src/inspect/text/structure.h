/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a sentence is built like an order to a machine, whatever words it is said in: who is spoken to, must, what is to
 * be done, with what, where to, and who shall not know.  Words are read as classes (classes.def, in many languages);
 * classes, rows of them and what stands together are features of a linear model.  The weights come from tools/train-text.
 *
 * model.h knows phrases that were seen; this knows how such phrases are made.  It costs more for each sentence, so that the
 * caller asks only about some.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STRUCTURE_BITS = 18,
	STRUCTURE_WEIGHTS = 1 << STRUCTURE_BITS,
	STRUCTURE_WINDOW = 3, /* sentences */
	STRUCTURE_ITEMS = 64, /* of one sentence; what is behind them is not read */
	STRUCTURE_FEATURES = 4096,
	STRUCTURE_FEATURES_MIN = 12, /* a window with fewer is not judged */
};

/* What structure_judge() says of a window that is not judged. */
#define STRUCTURE_LEAST (-9.0)
/* A sentence that sounds like an order and is not built like one is less of one: below the first, by so much for each
 * step, up to the last. */
#define STRUCTURE_UNBUILT (-1.25)
#define STRUCTURE_UNBUILT_WEIGHT 0.5
#define STRUCTURE_UNBUILT_MOST 1.0

/* Made by tools/train-text: little endian, no holes. */
struct structure_file {
	char magic[8]; /* "cordonS1" */
	float scale, bias;
	float slope, offset; /* of the calibration */
	int8_t weights[STRUCTURE_WEIGHTS];
};

/* A word that is known, or a mark. */
struct structure_item {
	uint8_t class;
	uint8_t form; /* of a verb */
	uint8_t gap;  /* words before it that are not known */
};

struct structure_sentence {
	size_t start, end;
	bool is_read;
	unsigned n;
	struct structure_item items[STRUCTURE_ITEMS];
};

struct structure {
	const struct structure_file *file;
	const char *text;
	/* Sentences in a row, in turns. */
	struct structure_sentence last[STRUCTURE_WINDOW];
	unsigned n_last;
	/* Of the window that is judged. */
	struct structure_item row[STRUCTURE_WINDOW * (STRUCTURE_ITEMS + 1) + 2];
	uint32_t features[STRUCTURE_FEATURES];
	unsigned n_features;
	uint64_t seen[STRUCTURE_WEIGHTS / 64];
};

void structure_init(struct structure *s);
/* Begins another text, which stays where it is. */
void structure_begin(struct structure *s, const char *text);
/* Notes the next sentence of the text, which costs little.  What is not next to the one before begins a row of its own. */
void structure_note(struct structure *s, size_t start, size_t end);
/* The features of the last n sentences, which are in s->features then.  Returns how many there are, or 0 if there are no
 * n sentences in a row. */
unsigned structure_window(struct structure *s, unsigned n);
/* How much the best window that ends with the last sentence is built like an order: below 0 rather not, above 0 rather. */
double structure_judge(struct structure *s);
/* A curve from 0 to 1 that needs no exponential function, as in model.c. */
double structure_likelihood(double z);
/* The likelihood p that a sentence that sounds like an order is one, less what its build says against that. */
double structure_lessened(double p, double built);
