/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change set becomes the workspace.
 *
 * Theory of operation.  First everything is looked at, and nothing is written: a path that somebody else changed
 * since the set was made is a conflict, and one is enough to refuse the whole.  Then all new content is copied to a
 * directory of ours in the workspace (a full disk is found out here) and the list of what is going to be done is
 * written down beside the set: the journal.  Then each path changes by one rename, exchange or unlink.  Whoever
 * is killed on the way leaves each path as it was or as it will be; the next one who opens the set finds the journal
 * and does the rest.  The set itself is not touched before all is done, so that can be done as often as needed.
 *
 * A file with more than one name is written in place when all of them are in the workspace, so that its other names see
 * it; it alone can be seen half written, until the journal is followed to its end.  One that has a name elsewhere, or of
 * which not all can be found, is replaced: what was not granted is not written to.
 *
 * The workspace may be full of links that lead elsewhere, and change while we look: every path is opened beneath
 * the workspace without following any.  Protected paths, devices, and set-user-id bits that were not there before
 * are left out, and told.  So are the parts of a git directory that make git run something, when it is on the host
 * already, whether the calls' guards knew of it or not; one that only the set has arrives whole.
 *
 * A conflict is what is newer than the set, and what stands in a directory that is another one than it was, however old
 * its files are (moved.h).
 *
 * An overlay does not say whether a file with more than one name was written in place or replaced: both are written
 * in place, unless two of the names got different contents.  Then each of those becomes a file of its own.
 */
#pragma once

#include "workspace/cow/changes.h"

struct commit_options {
	const char *const *paths; /* only these and what is below them, relative; NULL: all */
	size_t n_paths;
	bool is_forced; /* conflicts are overwritten */
};

struct commit_result {
	size_t n;              /* paths that were changed */
	struct strv left_out;  /* "PATH: why" */
	struct strv conflicts; /* paths; with these nothing was done, unless it was forced */
	struct strv warnings; /* "PATH: what": repositories that are new and make git run something */
	bool is_whole;        /* nothing is left in the set */
};

void commit_result_done(struct commit_result *r);

/* Needs COW_EXCLUSIVE, or a set whose calls are stopped.  CORDON_E_REFUSED: conflicts (see *ret), nothing was
 * written.  CORDON_E_NOT_FOUND: a chosen path has no change.  *ret is always set up: commit_result_done(). */
CORDON_MUST_CHECK int changes_commit(struct cow *c, const struct commit_options *o,
				     struct commit_result *ret, struct cordon_error *err);
/* Finishes a commit that was interrupted; nothing when there is none.  Called by cow_open(). */
CORDON_MUST_CHECK int commit_recover(struct cow *c, struct cordon_error *err);
/* Is there one? */
bool commit_is_pending(const struct cow *c);
