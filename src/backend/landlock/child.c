/* SPDX-License-Identifier: Apache-2.0 */
/* See child.h. */
#include "backend/landlock/child.h"

#include "backend/cgroup/cgroup.h"
#include "backend/command.h"
#include "backend/confine/privileges.h"
#include "backend/lookup.h"
#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_STACK_BYTES 32768 /* of the process that executes */
#define SERVER_START_MS 10000   /* for the listener of the process that serves */
#define BROKER_LISTENER 1       /* the broker's descriptors, beside the channel as 0 */
#define BROKER_SIGNALS 2

/* the command */

struct lock_step {
	enum stage stage;
	int (*run)(struct lock_child *c);
};

/* The steps in order; c->message says where it stands. */
static int lock_steps(struct lock_child *c, const struct lock_step *steps, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		c->message.stage = (int32_t)steps[i].stage;
		r = steps[i].run(c);
	}
	return r;
}

static int command_do_limits(struct lock_child *c)
{
	return command_limits(c->scope->plan);
}

/* Below the broker's domain: it cannot be signalled from there. */
static int command_do_apart(struct lock_child *c)
{
	return c->watcher.is_scoped ? landlock_scope_signals() : 0;
}

static int command_do_stdio(struct lock_child *c)
{
	const struct plan *plan = c->scope->plan;
	int r = plan->terminal && setsid() < 0 ? -errno : command_stdio(plan);

	return r < 0 ? r : command_terminal(plan);
}

static int command_do_close(struct lock_child *c)
{
	(void)c;
	return command_close();
}

static int command_do_filter(struct lock_child *c)
{
	AUTO_CLOSE int listener = notify_install(c->command_filter);
	int r = listener < 0 ? listener : notify_send_fd(c->relay[1], listener);

	return r == 0 && c->denied_calls ? seccomp_install(c->denied_calls) : r;
}

static int command_do_signals(struct lock_child *c)
{
	(void)c;
	return command_signals();
}

static int command_do_exec(struct lock_child *c)
{
	(void)execve(c->command, c->scope->plan->argv,
		     c->scope->env.v); /* returns when it failed */
	return -errno;
}

static const struct lock_step command_steps[] = {
	{STAGE_LIMITS, command_do_limits},   {STAGE_LANDLOCK, command_do_apart},
	{STAGE_STDIO, command_do_stdio},     {STAGE_CLOSE, command_do_close},
	{STAGE_SIGNALS, command_do_signals}, {STAGE_SECCOMP, command_do_filter},
	{STAGE_EXEC, command_do_exec},
};

/* Runs in the command's process, in the memory of the broker, which sleeps meanwhile. */
static int command_main(void *arg)
{
	struct lock_child *c = arg;
	int r = 0;

	/* It dies with the broker: nobody else would answer it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		r = -errno;
	if (r == 0)
		r = lock_steps(c, command_steps, ARRAY_LEN(command_steps));
	c->message.error = -r;
	_exit(127);
}

/* where calls are served */

/* What is signalled from here on must be in our domain: our parent is not, and neither is the first process of the
 * machine.  Without that, to pause would be to stop the machine. */
static int server_do_apart(struct lock_child *c)
{
	int r = c->watcher.is_scoped ? landlock_scope_signals() : -EPERM;

	if (r < 0)
		return r;
	if (kill(getppid(), 0) == 0 || errno != EPERM || kill(1, 0) == 0 || errno != EPERM)
		return -EPERM;
	return prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ? -errno : 0;
}

static int server_do_filter(struct lock_child *c)
{
	AUTO_CLOSE int listener = notify_install(c->command_filter);

	return listener < 0 ? listener : notify_send_fd(c->relay[1], listener);
}

static const struct lock_step server_steps[] = {
	{STAGE_LANDLOCK, server_do_apart},
	{STAGE_SECCOMP, server_do_filter},
};

_Noreturn static void server_main(struct lock_child *c, pid_t broker)
{
	int r = prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ? -errno : 0;

	if (r == 0 && getppid() != broker)
		r = -ESRCH;
	if (r == 0)
		r = lock_steps(c, server_steps, ARRAY_LEN(server_steps));
	if (r < 0)
		stage_report(c->channel, &c->message, r);
	c->server.channel = c->channel;
	if (native_serve_alone(&c->server) < 0)
		_exit(127);
	native_serve(&c->server);
}

static int server_start(struct lock_child *c)
{
	pid_t own = getpid();
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->relay) < 0)
		return -errno;
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		server_main(c, own);
	c->relay[1] = fd_close(c->relay[1]);
	return pid < 0 ? -errno : pid;
}

