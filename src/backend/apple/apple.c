/* SPDX-License-Identifier: Apache-2.0 */
/* See apple.h. */
#include "backend/apple/apple.h"

#include "base/darwin.h"
#include "backend/launch/tool.h"
#include "backend/restrict.h"
#include "backend/scratch.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define APPLE_ENV_FILE "env"
#define APPLE_ENV_MAX (4 * 1024 * 1024)
#define APPLE_NAME_MAX 96
#define APPLE_DELETE_MS 10000 /* for the program to remove a container */
#define APPLE_FDS_SAFE 16
/* Descriptors of the process between, at these numbers. */
enum apple_fd {
	APPLE_FD_STDIN,
	APPLE_FD_STDOUT,
	APPLE_FD_STDERR,
	APPLE_FD_CHANNEL, /* signals come, the end goes */
	APPLE_FD_PLACE,
	APPLE_FDS
};

/* The process between: what it needs is made before it is cloned. */
struct apple_agent {
	const char *program;
	char *const *words;
	char *const *envp; /* of the program itself */
	const char *name;  /* of the container */
	const char *place; /* the directory of its variables, and the lock of that */
	int fds[APPLE_FDS];
};

/* In a child: these descriptors from 0 on, and no others. */
static bool apple_arrange(const int *fds, int n)
{
	int high[APPLE_FDS];

	for (int i = 0; i < n; i++)
		if ((high[i] = fd_dup(fds[i], APPLE_FDS_SAFE)) < 0)
			return false;
	for (int i = 0; i < n; i++)
		if (dup2(high[i], i) < 0)
			return false;
	return fd_close_between((unsigned)n, ~0U) == 0;
}

_Noreturn void apple_exec(const char *program, char *const *words, char *const *envp,
			  const int stdio[static 3])
{
	sigset_t none;

	if (!apple_arrange(stdio, 3))
		_exit(127);
	(void)sigemptyset(&none); /* cannot fail with a valid pointer */
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		_exit(127);
	(void)execve(program, words, envp);
	_exit(127);
}

/* Has it ended by then? */
static bool apple_await(const struct proc *proc, int64_t deadline)
{
	struct pollfd p = {.fd = proc->pidfd, .events = POLLIN};
	int n;

	do
		n = poll(&p, 1, clock_poll_timeout(deadline));
	while (n < 0 && errno == EINTR);
	return n > 0;
}

/* Removes the container, whether it runs, has ended or never was.  A program that does not answer is ended, and what
 * it should have removed is left. */
