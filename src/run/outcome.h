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
/* Does a process end so by a fault of its own, or by somebody else's hand? */
bool outcome_is_fault(int signal);
/* The error of a call that ended without its command's status. */
int outcome_lost(struct cordon_error *err);
/* The same for a call elsewhere (spawn_result.is_agent), which must have told its status, unless we killed it.  0, or
 * CORDON_E_SYSTEM: it was lost. */
CORDON_MUST_CHECK int outcome_agent(int status_fd, bool has_status, bool is_killed,
				    struct supervise_result *result, struct proc_exit *end,
				    struct cordon_error *err);
/* What the control group (taken) knows of the call; it is removed.  0, or CORDON_E_TIMEOUT: somebody in it does not
 * end. */
CORDON_MUST_CHECK int outcome_cgroup(struct cgroup *group, struct supervise_result *result,
				     struct cordon_error *err);
