/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded walk over a directory tree: links are not followed, other file systems are entered. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum walk_next { WALK_INTO, WALK_SKIP }; /* or a negative code */

/* The names in a directory, without . and .., each with its NUL. */
struct walk_names {
	const char *text;
	size_t len;
};

#define WALK_EACH(name, names)                                                                     \
	(const char *name = (names)->text; name < (names)->text + (names)->len;                    \
	 name += strlen(name) + 1)

/* One directory, before its subdirectories are entered.  Says whether they are. */
typedef int (*walk_dir_fn)(const char *path, const struct walk_names *names, void *arg,
			   struct cordon_error *err);

/* Is there nothing of interest in a directory?  Then fn does with these names what it does with none at all. */
typedef bool (*walk_plain_fn)(const char *path, const struct walk_names *names, void *arg);

struct walk_options {
	walk_dir_fn fn;
	void *arg;
	/* Both, or neither: where it is kept which directories are plain, so that the next walk need not list them.
	 * For those that did not change fn gets no names; for the top, and for the one at `listed`, always all. */
	walk_plain_fn is_plain;
	const char *state_dir;
	const char *listed; /* or NULL */
	/* Set when a directory was too deep, or its owner's and closed: it is passed by then.  NULL: that is an error. */
	bool *ret_skipped;
	/* Where a list of all directories that were visited is left (walkmemo.h) unless there is one; or NULL. */
	const char *list_dir;
	const char *list_name;
};

/* Visits top and every directory below it.  Those that cannot be opened are passed by: the call, which has
 * the same rights, cannot open them either; unless they are the caller's own, who can change that.
 * Return: 0; CORDON_E_INVALID for such a directory; CORDON_E_LIMIT beyond LIMIT_WALK_ENTRIES names or LIMIT_WALK_DEPTH levels; what fn returned. */
CORDON_MUST_CHECK int walk_tree_with(const char *top, const struct walk_options *o,
				     struct cordon_error *err);
CORDON_MUST_CHECK int walk_tree(const char *top, walk_dir_fn fn, void *arg,
				struct cordon_error *err);