static int command_start(struct lock_child *c)
{
	_Alignas(16) static char stack[CHILD_STACK_BYTES];
	int pid;

	if (c->scope->plan->serves)
		return server_start(c);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->relay) < 0)
		return -errno;
	c->message.error = 0;
	/* clone(), which the filter can look into; clone3() is closed by now. */
	pid = clone(command_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, c);
	if (pid < 0)
		return -errno;
	if (c->message.error) {
		(void)waitpid(pid, NULL, 0);
		return -c->message.error;
	}
	return pid;
}

/* the broker */

/* The watcher is gone, and with it who would end the others. */
_Noreturn static void broker_end_all(const struct lock_child *c)
{
	if (c->watcher.is_scoped)
		(void)kill(-1, SIGKILL);
	_exit(127);
}

static void broker_reap(struct lock_child *c, pid_t command)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		broker_reaped(&c->broker, pid);
		if (pid != command)
			continue;
		(void)send(STDIN_FILENO, &status, sizeof(status), MSG_NOSIGNAL);
		/* The watcher ends the rest. */
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	}
}

static void broker_signals(struct lock_child *c, pid_t command, pid_t watcher)
{
	const struct plan *plan = c->scope->plan;
	struct signalfd_siginfo info;

	while (read(BROKER_SIGNALS, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			broker_reap(c, command);
		else if (info.ssi_code > 0 || (!plan->keeps_group && !plan->terminal))
			continue;
		else if (!plan->terminal || kill(-command, (int)info.ssi_signo) < 0)
			(void)kill(command, (int)info.ssi_signo);
	}
	if (getppid() != watcher)
		broker_end_all(c);
}

/* Nothing of the caller's stays open: channel, listener, signals, and what there is of the bridge and of somebody to
 * tell.  They get the first numbers, in this order. */
static int broker_close(struct lock_child *c, int listener)
{
	struct broker *b = &c->broker;
	int signals = -1;
	int *const own[] = {&c->channel,         &listener,      &signals,
			    &b->bridge.listener, &b->bridge.out, &b->told};
	sigset_t all;
	int n = 0;

	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		if (*own[i] < 0 && i > BROKER_SIGNALS)
			continue;
		*own[i] = *own[i] < 0 ? -1 : fd_dup(*own[i], ARRAY_LEN(own));
		if (*own[i] < 0)
			return -EMFILE;
	}
	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		if (*own[i] < 0)
			continue;
		if (dup3(*own[i], n, O_CLOEXEC) < 0)
			return -errno;
		*own[i] = n++;
	}
	return syscall(SYS_close_range, (unsigned)n, ~0U, 0) < 0 ? -errno : 0;
}

_Noreturn static void broker_stay(struct lock_child *c, pid_t command, pid_t watcher)
{
	struct pollfd polls[] = {
		{.fd = BROKER_LISTENER, .events = POLLIN},
		{.fd = BROKER_SIGNALS, .events = POLLIN},
	};
	int r;

	for (;;) {
		broker_reap(c, command);
		/* a failure is looked at below */
		(void)poll(polls, ARRAY_LEN(polls), c->broker.taken > 0 ? 0 : -1);
		broker_signals(c, command, watcher);
		if (!polls[0].revents && c->broker.taken == 0)
			continue;
		r = broker_answer(&c->broker, BROKER_LISTENER, polls[0].revents & POLLIN);
		if (r > 0)
			polls[0].fd = -1; /* nobody is left to answer */
		if (r < 0)
			broker_end_all(c);
	}
}

