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

struct monitor;

/* What differs between emulators.  System calls only, as in the monitor. */
struct monitor_engine {
	bool shares;   /* a program of ours shares the view, and not the emulator */
	bool is_heard; /* a machine that was saved says by itself that it is ready */
	/* Starts the emulator while we still have all rights in our namespaces, or NULL: it starts in connect().
	 * 0 or -errno. */
	int (*launch)(struct monitor *m);
	/* Starts or resumes the machine; *ret_link is a stream to its first process, which does not block.  Says why
	 * and ends when the emulator does not do it.  0 or -errno. */
	int (*connect)(struct monitor *m, int *ret_link);
	/* Saves the machine into the files of a template.  0 or -errno. */
	int (*save)(struct monitor *m);
};

/* By QEMU, which has its own share. */
extern const struct monitor_engine monitor_qemu;

struct monitor {
	const struct monitor_engine *engine;
	const struct view_program *program; /* NULL: there is no call, a template is made */
	const struct machine *machine;
	char *const *argv;
	const char *block; /* the call, for the machine */
	size_t block_len;
	bool has_one_output; /* standard output and error are one thing */
	ino_t parent_mnt;
	int channel;
	int parent_end; /* the other end, to close */
	int tool;       /* the emulator */
	int share;      /* the program that shares the view, or -1 */
	int control;    /* to the emulator, once it runs */
	int said;       /* its messages, and ours */
	int null;
	int network;          /* where the machine's connections arrive, or -1 */
	bool network_listens; /* it is a socket on which the machine opens that stream */
	int source; /* what the machine's memory is a copy of, until that is made; or -1 */
	int told;   /* to the proxy: what the machine's network rejected, or -1 */
	/* Of the emulator, as enum machine_fd orders them; -1: none.  The first three are made here. */
	int fds[MACHINE_FD_END - MACHINE_FD_LINK];
};

/* In a new process: executes the emulator. */
_Noreturn void monitor_execute(struct monitor *m);
/* The first of us who fails says why, in one line that is shown as the emulator's own are. */
_Noreturn void monitor_lost(const struct monitor *m, const char *why);

/* With PLAN_NET_PROXY: makes the hatch (relay/relay.h), sends it to the supervisor, and leaves a process that dials it for
 * each of the machine's connections.  0 or -errno. */
CORDON_MUST_CHECK int monitor_network(struct monitor *m);

/* Before a template is loaded: waits until its memory is there, which is copied while the emulator starts. */
CORDON_MUST_CHECK int monitor_memory(const struct monitor *m);

#define MONITOR_KVM_MS 10000 /* for a machine to boot on the processor itself, or it hangs */
#define MONITOR_CONTROL_MS 30000

/* Runs in the child, all signals blocked.  Should: run the machine and tell the end, or report and exit.  Mustn't:
 * return, allocate, print, mount anything while in the parent's mount namespace. */
_Noreturn void monitor_main(void *arg, bool is_in_cgroup);
