/* SPDX-License-Identifier: Apache-2.0 */
/* How noop starts its child, with the parts of noop.c and of the system's file; nobody else includes it. */
#pragma once

#include "backend/plan.h"
#include "base/proc.h"

enum noop_stage {
	NOOP_STAGE_CGROUP,
	NOOP_STAGE_PARENT,
	NOOP_STAGE_GROUP,
	NOOP_STAGE_SIGNALS,
	NOOP_STAGE_STDIO,
	NOOP_STAGE_TERMINAL,
	NOOP_STAGE_CWD,
	NOOP_STAGE_LIMITS,
	NOOP_STAGE_CLOSE,
	NOOP_STAGE_EXEC,
	NOOP_STAGE_COUNT
};

/* What parent and child share. */
struct noop_child {
	const struct plan *plan;
	const char *path;
	pid_t parent;
	bool is_in_cgroup; /* it was born there, as far as version 2 goes */
	/* Written by the child only. */
	enum noop_stage stage;
	int error; /* 0 as long as nothing failed */
};

/* Runs in the child.  Should: bring the plan about and execute.  Mustn't: allocate, print, touch
 * anything of the parent's but *c.  Return: the status to exit with.  It does not exit itself: on the stack of start_linux.c a
 * function that never returns makes the address sanitizer complain. */
CORDON_MUST_CHECK int noop_child_main(struct noop_child *c);

/* Starts the child; *c tells how it went when this returns: executed, or c->error.  0 or -errno. */
CORDON_MUST_CHECK int start_child(struct noop_child *c, struct proc *ret);
