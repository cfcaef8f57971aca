/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .gitignore, as git reads it: patterns of a directory hold below it, later ones win over earlier, a `!` takes back,
 * a slash at the end means directories, a slash elsewhere ties a pattern to its place.  Below a directory that is
 * ignored nothing can be taken back.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct ignore;

CORDON_MUST_CHECK int ignore_new(struct ignore **ret, struct cordon_error *err);
void ignore_free(struct ignore *i);
/* How many rules hold now; to go back to with ignore_drop() when a directory is left. */
size_t ignore_mark(const struct ignore *i);
void ignore_drop(struct ignore *i, size_t mark);
/* Adds the rules of a file in dir, relative to the top ("" is the top itself).  What is too much is left out, so that
 * more is looked at and not less. */
CORDON_MUST_CHECK int ignore_add(struct ignore *i, const char *dir, const char *text, size_t len,
				 struct cordon_error *err);
/* Is this path, relative to the top, ignored by itself? */
bool ignore_match(const struct ignore *i, const char *path, bool is_dir);
