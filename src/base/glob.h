/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Globs for paths and names.  `*` and `?` stop at a slash, `**` does not, `[a-z]` and `[!a-z]` (or
 * `[^a-z]`) are sets that never contain the slash, backslash quotes, in sets too.  `?` and the members
 * of sets are characters of UTF-8, not bytes.  A leading dot is nothing special.
 *
 * A `**` that is a whole component also matches no component at all: a/ ** /b (without the blanks)
 * matches a/b, `**` + `/b` matches b.  `a/` + `**` matches everything below a and a/ but not a itself:
 * who means the directory names it.
 *
 * Matching takes time proportional to pattern × text at most (no exponential backtracking), so a
 * hostile pattern cannot hang us, and it allocates nothing, so it cannot fail.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Is this a well-formed pattern?  0, -EINVAL (unclosed set, range from high to low, [:class:] in a set,
 * trailing backslash) or -E2BIG. */
CORDON_MUST_CHECK int glob_check(const char *pattern);
/* Does the string have any of * ? [ unquoted? */
bool glob_has_magic(const char *s);
/* Whole-string match of a checked pattern.  An ill-formed one matches nothing. */
bool glob_match(const char *pattern, const char *text);
/* As glob_match(), but `*`, `?` and sets also cross slashes (for command lines and names that are not
 * paths). */
bool glob_match_text(const char *pattern, const char *text);
