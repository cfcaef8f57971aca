/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listing of a snapshot: its trees and every name in them, with all that is needed to make it again.  Pure:
 * bytes to structures and back.
 *
 * Names are relative to their tree and stand in the order of a walk that takes the names of a directory in the order
 * of their bytes and goes into a directory before the next name.  Every name but the first of a tree lies in a
 * directory that is listed before it: nothing can be restored through a link.
 */
#pragma once

#include "workspace/snap/code.h"
#include "workspace/snap/snap.h"

enum snap_kind {
	SNAP_FILE = 1,
	SNAP_DIR,
	SNAP_LINK,
	SNAP_FIFO,
	SNAP_WHITEOUT, /* character device 0:0, with which an overlay says that a name is gone */
	SNAP_KIND_COUNT
};

/* A name.  Everything is borrowed from the bytes that it was read from. */
struct snap_entry {
	size_t root;
	enum snap_kind kind;
	uint32_t mode; /* permission bits and set-id, sticky */
	uint32_t uid;
	uint32_t gid;
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint64_t size; /* of a file */
	uint64_t link; /* its inode at the time, for a file with several names; else 0 */
	const char *path;
	size_t path_len;
	const char *target;    /* of a symbolic link, "" for others */
	const uint8_t *xattrs; /* for snap_xattr_next() */
	size_t xattrs_len;
	const uint8_t *extents; /* where a sparse file holds data: for snap_extent() */
	size_t n_extents;       /* 0: everywhere */
	const uint8_t *chunks;  /* digests */
	size_t n_chunks;
	const uint8_t *raw; /* its own encoding */
	size_t raw_len;
};

struct snap_tree {
	const char *path; /* absolute directory */
	const char *only; /* "", or the one name in it that is meant */
};

struct snap_manifest {
	char *data; /* takes */
	size_t len;
	struct snap_tree *trees;
	size_t n_trees;
	struct snap_entry *entries;
	size_t n;
};

void snap_manifest_done(struct snap_manifest *m);
/* Reads and checks everything.  Takes data in every case.
 * Return: 0; CORDON_E_CORRUPT, CORDON_E_LIMIT, CORDON_E_NOMEM. */
CORDON_MUST_CHECK int snap_manifest_decode(char *data, size_t len, struct snap_manifest *ret,
					   struct cordon_error *err);
/* Which entry has this name in this tree; NULL when none. */
const struct snap_entry *snap_manifest_find(const struct snap_manifest *m, size_t root,
					    const char *path);

/* Writing: the head, then every entry in order. */
void snap_manifest_head(struct buf *b, const struct snap_tree *trees, size_t n_trees,
			uint64_t n_entries);
void snap_entry_encode(struct buf *b, const struct snap_entry *e);
/* Reads one; the checks are those of the entry alone. */
CORDON_MUST_CHECK bool snap_entry_decode(struct snap_reader *r, struct snap_entry *ret);

/* The order of names in a listing. */
int snap_path_compare(const char *a, const char *b);
/* Is path dir or below it?  Everything is below "". */
bool snap_path_within(const char *path, const char *dir);
/* Relative, without empty parts, "." and "..". */
bool snap_path_is_plain(const char *path);

struct snap_xattr {
	const char *name;
	const uint8_t *value;
	size_t len;
};
void snap_xattr_put(struct buf *b, const char *name, const void *value, size_t len);
/* False at the end. */
bool snap_xattr_next(struct snap_reader *r, struct snap_xattr *ret);

void snap_extent_put(struct buf *b, uint64_t offset, uint64_t len);
void snap_extent(const struct snap_entry *e, size_t i, uint64_t *ret_offset, uint64_t *ret_len);
/* Does the file hold data in this range? */
bool snap_extent_touches(const struct snap_entry *e, uint64_t offset, uint64_t len);

static inline size_t snap_chunk_count(uint64_t size)
{
	return (size_t)(size / SNAP_CHUNK + (size % SNAP_CHUNK != 0));
}
/* Bytes of chunk i. */
size_t snap_chunk_len(const struct snap_entry *e, size_t i);
