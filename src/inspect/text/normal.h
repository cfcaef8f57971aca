/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of text as a model reads it: styles and lookalikes as plain letters, nothing that is not seen, escapes
 * and character references decoded.  What was done to get there is counted, because hiding is itself a
 * sign; what was hidden is kept as a text of its own.  Places map back to the source.
 *
 * Words of another script stay as they are; a letter of another script becomes Latin only in a word
 * that has Latin letters too.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

/* X(id): what was met on the way, with how often and where first. */
#define NORMAL_SIGNS(X)                                                                            \
	X(ZERO_WIDTH) /* between two ASCII letters */                                              \
	X(BIDI)                                                                                    \
	X(OVERRIDE)                                                                                \
	X(RIGHT_TO_LEFT) /* letters of scripts that need the two above */                          \
	X(TAG)                                                                                     \
	X(BITS)      /* characters of no width in a row that spell a text */                       \
	X(SELECTOR)  /* variation selectors in a row: bytes, not glyphs */                         \
	X(MIXED)     /* words of two scripts that look like one */                                 \
	X(STYLE)     /* letters in mathematical, circled or fullwidth form */                      \
	X(ENTITY)    /* ASCII letters as character references */                                   \
	X(PERCENT)   /* ASCII letters as %XX */                                                    \
	X(ESCAPE)    /* ASCII letters as \xXX, \uXXXX */                                           \
	X(CLIPBOARD) /* OSC 52: writes the clipboard of a terminal */                              \
	X(CONCEAL)   /* SGR 8: written, not shown */                                               \
	X(CONTROL)

enum normal_sign {
#define NORMAL_SIGN_ENUM(id) NORMAL_##id,
	NORMAL_SIGNS(NORMAL_SIGN_ENUM)
#undef NORMAL_SIGN_ENUM
		NORMAL_SIGN_COUNT
};

/* From this offset of the result on, bytes correspond one to one to the source. */
struct normal_mark {
	size_t out, source;
};

struct normal {
	struct buf text;
	struct normal_mark *marks;
	size_t n_marks, cap_marks;
	struct {
		unsigned count;
		size_t at; /* in the source */
	} signs[NORMAL_SIGN_COUNT];
	struct buf hidden; /* decoded tags, selectors and bits */
	size_t hidden_at;
	bool is_decoded; /* something was decoded: another pass may decode more */
};

/* Is there nothing to do?  Then the text may be used as it is. */
bool normal_is_plain(const char *s, size_t len);
/* Makes the normal form of a piece of at most LIMIT_TEXT_PIECE bytes (or of the result of a pass).  0, -ENOMEM. */
CORDON_MUST_CHECK int normal_make(struct normal *n, const char *s, size_t len);
/* The place in the source of a place in the result. */
size_t normal_source(const struct normal *n, size_t out);
void normal_clear(struct normal *n);
void normal_done(struct normal *n);
