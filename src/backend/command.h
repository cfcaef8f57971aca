/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last steps before a command is executed, the same in every backend that executes it itself.  They
 * run in the command's process: system calls only, no allocation.  0 or -errno.
 */
#pragma once

#include "backend/plan.h"

/* The last descriptor that can be: above it gVisor calls the range invalid. */
#define COMMAND_FD_LAST ((unsigned)INT32_MAX)

CORDON_MUST_CHECK int command_signals(void);
/* The same in a process that was cloned with CLONE_CLEAR_SIGHAND: there are no handlers. */
CORDON_MUST_CHECK int command_signals_reset(void);
CORDON_MUST_CHECK int command_stdio(const struct plan *plan);
/* With a terminal of the host's: the session that it needs, after command_stdio(). */
CORDON_MUST_CHECK int command_terminal(const struct plan *plan);
CORDON_MUST_CHECK int command_limits(const struct plan *plan);
/* Everything from 3 up is closed at execve(). */
CORDON_MUST_CHECK int command_close(void);

/* In our own process: is each of the standard descriptors there, and none a door into the host's tree? */
CORDON_MUST_CHECK int command_check_stdio(const struct plan *plan, struct cordon_error *err);
/* In our own process: is there a command, does each limit have its group, and is none of the standard descriptors
 * a door?  name is the backend's. */
CORDON_MUST_CHECK int command_check(const struct plan *plan, const char *name,
				    struct cordon_error *err);
/* In our own process: what an errno of execve() means.  Returns the code. */
int command_fail(const char *name, int error, struct cordon_error *err);
