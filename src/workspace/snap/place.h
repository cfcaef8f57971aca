/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Going to a name in a tree that whoever runs in it may change at any moment: every step is taken by the kernel from a
 * descriptor of the tree, through directories only, over no link and into no mount.
 */
#pragma once

#include "workspace/snap/manifest.h"

#include <linux/openat2.h>
#include <sys/stat.h>

#define PLACE_RESOLVE (RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

struct snap_place {
	int root;     /* the tree's directory */
	int dir;      /* of the name that was asked for last */
	char *parent; /* its path */
};
#define SNAP_PLACE ((struct snap_place){.root = -1, .dir = -1})

/* Opens an absolute directory that has no link in its path.  -errno. */
CORDON_MUST_CHECK int snap_place_open(const char *path, struct snap_place *ret);
void snap_place_done(struct snap_place *p);
/* The directory of a path of the tree, which stays ours, and the last part of the path ("." for the tree itself).
 * -ENOENT or -ENOTDIR or -ELOOP when there is no such directory, -EXDEV when it is in another file system. */
CORDON_MUST_CHECK int snap_place_parent(struct snap_place *p, const char *path,
					const char **ret_name);
/* Forget what snap_place_parent() has found: directories were made, moved or removed. */
void snap_place_forget(struct snap_place *p);
/* statx() of a path of the tree, no link followed. */
CORDON_MUST_CHECK int snap_place_stat(struct snap_place *p, const char *path, struct statx *ret);
/* openat2() of a path of the tree. */
CORDON_MUST_CHECK int snap_place_open_name(struct snap_place *p, const char *path, int flags);
