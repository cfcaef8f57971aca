/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon-hold: the first process of a container that stays, and the parent of every command in it.  Static: the image
 * need not have a library, a shell or anything else.
 *
 *   hold [none]            looks whether the container is what was asked for, and waits; none: and has no network
 *   hold run COMMAND...    runs a command; when standard input ends it and all that it started are killed
 *
 * An engine has no request that ends a command.  So the engine's standard input is the tie: its other end is a process
 * of cordon's, and goes with that, however that ends.  Commands have none of their own.
 */
#include "backend/devenv/hold.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOLD_KILL_ROUNDS 1000 /* each ends a generation of processes */
#define HOLD_LIST_BYTES 65536

static void hold_say(const char *text)
{
	(void)!write(STDERR_FILENO, text, strlen(text)); /* nobody else to tell */
}

static bool hold_has_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(data); i++)
		if (data[i].effective | data[i].permitted | data[i].inheritable)
			return true;
	for (int i = 0; i <= CAP_LAST_CAP; i++)
		if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1)
			return true;
	return false;
}

/* Reads a small file as text. */
static bool hold_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Any interface but loopback.  Each has a line with a colon. */
static bool hold_has_network(void)
{
	static char text[HOLD_LIST_BYTES];
	size_t n = 0;

	if (!hold_read("/proc/net/dev", text, sizeof(text)))
		return true;
	for (const char *p = text; (p = strchr(p, ':')); p++)
		n++;
	return n > 1;
}

/* The end state is looked at, whatever the engine said to each request. */
static int hold_check(bool has_no_network)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return HOLD_EXIT_PRIVILEGES;
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER)
		return HOLD_EXIT_SECCOMP;
	if (hold_has_capabilities())
		return HOLD_EXIT_CAPABILITIES;
	if (access("/", W_OK) == 0 || errno != EROFS)
		return HOLD_EXIT_WRITABLE;
	if (has_no_network && hold_has_network())
		return HOLD_EXIT_NETWORK;
	return 0;
}

/* What is orphaned in the container comes to its first process. */
static int hold_wait(void)
{
	sigset_t set;
	int sig = 0;

	(void)sigemptyset(&set); /* cannot fail with these */
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	while (sig != SIGTERM) {
		(void)sigwait(&set, &sig);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	return 0;
}

/* Kills our children until there is none: theirs become ours. */
static void hold_kill_all(void)
{
	static char list[HOLD_LIST_BYTES];

	for (int i = 0; i < HOLD_KILL_ROUNDS; i++) {
		char *p = list;
		pid_t pid;

		if (!hold_read("/proc/thread-self/children", list, sizeof(list)))
			list[0] = '\0';
		for (; *p >= '0' && *p <= '9'; p += *p == ' ') {
			for (pid = 0; *p >= '0' && *p <= '9'; p++)
				pid = pid * 10 + (*p - '0');
			(void)kill(pid, SIGKILL); /* or it has ended */
		}
		/* One that was born since is in the next list. */
		pid = waitpid(-1, NULL, list[0] ? 0 : WNOHANG);
		if (pid < 0 && errno == ECHILD)
			return;
	}
}

/* Until the command has ended, or the tie has. */
static int hold_follow(pid_t command, int ended)
{
	struct pollfd polls[] = {{.fd = STDIN_FILENO, .events = POLLIN},
				 {.fd = ended, .events = POLLIN}};
	char bytes[512];
	int status = 0;
	pid_t pid;

	for (;;) {
		if (poll(polls, ARRAY_LEN(polls), -1) < 0 && errno != EINTR)
			return HOLD_EXIT_TROUBLE;
		if (polls[1].revents)
			break;
		if (polls[0].revents && read(STDIN_FILENO, bytes, sizeof(bytes)) <= 0)
			return 128 + SIGKILL;
	}
	while ((pid = waitpid(command, &status, 0)) < 0 && errno == EINTR)
		;
	if (pid != command)
		return HOLD_EXIT_TROUBLE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int hold_run(char **argv)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pid_t command;
	int ended;
	int code;

	if (null < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return HOLD_EXIT_TROUBLE;
	command = fork();
	if (command == 0) {
		if (dup2(null, STDIN_FILENO) < 0 || setsid() < 0)
			_exit(HOLD_EXIT_TROUBLE);
		(void)execvp(argv[0], argv);
		code = errno == ENOENT ? 127 : 126;
		hold_say("cordon: ");
		hold_say(argv[0]);
		hold_say(code == 127 ? ": command not found in the container\n"
				     : ": cannot be executed in the container\n");
		_exit(code);
	}
	ended = command < 0 ? -1 : (int)syscall(SYS_pidfd_open, command, 0);
	code = ended < 0 ? HOLD_EXIT_TROUBLE : hold_follow(command, ended);
	hold_kill_all();
	return code;
}

int main(int argc, char **argv)
{
	int r;

	if (argc > 2 && strcmp(argv[1], "run") == 0)
		return hold_run(argv + 2);
	r = hold_check(/* has_no_network= */ argc > 1 && strcmp(argv[1], HOLD_NO_NETWORK) == 0);
	return r ? r : hold_wait();
}
