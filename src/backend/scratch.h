/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories that a call needs for a moment, and what becomes of them when cordon is killed in that moment.
 *
 * Theory of operation.  Whatever would outlive us is locked (flock) for as long as we live; the kernel lets
 * go of the lock when we die, however that happens.  A scratch directory whose lock is free is a leftover.
 * Leftovers must be found by the next command, wherever they are: so what is not in the registry (the
 * state directory) has a note there, a locked file with its path, written before the thing itself is made
 * and removed after it.  One look into the registry finds everything: scratch directories, notes of those
 * elsewhere, notes of control groups, and temporary files of answers that are kept there.
 */
#pragma once

#include "base/error.h"

#define SCRATCH_PREFIX ".cordon-work-"
#define SCRATCH_NOTE_PREFIX ".cordon-note-"

/* A note in the registry.  Its lock lives as long as fd is open. */
struct scratch_note {
	int fd; /* -1: none */
	char *path;
};
#define SCRATCH_NOTE_NONE ((struct scratch_note){.fd = -1})

/* Makes an empty note.  *ret is given: scratch_note_done().  0 or -errno. */
CORDON_MUST_CHECK int scratch_note_make(const char *registry, struct scratch_note *ret);
/* Adds the absolute path of something that is about to be made; or, with a slash at its end, of a directory in which
 * somebody else is about to make one that knows no registry.  0 or -errno. */
CORDON_MUST_CHECK int scratch_note_add(const struct scratch_note *n, const char *path);
/* Before such directories: what is made there for this call has its id in its name (scratch_make_of()), and the note stays
 * only as long as something of that is there, whatever others have.  0 or -errno. */
CORDON_MUST_CHECK int scratch_note_of(const struct scratch_note *n, const char *id);
/* Removes the note: what it names is gone. */
void scratch_note_done(struct scratch_note *n);
/* Leaves it, unlocked: the next command looks after what it names. */
void scratch_note_drop(struct scratch_note *n);

struct scratch {
	int fd; /* of the directory; holds the lock; -1: none */
	char *path;
	struct scratch_note note;
};
#define SCRATCH_NONE ((struct scratch){.fd = -1, .note = {.fd = -1}})

/* Makes an empty directory in parent, mode 0700, with a note in the registry unless that is the parent.
 * registry may be NULL: then the next one made there finds it.  *ret is given.  0 or -errno. */
CORDON_MUST_CHECK int scratch_make(const char *registry, const char *parent, struct scratch *ret);
/* The same in the registry itself, with a word in its name by which others find it. */
CORDON_MUST_CHECK int scratch_make_as(const char *registry, const char *word, struct scratch *ret);
/* In parent, without a registry, for the call of that id; NULL: of none. */
CORDON_MUST_CHECK int scratch_make_of(const char *parent, const char *id, struct scratch *ret);
/* Lets go of it: it stays while somebody else holds the lock.  Only of one in the registry. */
void scratch_leave(struct scratch *s);
/* Removes the directory and all that is in it; NONE is allowed. */
void scratch_done(struct scratch *s);

/* Removes what killed commands left, as far as the registry tells; NULL or a missing one is no harm. */
void scratch_sweep(const char *registry);
/* Removes the leftovers that stand in dir itself. */
void scratch_sweep_dir(const char *dir);
