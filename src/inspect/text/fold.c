/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See fold.h.  The table is made by gen-fold at build time: ranges in order, so that a character is found by
 * halving.
 */
#include "inspect/text/fold.h"

#include "base/mem.h"

#include <string.h>

struct fold_row {
	uint32_t first;
	uint16_t count; /* of characters in a row; the ASCII letters follow one another too */
	uint8_t class;
	char to[FOLD_TO_MAX + 1];
};

static const struct fold_row fold_rows[] = {
#include "inspect/text_fold.inc"
};

static enum fold_class fold_unseen(uint32_t c)
{
	if (c == 0x202d || c == 0x202e)
		return FOLD_OVERRIDE;
	if (c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202c) ||
	    (c >= 0x2066 && c <= 0x2069))
		return FOLD_BIDI;
	if (c == 0xad || c == 0x34f || c == 0x115f || c == 0x1160 || c == 0x17b4 || c == 0x17b5 ||
	    (c >= 0x180b && c <= 0x180e) || (c >= 0x200b && c <= 0x200d) ||
	    (c >= 0x2060 && c <= 0x206f) || c == 0x3164 || c == 0xfeff || c == 0xffa0 ||
	    (c >= 0x1d173 && c <= 0x1d17a))
		return FOLD_ZERO_WIDTH;
	if (c >= 0xe0000 && c <= 0xe007f)
		return FOLD_TAG;
	if ((c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0100 && c <= 0xe01ef))
		return FOLD_SELECTOR;
	if (c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
	    c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x2800 || c == 0x3000)
		return FOLD_BLANK;
	return FOLD_KEEP;
}

enum fold_class fold_char(uint32_t code, char to[static FOLD_TO_MAX + 1])
{
	enum fold_class class = fold_unseen(code);
	size_t low = 0, high = ARRAY_LEN(fold_rows);

	if (class != FOLD_KEEP)
		return class;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct fold_row *row = &fold_rows[middle];

		if (code < row->first) {
			high = middle;
		} else if (code - row->first >= row->count) {
			low = middle + 1;
		} else {
			memcpy(to, row->to, sizeof(row->to));
			to[0] = (char)(to[0] + (int)(code - row->first));
			return (enum fold_class)row->class;
		}
	}
	return FOLD_KEEP;
}

int fold_hidden_byte(uint32_t code)
{
	if (code >= 0xe0020 && code <= 0xe007e)
		return (int)(code - 0xe0000);
	if (code >= 0xfe00 && code <= 0xfe0f)
		return (int)(code - 0xfe00);
	if (code >= 0xe0100 && code <= 0xe01ef)
		return (int)(code - 0xe0100 + 16);
	return -1;
}
