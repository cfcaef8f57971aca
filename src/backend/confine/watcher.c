/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See watcher.h.  The command is cloned with shared memory while the watcher sleeps: nothing is copied, and what
 * failed comes back by itself.
 */
#include "backend/confine/watcher.h"

#include "backend/command.h"
#include "backend/confine/landlock.h"
#include "backend/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCHER_STACK_BYTES 32768 /* of the process that executes; it needs less than 1 KiB */
#define WATCHER_SIGNALS 3         /* the descriptor of signals */

int watcher_scope(struct watcher *w)
{
	/* Our parent runs with our own uid at the least: without the scope one of these would be allowed. */
	if (kill(getppid(), 0) == 0 || errno != EPERM || kill(1, 0) == 0 || errno != EPERM)
		return -EPERM;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -errno;
	w->is_scoped = true;
	return 0;
}

/* Waits for the watcher's end, which is the death signal's coming, and ends what it left. */
_Noreturn static void watcher_guard_main(pid_t watcher)
{
	sigset_t death;

	(void)sigemptyset(&death); /* cannot fail with a valid pointer, as the next */
	(void)sigaddset(&death, SIGHUP);
	/* No descriptor of the caller's: somebody may wait for the end of a pipe. */
	if (syscall(SYS_close_range, 0U, ~0U, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGHUP) < 0)
		_exit(1);
	while (getppid() == watcher)
		(void)sigwaitinfo(&death,
				  NULL); /* a signal of somebody else's: it is looked at again */
	(void)kill(-1, SIGKILL);
	_exit(0);
}

int watcher_guard(struct watcher *w)
{
	pid_t own = getpid();
	pid_t pid;

	if (!w->is_scoped)
		return -EPERM;
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid < 0)
		return -errno;
	if (pid == 0)
		watcher_guard_main(own);
	w->guard = pid;
	return 0;
}

/* Without a pid namespace: the command dies with the watcher, and cannot reach it. */
static int watcher_apart(const struct watcher *w)
{
	if (w->has_pid_namespace)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return landlock_scope_signals();
}

/* Its three streams, and with a terminal the session that it leads there. */
static int watcher_stdio(const struct watcher *w)
{
	const struct plan *plan = w->plan;
	int r = plan->terminal && setsid() < 0 ? -errno : command_stdio(plan);

	if (r == 0 && w->leads_group && !plan->terminal && setpgid(0, 0) < 0)
		r = -errno;
	return r < 0 ? r : command_terminal(plan);
}

/* Runs in the command's process, in the memory of the watcher, which sleeps meanwhile. */
static int watcher_command(void *arg)
{
	struct watcher *w = arg;
	int r;

	w->stage = STAGE_LANDLOCK;
	r = watcher_apart(w);
	if (r == 0) {
		w->stage = STAGE_SIGNALS;
		r = command_signals();
	}
	if (r == 0) {
		w->stage = STAGE_STDIO;
		r = watcher_stdio(w);
	}
	if (r == 0) {
		w->stage = STAGE_CLOSE;
		r = command_close();
	}
	if (r == 0 && w->denied_calls) {
		w->stage = STAGE_SECCOMP;
		r = seccomp_install(w->denied_calls);
	}
	if (r == 0) {
		w->stage = STAGE_EXEC;
		(void)execve(w->command, w->plan->argv,
			     w->plan->envp); /* returns only when it failed */
		r = -errno;
	}
	w->error = -r;
	_exit(127);
}

int watcher_start(struct watcher *w)
{
	_Alignas(16) static char stack[WATCHER_STACK_BYTES];
	int pid;

	w->stage = STAGE_FORK;
	w->error = 0;
	if (!w->has_pid_namespace && !w->is_scoped)
		return -EPERM; /* nothing could end what it leaves */
	/* clone(), which the filter can look into; clone3() is closed by now. */
	pid = clone(watcher_command, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, w);
	if (pid < 0)
		return -errno;
	if (w->error) {
		(void)waitpid(pid, NULL, 0);
		return -w->error;
	}
	return pid;
}

/* What the command has written reaches who reads it, as it would from a pipe of theirs: when nobody is left who could
 * write more.  The channel's end is the end of the call. */
static void watcher_drain(const struct watcher *w)
{
	struct pollfd polls[1 + PUMP_MAX * PUMP_POLLS] = {
		{.fd = STDIN_FILENO, .events = POLLRDHUP},
	};

	if (w->n_pumps == 0 || !w->has_pid_namespace || getpid() != 1)
		return;
	(void)kill(-1, SIGKILL); /* ESRCH: nobody is left */
	for (;;) {
		bool is_done = true;

		for (size_t i = 0; i < w->n_pumps; i++) {
			is_done = is_done && pump_is_done(&w->pumps[i]);
			pump_poll(&w->pumps[i], &polls[1 + i * PUMP_POLLS]);
		}
		if (is_done)
			return;
		if (poll(polls, 1 + w->n_pumps * PUMP_POLLS, -1) < 0 && errno != EINTR)
			return;
		if (polls[0].revents)
			return;
		for (size_t i = 0; i < w->n_pumps; i++)
			pump_move(&w->pumps[i], &polls[1 + i * PUMP_POLLS]);
	}
}

