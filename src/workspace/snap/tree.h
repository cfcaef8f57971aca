/* SPDX-License-Identifier: Apache-2.0 */
/* The trees of a snapshot, from the paths that a caller names. */
#pragma once

#include "base/limits.h"
#include "workspace/snap/manifest.h"

/* Paths and names are owned by the strv. */
struct snap_trees {
	struct snap_tree v[LIMIT_SNAPSHOT_ROOTS];
	size_t n;
	struct strv text;
};
void snap_trees_done(struct snap_trees *t);
/* Resolves links in the paths.  A directory is a tree; anything else, also what is not there, is one name in its
 * directory.  A path that lies below another one is part of that.  CORDON_E_INVALID, CORDON_E_LIMIT. */
CORDON_MUST_CHECK int snap_trees_make(const char *const *paths, size_t n, struct snap_trees *ret,
				      struct cordon_error *err);
/* The absolute path of an entry.  Gives. */
CORDON_MUST_CHECK int snap_tree_path(const char *tree, const char *path, char **ret);
