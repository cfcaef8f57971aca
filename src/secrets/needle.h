/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of a call's secrets in what it prints: as they are, backwards, in hexadecimal, base64 at any alignment
 * and with either alphabet, percent-encoded, as a JSON string, as HTML, with the line ends of a terminal; base64 and
 * hexadecimal also broken over lines, of one another and percent-encoded.  A screen takes a stream in pieces of any size and holds back only what may
 * become a value: at most LIMIT_NEEDLE_PIECE bytes and the line ends among them.
 *
 * Who waits for a prompt must not wait for the rest of a value that never comes.  So the owner tells when the
 * stream is quiet, and then the first NEEDLE_TEASER bytes go; what a patient writer can get out one by one is that.
 * Right behind a piece of a long value its next one waits all the same.
 *
 * This finds accidents and the lazy.  Who has a value inside a sandbox can write it in a way that nobody looks for.
 */
#pragma once

#include "base/buf.h"
#include "policy/names.h"
#include "secrets/grant.h"

#include <stdint.h>

#define NEEDLE_MIN 6 /* a shorter value is not looked for: it would be found everywhere */
#define NEEDLE_TEASER 3

struct needles;
struct needle_screen;

/* Borrows the grants, which outlive it.  0, -ENOMEM, or -E2BIG beyond LIMIT_NEEDLE_BYTES. */
CORDON_MUST_CHECK int needles_new(const struct secret_grants *grants, struct needles **ret);
void needles_free(struct needles *n);

/* Borrows the needles.  action: SECRET_WARN only counts, SECRET_REDACT puts a mark in the value's place,
 * SECRET_BLOCK passes nothing on from the first one. */
CORDON_MUST_CHECK int needle_screen_new(const struct needles *n, enum scan_action action,
					struct needle_screen **ret);
void needle_screen_free(struct needle_screen *s);

/* Each appends to out what may go on.  0 or -errno; after an error nothing more goes on. */
CORDON_MUST_CHECK int needle_feed(struct needle_screen *s, const char *bytes, size_t len,
				  struct buf *out);
CORDON_MUST_CHECK int needle_quiet(struct needle_screen *s, struct buf *out);
CORDON_MUST_CHECK int needle_end(struct needle_screen *s, struct buf *out);
/* As needle_end() for a stream that was cut off: what may be the first part of a value does not go. */
CORDON_MUST_CHECK int needle_cut(struct needle_screen *s, struct buf *out);

/* Bytes that wait, without those that went in a quiet moment. */
size_t needle_held(const struct needle_screen *s);
/* How often the secret of this index of the grants was found. */
uint64_t needle_count(const struct needle_screen *s, size_t secret);
