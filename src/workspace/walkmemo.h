/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a walk over a large tree found in it, kept for the next one: the directories in which there was nothing of
 * interest, each with its inode and change time.  As long as those are the same the names in a directory are the same,
 * and it need not be listed.  A change time cannot be set back without the clock or the raw disk, which no call has,
 * and what a call may have changed in the moment in which it was listed is not believed.  The file is in our state
 * directory, which is closed to every call; one that is damaged, of another tree, or of
 * other names of interest (an upgrade) counts for nothing.
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>
#include <sys/types.h>

#define WALKMEMO_DIR "walks"
#define WALKMEMO_NONE SIZE_MAX

/* One directory; those below it follow, each with its own, sorted by name. */
struct walkmemo_dir {
	uint64_t ino;
	int64_t ctime_ns;
	uint32_t below;    /* how many rows after this one belong to it */
	uint32_t name;     /* where its name is in text; of the top its whole path */
	uint32_t is_plain; /* nothing of interest, and old enough to be believed */
	uint32_t spare;
};

struct walkmemo {
	uint64_t rules; /* by which directories were called plain; 0 in a file of its own */
	uint64_t dev;   /* of the top: directories of other file systems are never plain */
	struct walkmemo_dir *v;
	size_t n;
	size_t cap;
	struct buf text;
};

void walkmemo_init(struct walkmemo *m);
void walkmemo_done(struct walkmemo *m);
/* What is known about the tree at top; empty when nothing is.  *ret is always set up. */
void walkmemo_load(const char *state_dir, const char *top, struct walkmemo *ret);
/* Keeps it for the next walk.  What cannot be written is only slower. */
void walkmemo_save(const char *state_dir, struct walkmemo *m);
/* The same in a file of its own.  0 or -errno. */
void walkmemo_read(int dir, const char *name, const char *top, struct walkmemo *ret);
CORDON_MUST_CHECK int walkmemo_write(int dir, const char *name, const struct walkmemo *m);
/* Appends a row.  0 or -errno. */
CORDON_MUST_CHECK int walkmemo_add(struct walkmemo *m, const char *name,
				   const struct walkmemo_dir *d);
/* The first row directly below that of a directory, and the one after another: WALKMEMO_NONE after the last. */
size_t walkmemo_first(const struct walkmemo *m, size_t dir);
size_t walkmemo_next(const struct walkmemo *m, size_t dir, size_t row);
static inline const char *walkmemo_name(const struct walkmemo *m, size_t row)
{
	return m->text.data + m->v[row].name;
}
/* Can the change times of the directory's file system be relied on? */
bool walkmemo_is_reliable(int dir);
