/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 by the letter of RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character.  Returns its length, 0 when the bytes are not valid. */
size_t utf8_decode(const char *s, size_t len, uint32_t *ret_code);
/* The offset of the first invalid byte, or len when all is valid. */
size_t utf8_check(const char *s, size_t len);
static inline bool utf8_is_valid(const char *s, size_t len)
{
	return utf8_check(s, len) == len;
}
