/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's terminal: a pty of the sandbox's own devpts, so that its name is right inside and means
 * nothing outside.  Pid 1 leads the session and the command is a job in it: so it can be stopped
 * (a leader of its own session could not: nobody would be there to continue it) and pid 1 hears of it.
 * System calls only.
 */
#pragma once

#include "backend/plan.h"

#include <sys/types.h>

/* In pid 1, inside the new root, after setsid().  Gives both ends.  0 or -errno. */
CORDON_MUST_CHECK int native_tty_open(const struct plan_terminal *t, int *ret_master,
				      int *ret_slave);
/* In the command's process, all signals blocked: a job of its own.  0 or -errno. */
CORDON_MUST_CHECK int native_tty_join(const struct plan_terminal *t, int slave);
/* In pid 1: the command continues, in the foreground or not. */
void native_tty_give(int slave, pid_t command, bool is_foreground);
