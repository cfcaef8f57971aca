/* SPDX-License-Identifier: Apache-2.0 */
/* See limits.h: what Linux holds without a control group, tried. */
#include "backend/limits.h"

#include "base/proc.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMITS_TRIAL_PROCESSES 3

/* Runs in a user namespace of its own: counts how many processes it may start. */
_Noreturn static void limits_try_nproc(void)
{
	const struct rlimit limit = {LIMITS_TRIAL_PROCESSES, LIMITS_TRIAL_PROCESSES};
	int started = 1; /* ourselves */
	bool is_held;

	if (setrlimit(RLIMIT_NPROC, &limit) < 0)
		_exit(1);
	/* They stay zombies, which count, until they are waited for. */
	for (; started <= LIMITS_TRIAL_PROCESSES; started++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0)
			break;
	}
	is_held = started == LIMITS_TRIAL_PROCESSES && errno == EAGAIN;
	/* Not every first process of a container collects what is left to it. */
	while (wait(NULL) > 0 || errno == EINTR)
		;
	_exit(is_held ? 0 : 1);
}

bool limits_nproc_holds(void)
{
	struct proc child = PROC_NONE;
	siginfo_t info = {0};
	int r = proc_clone(CLONE_NEWUSER, &child);

	if (r == 0)
		limits_try_nproc();
	if (r < 0)
		return false;
	while (waitid(P_PIDFD, (id_t)child.pidfd, &info, WEXITED) < 0)
		if (errno != EINTR)
			break;
	proc_done(&child);
	return info.si_code == CLD_EXITED && info.si_status == 0;
}

bool limits_can_sample(void)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	return access(path, R_OK) == 0;
}
