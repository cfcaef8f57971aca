/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking secrets out of text that is about to be kept or shown.  This is the coarse net for the audit
 * trail: values of names that promise a secret, tokens with well-known beginnings, passwords in URLs,
 * private keys and long random words.  It prefers to take out too much.
 */
#pragma once

#include "base/buf.h"

/* Appends text with every likely secret replaced by "[redacted]". */
void redact_text(struct buf *out, const char *text, size_t len);
/* Appends the words of a command, quoted for a shell and with blanks between.  The edges of a word are
 * known here: of `--password=a b` in one word nothing is left. */
void redact_words(struct buf *out, char *const *argv);
