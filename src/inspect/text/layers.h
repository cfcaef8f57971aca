/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts inside a text: runs of base64 or hexadecimal digits that decode to something readable.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

struct text_layer {
	const char *name; /* "base64", "hexadecimal" */
	size_t start, end;
	bool is_called; /* a call that decodes stands before it on the line */
};

/* Finds the next run at or behind *pos and decodes it to out.  false when there is none. */
bool layers_next(const char *text, size_t len, size_t *pos, struct text_layer *ret,
		 struct buf *out);
