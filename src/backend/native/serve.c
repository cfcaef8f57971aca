/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See serve.h.  Both processes here stand inside the sandbox with what they started, so they hold nothing that
 * is worth having: no descriptor but their channel, no memory of the caller's, and they are not dumpable.
 *
 * Where there is no control group to freeze, to pause is one kill(-1, SIGSTOP) of the first process.  The kernel delivers it to everything in the pid
 * namespace while no fork can be under way, so that there is no process which one could miss, and a stopped
 * one can still be killed (in a frozen group of version 1 it could not).  That they stay stopped is looked at
 * (still.h), at once and whenever somebody asks.
 */
#include "backend/native/child.h"
#include "backend/native/serve.h"

#include "backend/confine/seccomp.h"
#include "backend/command.h"
#include "backend/lookup.h"
#include "backend/native/hold.h"
#include "backend/native/still.h"
#include "backend/native/tty.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "base/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SERVE_RECEIVE_MS 5000 /* the rest of a message that has begun */
#define SERVE_ALONE_TRIES 10
#define SERVE_ALONE_MS 5

/* One call, in its process. */
struct serve_call {
	struct native_child child;
	struct view_program program;
	struct plan plan;
	struct plan_terminal terminal;
	int fds[SERVE_FDS];
};

static void serve_close(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
}

_Noreturn static void serve_report(struct serve_call *s, int stage, int r)
{
	struct native_message m = {.stage = stage, .error = -r};

	(void)send(s->fds[SERVE_FD_CALL], &m, sizeof(m), MSG_NOSIGNAL); /* or nobody hears it */
	_exit(127);
}

static size_t serve_count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* The sandbox's own variables in place of the call's; envp has room for all. */
static void serve_environment(char *const *own, char **envp)
{
	for (; own && *own; own++) {
		size_t len = strcspn(*own, "=") + 1;
		size_t at = 0;

		while (envp[at] && strncmp(envp[at], *own, len) != 0)
			at++;
		if (!envp[at])
			envp[at + 1] = NULL;
		envp[at] = *own;
	}
}

