/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Git directories that a commit would write to, as they are at this moment.  The guards of a change set were listed when
 * its calls began: a repository that was made since, on the host or by an earlier commit, is in none of them, and
 * git on the host runs its hooks all the same.  For commit.c, and for what a call is told to have made.
 */
#pragma once

#include "base/limits.h"
#include "base/str.h"
#include "workspace/cow/changes.h"

#include <stdbool.h>

/* The directories of the host on the way to the path that was asked for last. */
struct hostgit {
	struct {
		char *path; /* relative to the workspace, "" for itself */
		bool is_gitdir;
	} v[LIMIT_WALK_DEPTH + 3];
	size_t n;
	int workspace; /* borrowed */
};

void hostgit_done(struct hostgit *h);
/* The git directory on the host, beneath the workspace or the workspace itself, of which path is a part that is
 * protected: 1 with *ret borrowed until the next call; 0; or -errno.  Ask in the order of the paths. */
CORDON_MUST_CHECK int hostgit_protects(struct hostgit *h, const char *path, const char **ret);
/* Is the change a new link in a git directory?  Git makes none, and writes through those that are there (gitlinks.h).  1, 0 or -errno;
 * ask in the order of the paths, too. */
CORDON_MUST_CHECK int hostgit_holds_link(struct hostgit *h, const struct change *c);
/* Is the directory, opened in any way and with this name, a git directory? */
bool hostgit_is(int dir, const char *name);
/* Does the name make its directory git's, or say what git runs? */
bool hostgit_is_part(const char *path);
/* Before path is committed: appends the directory that it stands in, relative to the workspace, if that may become a git directory by it.
 * An existing directory becomes one as well as a new one does.  0 or -ENOMEM. */
CORDON_MUST_CHECK int hostgit_note(int workspace, const char *path, struct strv *ret);
/* And afterwards: appends "PATH: …" when that is a git directory which makes git run commands.  0 or -ENOMEM. */
CORDON_MUST_CHECK int hostgit_warn(int workspace, const char *path, struct strv *ret);
/* Is the directory git's as the files of a change set and the workspace make it together?  Appends what git runs for it.
 * 0 or -ENOMEM. */
CORDON_MUST_CHECK int hostgit_find(int files, int workspace, const char *path, bool *ret_is_git,
				   struct strv *ret);
