/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that starts the command and stays: it reaps what is orphaned, passes signals on, tells how the
 * command ended, and ends with everything that the command left.
 *
 * In a pid namespace it is the first process, and its own end is everybody's.  Without one it is inside a
 * Landlock domain that keeps signals in (ABI 6): there kill(-1) reaches all of that domain and nobody else.
 * The command is put into a domain of its own below, so that it cannot signal or trace the watcher.  It is also
 * made the parent of all orphans, so when no child is left nothing is left.  Forking away does not help: the
 * kernel sends kill(-1) to all under the lock that fork needs, and a process with SIGKILL pending cannot fork.
 *
 * The channel is its tie to the supervisor: a byte is a signal for the command, the end of it ends the call, whether somebody means it
 * or the supervisor was killed.
 *
 * Somebody outside may send SIGKILL to the watcher itself (the kernel, when memory runs out).  Then a second one ends the
 * rest, a process of the same domain that does nothing else: the guard.  Where there is a broker that is its business.
 */
#pragma once

#include "backend/confine/pump.h"
#include "backend/confine/seccomp.h"
#include "backend/plan.h"
#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct watcher {
	const struct plan *plan;
	const char *command; /* to execute */
	int channel;
	const struct seccomp_program *denied_calls; /* the command's alone; or NULL */
	bool has_pid_namespace;                     /* its own end ends all others */
	bool has_broker; /* the command's parent is another, in our group, which passes signals on */
	/* The command has a group of its own: the kernel below does not keep signals for a group from its first process. */
	bool leads_group;
	struct pump *pumps; /* of its output; only in a pid namespace */
	size_t n_pumps;
	/* The watcher's own. */
	bool is_scoped; /* seen: kill(-1) stays inside */
	pid_t guard;    /* or 0 */
	int stage;      /* of stage.h, where the start of the command stands */
	int error;
};

/* Called under Landlock, in a process without a pid namespace of its own: sees that signals to those outside
 * are refused, and becomes the parent of orphans.  -EPERM: they are not, and nothing may be started. */
CORDON_MUST_CHECK int watcher_scope(struct watcher *w);
/* After watcher_scope(): starts the guard.  All signals are blocked. */
CORDON_MUST_CHECK int watcher_guard(struct watcher *w);
/* Starts the command.  All signals are blocked; everything that confines is in place.  Its pid, or -errno; then
 * w->stage says where. */
CORDON_MUST_CHECK int watcher_start(struct watcher *w);
/* Closes everything but the channel and stays until the command has ended. */
_Noreturn void watcher_stay(struct watcher *w, pid_t command);
