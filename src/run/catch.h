/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that are sent to us while a call runs, as a descriptor that becomes readable: a signalfd on Linux
 * (catch_linux.c), a kqueue on macOS (catch_darwin.c).  Whoever uses it has them blocked meanwhile.
 */
#pragma once

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>

struct catch
{
	int fd; /* -1: none are caught */
	sigset_t set;
};

struct caught {
	int sig;
	bool is_by_kernel; /* a terminal sent it to our whole group; as far as the system tells */
};

/* The set is kept in c.  0 or -errno. */
CORDON_MUST_CHECK int catch_open(struct catch *c, const sigset_t *set);
/* The next one that has come, if any. */
CORDON_MUST_CHECK bool catch_next(const struct catch *c, struct caught *ret);
/* Once there is no next one: nothing of the set is pending after this, whoever unblocks it. */
void catch_done(struct catch *c);
/* Takes one signal that is blocked away, if it is pending. */
void catch_swallow(int sig);
