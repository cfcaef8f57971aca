/* SPDX-License-Identifier: Apache-2.0 */
/* Text to numbers: the whole string or an error, no locale, no leading blanks or signs unless said. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Decimal, optional '-'.  0, -EINVAL (not a number) or -ERANGE. */
CORDON_MUST_CHECK int parse_int(const char *s, int64_t min, int64_t max, int64_t *ret);
/* Decimal fraction such as 0.35 or 1e-3; no inf, nan, hex. */
CORDON_MUST_CHECK int parse_double(const char *s, double min, double max, double *ret);
/* Bytes, at most INT64_MAX: 4096, 64K, 512M, 1G, 2T; k, Ki, Mi and a final B or b accepted; all binary. */
CORDON_MUST_CHECK int parse_size(const char *s, uint64_t *ret_bytes);
/* Milliseconds: 250ms, 30s, 5m, 2h, 7d; a bare number is seconds; a fraction of up to six digits is
 * allowed (1.5h) and rounds up to a whole millisecond. */
CORDON_MUST_CHECK int parse_duration(const char *s, int64_t *ret_ms);
/* true, false, yes, no, on, off (YAML 1.1's long words, lower, upper or capitalised). */
CORDON_MUST_CHECK int parse_bool(const char *s, bool *ret);
/* The value of a digit of base64, of either alphabet; -1 for any other character. */
int parse_base64_digit(char c);