/* Ends all that is left and goes.  status is the command's, or -1 when it has not ended. */
_Noreturn static void watcher_end(const struct watcher *w, pid_t command, int status)
{
	int last;
	pid_t pid;

	/* Never without the proof: outside the domain this is the end of the machine. */
	if (w->is_scoped)
		(void)kill(-1, SIGKILL); /* ESRCH: nobody is left */
	while (w->is_scoped && ((pid = waitpid(-1, &last, 0)) > 0 || errno == EINTR))
		if (pid == command)
			status = last;
	if (status == -1)
		_exit(128 + SIGKILL);
	watcher_drain(w);
	(void)send(STDIN_FILENO, &status, sizeof(status), MSG_NOSIGNAL);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Collects those that have ended. */
static void watcher_reap(const struct watcher *w, pid_t command)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == command)
			watcher_end(w, command, status);
		/* Without it nobody would end what we leave: no call goes on so. */
		if (pid == w->guard)
			watcher_end(w, command, -1);
	}
}

/* Without a terminal its group is ours (but see leads_group), and we have all signals blocked. */
static void watcher_pass(const struct watcher *w, pid_t command, int sig)
{
	if ((w->plan->terminal || w->leads_group) && kill(-command, sig) == 0)
		return;
	/* EINVAL: no signal. */
	(void)kill(w->plan->keeps_group || w->plan->terminal ? command : 0, sig);
}

static void watcher_signal(const struct watcher *w, pid_t command)
{
	struct signalfd_siginfo info;

	while (read(WATCHER_SIGNALS, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			watcher_reap(w, command);
		/* From the supervisor, not from the terminal (that reached the command too).  Elsewhere the
		 * supervisor signals the whole group. */
		else if ((w->plan->keeps_group || (w->plan->terminal && !w->has_broker)) &&
			 info.ssi_code <= 0)
			watcher_pass(w, command, (int)info.ssi_signo);
	}
}

/* Signals that the supervisor sends as bytes, or the end.  Where calls are served the bytes are not ours. */
static void watcher_channel(const struct watcher *w, pid_t command)
{
	unsigned char signals[16];
	ssize_t n;

	if (w->plan->serves)
		watcher_end(w, command, -1);
	n = recv(STDIN_FILENO, signals, sizeof(signals), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		watcher_end(w, command, -1);
	for (ssize_t i = 0; i < n; i++)
		watcher_pass(w, command, signals[i]);
}

/* Closes all from first on but what is pumped. */
static int watcher_close_from(const struct watcher *w, unsigned first)
{
	for (;;) {
		unsigned next = COMMAND_FD_LAST;

		for (size_t i = 0; i < w->n_pumps; i++) {
			unsigned ends[] = {(unsigned)w->pumps[i].source,
					   (unsigned)w->pumps[i].sink};

			for (size_t k = 0; k < ARRAY_LEN(ends); k++)
				if (ends[k] >= first && ends[k] < next)
					next = ends[k];
		}
		if (next == COMMAND_FD_LAST)
			return syscall(SYS_close_range, first, next, 0) < 0 ? -errno : 0;
		if (next > first && syscall(SYS_close_range, first, next - 1, 0) < 0)
			return -errno;
		first = next + 1;
	}
}

/* Nothing of the caller's stays open but what is pumped: the channel as 0 and the signals. */
static int watcher_close(const struct watcher *w)
{
	sigset_t all;
	int fd;

	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	if (dup3(w->channel, STDIN_FILENO, O_CLOEXEC) < 0)
		return -errno;
	if (watcher_close_from(w, 1) < 0)
		return -errno;
	fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	return dup3(fd, WATCHER_SIGNALS, O_CLOEXEC) < 0 ? -errno : 0;
}

_Noreturn void watcher_stay(struct watcher *w, pid_t command)
{
	struct pollfd polls[2 + PUMP_MAX * PUMP_POLLS] = {
		{.fd = WATCHER_SIGNALS, .events = POLLIN},
		{.fd = STDIN_FILENO, .events = w->plan->serves ? POLLRDHUP : POLLIN},
	};

	if (watcher_close(w) < 0)
		watcher_end(w, command, -1);
	for (;;) {
		watcher_reap(w, command);
		for (size_t i = 0; i < w->n_pumps; i++)
			pump_poll(&w->pumps[i], &polls[2 + i * PUMP_POLLS]);
		/* A failure is looked at below. */
		(void)poll(polls, 2 + w->n_pumps * PUMP_POLLS, -1);
		watcher_signal(w, command);
		if (polls[1].revents)
			watcher_channel(w, command);
		for (size_t i = 0; i < w->n_pumps; i++)
			pump_move(&w->pumps[i], &polls[2 + i * PUMP_POLLS]);
	}
}
