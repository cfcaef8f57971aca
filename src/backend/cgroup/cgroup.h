/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control group of one call: memory, processes and processor time of its whole tree are bounded, and
 * the tree can be ended as a whole.  For every backend whose command is a process of this machine.
 *
 * Theory of operation.  A group "cordon-<call id>", mode 0700, is made below our own group in each hierarchy
 * that a limit needs; below, so that every limit that holds for us holds for the call too.  It is made only
 * when a limit asks for it: entering one costs an RCU grace period (10 ms after a pause; several hierarchies
 * at once cost no more than one, and clone3() into a version 2 group costs nothing).  A version 2 group is
 * made as well wherever it can be had, for its cgroup.kill; without one a pids group of version 1 takes its
 * place: with pids.max 0 nothing can fork away from being killed.  (The freezer would do the same, but waits
 * for processes that sleep uninterruptibly.)
 *
 * Where version 2 carries the controllers they must be enabled in the parent, which must then have no
 * processes of its own.  Tried, in this order: our own group, when they are enabled there already or can be
 * (the root, or a group without processes); our own group after stepping aside into "cordon-self-<pid>"
 * below it, when we are its only process (systemd-run --scope -p Delegate=yes, a container's first
 * process); and last a scope of our own from systemd (scope.h), if the program permits that it is moved.  Not
 * tried: moving other people's processes, and a group beside our own without systemd's knowledge.
 *
 * Each group's directory is locked (flock) for as long as we live.  A "cordon-*" group whose lock is free
 * belongs to a cordon that was killed; whoever makes a group first ends and removes such leftovers.  A note
 * in the plan's scratch directory (scratch.h) leads every other command to it as well.
 *
 * A command that runs with our own rights (backend noop) may leave the group just as it may end us: there
 * the limits hold against accidents, not against intent.
 */
#pragma once

#include "backend/plan.h"

#include <poll.h>

struct cgroup;

/* What happened in the group so far. */
struct cgroup_events {
	bool is_oom_killed;   /* the kernel killed something at the memory limit */
	bool is_fork_refused; /* the limit of processes was reached */
};

/* What the group used; -1 where the kernel does not say. */
struct cgroup_usage {
	int64_t memory_peak_bytes; /* page cache included */
	int64_t processes_peak;    /* processes and threads at one time */
	double user_ms;
	double sys_ms;
};

/* How a group's processes can be stopped and continued, all at once and whatever they do about it. */
enum cgroup_freezer {
	CGROUP_FREEZER_NONE,
	CGROUP_FREEZER_V1, /* what is stopped can be killed only when it goes on */
	CGROUP_FREEZER_V2,
};

/* Does one of the plan's limits need a group? */
bool cgroup_is_needed(const struct plan *plan);
/* Removes leftovers, makes the group of plan->id, sets each limit and reads it back.  *ret is given: end it
 * with cgroup_end().  After a failure nothing is left. */
CORDON_MUST_CHECK int cgroup_make(const struct plan *plan, struct cgroup **ret,
				  struct cordon_error *err);
/* For clone3() with CLONE_INTO_CGROUP: the version 2 directory (borrowed), -1 when there is none. */
int cgroup_clone_fd(const struct cgroup *g);
/* Is it likely that a group of this machine is entered so, and no other way?  Looks at one mount. */
bool cgroup_is_unified(void);
/* Is that all there is to enter? */
bool cgroup_is_entered_by_clone(const struct cgroup *g);
/* Called by the child before anything else: enters every group, but for the version 2 one when it was
 * cloned into it.  Allocates nothing.  0 or -errno. */
CORDON_MUST_CHECK int cgroup_enter(const struct cgroup *g, bool was_cloned_into);
/* What to wait for to hear of memory trouble early; fd -1 when memory is not limited. */
struct pollfd cgroup_poll(const struct cgroup *g);
/* Reads the counters; after cgroup_poll() reported something, also makes it wait for the next.  Version 1
 * reports *before* the kernel kills: look again a little later. */
void cgroup_look(const struct cgroup *g, struct cgroup_events *ret);
void cgroup_measure(const struct cgroup *g, struct cgroup_usage *ret);
/* SIGKILL to all that is in the group now.  Does not wait. */
void cgroup_kill(struct cgroup *g);
/* Made for a plan that serves, where it can be had. */
enum cgroup_freezer cgroup_freezer_of(const struct cgroup *g);
/* Begins to stop or to continue all of it.  0 or -errno. */
CORDON_MUST_CHECK int cgroup_freeze(const struct cgroup *g, bool is_to_stop);
/* Does everything in it stand still?  1, 0 or -errno. */
CORDON_MUST_CHECK int cgroup_is_frozen(const struct cgroup *g);
/* Kills what is left, removes the group and frees it; NULL is allowed.  Return: 0, or -EBUSY when something
 * did not die within CGROUP_END_MS; the next cordon tries again. */
int cgroup_end(struct cgroup *g);
#define CGROUP_END_MS 2000
/* Ends and removes a group that a killed cordon noted (scratch.h), unless somebody alive holds it. */
void cgroup_sweep(const char *path);

/* Announces the call that follows in this thread, so that a quick probe makes the group once, for both; NULL
 * when it is over.  Borrows until then. */
void cgroup_expect(const char *id, const char *scratch_dir);
/* The group that was made so, if it holds what the plan limits, or NULL.  Gives. */
struct cgroup *cgroup_take_kept(const struct plan *plan);

/* Which of wanted can be given here, found by making groups; CGROUP_GUARANTEES alone are looked at.  With
 * tries_entering a child process enters each of them too.  Fills ret_why with what was missing and the fix,
 * "" when nothing was. */
#define CGROUP_GUARANTEES                                                                          \
	(GUARANTEE_BIT(MEMORY_TREE) | GUARANTEE_BIT(PIDS) | GUARANTEE_BIT(CPU_SHARES) |            \
	 GUARANTEE_BIT(CPU_PERCENT))
#define CGROUP_WHY_MAX 256
guarantee_set cgroup_probe(guarantee_set wanted, bool tries_entering,
			   char ret_why[static CGROUP_WHY_MAX]);
/* Which freezer a sandbox that stays gets here, found by stopping a process with it.  ret_why as above. */
enum cgroup_freezer cgroup_probe_freezer(char ret_why[static CGROUP_WHY_MAX]);
