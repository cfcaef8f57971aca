/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces made ahead.  To make them, the network's above all, takes the kernel longer than we need to
 * read the policy and to plan the call; and the kernel's work can be done on another processor.  So a helper
 * starts with the command line, and the sandbox's first process is born from it.
 *
 * Only for a program that is ours: the helper shares our memory and descriptors, and it is a child that
 * somebody's wait() could see.
 */
#pragma once

#include "backend/plan.h"
#include "base/proc.h"

struct native_child;
struct view_made;

/* Starts the helper; a call under `native` that fits it will use it.  Trouble is no error: without a helper
 * everything is done when it is asked for. */
void native_ahead_start(void);
/* The same before the C library, on x86-64: for the program's entry, when standard descriptors are open.  Nothing
 * but raw system calls.  native_ahead_start() must follow, or native_ahead_done(). */
void native_ahead_early(void);
/* At the program's end: nothing is left of a helper that was not used, and what is left of a call's mounts is
 * the kernel's to unmount in its own time. */
void native_ahead_end(void);

/* Gives the helper's namespaces their ids, if they are there already.  Called where we pass by, so that it
 * goes on while we do other things. */
void native_ahead_map(void);
/* The same, and waits for them a little. */
void native_ahead_meet(void);

/* The kernel's list of Unix sockets (/proc/net/unix) as the helper has read it, once, to be changed at will; NULL: it was
 * not read. */
char *native_ahead_sockets(void);

/* The rest is for native alone. */

/* From now on, or no longer: the helper is not there for any plan. */
void native_ahead_keep(bool is_kept);
/* What the helper makes, for view_compile_with(). */
const struct view_made *native_ahead_made(const struct plan *plan);
/* The first process of the sandbox, a child of ours, running native_child_main(); its ids are mapped.  0 with
 * *ret filled, -errno when it cannot be had: nothing is left of the helper then. */
CORDON_MUST_CHECK int native_ahead_clone(struct native_child *c, struct proc *ret);
/* Waits a little for that process's next word, without sleeping, where that is not to its cost. */
void native_ahead_listen(int channel);
/* When that process has started the command: ends the helpers without waiting for their end. */
void native_ahead_stop(void);
/* Some time after that, or when it could not be started. */
void native_ahead_done(void);
/* The same while the command runs, when there is time: what the end needs is prepared. */
void native_ahead_settle(void);
