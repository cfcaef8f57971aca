/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binary form of listings, records and journals: little-endian numbers and strings with their length before
 * them.  The reader never goes beyond its end; the first thing that does not fit sticks.
 */
#pragma once

#include "base/buf.h"

struct snap_reader {
	const uint8_t *p;
	const uint8_t *end;
	bool is_bad;
};

#define SNAP_READER(data, len)                                                                     \
	((struct snap_reader){.p = (const uint8_t *)(data), .end = (const uint8_t *)(data) + (len)})

/* width: 1, 2, 4 or 8 bytes; 0 when it is bad. */
uint64_t snap_get(struct snap_reader *r, size_t width);
/* Borrows len bytes; NULL when they are not there. */
const uint8_t *snap_get_raw(struct snap_reader *r, size_t len);
/* A string of at most max bytes, with its NUL in the data and none inside; borrows; NULL when it is bad. */
const char *snap_get_str(struct snap_reader *r, size_t max, size_t *ret_len);
/* Is everything read and nothing was bad? */
bool snap_get_end(const struct snap_reader *r);

void snap_put(struct buf *b, uint64_t v, size_t width);
void snap_put_str(struct buf *b, const char *s);

/* Appends the hash of all that is in b. */
void snap_put_seal(struct buf *b);
/* Cuts the hash off *len if it is right. */
CORDON_MUST_CHECK bool snap_check_seal(const void *data, size_t *len);
