/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Globs for paths and names.  `*` and `?` stop at a slash, `**` does not, `[a-z]` and `[!a-z]` are
 * sets, backslash quotes.  Matching takes time proportional to pattern × text at most (no
 * exponential backtracking), so a hostile pattern cannot hang us.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Is this a well-formed pattern?  0, -EINVAL (unclosed set, trailing backslash) or -E2BIG. */
CORDON_MUST_CHECK int glob_check(const char *pattern);
/* Does the string have any of * ? [ unquoted? */
bool glob_has_magic(const char *s);
/* Whole-string match of a checked pattern.  An ill-formed one matches nothing. */
bool glob_match(const char *pattern, const char *text);
/* As glob_match(), but `*` also crosses slashes (for command lines and names that are not paths). */
bool glob_match_text(const char *pattern, const char *text);
