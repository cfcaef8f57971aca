/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first process of the sandbox, from the clone to its end: it builds the view, gives everything up,
 * starts the command, reaps what is orphaned, and tells how the command ended.
 */
#pragma once

#include "backend/confine/seccomp.h"
#include "backend/doors.h"
#include "backend/view/step.h"

#include "base/limits.h"

#include <stdint.h>
#include <sys/resource.h>

/* X(ID, what was tried) */
#define NATIVE_STAGE_TABLE(X)                                                                      \
	X(STARTED, "start")                                                                        \
	X(CGROUP, "enter the control groups")                                                      \
	X(PARENT, "tie the sandbox to this process")                                               \
	X(CPUS, "use all processors")                                                              \
	X(IDS, "wait for the ids")                                                                 \
	X(NAMESPACE, "check that the mount namespace is a new one")                                \
	X(SESSION, "make a session")                                                               \
	X(HOST, "name the sandbox and bring its loopback up")                                      \
	X(ROOT, "make a root")                                                                     \
	X(STEP, "build the view")                                                                  \
	X(NETWORK, "make and enter the namespaces of the network")                                 \
	X(ENTER, "enter the root")                                                                 \
	X(TERMINAL, "make a terminal")                                                             \
	X(CWD, "enter the working directory")                                                      \
	X(LOOKUP, "find the command")                                                              \
	X(PRIVILEGES, "give up privileges")                                                        \
	X(LANDLOCK, "apply Landlock")                                                              \
	X(SECCOMP, "apply the system call filter")                                                 \
	X(GO, "hear that this process lives")                                                      \
	X(HOLD, "hold on to protected names")                                                      \
	X(SERVED, "hear that somebody serves the network")                                         \
	X(FORK, "start a process")                                                                 \
	X(LIMITS, "limit open files")                                                              \
	X(SIGNALS, "reset signals")                                                                \
	X(JOB, "make a job")                                                                       \
	X(STDIO, "connect standard input and output")                                              \
	X(CLOSE, "close descriptors")                                                              \
	X(CALLS, "refuse further system calls")                                                    \
	X(ENTER_CALL, "enter the sandbox")                                                         \
	X(EXEC, "execute")

enum native_stage {
#define NATIVE_STAGE_ENUM(id, text) NATIVE_STAGE_##id,
	NATIVE_STAGE_TABLE(NATIVE_STAGE_ENUM)
#undef NATIVE_STAGE_ENUM
		NATIVE_STAGE_COUNT
};

/* What the child tells before the command runs: STARTED, or where it failed. */
struct native_message {
	int32_t stage;
	int32_t error;
	int64_t step; /* NATIVE_STAGE_STEP: which one; HOLD: nobody's uid */
};

#define NATIVE_CPUS_MAX 8192
#define NATIVE_CPU_BITS (8 * sizeof(unsigned long))

/* Processors, as the kernel has them. */
struct native_cpus {
	long bytes; /* 0: nothing to be changed */
	unsigned long bits[NATIVE_CPUS_MAX / NATIVE_CPU_BITS];
};

struct native_child {
	const struct view_program *program;
	const struct seccomp_program *denied_calls; /* the command's alone; or NULL */
	/* They are part of told, which is then the command's alone too: installed by it, last of all. */
	bool is_told_late;
	const struct seccomp_program
		*rest_calls;                  /* those that are not, since it needs them for that */
	const struct seccomp_program *sealed; /* the command's alone: no network; or NULL */
	bool has_listener;
	struct seccomp_program *seccomp; /* muted by the child if nobody can listen */
	/* Its form with a listener, which is passed to the parent after a message of the stage SECCOMP without
	 * an error; NULL when none is wanted. */
	const struct seccomp_program *told;
	int landlock_abi;
	int channel;       /* the child's end of the socket pair */
	int parent_end;    /* the other one, to be closed */
	bool is_mapped;    /* its ids are there from the start, and its name; and the network is: */
	int root;          /* -1, or the new root, in which the program's base is done */
	mode_t mask;       /* of the command */
	int network_ready; /* readable when it can be entered; or -1 */
	int network;       /* its namespace, or who is in it, by pidfd */
	struct native_cpus cpus; /* that the command may use */
	ino_t parent_mnt;        /* the parent's namespaces */
	ino_t parent_net;
	bool is_in_cgroup; /* it was born there, as far as version 2 goes */
	/* The child's own. */
	struct native_message message;
	char command[LIMIT_PATH_BYTES];
	struct view_cache cache;       /* set up by the parent */
	bool is_held;                  /* the parent sends what to hold on to */
	int terminal;                  /* near end: for the parent; -1 when there is none */
	int tty;                       /* far end: for the command */
	struct doors doors;            /* for the parent */
	int served;                    /* doors_await() */
	struct rlimit files;           /* of a call, where calls are served (serve.h) */
	const struct serve_host *host; /* there: without namespaces; or NULL */
	bool is_hosted;   /* the terminal is the host's, and the command leads a session there */
	bool has_entered; /* the new root; then: */
	int leaver;       /* who lets go of the old root, or a negative number */
	_Atomic int left; /* how that went: 0 or -errno */
};

/* What was tried, for messages; "start" for a number that is none. */
const char *native_stage_name(int stage);

/* Names the machine; brings the loopback of a network of its own up.  Raw system calls: also for a process
 * that shares our memory.  0 or -errno. */
CORDON_MUST_CHECK int native_hostname(void);
CORDON_MUST_CHECK int native_loopback(void);

/* Runs in the child, all signals blocked.  Should: bring everything in the program about or report and
 * exit.  Mustn't: return, allocate, print, mount anything while in the parent's mount namespace. */
_Noreturn void native_child_main(struct native_child *c);
/* The filter, with a listener if one is wanted. */
CORDON_MUST_CHECK int native_child_filter(struct native_child *c);
/* In pid 1: its own filter, when the command has one that was not for it. */
CORDON_MUST_CHECK int native_child_filter_late(struct native_child *c);
/* In a process inside the sandbox, all signals blocked: starts the command of c->program->plan, which is at
 * c->command.  Returns when it was executed or will not be (then c->message says why): its pid or -errno. */
CORDON_MUST_CHECK int native_child_fork(struct native_child *c);
