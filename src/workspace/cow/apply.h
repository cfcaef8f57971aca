/* SPDX-License-Identifier: Apache-2.0 */
/* How a commit writes (commit.h): all content is staged first, then each path changes by one step.  For commit.c. */
#pragma once

#include "base/limits.h"
#include "workspace/cow/changes.h"
#include "workspace/cow/node.h"

#define APPLY_STAGING                                                                              \
	".cordon-commit-" /* and the id, at the top of the workspace while a commit runs */

/* A directory of the host that was made writable for us, and its mode. */
struct apply_opened {
	char *path;
	mode_t mode;
};

/* A directory of the host and its times before we make names in it: a file that the call wrote in place is replaced
 * by us, and that is not the directory's business. */
struct apply_dir {
	const char *path; /* of a row in it: the first len bytes count */
	size_t len;
	struct timespec times[2];
	bool is_there;
};

/* What stands in the staging directory for a row, and what became of it. */
struct apply_staged {
	ino_t ino;
	int64_t ctime_ns;
	bool is_left; /* what is at its place is not what was looked at */
};

struct apply {
	const struct cow *cow;
	const struct change *const *rows; /* what is to be done: parents first */
	size_t n;
	bool is_forced; /* whatever is there by now */
	struct cordon_error *err;
	int files; /* of the change set */
	int workspace;
	int staging;            /* -1 until there is one */
	struct apply_dir *dirs; /* in which names are made or removed, sorted */
	size_t n_dirs;
	struct apply_staged *staged; /* of each row, zero for what is not staged */
	char *at; /* the directory that was opened last, relative; and its descriptor */
	int at_fd;
	struct apply_opened *opened;
	size_t n_opened;
	size_t cap_opened;
	struct strv *left; /* "PATH: why": what could not be done without harm */
};

/* Opens what is needed.  apply_done() in any case. */
CORDON_MUST_CHECK int apply_begin(const struct cow *c, struct apply *ret, struct cordon_error *err);
/* Copies all new content beside its place; nothing that anybody looks at changes. */
CORDON_MUST_CHECK int apply_stage(struct apply *a);
/* Does it. */
CORDON_MUST_CHECK int apply_run(struct apply *a);
/* Removes the staging directory, whoever left it. */
CORDON_MUST_CHECK int apply_clean(struct apply *a);
void apply_done(struct apply *a);

/* The directories of a path in the change set, each opened whatever its mode. */
struct apply_chain {
	struct node v[LIMIT_WALK_DEPTH + 2];
	size_t n;
};

/* Opens the directory in which path stands.  Its descriptor, which the chain owns, or -errno. */
CORDON_MUST_CHECK int apply_chain_open(int top, const char *path, struct apply_chain *c);
void apply_chain_close(struct apply_chain *c);

/* Is the file written in place, because its other names are to see it? */
bool apply_is_in_place(const struct change *c);
/* Did only what belongs to it change?  Then it keeps its content, and its inode. */
bool apply_is_meta(const struct change *c);