_Noreturn static void broker_main(struct lock_child *c, pid_t watcher)
{
	int command;
	int listener;
	int r = 0;

	/* Any signal wakes us; that the watcher is gone is seen from the parent. */
	c->message.stage = STAGE_FORK;
	if (prctl(PR_SET_PDEATHSIG, SIGHUP) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		r = -errno;
	if (r == 0 && getppid() != watcher)
		r = -ESRCH;
	if (r < 0)
		stage_report(c->channel, &c->message, r);
	command = command_start(c);
	if (command < 0)
		stage_report(c->channel, &c->message, command);
	c->message.stage = STAGE_SECCOMP;
	listener = notify_receive_fd(c->relay[0],
				     clock_deadline(c->scope->plan->serves ? SERVER_START_MS : 0));
	if (listener < 0 && c->scope->plan->serves)
		broker_end_all(c); /* it has said why */
	if (listener < 0)
		stage_report(c->channel, &c->message, listener);
	notify_setup(listener);
	r = seccomp_install(c->own_filter);
	if (r == 0)
		r = broker_close(c, listener);
	if (r == 0)
		r = place_world_init(&c->broker.world, watcher, getpid());
	if (r < 0)
		broker_end_all(c);
	c->message = (struct stage_message){.stage = STAGE_STARTED};
	if (send(STDIN_FILENO, &c->message, sizeof(c->message), MSG_NOSIGNAL) < 0)
		broker_end_all(c);
	broker_stay(c, command, watcher);
}

/* the watcher */

static int child_do_cgroup(struct lock_child *c)
{
	const struct cgroup *group = c->scope->plan->cgroup;

	return group ? cgroup_enter(group, c->is_in_cgroup) : 0;
}

static int child_do_session(struct lock_child *c)
{
	return !c->scope->plan->keeps_group && setsid() < 0 ? -errno : 0;
}

static int child_do_cwd(struct lock_child *c)
{
	const char *cwd = c->scope->plan->cwd;

	return cwd && chdir(cwd) < 0 ? -errno : 0;
}

static int child_do_lookup(struct lock_child *c)
{
	const struct plan *plan = c->scope->plan;

	if (plan->serves)
		return 0; /* each call has its own */
	return lookup_command(plan->argv[0], c->scope->search.n ? c->scope->search.v : plan->envp,
			      plan->cwd, c->command);
}

static int child_do_privileges(struct lock_child *c)
{
	int r = privileges_renounce();

	(void)c;
	return r < 0 ? r : privileges_renounced();
}

static int child_do_landlock(struct lock_child *c)
{
	return landlock_set_enforce(c->scope->set, &c->scope->policy);
}

static int child_do_watch(struct lock_child *c)
{
	return c->scope->policy.scopes_signals ? watcher_scope(&c->watcher) : 0;
}

static const struct lock_step child_steps[] = {
	{STAGE_CGROUP, child_do_cgroup},
	{STAGE_SESSION, child_do_session},
	{STAGE_CWD, child_do_cwd},
	{STAGE_LOOKUP, child_do_lookup},
	{STAGE_PRIVILEGES, child_do_privileges},
	{STAGE_LANDLOCK, child_do_landlock},
	{STAGE_WATCH, child_do_watch},
};

_Noreturn void lock_child_main(struct lock_child *c)
{
	pid_t own = getpid();
	pid_t broker;
	int r = lock_steps(c, child_steps, ARRAY_LEN(child_steps));

	if (r < 0)
		stage_report(c->channel, &c->message, r);
	c->message.stage = STAGE_FORK;
	broker = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (broker < 0)
		stage_report(c->channel, &c->message, -errno);
	if (broker == 0)
		broker_main(c, own);
	/* Now, not before: the command has one filter, its own, which can tell what it refuses. */
	if (seccomp_install(c->own_filter) < 0) {
		(void)kill(broker, SIGKILL);
		_exit(127);
	}
	watcher_stay(&c->watcher, broker);
}
