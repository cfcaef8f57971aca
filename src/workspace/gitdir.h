/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Git directories: which there are, and where a `.git` file points.  A pointer is believed only when what
 * it points to points back: the file is in the workspace, where anybody may have written it, and what it
 * names would be granted.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "workspace/walk.h"

/* Is the directory, with these names in it, a git directory (a repository, or the private part of a worktree)?
 * Also one that a call has stripped of what it may move (HEAD, objects, refs) counts: else the next call
 * could write what is protected and put the rest back. */
bool gitdir_is(const char *path, const struct walk_names *names);
/* Where a linked worktree keeps its own part and the repository; both given, canonical. */
struct gitdir_link {
	char *gitdir;
	char *commondir;
};
void gitdir_link_done(struct gitdir_link *l);
/* Reads workspace/.git when it is a file.
 * Return: 1 with *ret filled when it is a linked worktree of a repository that knows it; 0 when there is no
 * such file, or it points to nothing that knows this worktree (then nothing is to be granted);
 * CORDON_E_INVALID when it cannot be read as a pointer. */
CORDON_MUST_CHECK int gitdir_follow(const char *workspace, struct gitdir_link *ret,
				    struct cordon_error *err);
/* Where tree/.git leads when it is no directory, canonical: -ENOENT when there is none or it is one, -EINVAL when nothing can
 * be made of it. */
CORDON_MUST_CHECK int gitdir_pointed(const char *tree, char **ret);
/* Does a linked worktree's gitdir say that tree/.git belongs to it? */
bool gitdir_points_back(const char *gitdir, const char *tree);
/* The directory that a git directory shares with others, canonical; -ENOENT when it has its own. */
CORDON_MUST_CHECK int gitdir_common(const char *gitdir, char **ret);
/* Is the working tree that core.worktree names the one that points to this git directory, as of a submodule? */
bool gitdir_owns_tree(const char *gitdir, const char *tree);
