/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Was one of these files opened while the call ran?  Watches on their inodes, set before it starts and read
 * when it has ended: nothing is slowed down.  Seen are opens through any mount of the host's file, also by
 * others, since an event does not say by whom; not seen are stat(), and opens of what replaced the file.  A file that got
 * another name counts too, since nobody would watch that.
 */
#pragma once

#include "backend/seen.h"
#include "base/str.h"

#include <sys/types.h>

struct opened_file {
	int watch; /* -1: none */
	dev_t dev; /* as it was when the call began */
	ino_t ino;
	nlink_t links;
	bool is_dir;
};

struct opened {
	int fd;                    /* -1 when nothing is watched */
	const struct strv *paths;  /* borrowed */
	struct opened_file *files; /* one per path */
};

#define OPENED_NONE ((struct opened){.fd = -1})

/* Watches what can be watched.  paths may be NULL.  0; 1 when some could not be; -ENOMEM. */
CORDON_MUST_CHECK int opened_start(struct opened *o, const struct strv *paths);
/* Writes down what was opened since, and stops.  False: not all of it could be. */
CORDON_MUST_CHECK bool opened_finish(struct opened *o, struct seen *seen);
