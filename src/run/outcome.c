/* SPDX-License-Identifier: Apache-2.0 */
/* See outcome.h. */
#include "run/outcome.h"

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

static struct timeval outcome_time(int64_t us)
{
	return (struct timeval){.tv_sec = us / 1000000, .tv_usec = us % 1000000};
}

int outcome_told(int status_fd, struct proc_exit *end, struct supervise_result *result,
		 struct cordon_error *err)
{
	struct backend_end told;

	if (io_read(status_fd, &told, sizeof(told), clock_deadline(0)) != sizeof(told))
		return end->signal
			       ? 0
			       : cordon_hint(
					 err,
					 cordon_fail(err, CORDON_E_SYSTEM,
						     "the sandbox ended before the command did"),
					 "nothing of it runs any more; try again");
	end->signal = WIFSIGNALED(told.status) ? WTERMSIG(told.status) : 0;
	end->code = WIFEXITED(told.status) ? WEXITSTATUS(told.status) : -1;
	end->usage.ru_maxrss = told.max_rss_kb;
	end->usage.ru_utime = outcome_time(told.user_us);
	end->usage.ru_stime = outcome_time(told.sys_us);
	result->is_oom = told.is_oom;
	result->is_fork_refused = told.is_fork_refused;
	result->usage.memory_peak_kb = told.memory_peak_kb;
	return 0;
}
