/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the first process of a sandbox goes through between its clone and the start of the command, and
 * what it tells about it: one table of stages for all backends that build a view, the message that names the
 * stage which failed, and what that means to a user.
 */
#pragma once

#include "backend/backend.h"
#include "backend/view/program.h"

#include <stdint.h>

/* X(ID, what was tried) */
#define STAGE_TABLE(X)                                                                             \
	X(STARTED, "start")                                                                        \
	X(CGROUP, "enter the control groups")                                                      \
	X(PARENT, "tie the sandbox to this process")                                               \
	X(NAMESPACE, "check that the mount namespace is a new one")                                \
	X(SESSION, "make a session")                                                               \
	X(HOST, "name the sandbox and bring its loopback up")                                      \
	X(ROOT, "make a root")                                                                     \
	X(STEP, "build the view")                                                                  \
	X(ENTER, "enter the root")                                                                 \
	X(TOOL, "start the sandbox program")                                                       \
	X(COVERED, "close parts of /proc")                                                         \
	X(CWD, "enter the working directory")                                                      \
	X(LOOKUP, "find the command")                                                              \
	X(LIMITS, "limit open files")                                                              \
	X(PRIVILEGES, "give up privileges")                                                        \
	X(LANDLOCK, "apply Landlock")                                                              \
	X(WATCH, "check that signals stay inside")                                                 \
	X(SECCOMP, "apply the system call filter")                                                 \
	X(FORK, "start a process")                                                                 \
	X(SIGNALS, "reset signals")                                                                \
	X(STDIO, "connect standard input and output")                                              \
	X(CLOSE, "close descriptors")                                                              \
	X(EXEC, "execute")

enum stage {
#define STAGE_ENUM(id, text) STAGE_##id,
	STAGE_TABLE(STAGE_ENUM)
#undef STAGE_ENUM
		STAGE_COUNT
};

/* What is told before the command runs: STARTED, or where it failed. */
struct stage_message {
	int32_t stage;
	int32_t error;
	int64_t step; /* STAGE_STEP: which one */
};

#define STAGE_HOSTNAME PLAN_HOSTNAME

/* In the first process: system calls only, no allocation.  0 or -errno. */

/* It dies with its parent, by the signal.  A parent that was gone before sends no byte on the channel; that shows only when
 * nobody else has the other end, so the child's copy of it (parent_end) is closed. */
CORDON_MUST_CHECK int stage_tie(int channel, int parent_end, int death_signal);
/* Before the first mount: in its parent's mount namespace every later step would change the machine. */
CORDON_MUST_CHECK int stage_own_mounts(ino_t parent_mnt);
/* A name, and in a network namespace of its own the loopback. */
CORDON_MUST_CHECK int stage_host(const struct plan *plan);
/* The loopback alone. */
CORDON_MUST_CHECK int stage_loopback(void);
/* Carries the steps out in the new root; *step is the one that failed.  Sockets that we listen on in it go out over
 * the channel. */
CORDON_MUST_CHECK int stage_build(const struct view_program *p, int root, int channel,
				  int64_t *step);
/* Tells what failed, and exits. */
_Noreturn void stage_report(int channel, struct stage_message *m, int r);

struct doors;

/* In our own process. */

/* Clones with all signals blocked, into the control group where that can be; child() never returns.  0 in the
 * parent, or -errno. */
CORDON_MUST_CHECK int stage_clone(uint64_t flags, const struct cgroup *group,
				  void (*child)(void *arg, bool is_in_cgroup), void *arg,
				  struct proc *ret);
/* Waits for the first word, and takes the doors of the call's network before it (may be NULL when none can come).
 * 0 when the command runs; -EPIPE (and err untouched) when the sandbox went without
 * one; otherwise the error that the message means. */
CORDON_MUST_CHECK int stage_hear(int channel, const struct view_program *p, struct doors *doors,
				 struct cordon_error *err);
/* The same for who needs longer than usual. */
CORDON_MUST_CHECK int stage_hear_for(int channel, const struct view_program *p, struct doors *doors,
				     int64_t wait_ms, struct cordon_error *err);
/* What a failure means to a user; what: the name of the stage.  Returns the code. */
int stage_fail(const struct view_program *p, const struct stage_message *m, const char *what,
	       struct cordon_error *err);
/* Ends and collects what never became a call. */
void stage_abandon(struct proc *proc);
/* The inode of our own mount namespace. */
CORDON_MUST_CHECK int stage_mount_namespace(ino_t *ret);
/* Why a directory cannot be the upper layer of an overlay. */
const char *stage_overlay_hint(const char *path);