/* Pointers to the strings of the text: the directory, the words, the environment, each list ended by NULL. */
static int serve_words(struct serve_call *s, const struct serve_request *request)
{
	const struct serve_host *host = s->child.host;
	size_t n = (size_t)request->n_args + request->n_env;
	size_t table = (n + 2 + serve_count(host ? host->env : NULL)) * sizeof(char *);
	const char *end;
	struct stat st;
	char **words;
	char *text;

	if (request->n_args == 0 || request->n_args > LIMIT_ARGV || request->n_env > LIMIT_ENV ||
	    request->text_bytes == 0 || request->text_bytes > 2 * LIMIT_ARG_BYTES)
		return -EINVAL;
	if (fstat(s->fds[SERVE_FD_TEXT], &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size < request->text_bytes)
		return -EINVAL;
	text = mmap(NULL, request->text_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		    s->fds[SERVE_FD_TEXT], 0);
	words = mmap(NULL, table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED || words == MAP_FAILED)
		return -ENOMEM;
	end = text + request->text_bytes;
	if (end[-1] != '\0')
		return -EINVAL;
	s->plan.cwd = text;
	s->plan.argv = words;
	s->plan.envp = words + request->n_args + 1;
	for (size_t i = 0; i < n; i++) {
		text += strlen(text) + 1;
		if (text >= end)
			return -EINVAL;
		words[i < request->n_args ? i : i + 1] = text;
	}
	serve_environment(host ? host->env : NULL, words + request->n_args + 1);
	return 0;
}

/* Where the command is looked for: what is closed on the host has nothing for a call. */
static char *const *serve_search(const struct serve_call *s)
{
	const struct serve_host *host = s->child.host;

	if (host && host->path && host->search)
		for (char *const *e = s->plan.envp; *e; e++)
			if (strcmp(*e, host->path) == 0)
				return host->search;
	return s->plan.envp;
}

/* The steps of child.c from the session on. */
static int serve_stage(struct serve_call *s, const struct serve_request *request, int stage)
{
	const struct plan *plan = &s->plan;

	if (stage == NATIVE_STAGE_STARTED)
		return serve_words(s, request);
	if (stage == NATIVE_STAGE_SESSION)
		return setsid() < 0 ? -errno : 0;
	if (stage == NATIVE_STAGE_TERMINAL)
		return plan->terminal && !s->child.is_hosted
			       ? native_tty_open(plan->terminal, &s->child.terminal, &s->child.tty)
			       : 0;
	if (stage == NATIVE_STAGE_CWD)
		return chdir(plan->cwd) < 0 ? -errno : 0;
	return stage == NATIVE_STAGE_LOOKUP
		       ? lookup_command(plan->argv[0], serve_search(s), plan->cwd, s->child.command)
		       : -EINVAL;
}

/* Passes a signal of the caller's on.  Without a terminal the command is in the group that we lead; we have
 * everything blocked, and what we get of it comes from in here and is not passed on again. */
static void serve_pass(const struct serve_call *s, pid_t command, int sig)
{
	if (!s->plan.terminal)
		(void)kill(0, sig);
	else if (!s->child.is_hosted &&
		 (sig == BACKEND_SIGNAL_FOREGROUND || sig == BACKEND_SIGNAL_BACKGROUND))
		native_tty_give(s->child.tty, command, sig == BACKEND_SIGNAL_FOREGROUND);
	else if (kill(-command, sig) < 0)
		(void)kill(command, sig);
}

/* From the caller, who has no number in here.  Where it could have one it sends bytes instead. */
static bool serve_is_callers(const struct serve_call *s, const struct signalfd_siginfo *info)
{
	return !s->child.is_hosted && info->ssi_signo != SIGCHLD && info->ssi_code <= 0 &&
	       info->ssi_pid == 0;
}

/* The caller is gone, or wants the call to be. */
_Noreturn static void serve_kill(const struct serve_call *s, pid_t command)
{
	if (s->plan.terminal && kill(-command, SIGKILL) < 0)
		(void)kill(command, SIGKILL);
	(void)kill(0, SIGKILL);
	_exit(127);
}

/* Tells of stops and of the end, with what was used. */
static void serve_collect(const struct serve_call *s, pid_t command, int call)
{
	int flags = WNOHANG | (s->plan.terminal && !s->child.is_hosted ? WUNTRACED : 0);
	struct rusage usage;
	int status;

	while (wait4(command, &status, flags, &usage) == command) {
		(void)send(call, &status, sizeof(status), MSG_NOSIGNAL);
		if (WIFSTOPPED(status))
			continue;
		(void)send(call, &usage, sizeof(usage), MSG_NOSIGNAL);
		_exit(0);
	}
}

_Noreturn static void serve_watch(const struct serve_call *s, pid_t command, int call, int signals)
{
	for (;;) {
		struct pollfd polls[] = {{.fd = signals, .events = POLLIN},
					 {.fd = call, .events = POLLIN}};
		struct signalfd_siginfo info;
		unsigned char byte;

		if (poll(polls, ARRAY_LEN(polls), -1) < 0 && errno != EINTR)
			serve_kill(s, command);
		while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
			if (serve_is_callers(s, &info))
				serve_pass(s, command, (int)info.ssi_signo);
		serve_collect(s, command, call);
		if (polls[1].revents) {
			ssize_t n = recv(call, &byte, 1, MSG_DONTWAIT);

			if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
				serve_kill(s, command);
			if (n > 0 && s->child.is_hosted)
				serve_pass(s, command, byte); /* EINVAL: no signal */
		}
	}
}

static int serve_signals(void)
{
	sigset_t all;
	int fd;

	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* A second filter for this command: the kernel takes the stricter answer of both, so that it has to say nothing but what
 * it is for. */
static int serve_seal(struct serve_call *s)
{
	static struct seccomp_program sealed; /* large, and this process has one call */
	const struct seccomp_policy policy = {
		.allows_unix = true, .allows_ptrace = true, .allows_userns = true};
	int r = seccomp_build(&policy, &sealed);

	if (r == 0)
		s->child.sealed = &sealed;
	return r;
}

/* The call's process: a copy of the first one. */
_Noreturn static void serve_call(struct serve_call *s, const struct serve_request *request)
{
	static const int stages[] = {NATIVE_STAGE_STARTED, NATIVE_STAGE_SESSION,
				     NATIVE_STAGE_TERMINAL, NATIVE_STAGE_CWD, NATIVE_STAGE_LOOKUP};
	struct native_message m = {.stage = NATIVE_STAGE_STARTED};
	int given[2];
	int signals;
	int pid;
	int r;

	(void)fd_close(STDIN_FILENO); /* the way to the keeper is not for us */
	for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
		r = serve_stage(s, request, stages[i]);
		if (r < 0)
			serve_report(s, stages[i], r);
	}
	r = request->seals_net ? serve_seal(s) : 0;
	if (r < 0)
		serve_report(s, NATIVE_STAGE_CALLS, r);
	if (setrlimit(RLIMIT_NOFILE, &s->child.files) < 0)
		serve_report(s, NATIVE_STAGE_LIMITS, -errno);
	signals = serve_signals();
	given[0] = (int)syscall(SYS_pidfd_open, getpid(), 0);
	given[1] = s->child.terminal;
	if (signals < 0 || given[0] < 0)
		serve_report(s, NATIVE_STAGE_FORK, signals < 0 ? signals : -errno);
	(void)umask(request->mask);
	s->child.message = (struct native_message){.stage = NATIVE_STAGE_FORK};
	pid = native_child_fork(&s->child);
	if (pid < 0 || s->child.message.error)
		serve_report(s, s->child.message.stage, pid < 0 ? pid : -s->child.message.error);
	if (fdpass_send(s->fds[SERVE_FD_CALL], &m, sizeof(m), given, given[1] >= 0 ? 2 : 1) < 0)
		serve_kill(s, pid);
	/* What the command may close must not stay open here. */
	serve_close(given, ARRAY_LEN(given));
	serve_close(&s->fds[SERVE_FD_STDIN], SERVE_FDS - SERVE_FD_STDIN);
	(void)fd_close(s->fds[SERVE_FD_TEXT]);
	if (chdir("/") < 0)
		serve_kill(s, pid);
	serve_watch(s, pid, s->fds[SERVE_FD_CALL], signals);
}

/* In a fork of the first process: what it held on to is not for the call. */
static void serve_keep_only(int *fds, size_t n)
{
	/* Out of the way one by one, then down to a row that starts at 1. */
	for (size_t i = 0; i < n; i++)
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, (int)n + 1);
	for (size_t i = 0; i < n; i++)
		if (fds[i] < 0 || dup3(fds[i], (int)i + 1, O_CLOEXEC) < 0)
			_exit(127);
		else
			fds[i] = (int)i + 1;
	if (syscall(SYS_close_range, (unsigned)n + 1, ~0U, 0) < 0)
		_exit(127);
}

