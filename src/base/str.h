/* SPDX-License-Identifier: Apache-2.0 */
/* Strings and string vectors. */
#pragma once

#include "base/buf.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>

/* A NULL-terminated vector of owned strings. */
struct strv {
	char **v;
	size_t n;
	size_t cap;
};

void strv_done(struct strv *s);
/* Appends a copy.  0, -ENOMEM or -E2BIG beyond LIMIT_ARGV. */
CORDON_MUST_CHECK int strv_add(struct strv *s, const char *str);
/* The same for lists of other things than words: 0, -ENOMEM or -E2BIG beyond max. */
CORDON_MUST_CHECK int strv_add_max(struct strv *s, const char *str, size_t max);
/* Appends a formatted string of at most LIMIT_ARG_BYTES (-E2BIG). */
CORDON_MUST_CHECK int strv_addf(struct strv *s, const char *fmt, ...) CORDON_PRINTF(2, 3);
bool strv_has(const struct strv *s, const char *str);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
static inline bool str_empty(const char *s)
{
	return !s || !*s;
}

/* Appends s with everything that could steer a terminal or a log made visible: controls, DEL, C1,
 * bidirectional and invisible characters and broken UTF-8 become \n, \t, \xNN or \u{NNNN}.  Backslashes
 * stay single, so text that was escaped before is not escaped again. */
void str_escape(struct buf *b, const char *s, size_t len);
/* Appends s quoted for a POSIX shell, bare when it needs no quotes. */
void str_shell_quote(struct buf *b, const char *s);
/* Levenshtein distance in bytes, at most max (then max + 1).  For suggestions: different strings of 64
 * bytes or more count as far apart. */
size_t str_distance(const char *a, const char *b, size_t max);
