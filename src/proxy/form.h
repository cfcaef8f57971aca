/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value as answers may write it.  Programs differ about which bytes they escape in a URL, in JSON or in HTML; so the
 * value itself is compared, and each of its bytes may stand there in any of its ways: as it is, as %XX, as \n and its
 * like, as \uXXXX, as &#NN; and &amp;, a space as '+'.  Digits of base64 and hex are compared the same way, with the
 * ends of lines among them skipped.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

#define FORM_STRETCH 6 /* bytes that one byte of a value is written with at most */
#define FORM_DIGIT 3   /* the same for a digit, with the breaks */
#define FORM_BREAK 8   /* bytes of a break between two digits */

struct form {
	const char *bytes;
	size_t len;
	bool is_digits;
	bool is_hex; /* and in either case */
	/* '%', '\' and '&' of the value are written with escapes, and otherwise never. */
	bool escapes_percent;
	bool escapes_ampersand;
	bool escapes_backslash;
};

/* Can the form begin with this byte? */
bool form_can_start(const struct form *f, char c);
/* How many of the bytes are the form; 0: they do not begin with it; -EAGAIN: more of them may. */
CORDON_MUST_CHECK ssize_t form_match(const struct form *f, const char *bytes, size_t len);