/* Are we the only process in here?  All others are ours, also those whose parents have ended.  One that is just ending
 * may be waited for. */
static bool serve_is_alone(void)
{
	for (int i = 0; i < SERVE_ALONE_TRIES; i++) {
		pid_t pid;

		if (i > 0)
			(void)poll(NULL, 0, SERVE_ALONE_MS);
		while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
			continue;
		if (pid < 0 && errno == ECHILD)
			return true;
	}
	return false;
}

static void serve_enter(struct native_child *c, const struct serve_request *request, int *fds,
			size_t n)
{
	struct native_message m = {.stage = NATIVE_STAGE_FORK};
	pid_t pid;

	if (n != SERVE_FDS) {
		serve_close(fds, n);
		return; /* the keeper sends nothing else */
	}
	if (request->is_alone && !serve_is_alone()) {
		m = (struct native_message){.stage = NATIVE_STAGE_ENTER_CALL, .error = EADDRINUSE};
		(void)send(fds[SERVE_FD_CALL], &m, sizeof(m), MSG_NOSIGNAL);
		serve_close(fds, n);
		return;
	}
	pid = fork();
	if (pid == 0) {
		struct serve_call s = {.child = *c, .program = *c->program};

		serve_keep_only(fds, n);
		memcpy(s.fds, fds, sizeof(s.fds));
		s.plan = *c->program->plan;
		s.plan.stdin_fd = fds[SERVE_FD_STDIN];
		s.plan.stdout_fd = fds[SERVE_FD_STDOUT];
		s.plan.stderr_fd = fds[SERVE_FD_STDERR];
		s.terminal = request->terminal;
		s.plan.terminal = request->has_terminal ? &s.terminal : NULL;
		if (request->has_files)
			s.plan.max_open_files = PLAN_LIMIT(request->max_open_files);
		s.program.plan = &s.plan;
		s.child.program = &s.program;
		s.child.terminal = s.child.tty = -1;
		s.child.sealed = NULL;
		s.child.is_hosted = request->is_hosted;
		serve_call(&s, request);
	}
	if (pid < 0) {
		m.error = errno;
		(void)send(fds[SERVE_FD_CALL], &m, sizeof(m), MSG_NOSIGNAL);
	}
	serve_close(fds, n);
}

