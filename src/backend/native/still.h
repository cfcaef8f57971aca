/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the other processes of this pid namespace stand still, or without one those that we may signal?  A stop signal reaches them all, but a timer that one of
 * them made before can send SIGCONT, and then it goes on while everybody believes that it is stopped.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* Looks at every thread in /proc but those of our own process.  Mustn't: allocate.
 * 1 when each is stopped or dead, 0 when one goes on, -errno when /proc cannot be read. */
CORDON_MUST_CHECK int still_look(bool has_host_pids);
/* Stops everything and looks, several times over some ms, until it stays so.
 * 0; -EBUSY when it does not, and then everything goes on; -errno. */
CORDON_MUST_CHECK int still_stop(bool has_host_pids);
