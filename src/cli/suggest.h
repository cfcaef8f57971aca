/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "Did you mean": from the known words, those that the given one is the beginning of, else the one
 * that is nearest to it.
 */
#pragma once

#include "base/buf.h"

struct suggest {
	const char *word;    /* what was typed */
	const char *nearest; /* best so far, NULL when none is near */
	size_t distance;
	size_t n_prefixed;      /* words that begin with it */
	struct buf prefixed;    /* those, separated by ", " */
	const char *decoration; /* put before each: "--" for options */
};

#define SUGGEST_INIT(word_, decoration_)                                                           \
	((struct suggest){.word = (word_), .decoration = (decoration_), .prefixed = BUF_INIT(512)})

void suggest_done(struct suggest *s);
void suggest_consider(struct suggest *s, const char *candidate);
/* Appends "; did you mean …?" or nothing. */
void suggest_write(struct suggest *s, struct buf *b);
