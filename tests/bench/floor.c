/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor of any launcher: start the command given, wait for it, exit with its code, and nothing
 * else.  Built in variants to see what each choice costs:
 *
 *   -DFLOOR_FORK     fork() instead of the vfork-like clone that posix_spawn() makes
 *   -DFLOOR_POLL     wait through a pidfd in poll(), as the supervisor does, then waitpid()
 *   -DFLOOR_TOUCH=N  touch N pages of zeroed memory first: what a page fault costs
 *   -DFLOOR_CALLS=N  make N cheap system calls first: what a system call costs
 */
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#ifdef FLOOR_TOUCH
static volatile char pages[FLOOR_TOUCH][4096];
#endif

static int start(char **argv, pid_t *ret)
{
#ifdef FLOOR_FORK
	*ret = fork();
	if (*ret == 0) {
		(void)execv(argv[0], argv); /* returns only when it failed */
		_exit(127);
	}
	return *ret < 0;
#else
	return posix_spawn(ret, argv[0], NULL, NULL, argv, environ);
#endif
}

int main(int argc, char **argv)
{
	int status = 0;
	pid_t pid;

#ifdef FLOOR_TOUCH
	for (int i = 0; i < FLOOR_TOUCH; i++)
		pages[i][0] = 1;
#endif
#ifdef FLOOR_CALLS
	for (int i = 0; i < FLOOR_CALLS; i++)
		(void)syscall(SYS_getppid);
#endif
	if (argc < 2 || start(argv + 1, &pid) != 0)
		return 127;
#ifdef FLOOR_POLL
	{
		struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};

		if (p.fd < 0 || poll(&p, 1, -1) < 0)
			return 125;
	}
#endif
	if (waitpid(pid, &status, 0) != pid)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