static void apple_delete(const struct apple_agent *a)
{
	static char verb[] = "delete";
	static char force[] = "--force";
	char *const words[] = {(char *)(uintptr_t)a->program, verb, force,
			       (char *)(uintptr_t)a->name, NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int stdio[] = {null, null, null};
	struct proc proc;
	int r = null < 0 ? -1 : proc_clone(0, &proc);

	if (r == 0)
		apple_exec(a->program, words, a->envp, stdio);
	if (r > 0 && !apple_await(&proc, clock_deadline(APPLE_DELETE_MS)) &&
	    proc_signal(&proc, SIGKILL) == 0)
		(void)apple_await(&proc, clock_deadline(APPLE_DELETE_MS));
}

/* Passes signals on until the program has ended.  False when the caller went first. */
static bool apple_pass(const struct proc *proc)
{
	struct pollfd polls[] = {{.fd = proc->pidfd, .events = POLLIN},
				 {.fd = APPLE_FD_CHANNEL, .events = POLLIN}};

	for (;;) {
		unsigned char sig;
		ssize_t n;

		if (poll(polls, ARRAY_LEN(polls), -1) < 0 && errno != EINTR)
			return false;
		if (polls[0].revents)
			return true;
		if (!polls[1].revents)
			continue;
		n = recv(APPLE_FD_CHANNEL, &sig, 1, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ||
		    (n == 1 && sig == SIGKILL))
			return false;
		if (n == 1 && proc_signal(proc, sig) < 0)
			return false;
	}
}

/* The whole life of the process between.  System calls only. */
_Noreturn static void apple_agent_main(const struct apple_agent *a)
{
	struct backend_end end = {.memory_peak_kb = -1};
	struct proc proc;
	struct proc_exit gone;
	bool is_over;
	int status;
	int r;

	if (setsid() < 0 || !apple_arrange(a->fds, APPLE_FDS))
		_exit(1);
	r = proc_clone(0, &proc);
	if (r == 0)
		apple_exec(a->program, a->words, a->envp, (const int[]){0, 1, 2});
	/* The program's alone from now on: who reads has to see its end. */
	if (r < 0 || fd_close_between(0, 2) < 0)
		_exit(1);
	is_over = r > 0 && apple_pass(&proc);
	if (!is_over && r > 0 && proc_signal(&proc, SIGKILL) == 0)
		(void)poll(&(struct pollfd){.fd = proc.pidfd, .events = POLLIN}, 1,
			   APPLE_DELETE_MS);
	/* --rm is the program's promise; a program that was killed keeps none. */
	apple_delete(a);
	if (unlinkat(APPLE_FD_PLACE, APPLE_ENV_FILE, 0) == 0)
		(void)rmdir(a->place); /* or the next command does */
	if (r < 0 || proc_reap(&proc, &gone) != 1)
		_exit(1);
	status = gone.signal ? gone.signal : gone.code << 8;
	/* Killed by us or by others: nobody knows how the command ended. */
	if (is_over && !gone.signal &&
	    send(APPLE_FD_CHANNEL, &status, sizeof(status), MSG_NOSIGNAL) == sizeof(status) &&
	    send(APPLE_FD_CHANNEL, &end, sizeof(end), MSG_NOSIGNAL) == sizeof(end))
		_exit(0);
	_exit(1);
}

int apple_own_env(struct strv *out)
{
	const char *home = env_get("HOME");
	int r = strv_add(out, "PATH=/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin");

	return r == 0 && home ? strv_addf(out, "HOME=%s", home) : r;
}

/* The variables in a file that only we can read: words can be read by everybody on the machine. */
static int apple_write_env(const struct plan *plan, const struct scratch *place,
			   struct cordon_error *err)
{
	AUTO(buf_done) struct buf text = BUF_SECRET(APPLE_ENV_MAX);
	int r = apple_env(plan, &text, err);

	if (r < 0)
		return r;
	r = io_write_file_at(place->fd, APPLE_ENV_FILE, text.data ? text.data : "", text.len, 0600);
	return r < 0 ? cordon_fail_leaf(err, r, "write the variables") : 0;
}

static int apple_clone(struct apple_agent *a, struct spawn_result *ret, struct cordon_error *err)
{
	int pair[2];
	int r;

	r = fd_pair(pair);
	if (r < 0)
		return cordon_fail_errno(err, -r, "make a channel");
	a->fds[APPLE_FD_CHANNEL] = pair[1];
	*ret = (struct spawn_result){
		.proc = PROC_NONE,
		.status_fd = pair[0],
		.terminal_fd = -1,
		.notify_fd = -1,
		.is_relayed = true,
		.is_watched = true,
		.is_agent = true,
	};
	doors_init(&ret->doors);
	r = proc_clone(0, &ret->proc);
	if (r == 0)
		apple_agent_main(a);
	(void)fd_close(pair[1]);
	if (r > 0)
		return 0;
	(void)fd_close(pair[0]);
	return cordon_fail_leaf(err, r, "start " APPLE_PROGRAM);
}

int apple_start(const char *program, const struct plan *plan, struct spawn_result *ret,
		struct cordon_error *err)
{
	AUTO(strv_done) struct strv words = {0};
	AUTO(strv_done) struct strv own = {0};
	struct scratch place = SCRATCH_NONE;
	char name[APPLE_NAME_MAX];
	char env[LIMIT_PATH_BYTES];
	struct apple_agent agent = {
		.program = program,
		.name = name,
		.fds = {plan->stdin_fd, plan->stdout_fd, plan->stderr_fd},
	};
	int r;

	(void)snprintf(name, sizeof(name), APPLE_CONTAINER "%s", plan->id ? plan->id : "trial");
	r = plan->scratch_dir ? scratch_make(plan->scratch_dir, plan->scratch_dir, &place)
			      : -ENOENT;
	if (r < 0)
		return cordon_fail_leaf(err, r, "make a place for the call");
	(void)snprintf(env, sizeof(env), "%s/" APPLE_ENV_FILE, place.path);
	r = apple_line(program, plan, name, env, &words, err);
	if (r == 0)
		r = apple_write_env(plan, &place, err);
	if (r == 0 && apple_own_env(&own) < 0)
		r = cordon_nomem(err);
	agent.words = words.v;
	agent.envp = own.v;
	agent.place = place.path;
	agent.fds[APPLE_FD_PLACE] = place.fd;
	if (r == 0)
		r = apple_clone(&agent, ret, err);
	/* The process between has the lock, and removes it. */
	if (r == 0)
		scratch_leave(&place);
	else
		scratch_done(&place);
	return r;
}

static int apple_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX];
	int fd = tool_open(APPLE_PROGRAM, path, why);

	if (fd < 0)
		return cordon_fail(err, CORDON_E_NO_BACKEND, "%s", why);
	(void)fd_close(fd);
	return apple_start(path, plan, ret, err);
}

const struct cordon_backend apple_backend = {
	.info = &backend_infos[BACKEND_APPLE_CONTAINER],
	.summary = "a Linux container in a virtual machine of its own, on macOS",
	.terminal = BACKEND_TERMINAL_NONE,
	.has_kernel = true,
	.probe = apple_probe,
	.spawn = apple_spawn,
	.restrict_filesystem = backend_default_restrict_filesystem,
	.restrict_network = backend_default_restrict_network,
	.restrict_syscalls = backend_default_restrict_syscalls,
	.apply_restrictions = backend_default_apply_restrictions,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = backend_default_get_audit_log,
};
