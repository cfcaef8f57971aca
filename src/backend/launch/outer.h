/* SPDX-License-Identifier: Apache-2.0 */
/* Our own child, between its clone and the execution of the sandbox program. */
#pragma once

#include "backend/launch/image.h"
#include "backend/stage.h"

struct outer {
	const struct view_program *program; /* without what belongs into /proc */
	char *const *argv;                  /* of the sandbox program */
	int channel;
	int parent_end; /* the other end, to close */
	ino_t parent_mnt;
	ino_t parent_net;
	int tool;                 /* open program */
	int null;                 /* its input and output */
	int error;                /* its messages */
	bool wakes_by_signal;     /* launch.h */
	bool has_bare_view;       /* strips_root there */
	const struct buf *bundle; /* NULL, or the config.json of an OCI runtime */
	int fds[LAUNCH_FD_END - LAUNCH_FD_PROGRAM];
};

/* Runs in the child, all signals blocked.  Should: build the view and execute, or report and exit.  Mustn't:
 * return, allocate, print, mount anything while in the parent's mount namespace. */
_Noreturn void outer_main(void *arg, bool is_in_cgroup);
