/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a token, as a short text: letters stand for themselves, %c{n} and %c{n,m} for n to m
 * characters of a class, %[...]{n} for characters of a set with ranges, %% for a percent sign.
 *     "ghp_%w{36}"        "%h{32}-us%d{1,2}"        "xox%[bp]{1}-%d{10,13}-%w{24}"
 * Classes: d digits, h hex, H hex of either case, x upper hex, l [a-z0-9], u [A-Z0-9], w letters and
 * digits, a and A letters of one case, m letters, digits and _, b base64 for URLs, B base64, f both
 * base64s, 2 base32, . the characters of host names and _, = the padding, p anything but blanks and
 * quotes.  Matching is greedy and never goes back, so its cost is the length of the token; a class
 * must not hold the character that follows it.  Pure, and without memory of its own: the build uses
 * it too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHAPE_PARTS_MAX 32
#define SHAPE_MAX 16384 /* of one class, when the shape sets no end: %w{20,} */

struct shape_part {
	const char *literal; /* NULL for a class */
	size_t min, max;     /* a literal's length in both */
	uint64_t set[4];     /* the bytes of a class */
};

struct shape {
	struct shape_part part[SHAPE_PARTS_MAX];
	size_t n;
	size_t anchor; /* the longest literal: what a search looks for; n when there is none */
};

/* 0 or -EINVAL.  Borrows text. */
int shape_parse(const char *text, struct shape *ret);

bool shape_has(const struct shape_part *part, char c);

/* The length of the shape at the start of text, 0 when it is not there.  A class that could go on
 * beyond its maximum is no match. */
size_t shape_match(const struct shape *s, const char *text, size_t len);

/* Is the whole text of this shape? */
bool shape_is(const struct shape *s, const char *text, size_t len);

/* The shape around its anchor, which is at text + at.  False when it is not there. */
bool shape_around(const struct shape *s, const char *text, size_t len, size_t at, size_t *ret_start,
		  size_t *ret_end);

/* What a search for the anchor includes behind it, so that false alarms of short literals are rare: a
 * part of the next class, or all of it and the literal behind it when its length is fixed.  add is
 * called for each part with how much of it.  Returns the bytes. */
typedef void shape_add_fn(void *data, const struct shape_part *part, size_t n);
size_t shape_tail(const struct shape *s, shape_add_fn *add, void *data);
shape_add_fn shape_add_none;
