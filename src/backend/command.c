/* SPDX-License-Identifier: Apache-2.0 */
/* See command.h. */
#include "backend/command.h"

#include "backend/cgroup/cgroup.h"
#include "base/fd.h"
#include "base/shield.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every handler goes back to the default and the mask is emptied.  Ignored signals stay ignored, as
 * nohup expects, except two that programs like Python, and we, ignore for themselves: a command that
 * inherits that never ends in `| head`, or at the size that its files may have. */
int command_signals(void)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++) {
		struct sigaction now;

		if (sigaction(sig, NULL, &now) < 0)
			continue; /* libc keeps two for itself */
		if (now.sa_handler == SIG_DFL ||
		    (now.sa_handler == SIG_IGN && sig != SIGPIPE && sig != SIGXFSZ))
			continue;
		if (sigaction(sig, &standard, NULL) < 0)
			return -errno;
	}
	(void)sigemptyset(&none); /* cannot fail with a valid pointer */
	return sigprocmask(SIG_SETMASK, &none, NULL) < 0 ? -errno : 0;
}

int command_signals_reset(void)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t none;

	(void)sigemptyset(&none); /* cannot fail with a valid pointer */
	if (sigaction(SIGPIPE, &standard, NULL) < 0 || sigaction(SIGXFSZ, &standard, NULL) < 0 ||
	    sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		return -errno;
	return 0;
}

int command_stdio(const struct plan *plan)
{
	int fds[3] = {plan->stdin_fd, plan->stdout_fd, plan->stderr_fd};

	/* First out of the way what would be overwritten before its turn. */
	for (int i = 0; i < 3; i++) {
		if (fds[i] > 2 || fds[i] == i)
			continue;
		fds[i] = fd_dup(fds[i], 3);
		if (fds[i] < 0)
			return fds[i];
	}
	for (int i = 0; i < 3; i++) {
		if (fds[i] == i ? fcntl(i, F_SETFD, 0) < 0 : dup3(fds[i], i, 0) < 0)
			return -errno;
	}
	return 0;
}

int command_terminal(const struct plan *plan)
{
	if (!plan->terminal)
		return 0;
	for (int i = 0; i < 3; i++)
		if (plan->terminal->streams[i])
			return ioctl(i, TIOCSCTTY, 0) < 0 ? -errno : 0;
	return -EINVAL;
}

/* A limit above the hard one holds already and needs no right to raise it. */
static int command_limit(__rlimit_resource_t resource, uint64_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return -errno;
	if (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max)
		limit.rlim_max = value;
	if (resource != RLIMIT_STACK || limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	return setrlimit(resource, &limit) < 0 ? -errno : 0;
}

int command_limits(const struct plan *plan)
{
	int r = 0;

	if (plan->max_open_files.is_given)
		r = command_limit(RLIMIT_NOFILE, plan->max_open_files.value);
	/* The stack is not part of a process's data. */
	if (r == 0 && plan_memory_by_process(plan))
		r = command_limit(RLIMIT_DATA, plan->memory_bytes.value);
	if (r == 0 && plan_memory_by_process(plan))
		r = command_limit(RLIMIT_STACK, plan->memory_bytes.value);
	if (r == 0 && plan_pids_by_user(plan))
		r = command_limit(RLIMIT_NPROC, plan->max_processes.value);
	return r;
}

int command_close(void)
{
	if (shield_is_off(SHIELD_CLOSE))
		return 0;
	return fd_cloexec_between(3, COMMAND_FD_LAST);
}

/* A directory on a standard descriptor is a door into the host's tree: every path below it is found from there,
 * and changing modes or connecting to sockets asks neither mounts nor Landlock. */
int command_check_stdio(const struct plan *plan, struct cordon_error *err)
{
	const int fds[] = {plan->stdin_fd, plan->stdout_fd, plan->stderr_fd};

	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		struct stat st;

		if (fds[i] < 0 || fstat(fds[i], &st) < 0)
			return cordon_fail(err, CORDON_E_INVALID,
					   "standard descriptors are missing");
		if (S_ISDIR(st.st_mode))
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_INVALID,
						       "descriptor %zu is a directory", i),
					   "give it a file, a pipe, a terminal or /dev/null");
	}
	return 0;
}

int command_check(const struct plan *plan, const char *name, struct cordon_error *err)
{
	if (!plan->serves && (!plan->argv || !plan->argv[0] || !plan->envp))
		return cordon_fail(err, CORDON_E_INVALID, "no command to run");
	if (!plan->cgroup && cgroup_is_needed(plan))
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend '%s' cannot carry out this plan", name);
	return command_check_stdio(plan, err);
}

int command_fail(const char *name, int error, struct cordon_error *err)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		error = cordon_fail(err, CORDON_E_NOT_FOUND, "'%s': command not found", name);
		return strpbrk(name, " \t\n|;&<>$")
			       ? cordon_hint(err, error,
					     "this is one word, the name of a program; "
					     "'-c STRING' runs a shell string")
			       : error;
	case EACCES:
	case ENOEXEC:
	case EISDIR:
	case ELIBBAD:
	case ETXTBSY:
		return cordon_fail(err, CORDON_E_REFUSED, "'%s': cannot be executed: %s", name,
				   strerrordesc_np(error));
	default:
		return cordon_fail_errno(err, error, "execute '%s'", name);
	}
}
