/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a table of patterns looks like to the generator that compiles it at build time.  A database is
 * one C file that defines match_patterns(); it calls add for each pattern and uses nothing but its own
 * tables, because it runs before the program exists.  src/meson.build has the list of databases.
 */
#pragma once

#include <stdint.h>

enum match_flag {
	MATCH_NOCASE = 1 << 0,
	MATCH_DOTALL = 1 << 1,
	MATCH_MULTILINE = 1 << 2,
	MATCH_UTF8 = 1 << 3,    /* the text must be valid UTF-8 */
	MATCH_LITERAL = 1 << 4, /* the expression is plain bytes */
	MATCH_START = 1 << 5,   /* report where the match starts: slower, and bigger */
	MATCH_ONCE = 1 << 6,    /* report the first match only */
	MATCH_PREFILTER =
		1 << 7, /* too rich for the engine: it may report too much, never too little */
};

/* The expression is copied.  Ids need not be distinct: several patterns may stand for one thing. */
typedef void match_add_fn(void *data, unsigned id, const char *expression, unsigned flags);

void match_patterns(match_add_fn *add, void *data);
