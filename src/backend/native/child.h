/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first process of the sandbox, from the clone to its end: it builds the view, gives everything up,
 * starts the command, reaps what is orphaned, and tells how the command ended.
 */
#pragma once

#include "backend/confine/seccomp.h"
#include "backend/view/program.h"

#include "base/limits.h"

#include <stdint.h>

/* X(ID, what was tried) */
#define NATIVE_STAGE_TABLE(X)                                                                      \
	X(STARTED, "start")                                                                        \
	X(CGROUP, "enter the control groups")                                                      \
	X(PARENT, "tie the sandbox to this process")                                               \
	X(NAMESPACE, "check that the mount namespace is a new one")                                \
	X(SESSION, "make a session")                                                               \
	X(HOST, "name the sandbox and bring its loopback up")                                      \
	X(ROOT, "make a root")                                                                     \
	X(STEP, "build the view")                                                                  \
	X(ENTER, "enter the root")                                                                 \
	X(TERMINAL, "make a terminal")                                                             \
	X(CWD, "enter the working directory")                                                      \
	X(LOOKUP, "find the command")                                                              \
	X(LIMITS, "limit the command")                                                             \
	X(PRIVILEGES, "give up privileges")                                                        \
	X(LANDLOCK, "apply Landlock")                                                              \
	X(SECCOMP, "apply the system call filter")                                                 \
	X(FORK, "start a process")                                                                 \
	X(SIGNALS, "reset signals")                                                                \
	X(JOB, "make a job")                                                                       \
	X(STDIO, "connect standard input and output")                                              \
	X(CLOSE, "close descriptors")                                                              \
	X(CALLS, "refuse further system calls")                                                    \
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
	int64_t step; /* NATIVE_STAGE_STEP: which one */
};

struct native_child {
	const struct view_program *program;
	const struct seccomp_program *denied_calls; /* the command's alone; or NULL */
	struct seccomp_program *seccomp;            /* muted by the child if nobody can listen */
	/* Its form with a listener, which is passed to the parent after a message of the stage SECCOMP without
	 * an error; NULL when none is wanted. */
	const struct seccomp_program *told;
	int landlock_abi;
	int channel;       /* the child's end of the socket pair */
	ino_t parent_mnt;  /* the parent's mount namespace */
	bool is_in_cgroup; /* it was born there, as far as version 2 goes */
	/* The child's own. */
	struct native_message message;
	char command[LIMIT_PATH_BYTES];
	int rules;                    /* descriptors behind program->open_rules */
	int listeners[LIMIT_SOCKETS]; /* for the parent */
	size_t n_listeners;
	int terminal; /* near end: for the parent; -1 when there is none */
	int tty;      /* far end: for the command */
};

/* Runs in the child, all signals blocked.  Should: bring everything in the program about or report and
 * exit.  Mustn't: return, allocate, print, mount anything while in the parent's mount namespace. */
_Noreturn void native_child_main(struct native_child *c);
