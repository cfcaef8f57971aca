/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a compiled program, carried out in the child: its mount namespace is its own, its root is
 * still the host's.  System calls only, no allocation.
 */
#pragma once

#include "backend/view/program.h"
#include "base/limits.h"

/* Of everything that is private: /tmp, home, /dev/shm.  Nobody can be killed to free what is in them, and the
 * kernel's default is half of the memory. */
#define VIEW_ROOT_SIZE "30%"
#define VIEW_ROOT_PERCENT 30

#define VIEW_FETCH_MAX 64 /* binds that are open at once */

/* What the steps found out and what the last ones opened: many names in one directory are covered with one
 * placeholder. */
struct view_cache {
	const char *dir;
	int dir_fd;
	const char *source;
	int source_fd;
	int spare;        /* a clone of source that found nothing to be mounted on; or -1 */
	int nobody_ns;    /* view_nobody_namespace(), made before the root; or negative */
	bool is_owned;    /* placeholders in lower layers have an owner: each is mounted upon */
	bool is_disowned; /* they have none */
	uid_t nobody;     /* as whose they are shown then */
	int listeners[LIMIT_SOCKETS]; /* of VIEW_LISTEN, in order; whoever runs the steps has them */
	size_t n_listeners;
};

#define VIEW_CACHE_EMPTY                                                                           \
	((struct view_cache){.dir_fd = -1, .source_fd = -1, .spare = -1, .nobody_ns = -1})

/* Makes the new root and puts it over the host's without entering it.  The fd of its top or -errno. */
CORDON_MUST_CHECK int view_root_make(void);
/* 0 or -errno.  root is the fd of the new root. */
CORDON_MUST_CHECK int view_step_run(int root, const struct view_step *step,
				    struct view_cache *cache);
/* Closes what is open; what was found out stays. */
void view_cache_done(struct view_cache *cache);
/* When the steps up to p->n_lower are done: makes the writable overlays, which their steps will only put in their
 * places.  Stops at the first whose lower layer has an owner.  0 or -errno, with the step in *ret_step. */
CORDON_MUST_CHECK int view_overlays_make(int root, const struct view_program *p,
					 struct view_cache *cache, size_t *ret_step);
/* How many that are. */
size_t view_overlays_count(const struct view_program *p);
/* Opens the placeholders without an owner, for somebody to hold on to for as long as the view lives: a name that
 * was looked up and is held stays what it is, and one that appears on the host while the call runs is not found.
 * Called in the parent; overlays are the descriptors of all that view_overlays_make() made, in order.  Each is
 * verified to belong to nobody (the uid that the child has seen).  *ret is given, with n descriptors.  0; -ESTALE
 * when a name has appeared on the host since the plan was made; -errno. */
CORDON_MUST_CHECK int view_hold(const struct view_program *p, const int *overlays, uid_t nobody,
				int **ret, size_t *n);
/* Makes the new root read-only and closes our own directory in it. */
CORDON_MUST_CHECK int view_root_close(int root);
/* Enters it by chroot(), the old one stays below: for a process that gives up the right to do the same again. */
CORDON_MUST_CHECK int view_root_chroot(int root);
/* Enters it.  The old one stays mounted over it, where "/.." leads, and the working directory is where both are:
 * until it is gone nothing may be opened by a path that somebody else can change, and stay open. */
CORDON_MUST_CHECK int view_root_enter(int root);
/* After that: lets go of the old one, and waits for all processors.  Raw system calls. */
CORDON_MUST_CHECK int view_root_leave_old(void);
/* After view_root_enter() and all steps: makes it read-only, changes the working directory to it and verifies that it
 * is the root. */
CORDON_MUST_CHECK int view_root_finish(int root);
/* After view_overlays_make(): takes from the host what the steps will only put in their places, so that its root can
 * be left before them.  1 when that is so; 0 when they need it, as far as they go. */
CORDON_MUST_CHECK int view_fetch(const struct view_program *p);
/* Landlock on top of the mounts, called inside the root: only what the plan lets be written can be written,
 * whatever is mounted.  abi as landlock_abi() said it; below 2 nothing is done. */
CORDON_MUST_CHECK int view_landlock(const struct view_program *p, int abi);