/* Lets all that is in here go on.  ESRCH: there is nobody else. */
static int serve_continue(void)
{
	return kill(-1, SIGCONT) < 0 && errno != ESRCH ? -errno : 0;
}

/* Stops them, or looks whether they are stopped still: if not then nobody may believe it, and all go on. */
static int serve_still(const struct native_child *c, bool is_to_stop)
{
	int r;

	/* A broker may have to open for us what we look at, and reads its name from our memory.  The commands cannot: each
	 * is in a domain below ours (landlock_step_below()). */
	if (c->host)
		(void)prctl(PR_SET_DUMPABLE, 1);
	r = is_to_stop ? still_stop(c->host != NULL) : still_look(c->host != NULL);
	if (c->host && prctl(PR_SET_DUMPABLE, 0) < 0)
		_exit(127);
	if (is_to_stop)
		return r;
	if (r == 1)
		return 0;
	(void)serve_continue();
	return r < 0 ? r : -EBUSY;
}

static void serve_say(int answer)
{
	(void)send(STDIN_FILENO, &answer, sizeof(answer), MSG_NOSIGNAL);
}

static void serve_take(struct native_child *c)
{
	struct serve_request request;
	int fds[FDPASS_MAX];
	size_t n = 0;
	ssize_t got = fdpass_receive(STDIN_FILENO, &request, sizeof(request),
				     clock_deadline(SERVE_RECEIVE_MS), fds, &n);

	if (got == 0 || got == -ECONNRESET)
		_exit(0); /* the keeper is gone, and with us the rest goes */
	if (got != sizeof(request)) {
		serve_close(fds, n);
		if (got > 0)
			_exit(127); /* half a request */
		return;
	}
	if (request.kind == SERVE_ENTER) {
		serve_enter(c, &request, fds, n);
		return;
	}
	serve_close(fds, n);
	if (request.kind == SERVE_PAUSE)
		serve_say(serve_still(c, /* is_to_stop= */ true));
	else if (request.kind == SERVE_LOOK)
		serve_say(serve_still(c, /* is_to_stop= */ false));
	else if (request.kind == SERVE_CONTINUE)
		serve_say(serve_continue());
}

int native_serve_alone(struct native_child *c)
{
	if (dup3(c->channel, STDIN_FILENO, O_CLOEXEC) < 0 ||
	    syscall(SYS_close_range, 1U, COMMAND_FD_LAST, 0) < 0 || chdir("/") < 0 ||
	    getrlimit(RLIMIT_NOFILE, &c->files) < 0)
		return -errno;
	c->channel = STDIN_FILENO;
	return 0;
}

_Noreturn void native_serve(struct native_child *c)
{
	int signals = serve_signals();

	if (signals < 0)
		_exit(127);
	for (;;) {
		struct pollfd polls[] = {{.fd = STDIN_FILENO, .events = POLLIN},
					 {.fd = signals, .events = POLLIN}};
		struct signalfd_siginfo info;

		if (poll(polls, ARRAY_LEN(polls), -1) < 0 && errno != EINTR)
			_exit(127);
		/* Nobody but children has anything to tell us. */
		while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
			continue;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
		if (polls[0].revents)
			serve_take(c);
	}
}
