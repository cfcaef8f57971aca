/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference of two texts, line by line, as unified hunks.  Pure.  Memory is linear in the number of lines; time
 * is bounded: where two stretches have too little in common the one is taken out and the other put in as a whole.
 */
#pragma once

#include "base/buf.h"

/* Appends the hunks, without any header; nothing for equal texts.  0 or -ENOMEM; what does not fit is the buffer's
 * matter. */
CORDON_MUST_CHECK int textdiff(const char *a, size_t a_len, const char *b, size_t b_len,
			       struct buf *out);
/* Has it a NUL byte near its beginning?  Then it is no text. */
bool textdiff_is_binary(const char *s, size_t len);
