/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the last snapshot of some trees saw of inodes and times, beside its listing: a file that still has the same
 * inode, size, times and change time holds what it held, and is not read again.  Nobody without the clock can set a
 * change time back.
 *
 * A file that was changed shortly before it was read could change again without another change time (clocks of file
 * systems tick slowly), so what is that young is not noted.
 */
#pragma once

#include "workspace/snap/store.h"

#include <sys/stat.h>

struct snap_seen {
	uint64_t ino; /* 0: not to be trusted */
	uint64_t dev;
	int64_t ctime_s;
	uint32_t ctime_ns;
};

struct snap_index {
	struct snap_manifest manifest; /* of the last snapshot; empty without one */
	struct snap_seen *seen;        /* of each entry */
	size_t cursor;
};

void snap_index_done(struct snap_index *ix);
/* The name of the index, and of the journal, of these trees. */
void snap_index_key(const struct snap_tree *trees, size_t n, char ret[static SNAP_HEX]);
/* Without one, or with one that is damaged or whose listing is gone, there is nothing to be found.  CORDON_E_NOMEM. */
CORDON_MUST_CHECK int snap_index_load(struct snap_store *s, const struct snap_tree *trees, size_t n,
				      struct snap_index *ret, struct cordon_error *err);
/* The entry, if the file is still what it was.  Asked in the order of a listing it costs a step each. */
const struct snap_entry *snap_index_find(struct snap_index *ix, size_t root, const char *path,
					 const struct statx *st);
/* What is to be noted of a file; started_ns: wall clock, before it was read. */
struct snap_seen snap_index_see(const struct statx *st, int64_t started_ns, bool is_trusted);
/* Does this file system keep change times by the clock of this machine? */
bool snap_index_trusts(int fd);
int snap_index_save(struct snap_store *s, const struct snap_tree *trees, size_t n,
		    const uint8_t listing[static SNAP_DIGEST], const struct snap_seen *seen,
		    size_t n_seen, struct cordon_error *err);
/* The next snapshot of every tree reads all of it. */
CORDON_MUST_CHECK int snap_index_forget_all(struct snap_store *s, struct cordon_error *err);
