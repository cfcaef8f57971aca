/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: the state of one or more trees, kept in a store under our own state directory so that it can be
 * given back.  What a file holds is stored once, by its hash, in pieces of SNAP_CHUNK bytes, whichever snapshots
 * and files have it; a snapshot is a listing of names that points to the pieces, itself known by its hash.
 *
 * Nothing that was not in the snapshot is removed by a restore, unless the caller says of that very path that it
 * may be.  What equals the snapshot is not touched: inode and times stay.
 *
 * The state directory with the store itself is never part of a snapshot, wherever it lies.
 *
 * A store may be used by many processes at one time.  A process that dies leaves the old state or the new one, or
 * a journal from which the next call that opens the store to change something finishes the work.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One MiB: a change in a file of 4 GiB stores a 4096th part of it, two buffers of this size are all the memory that
 * a file needs however long it is, and 32 bytes of hash for each are 0.003 % of what they stand for.  Chunks that
 * move with the content would find more that is alike in files with insertions; source trees hardly have such
 * files, and cutting them costs more than hashing. */
#define SNAP_CHUNK (1024 * 1024)
#define SNAP_DIGEST 32

struct snap_store;

/* Opens STATE_DIR/snapshots, making it (0700) when it is not there.  A store that cannot be written can still be
 * listed, verified, and exported from. */
CORDON_MUST_CHECK int snap_open(const char *state_dir, struct snap_store **ret,
				struct cordon_error *err);
void snap_close(struct snap_store *s);
DEFINE_FREEP(struct snap_store, snap_close)

/* Lower ceilings than those of base/limits.h; zero keeps that one. */
struct snap_ceilings {
	uint64_t store_bytes;
	size_t snapshots;
	size_t files; /* of one snapshot */
};
void snap_set_ceilings(struct snap_store *s, const struct snap_ceilings *c);

/* What is known of a snapshot without reading its listing. */
struct snap_info {
	char *name;
	char *owner;           /* as it was given: a sandbox's id, or "" */
	struct strv roots;     /* absolute paths of what was saved */
	int64_t created_ms;    /* wall clock */
	int64_t created_ns;    /* the same, finer */
	uint64_t files;        /* names of all kinds */
	uint64_t bytes;        /* in regular files, holes included */
	uint64_t skipped;      /* sockets, devices, mount points, and what could not be read */
	uint64_t stored_bytes; /* that the store grew by; only from snap_take() and snap_import() */
	uint64_t read_files;   /* whose content had to be read; only from snap_take() */
	bool is_imported; /* from a file that somebody gave us: it is restored without owners, set-id
				 * bits and privileged attributes, and only to a target that is named */
	uint8_t manifest[SNAP_DIGEST];
};
void snap_info_done(struct snap_info *i);

struct snap_take_options {
	const char *
		name; /* NULL: one is made up.  Letters, digits, . _ -, at most LIMIT_SNAPSHOT_NAME */
	const char *owner;        /* may be NULL */
	const char *const *roots; /* absolute: directories, files, or names that are not there */
	size_t root_count;
	bool skips_unreadable; /* else what cannot be read is an error */
	bool replaces;         /* a snapshot of that name */
	size_t keep; /* of this owner: the oldest beyond so many are removed afterwards; 0: none is */
	int64_t deadline_ms; /* of clock_ms(); 0: in LIMIT_SNAPSHOT_MS */
};
/* Saves the state of the roots.  Files that did not change since the last snapshot of the same roots are not read.
 * A file that changes while it is read is saved as it was found, not necessarily as it ever was: let nobody write.
 * Return: 0; CORDON_E_LIMIT, CORDON_E_TIMEOUT; CORDON_E_INVALID for a bad or taken name. */
CORDON_MUST_CHECK int snap_take(struct snap_store *s, const struct snap_take_options *o,
				struct snap_info *ret, struct cordon_error *err);

struct snap_list {
	struct snap_info *v;
	size_t n;
};
void snap_list_done(struct snap_list *l);
/* All snapshots, newest first; those of one owner unless it is NULL.  A record that is damaged is an error unless
 * ret_damaged is given, which then gets the names. */
CORDON_MUST_CHECK int snap_list(struct snap_store *s, const char *owner, struct snap_list *ret,
				struct strv *ret_damaged, struct cordon_error *err);
/* CORDON_E_NOT_FOUND. */
CORDON_MUST_CHECK int snap_find(struct snap_store *s, const char *name, struct snap_info *ret,
				struct cordon_error *err);

/* What a restore does to a path. */
enum snap_op {
	SNAP_ADD,      /* it is not there */
	SNAP_MODIFY,   /* content or kind */
	SNAP_META,     /* mode, owner, times or attributes alone */
	SNAP_REMOVE,   /* it was not in the snapshot and may be removed */
	SNAP_CONFLICT, /* something is in the way that may not be removed: nothing is done at all */
	SNAP_OP_COUNT
};
const char *snap_op_name(enum snap_op op); /* "add", "modify", ... */

