/* SPDX-License-Identifier: Apache-2.0 */
/* See outcome.h. */
#include "run/outcome.h"

#include "backend/backend.h"
#include "backend/cgroup/cgroup.h"
#include "base/clock.h"
#include "base/io.h"

#include <signal.h>

int outcome_not_started(struct supervise_result *result, int r)
{
	if (r == CORDON_E_NOT_FOUND)
		result->exit_code = SUPERVISE_EXIT_NOT_FOUND;
	else if (r == CORDON_E_REFUSED)
		result->exit_code = SUPERVISE_EXIT_REFUSED;
	else
		return r;
	return 0;
}

static double outcome_ms(const struct timeval *t)
{
	return (double)t->tv_sec * 1e3 + (double)t->tv_usec / 1e3;
}

void outcome_usage(const struct rusage *usage, struct supervise_usage *ret)
{
	ret->max_rss_kb = usage->ru_maxrss;
	ret->user_ms = outcome_ms(&usage->ru_utime);
	ret->sys_ms = outcome_ms(&usage->ru_stime);
}

int outcome_foreign(struct proc *p, struct proc_exit *ret)
{
	*ret = (struct proc_exit){.code = -1, .signal = SIGKILL};
	proc_done(p);
	return 1;
}

void outcome_foreign_usage(int status_fd, struct rusage *ret)
{
	struct rusage usage;

	if (io_read(status_fd, &usage, sizeof(usage), clock_deadline(0)) == sizeof(usage))
		*ret = usage;
}

bool outcome_is_fault(int signal)
{
	static const int faults[] = {SIGKILL, SIGSEGV, SIGBUS,  SIGILL,
				     SIGFPE,  SIGABRT, SIGTRAP, SIGSYS};

	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		if (faults[i] == signal)
			return true;
	return false;
}

int outcome_lost(struct cordon_error *err)
{
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_SYSTEM,
				       "what the command ran in was lost while it ran"),
			   "nothing of the call is left running; an engine's log may say more");
}

int outcome_agent(int status_fd, bool has_status, bool is_killed, struct supervise_result *result,
		  struct proc_exit *end, struct cordon_error *err)
{
	struct backend_end told;

	if (!has_status && is_killed) {
		*end = (struct proc_exit){.code = -1, .signal = SIGKILL};
		return 0;
	}
	if (!has_status ||
	    io_read(status_fd, &told, sizeof(told), clock_deadline(0)) != sizeof(told))
		return outcome_lost(err);
	end->usage = told.usage;
	result->is_oom |= told.is_oom;
	result->is_fork_refused |= told.is_fork_refused;
	if (told.memory_peak_kb >= 0)
		result->usage.memory_peak_kb = told.memory_peak_kb;
	if (told.output_error > 0)
		return cordon_fail_leaf(err, -told.output_error, "pass the command's output on");
	return 0;
}

/* What the group knows, then its end. */
int outcome_cgroup(struct cgroup *group, struct supervise_result *result, struct cordon_error *err)
{
	struct cgroup_events events;
	struct cgroup_usage usage;

	cgroup_look(group, &events);
	cgroup_measure(group, &usage);
	result->is_oom |= events.is_oom_killed;
	result->is_fork_refused |= events.is_fork_refused;
	if (result->is_oom && !result->is_timed_out)
		result->exit_code = SUPERVISE_EXIT_OOM;
	result->usage.processes = usage.processes_peak;
	if (usage.memory_peak_bytes >= 0)
		result->usage.memory_peak_kb = usage.memory_peak_bytes / 1024;
	if (usage.user_ms >= 0) {
		result->usage.user_ms = usage.user_ms;
		result->usage.sys_ms = usage.sys_ms;
	}
	if (cgroup_end(group) < 0)
		return cordon_fail(err, CORDON_E_TIMEOUT,
				   "processes of the call do not end after SIGKILL");
	return 0;
}
