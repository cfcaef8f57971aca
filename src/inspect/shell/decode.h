/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What small decoders make of known bytes: the ones that hide a payload on the way to an interpreter.  Pure.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

/* Appends what the bytes say; false when they are not in that form. */
bool decode_base64(const char *s, size_t len, struct buf *out);
bool decode_base32(const char *s, size_t len, struct buf *out);
bool decode_hex(const char *s, size_t len, struct buf *out);
/* Escapes of printf, echo -e and $'…'.  is_ansi: \' and \cX too. */
void decode_escapes(const char *s, size_t len, bool is_ansi, struct buf *out);
/* printf(1) with known arguments. */
void decode_printf(const char *format, size_t len, const char *const *args, size_t n,
		   struct buf *out);
void decode_reverse(const char *s, size_t len, struct buf *out);
/* tr(1) of two sets with ranges, or -d with one. */
void decode_translate(const char *s, size_t len, const char *from, const char *to, bool is_delete,
		      struct buf *out);
