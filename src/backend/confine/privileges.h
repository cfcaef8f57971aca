/* SPDX-License-Identifier: Apache-2.0 */
/* Giving up what root or the owner of a namespace has, for good, between clone and execve. */
#pragma once

#include "base/error.h"

/* Empties the bounding set: no execve() gives a capability any more.  Those that we have stay.  A part of
 * privileges_drop(), which can be done long before.  Raw system calls.  0 or -errno. */
CORDON_MUST_CHECK int privileges_bound(void);
/* No capability is left, and none can come back: not by execve() of root (bounding set, securebits), not
 * by a file (no_new_privs).  Not dumpable until execve().  0 or -errno. */
CORDON_MUST_CHECK int privileges_drop(void);
/* The same for a process that owns no namespace and may not empty its bounding set: it has no capability, and
 * no_new_privs alone keeps execve() from giving one. */
CORDON_MUST_CHECK int privileges_renounce(void);
/* Did that hold?  0, -EPERM or -errno. */
CORDON_MUST_CHECK int privileges_renounced(void);
/* The same for a process that was given none, not even in its bounding set; with the proof. */
CORDON_MUST_CHECK int privileges_bare(void);
/* Did it hold, and did the changes of credentials leave the tie to the parent alone?  The signal is the one of
 * PR_SET_PDEATHSIG, 0 for none.  0, -EPERM or -errno. */
CORDON_MUST_CHECK int privileges_verify(int parent_death_signal);
