/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which git directories did a call make?  Before it, every directory that it may write was walked to protect
 * those that were there; the walk notes their names.  Afterwards a directory that holds something new has a newer
 * change time, which nobody without the clock can set back; only those are read again.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <stdint.h>

#define NEWGIT_DIRS_MAX 200000  /* noted; beyond it everything is walked again */
#define NEWGIT_FOUND_MAX 100000 /* of those that a call made */

struct newgit {
	struct strv tops;    /* that were walked */
	struct strv dirs;    /* all directories below them, but the inner ones of git directories */
	struct strv gitdirs; /* of dirs, those that are git directories */
	struct strv
		pointers; /* directories in which `.git` is a file or link; they are protected, and so stay */
	bool is_full;    /* there were more than fit */
	bool is_cut;     /* the call made more git directories than were looked for */
	int64_t since_s; /* when the call began */
	struct strv
		trees; /* found: directories that became a working tree of what is elsewhere, by a `.git` that leads there */
};

void newgit_done(struct newgit *n);
/* 0 or -ENOMEM. */
CORDON_MUST_CHECK int newgit_note_top(struct newgit *n, const char *path);
CORDON_MUST_CHECK int newgit_note(struct newgit *n, const char *path, bool is_gitdir);
CORDON_MUST_CHECK int newgit_note_pointer(struct newgit *n, const char *path);
/* The walk is over, the call begins. */
void newgit_begin(struct newgit *n);
/* Was the git directory there? */
bool newgit_is_noted(const struct newgit *n, const char *gitdir);
/* The paths of git directories that were not there, in order, each once; ret is empty.  What cannot be read is passed by:
 * then git cannot read it either.  Fills n->trees with those whose repository is not one of ret and does not know them: it
 * lies where nobody looks, or was made for another tree.  CORDON_E_NOMEM. */
CORDON_MUST_CHECK int newgit_find(struct newgit *n, struct strv *ret, struct cordon_error *err);
