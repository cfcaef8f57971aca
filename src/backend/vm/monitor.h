/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our process beside a virtual machine: the first one of a pid namespace with the emulator in it, so that its end,
 * however it comes, is the machine's.  It builds the view of the call where the emulator runs, starts that, and passes
 * streams, signals and the end between the supervisor and the machine.
 */
#pragma once

#include "backend/stage.h"
#include "backend/vm/machine.h"

#define MONITOR_EXIT_LOST 125 /* the machine ended before the command did */

struct monitor {
	const struct view_program *program; /* NULL: there is no call, a template is made */
	const struct machine *machine;
	char *const *argv;
	const char *block; /* the call, for the machine */
	size_t block_len;
	bool has_one_output; /* standard output and error are one thing */
	ino_t parent_mnt;
	int channel;
	int tool; /* the emulator */
	int said; /* its messages, and ours */
	int null;
	/* Of the emulator, as enum machine_fd orders them; -1: none.  The first two are made here. */
	int fds[MACHINE_FD_END - MACHINE_FD_LINK];
};

/* Runs in the child, all signals blocked.  Should: run the machine and tell the end, or report and exit.  Mustn't:
 * return, allocate, print, mount anything while in the parent's mount namespace. */
_Noreturn void monitor_main(void *arg, bool is_in_cgroup);