struct snap_change {
	enum snap_op op;
	char *path; /* absolute */
};
struct snap_changes {
	struct snap_change *v;
	size_t n;
	size_t cap;
	uint64_t owners_kept; /* files whose owner we had no right to give back */
};
void snap_changes_done(struct snap_changes *c);

/* May this path, which is not in the snapshot, be removed? */
typedef bool (*snap_may_remove_fn)(void *arg, const char *path);

struct snap_restore_options {
	const char *const *only; /* absolute paths: these and what is below them; NULL: everything */
	size_t only_count;
	bool may_miss; /* of these, what neither the snapshot nor the tree has is passed over; else an error */
	/* Paths that are not in the snapshot are never touched but for those listed here (absolute; a directory
	 * only when it is empty by then) and those of which the function says yes, which is asked about every name
	 * that is not in the snapshot. */
	const char *const *removable;
	size_t removable_count;
	snap_may_remove_fn may_remove;
	void *may_remove_arg;
	const char *target; /* another directory in the place of the only root; NULL: where it was */
	bool is_dry_run;
	int64_t deadline_ms; /* of clock_ms(); 0: in LIMIT_SNAPSHOT_MS */
};
/* Gives the trees back the state of the snapshot.  ret (may be NULL) gets what was, or would be, changed.
 * Either every change is made, or none when the error is known before the first (a damaged object, a full disk,
 * a conflict: CORDON_E_REFUSED); after a later error the journal stays and snap_recover() tries again. */
CORDON_MUST_CHECK int snap_restore(struct snap_store *s, const char *name,
				   const struct snap_restore_options *o, struct snap_changes *ret,
				   struct cordon_error *err);
/* Finishes or undoes what processes that died have begun.  Called by take, restore, remove and gc too. */
CORDON_MUST_CHECK int snap_recover(struct snap_store *s, struct cordon_error *err);
/* The same for a restore of this one directory, which is about to be read.  Without one no store is made. */
CORDON_MUST_CHECK int snap_recover_tree(const char *state_dir, const char *path,
					struct cordon_error *err);
/* Forgets it instead: the directory is about to be emptied or removed. */
CORDON_MUST_CHECK int snap_forget_restore(const char *state_dir, const char *path,
					  struct cordon_error *err);
/* Restores that wait to be finished, and those that cannot be and were set aside: names in SNAP_JOURNALS. */
#define SNAP_JOURNALS "snapshots/journal"
#define SNAP_ASIDE_BAD "bad-"   /* it is damaged */
#define SNAP_ASIDE_GONE "gone-" /* its directory is not there any more */
CORDON_MUST_CHECK int snap_list_restores(const char *state_dir, struct strv *ret,
					 struct cordon_error *err);

struct snap_verified {
	uint64_t snapshots;
	uint64_t objects;
	uint64_t bytes;       /* after decompression */
	uint64_t set_aside;   /* damaged files of the store */
	struct strv problems; /* one line each, at most SNAP_PROBLEMS */
};
#define SNAP_PROBLEMS 1000
void snap_verified_done(struct snap_verified *v);
/* Reads every record, listing and object of one snapshot, or of all (name NULL).  What is damaged is moved to
 * snapshots/damaged, so that the next snapshot with the same content writes it anew, and mends the others.
 * Return: 0; CORDON_E_CORRUPT when there are problems. */
CORDON_MUST_CHECK int snap_verify(struct snap_store *s, const char *name, struct snap_verified *ret,
				  struct cordon_error *err);

/* Forgets a snapshot; the space comes back with snap_gc(). */
CORDON_MUST_CHECK int snap_remove(struct snap_store *s, const char *name, struct cordon_error *err);
struct snap_swept {
	uint64_t objects; /* removed */
	uint64_t bytes;
	uint64_t kept;
	uint64_t kept_bytes;
};
/* Removes the objects that no snapshot needs.  Waits until nobody else uses the store. */
CORDON_MUST_CHECK int snap_gc(struct snap_store *s, struct snap_swept *ret,
			      struct cordon_error *err);

/* Writes a snapshot with all that it needs as one stream. */
CORDON_MUST_CHECK int snap_export(struct snap_store *s, const char *name, int fd,
				  struct cordon_error *err);
/* Reads such a stream, which anybody may have written.  Nothing is in the store unless all of it was right.  name:
 * under which it is kept, NULL for the one in the file. */
CORDON_MUST_CHECK int snap_import(struct snap_store *s, int fd, const char *name,
				  struct snap_info *ret, struct cordon_error *err);
