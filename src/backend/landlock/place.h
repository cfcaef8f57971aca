/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a path of a waiting call names, found the way the kernel would find it for the caller, and held by
 * descriptors: what was found is what is looked at and acted on, whatever happens to the names meanwhile.
 *
 * Theory of operation.  openat2() walks, from the caller's directory, except where the walk would not end where
 * the caller's does: /proc/self is another process for us, and the links in /proc/PID lead to what that process
 * has.  There the walk is done component by component, with the caller in the place of "self".  What belongs to
 * the broker's own processes in /proc is closed: only we could open it.
 */
#pragma once

#include "backend/confine/notify.h"
#include "base/fd.h"
#include "base/limits.h"

#include <sys/stat.h>

#define PLACE_NAME_MAX 256
#define PLACE_LINKS_MAX 40 /* as the kernel */

/* Set up once. */
struct place_world {
	int root;        /* of the file system, O_PATH */
	pid_t hidden[2]; /* processes that callers may not look at */
};

struct place {
	int parent;                  /* O_PATH; -1 when the place is an object without a name */
	char name[PLACE_NAME_MAX];   /* in parent; "" without one */
	int object;                  /* O_PATH, not followed; -1 when nothing is there */
	struct stat st;              /* of the object */
	char path[LIMIT_PATH_BYTES]; /* from the root; "pipe:[1]" and the like have none */
	bool wants_dir;              /* a slash came behind it */
};

#define PLACE_NONE ((struct place){.parent = -1, .object = -1})

CORDON_MUST_CHECK int place_world_init(struct place_world *w, pid_t first, pid_t second);
/* Finds a path, read from the caller before.  follows: a link at its end counts as what it leads to.  *ret is
 * always set up: place_done() frees it.  0, also when the object does not exist but its directory does, or -errno. */
CORDON_MUST_CHECK int place_find(const struct place_world *w, const struct notify_call *c,
				 int dirfd, const char *path, bool follows, struct place *ret);
/* The same for an open file of the caller, or its working directory. */
CORDON_MUST_CHECK int place_of_fd(const struct notify_call *c, int fd, struct place *ret);
void place_done(struct place *p);
