/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change set: what calls changed of a workspace, kept apart from it until somebody commits or discards it.
 *
 *     STATE/sandboxes/sb-0123456789ab/      0700; locked by whoever works with it
 *         note        which workspace, and since when
 *         upper, work the layers of an overlay, or
 *         copy        a copy of the whole workspace, where no overlay can be had, and
 *         base        what was copied (base.h)
 *         lower       a copy of the workspace for the overlay to stand on, where mounts in it were listed, and
 *         mounts      which: they are no part of the set
 *         dirs        the workspace's directories when it was first used: which inode each was
 *         guards      paths that were protected or denied to the calls: never committed
 *         journal     a commit that has begun (commit.h)
 *         committed   what was committed of it before
 *         mark-NAME   since when, and what was committed, as it was at a snapshot
 *         changed-NAME of a copy: what the calls had changed by then (core/sandbox_set.c)
 *
 * One that is only for a single call is named tmp-… instead: when nobody holds its lock the call was killed, and
 * the next command finishes what it had begun to commit, and removes it.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define COW_DIR "sandboxes"
#define COW_DIRS "dirs"
#define COW_BASE "base"
#define COW_LOWER "lower"
#define COW_ID_PREFIX "sb-"
#define COW_TEMP_PREFIX "tmp-"
#define COW_ID_HEX 12
#define COW_ID_MAX 24 /* with the NUL */

enum cow_layers {
	COW_OVERLAY, /* the upper layer holds what changed */
	COW_COPY,    /* the copy holds everything */
	COW_LAYERS_COUNT
};

enum cow_lock {
	COW_SHARED,    /* to look */
	COW_EXCLUSIVE, /* to run, commit or discard */
};

struct cow {
	char id[COW_ID_MAX];
	char *dir;       /* absolute */
	char *workspace; /* canonical */
	dev_t dev;       /* of the workspace when the set was made */
	ino_t ino;
	int64_t created_ns; /* CLOCK_REALTIME */
	enum cow_layers layers;
	int sets; /* fd of STATE/sandboxes */
	int fd;   /* of dir; holds the lock */
};

#define COW_NONE ((struct cow){.sets = -1, .fd = -1})

/* "sb-" and twelve hexadecimal digits? */
bool cow_id_is_valid(const char *id);

struct cow_options {
	const char *state_dir;
	const char *workspace; /* canonical, a directory */
	enum cow_layers layers;
	const struct strv
		*mounts;   /* COW_OVERLAY: mounts in it that are left out, canonical; or NULL */
	bool is_temporary; /* for one call: named tmp-…, and removed when nobody holds it */
};

/* Makes an empty set, locked exclusively; with COW_COPY the copy is made too.  *ret is given: cow_close().
 * CORDON_E_LIMIT: the workspace is too large to be copied. */
CORDON_MUST_CHECK int cow_create(const struct cow_options *o, struct cow *ret,
				 struct cordon_error *err);
/* Opens a set and takes its lock, waiting up to LIMIT_COW_LOCK_MS.  A commit that was interrupted is finished first.
 * CORDON_E_NOT_FOUND; CORDON_E_TIMEOUT when somebody else works with it; CORDON_E_INVALID for one that is damaged. */
CORDON_MUST_CHECK int cow_open(const char *state_dir, const char *id, enum cow_lock lock,
			       struct cow *ret, struct cordon_error *err);
/* Lets go of the set; it stays.  NONE is allowed. */
void cow_close(struct cow *c);
/* The ids of all sets that are kept, in no order. */
CORDON_MUST_CHECK int cow_list(const char *state_dir, struct strv *ret, struct cordon_error *err);

/* A path that a call was kept from writing, absolute; what is not in the workspace is passed over. */
struct cow_guard {
	const char *path;
	const char *except; /* a name directly in it that is no part of it, or NULL */
};

/* Before each mount: what an earlier one left in work is removed, and guards are added to those that commit leaves
 * out.  Needs COW_EXCLUSIVE. */
CORDON_MUST_CHECK int cow_prepare(struct cow *c, const struct cow_guard *guards, size_t n,
				  struct cordon_error *err);
/* The workspace's own directory, verified to be the one that the set was made for.  Gives an fd (O_PATH) or fails. */
CORDON_MUST_CHECK int cow_open_workspace(const struct cow *c, struct cordon_error *err);
/* Where the changed files are: upper or copy.  Gives an fd or fails. */
CORDON_MUST_CHECK int cow_open_files(const struct cow *c, struct cordon_error *err);
/* The mounts in the workspace that were left out, relative to it. */
CORDON_MUST_CHECK int cow_mounts(const struct cow *c, struct strv *ret, struct cordon_error *err);
/* The paths that are never committed, relative to the workspace: "-PATH", and "+PATH" for exceptions. */
CORDON_MUST_CHECK int cow_guards(const struct cow *c, struct strv *ret, struct cordon_error *err);

/* A temporary set becomes one that is kept, with an id.  Needs COW_EXCLUSIVE. */
CORDON_MUST_CHECK int cow_keep(struct cow *c, struct cordon_error *err);
/* Forgets all changes; the set stays, as new.  Nothing may be mounted on it.  Needs COW_EXCLUSIVE. */
CORDON_MUST_CHECK int cow_reset(struct cow *c, struct cordon_error *err);
/* Since when the workspace's files are compared with, and what was committed, under the name of a snapshot that was
 * taken; and back to that, when the set was emptied since, before the snapshot is restored: what somebody else did to
 * the workspace meanwhile is a conflict still.  oldest_ns: for one that is not known.  Needs COW_EXCLUSIVE. */
CORDON_MUST_CHECK int cow_mark(const struct cow *c, const char *name, struct cordon_error *err);
CORDON_MUST_CHECK int cow_return(struct cow *c, const char *name, int64_t oldest_ns,
				 struct cordon_error *err);
/* Removes the set.  Nothing may be mounted on it.  *c is closed, whatever is returned.  Needs COW_EXCLUSIVE. */
CORDON_MUST_CHECK int cow_discard(struct cow *c, struct cordon_error *err);
/* Removes what killed calls left; finishes their commits first.  Sets that are kept are left to cow_open(). */
void cow_sweep(const char *state_dir);
/* The same for all, and finishes the commits of sets that are kept.  How many, or the first that could not be. */
CORDON_MUST_CHECK int cow_recover_all(const char *state_dir, struct cordon_error *err);
