/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text of any size in pieces of bounded size, each in normal form (normal.h), decoded again while that
 * changes something.  Pieces overlap, so that what crosses an edge is seen whole in one of them; what
 * ends before `fresh` was seen in the piece before.
 */
#pragma once

#include "inspect/text/normal.h"

enum { READER_PASSES = 3, READER_OVERLAP = 1024 };

struct reader {
	const char *source;
	size_t len;
	size_t next;   /* where the next piece's new part starts */
	size_t origin; /* of this piece in the source */
	/* this piece */
	const char *text;
	size_t text_len;
	size_t fresh;
	unsigned passes; /* 0: the piece is plain and text points into the source */
	struct normal pass[READER_PASSES];
};

void reader_init(struct reader *r, const char *source, size_t len);
/* The next piece.  1, 0 at the end, or -ENOMEM. */
CORDON_MUST_CHECK int reader_next(struct reader *r);
/* The place in the source of a place in this piece. */
size_t reader_source(const struct reader *r, size_t at);
void reader_done(struct reader *r);
