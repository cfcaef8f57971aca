/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is different in a change set: the upper layer is walked, not the workspace, and compared with what it covers.
 * A file that was copied up and is equal to its origin is no change.  Nothing is believed of the layer: the call
 * wrote it.
 */
#pragma once

#include "workspace/cow/cow.h"

#include <sys/stat.h>

enum change_op { CHANGE_ADDED, CHANGE_DELETED, CHANGE_MODIFIED, CHANGE_OP_COUNT };

/* What of it, bits; for CHANGE_MODIFIED. */
enum change_what {
	CHANGE_CONTENT = 1 << 0, /* bytes, or where a link leads */
	CHANGE_TYPE = 1 << 1,    /* a file became a directory, … */
	CHANGE_MODE = 1 << 2,
	CHANGE_OWNER = 1 << 3,
	CHANGE_XATTRS = 1 << 4,
	CHANGE_TIMES = 1 << 5, /* the file's own; a directory's change with every name in it */
};

struct change {
	enum change_op op;
	unsigned what;
	char *path;      /* relative to the workspace */
	struct stat now; /* zero for CHANGE_DELETED */
	struct stat was; /* zero for CHANGE_ADDED */
	/* It is there only because of what is in it (a new directory), or only its times changed (a directory's):
	 * committed, not listed. */
	bool is_implied;
	bool has_origin; /* it was copied from the workspace before it was written */
	bool is_apart; /* its other names on the host get another content: it leaves them (commit.h) */
	char *from;    /* CHANGE_ADDED: the deleted path that it was, most likely; or NULL */
};

/* Parents come before what is in them. */
struct changes {
	struct change *v;
	size_t n;
	size_t cap;
	bool is_cut; /* there are more, or deeper ones, than LIMIT_CHANGES and LIMIT_WALK_DEPTH */
};

/* *ret is always set up: changes_done(). */
CORDON_MUST_CHECK int changes_read(const struct cow *c, struct changes *ret,
				   struct cordon_error *err);
void changes_done(struct changes *c);
/* "added", "deleted", "modified". */
const char *change_word(enum change_op op);
/* How many are listed. */
size_t changes_count(const struct changes *c);

/* Those that are listed, in the order of the lines.  Gives an array that borrows.  0 or -ENOMEM. */
CORDON_MUST_CHECK int changes_sorted(const struct changes *c, const struct change ***ret,
				     size_t *n);
/* Appends the lines "added: PATH", sorted; control characters in a path are made visible. */
CORDON_MUST_CHECK int changes_diff_names(const struct changes *c, struct buf *out);
/* Finds deleted files that were added elsewhere with the same bytes, and sets `from`. */
CORDON_MUST_CHECK int changes_find_renames(const struct cow *c, struct changes *changes,
					   struct cordon_error *err);
/* Appends a unified diff of text files, and one line for all else: sizes of binary files, modes, links, attributes,
 * renames. */
CORDON_MUST_CHECK int changes_diff_text(const struct cow *c, const struct changes *changes,
					struct buf *out, struct cordon_error *err);
