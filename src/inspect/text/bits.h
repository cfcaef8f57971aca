/* SPDX-License-Identifier: Apache-2.0 */
/* What characters of no width spell, one for each bit. */
#pragma once

#include "base/buf.h"

#include <stddef.h>

/* How many bytes at s are characters of no width.  What they spell is added to out, if it is something to read. */
size_t bits_read(const char *s, size_t len, struct buf *out);
