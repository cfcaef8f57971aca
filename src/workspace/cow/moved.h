/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Was a directory on the way to a path exchanged outside since the change set was made?  The files in what is there now
 * may all be older than the set, and yet none of them is the one that a call saw.  For commit.c.
 */
#pragma once

#include "base/limits.h"
#include "workspace/cow/cow.h"
#include "workspace/walkmemo.h"

/* What of a directory is expected, and since when it is: asked for those that were noted later than the set was made.
 * False: nothing is known. */
typedef bool (*moved_noted_fn)(const void *arg, const char *path, uint64_t *ret_ino,
			       int64_t *ret_since_ns);

struct moved {
	int workspace; /* borrowed */
	int64_t since_ns;
	moved_noted_fn noted;
	const void *arg;
	struct walkmemo dirs; /* as they were */
	/* The directories on the way to the path that was asked for last. */
	struct {
		char *path; /* relative to the workspace */
		size_t row; /* of it, or WALKMEMO_NONE */
		bool is_moved;
	} v[LIMIT_WALK_DEPTH + 3];
	size_t n;
};

/* Reads what the set knows.  *m is always set up: moved_done(). */
void moved_begin(const struct cow *c, struct moved *m);
void moved_done(struct moved *m);
/* Ask in the order of the paths.  1, 0 or -errno. */
CORDON_MUST_CHECK int moved_is(struct moved *m, const char *path);
