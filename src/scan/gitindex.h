/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files git has, from its index (versions 2 to 4).  Hostile bytes: what cannot be read to its end, or is kept in
 * another file, makes every answer "it may be", so that more is looked at and not less.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

struct gitindex {
	struct buf paths; /* "\0PATH\0PATH\0" */
	bool is_partial;  /* there may be more */
};

/* Reads the text of an index file; the result is to be freed also after a failure.  0 or -ENOMEM. */
CORDON_MUST_CHECK int gitindex_read(const char *text, size_t len, struct gitindex *ret);
void gitindex_done(struct gitindex *i);
/* Does git have this file?  Only what is known. */
bool gitindex_has(const struct gitindex *i, const char *path);
/* Does it, or may it, have a file below this directory? */
bool gitindex_may_have_below(const struct gitindex *i, const char *dir);
