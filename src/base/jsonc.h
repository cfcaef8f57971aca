/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON with comments, as editors and some agents read it, made JSON without moving a byte: what is blanked
 * leaves blanks, so that places in the result are places in the text.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum jsonc_flags {
	JSONC_COMMENTS = 1 << 0,       /* // to the end of the line, and C's */
	JSONC_TRAILING_COMMAS = 1 << 1 /* before a bracket that closes */
};

/* Works in place on len bytes.  Says nothing about whether the rest is JSON. */
void jsonc_blank(char *text, size_t len, unsigned flags);
