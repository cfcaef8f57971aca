/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that are read line by line: configuration without a parser of its own. */
#pragma once

#include "scan/reader.h"

/* The line after one; NULL: the first.  *len without its end.  NULL after the last. */
const char *scan_next_line(const struct scan_reader *r, const char *after, size_t *len);
/* Is the word in the line? */
bool scan_line_has(const char *line, size_t len, const char *word);
/* The value after "key =" or "key:", without quotes; false when the line has another key or is a comment. */
bool scan_line_value(const char *line, size_t len, const char *key, char *ret, size_t size);
/* An address that everybody on the way can change, of another machine; the form "http\://" counts too. */
bool scan_is_plain_url(const char *url);
