/* SPDX-License-Identifier: Apache-2.0 */
/* How the end of a command becomes a part of the result. */
#pragma once

#include "run/supervise.h"

/* A command that cannot be executed is an outcome (0, with its exit code), not a failure of ours (r). */
int outcome_not_started(struct supervise_result *result, int r);
void outcome_usage(const struct rusage *usage, struct supervise_usage *ret);
/* As proc_reap(), for a process that has ended and is no child of ours (spawn_result.is_foreign): killed, as far as
 * can be known without what status_fd tells. */
int outcome_foreign(struct proc *p, struct proc_exit *ret);
/* What status_fd tells behind the status; nothing is changed when it tells nothing. */
void outcome_foreign_usage(int status_fd, struct rusage *ret);
/* What status_fd tells with spawn_result.tells_end: changes *end and the result.  0, or CORDON_E_SYSTEM when it tells
 * nothing although nobody has killed the process. */
CORDON_MUST_CHECK int outcome_told(int status_fd, struct proc_exit *end,
				   struct supervise_result *result, struct cordon_error *err);
