/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the emulator runs: a private root with the view of a call at /view, the system's programs and libraries
 * read-only, and nothing else of the host.  Whoever breaks out of the machine stands there, without a capability, a
 * network or a process but the emulator.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

#define ROOM_VIEW "/view"
#define ROOM_RUN "/run" /* private, for sockets */

struct room {
	int root;
	int view; /* where the view is built; 0755, empty */
};

/* In a child with a mount namespace of its own, as stage_own_mounts() saw.  System calls only.  0 or -errno. */
CORDON_MUST_CHECK int room_make(bool has_kvm, bool has_run, struct room *ret);
/* Enters it, with a /proc of the new pid namespace, and lets go of the host's root. */
CORDON_MUST_CHECK int room_enter(const struct room *r);
