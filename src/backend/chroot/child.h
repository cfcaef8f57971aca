/* SPDX-License-Identifier: Apache-2.0 */
/* The first process of a chroot call, from the clone to its end. */
#pragma once

#include "backend/confine/seccomp.h"
#include "backend/confine/watcher.h"
#include "backend/stage.h"
#include "base/limits.h"

struct chroot_child {
	const struct view_program *program;
	const struct seccomp_program *seccomp;
	const struct seccomp_program *denied_calls; /* the command's alone; or NULL */
	int landlock_abi;
	int channel;    /* the child's end of the socket pair */
	int parent_end; /* the other, to close */
	ino_t parent_mnt;
	ino_t parent_net;
	/* The child's own. */
	char command[LIMIT_PATH_BYTES];
	struct watcher watcher;
};

/* Runs in the child, all signals blocked.  Should: bring everything in the program about or report and
 * exit.  Mustn't: return, allocate, print, mount anything while in the parent's mount namespace, or signal anybody
 * before it was seen that signals stay inside. */
_Noreturn void chroot_child_main(void *arg, bool is_in_cgroup);
