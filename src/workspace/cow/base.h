/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a copy of a workspace consisted of when it was made (copy.h).  A file of the copy that is the same inode with the
 * same change time was not touched by a call, whatever the workspace has at its place by now; and what the
 * workspace has beyond the list was made by others.
 */
#pragma once

#include "base/buf.h"

#include <sys/stat.h>

struct base_row {
	const char *path;
	uint64_t ino; /* of the copy */
	int64_t ctime_ns;
	struct stat was; /* mode, owner and time of the last change: of both */
};

struct base {
	char *text;
	struct base_row *v; /* sorted by path */
	size_t n;
};

/* Appends what was copied. */
void base_add(struct buf *b, const char *path, const struct stat *copy);
/* Takes the text.  0 or -errno; -EINVAL for what is damaged. */
CORDON_MUST_CHECK int base_parse(char *text, size_t len, struct base *ret);
void base_done(struct base *b);
/* NULL: it was not there. */
const struct base_row *base_find(const struct base *b, const char *path);
/* Is it as it was? */
bool base_is_untouched(const struct base_row *row, const struct stat *copy);
