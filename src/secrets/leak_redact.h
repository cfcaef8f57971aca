/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage for a stream of output: bytes in, the same bytes out with every credential that leak.h knows
 * replaced by "[redacted]".  What may still turn out to be one is held back: the last line that is not
 * complete, and a private key whose end has not come.  That is 2 * LIMIT_LEAK_SPAN + LIMIT_LEAK_LEAD
 * bytes at most, whatever the stream is.
 *
 * Someone may be waiting for a prompt that has no line end.  So the owner tells when the stream is quiet
 * (a tenth of a second is enough), and then all but the last word of the line goes out, or all of it
 * when that word is too short to matter.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "secrets/leak.h"

#include <stdint.h>

struct leak_redactor;

CORDON_MUST_CHECK int leak_redactor_new(struct leak_redactor **ret, struct cordon_error *err);
void leak_redactor_free(struct leak_redactor *r);

/* Marks name the rule from now on, and note hears of each credential that is taken out. */
void leak_redactor_name(struct leak_redactor *r, leak_fn *note, void *data);

/* Credentials are covered with as many asterisks as they have bytes, from now on.  passes: asked for the text of each
 * whether it may be seen; may be NULL. */
typedef bool leak_passes_fn(void *data, const char *text, size_t len);
void leak_redactor_cover(struct leak_redactor *r, leak_fn *note, leak_passes_fn *passes,
			 void *data);

/* Each appends to out what may go on.  After an error nothing more may be sent: what is held back is
 * not judged. */
CORDON_MUST_CHECK int leak_redact_feed(struct leak_redactor *r, const char *bytes, size_t len,
				       struct buf *out, struct cordon_error *err);
CORDON_MUST_CHECK int leak_redact_quiet(struct leak_redactor *r, struct buf *out,
					struct cordon_error *err);
CORDON_MUST_CHECK int leak_redact_end(struct leak_redactor *r, struct buf *out,
				      struct cordon_error *err);

/* How many credentials were taken out so far, and how many bytes are held back. */
uint64_t leak_redacted(const struct leak_redactor *r);
size_t leak_held(const struct leak_redactor *r);
