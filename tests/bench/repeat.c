/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a command takes, again and again in one place: run by itself it measures the bare machine, inside a
 * sandbox what that costs while a command works.  The first time is told apart: it finds nothing cached.
 *
 * Usage: repeat TIMES COMMAND...
 * Prints one line: the first time and the median of the TIMES after it, in microseconds.  The command's
 * output is thrown away.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#define TIMES_MAX 1000

extern char **environ;

static double now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail with this clock */
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static bool run_once(char **argv, const posix_spawn_file_actions_t *actions, double *ret_us)
{
	double start = now_us();
	int status = 0;
	pid_t pid;

	if (posix_spawnp(&pid, argv[0], actions, NULL, argv, environ) != 0 ||
	    waitpid(pid, &status, 0) != pid)
		return false;
	*ret_us = now_us() - start;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double us[TIMES_MAX];
	posix_spawn_file_actions_t actions;
	size_t times = 0;
	double first;

	for (const char *p = argc > 2 ? argv[1] : ""; *p >= '0' && *p <= '9' && times <= TIMES_MAX;
	     p++)
		times = times * 10 + (size_t)(*p - '0');
	if (times == 0 || times > TIMES_MAX) {
		(void)fprintf(stderr, "usage: repeat TIMES COMMAND...\n");
		return 2;
	}
	if (posix_spawn_file_actions_init(&actions) != 0 ||
	    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) != 0 ||
	    !run_once(argv + 2, &actions, &first))
		return 1;
	for (size_t i = 0; i < times; i++)
		if (!run_once(argv + 2, &actions, &us[i]))
			return 1;
	qsort(us, times, sizeof(double), compare);
	(void)printf("%.0f\t%.0f\n", first, us[times / 2]);
	return 0;
}
