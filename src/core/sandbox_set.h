/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change set of a sandbox (workspace/cow) and its snapshots (workspace/snap).  A snapshot is of the change set
 * alone: what the sandbox did, not what it started from.  Where the set is a copy of the workspace it holds all of it, and
 * to take one costs a comparison of the whole tree.
 *
 * While the set is read or committed, processes of the sandbox are stopped; before it is given another content they
 * are ended, since nobody may change an overlay under them, and started again over the new one.
 */
#pragma once

#include "core/sandbox.h"
#include "workspace/cow/commit.h"
#include "workspace/snap/snap.h"

/* The set that a word names, among those without a row: as sandbox_find(). */
CORDON_MUST_CHECK int sandbox_find_set(const struct sandbox_manager *m, const char *word,
				       struct sandbox_row *ret, struct cordon_error *err);
/* Appends those without a row. */
CORDON_MUST_CHECK int sandbox_list_sets(const struct sandbox_manager *m, struct sandbox_list *ret,
					struct cordon_error *err);
/* sandbox.c: of a sandbox that is gone, while it is held. */
void sandbox_drop_lock(const struct sandbox_manager *m, const char *id);
/* A restore that was killed left the set half old, half new: finishes or undoes it.  Nothing may read the set before.
 * CORDON_E_NOT_FOUND when there is no set. */
CORDON_MUST_CHECK int sandbox_finish_restore(const struct sandbox_manager *m,
					     const struct sandbox *s, struct cordon_error *err);
/* CORDON_E_REFUSED when there are changes that were not committed. */
CORDON_MUST_CHECK int sandbox_check_unchanged(const struct sandbox_manager *m,
					      const struct sandbox *s, struct cordon_error *err);
/* Removes the set; its sandbox has ended. */
CORDON_MUST_CHECK int sandbox_forget_changes(const struct sandbox_manager *m,
					     const struct sandbox *s, struct cordon_error *err);

/* Appends the lines "added: PATH", "modified: PATH", "deleted: PATH", sorted; or unified text. */
CORDON_MUST_CHECK int sandbox_diff(struct sandbox_manager *m, struct sandbox *s, bool is_unified,
				   struct buf *out, struct cordon_error *err);
/* As changes_commit().  A set of 'cordon run' of which nothing is left is removed. */
CORDON_MUST_CHECK int sandbox_commit(struct sandbox_manager *m, struct sandbox *s,
				     const struct commit_options *o, struct commit_result *ret,
				     struct cordon_error *err);
/* Forgets all changes.  *ret_anew: its processes were ended for that, and it was started again. */
CORDON_MUST_CHECK int sandbox_discard(struct sandbox_manager *m, struct sandbox *s, bool *ret_anew,
				      struct cordon_error *err);
/* name NULL: one is made up.  *ret_name is given. */
CORDON_MUST_CHECK int sandbox_snapshot(struct sandbox_manager *m, struct sandbox *s,
				       const char *name, char **ret_name, struct cordon_error *err);
/* The same for who has none of it open: by id, waiting for its turn. */
CORDON_MUST_CHECK int sandbox_checkpoint(const char *state_dir, const char *id, char **ret_name,
					 struct cordon_error *err);
/* name NULL: the newest of this sandbox.  With is_dry_run nothing is changed and nothing ended.  ret (may be NULL): as
 * snap_restore(). */
struct sandbox_restore {
	const char *name;
	bool is_dry_run;
	bool is_anew; /* out: as in sandbox_discard() */
};
CORDON_MUST_CHECK int sandbox_restore(struct sandbox_manager *m, struct sandbox *s,
				      struct sandbox_restore *o, struct snap_changes *ret,
				      struct cordon_error *err);
