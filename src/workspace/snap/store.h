/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's own directory, for the files beside this one:
 *
 *	objects/ab/cdef...	a chunk as it is; with .z behind it, compressed
 *	listings/HASH.z		a listing (manifest.h)
 *	names/NAME		a snapshot: which listing, whose, when (record.h)
 *	index/KEY		what the last snapshot of some trees saw of inodes and times (index.h)
 *	staging/ID/		objects that are being written (object.h)
 *	journal/KEY		a restore that is under way (journal.h)
 *	damaged/HASH		objects and listings that were not what their names say (verify.c)
 *	lock, usage
 *
 * Who writes objects or needs them to stay holds the lock shared; who removes objects holds it alone.
 */
#pragma once

#include "workspace/snap/digest.h"
#include "workspace/snap/manifest.h"
#include "workspace/snap/snap.h"

#include <sys/file.h>
#include <sys/stat.h>

#define STORE_DAMAGED "damaged"

enum store_dir {
	STORE_OBJECTS,
	STORE_LISTINGS,
	STORE_NAMES,
	STORE_INDEX,
	STORE_STAGING,
	STORE_JOURNAL,
	STORE_DIR_COUNT
};

struct snap_store {
	char *path;
	int fd; /* the store */
	int dirs[STORE_DIR_COUNT];
	int lock;
	bool is_read_only;
	uint64_t home_dev, home_ino; /* of the state directory */
	struct snap_ceilings ceilings;
	struct snap_zip *zip;
	char *chunk; /* SNAP_CHUNK bytes for whoever works */
};

/* LOCK_SH, LOCK_EX or LOCK_UN; waits LIMIT_SNAPSHOT_LOCK_MS. */
CORDON_MUST_CHECK int snap_store_lock(struct snap_store *s, int operation,
				      struct cordon_error *err);
void snap_store_unlock(struct snap_store *s);
/* CORDON_E_SYSTEM when it is read-only. */
CORDON_MUST_CHECK int snap_store_needs_writing(const struct snap_store *s,
					       struct cordon_error *err);
/* Adds to the number of bytes in objects and listings; CORDON_E_LIMIT when it would exceed the ceiling. */
CORDON_MUST_CHECK int snap_store_use(struct snap_store *s, uint64_t bytes,
				     struct cordon_error *err);
CORDON_MUST_CHECK int snap_store_set_usage(struct snap_store *s, uint64_t bytes,
					   struct cordon_error *err);
CORDON_MUST_CHECK int snap_store_usage(struct snap_store *s, uint64_t *ret,
				       struct cordon_error *err);
/* fsync() of one of the directories. */
CORDON_MUST_CHECK int snap_store_sync_dir(const struct snap_store *s, enum store_dir which,
					  struct cordon_error *err);
/* Is this our own state directory?  It is passed by, whatever tree it lies in. */
bool snap_store_is_home(const struct snap_store *s, const struct statx *st);
/* Calls fn for each name in a directory but . and .. until it returns something else than 0; at is passed on.
 * Return: that, or -errno. */
typedef int (*store_name_fn)(void *arg, int dirfd, const char *name);
int snap_store_each(int dirfd, store_name_fn fn, void *arg);
/* Removes a directory with what is in it, at most two levels. */
void snap_store_remove_tree(int dirfd, const char *name);
/* Reads one of our own files. */
CORDON_MUST_CHECK int snap_store_read(const struct snap_store *s, enum store_dir which,
				      const char *name, size_t max, char **ret, size_t *ret_len);
/* The deadline of an operation. */
int64_t snap_store_deadline(int64_t deadline_ms);
CORDON_MUST_CHECK int snap_store_check_deadline(int64_t deadline_ms, struct cordon_error *err);
int64_t snap_store_wall_ns(void);
/* A number that nobody else has, as 16 hexadecimal digits. */
CORDON_MUST_CHECK int snap_store_unique(char ret[static 17]);
