/* SPDX-License-Identifier: Apache-2.0 */
/* How the command is started inside the sandbox: see child.h.  Apart from what builds the sandbox, because what is built
 * by others starts its commands in the same way (serve.h). */
#include "backend/native/child.h"

#include "backend/command.h"
#include "backend/confine/landlock.h"
#include "backend/confine/notify.h"
#include "backend/native/tty.h"
#include "base/fd.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define START_STACK_BYTES 32768 /* of the process that executes; it needs less than 1 KiB */

/* A sandbox around us may have a listener already, and a filter has only one above it: then nobody listens to
 * ours.  It refuses the same. */
int native_child_filter(struct native_child *c)
{
	int listener = c->told ? notify_install(c->told) : -EBUSY;
	struct native_message first = {.stage = NATIVE_STAGE_SECCOMP};
	int r;

	if (listener < 0) {
		seccomp_mute(c->seccomp);
		return seccomp_install(c->seccomp);
	}
	if (send(c->channel, &first, sizeof(first), MSG_NOSIGNAL) < 0)
		return -errno;
	r = notify_send_fd(c->channel, listener);
	(void)fd_close(listener);
	c->has_listener = true;
	return r;
}

/* What the policy refuses on top, in the command: with everything else where somebody listens. */
static int start_list(struct native_child *c)
{
	int r = c->is_told_late ? native_child_filter(c) : 0;

	if (r < 0)
		return r;
	return seccomp_install(c->is_told_late && c->has_listener ? c->rest_calls
								  : c->denied_calls);
}

int native_child_filter_late(struct native_child *c)
{
	if (!c->is_told_late)
		return 0;
	seccomp_mute(c->seccomp);
	return seccomp_install(c->seccomp);
}

/* Runs in the command's process, in the memory of pid 1, which sleeps meanwhile. */
static int start_command(void *arg)
{
	struct native_child *c = arg;
	const struct plan *plan = c->program->plan;
	struct plan stdio = *plan;
	int r;

	c->message.stage = NATIVE_STAGE_LIMITS;
	r = command_limits(plan);
	if (r == 0 && plan->terminal && c->is_hosted) {
		c->message.stage = NATIVE_STAGE_JOB;
		r = setsid() < 0 ? -errno : 0;
	} else if (r == 0 && plan->terminal) {
		int *const fds[] = {&stdio.stdin_fd, &stdio.stdout_fd, &stdio.stderr_fd};

		c->message.stage = NATIVE_STAGE_JOB;
		r = native_tty_join(plan->terminal, c->tty);
		for (size_t i = 0; i < ARRAY_LEN(fds); i++)
			if (plan->terminal->streams[i])
				*fds[i] = c->tty;
	}
	if (r == 0) {
		c->message.stage = NATIVE_STAGE_SIGNALS;
		r = command_signals_reset();
	}
	if (r == 0) {
		c->message.stage = NATIVE_STAGE_STDIO;
		r = command_stdio(&stdio);
		if (r == 0 && c->is_hosted)
			r = command_terminal(plan);
	}
	if (r == 0) {
		c->message.stage = NATIVE_STAGE_CLOSE;
		r = command_close();
	}
	/* Who serves, and other calls, are in the same domain and of the same user. */
	if (r == 0 && c->host) {
		c->message.stage = NATIVE_STAGE_LANDLOCK;
		r = landlock_step_below();
	}
	if (r == 0 && c->sealed) {
		c->message.stage = NATIVE_STAGE_CALLS;
		r = seccomp_install(c->sealed);
	}
	if (r == 0 && c->denied_calls) {
		c->message.stage = NATIVE_STAGE_CALLS;
		r = start_list(c);
	}
	if (r == 0) {
		c->message.stage = NATIVE_STAGE_EXEC;
		(void)execve(c->command, plan->argv, plan->envp); /* returns only when it failed */
		r = -errno;
	}
	c->message.error = -r;
	return 127; /* clone() ends the process */
}

int native_child_fork(struct native_child *c)
{
	_Alignas(16) static char stack[START_STACK_BYTES];
	/* clone(), which the filter can look into; clone3() is closed by now. */
	int pid = clone(start_command, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, c);

	return pid < 0 ? -errno : pid;
}
