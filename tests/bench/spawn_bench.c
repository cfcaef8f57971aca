/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long commands take from posix_spawn() to waitpid(), side by side.
 *
 * Usage: spawn_bench ROUNDS NAME COMMAND... -- NAME COMMAND... [-- ...]
 *
 * Each round runs every command once, so that a slow moment of the machine hits all of them alike; the
 * order is another one in each round, so that nobody always runs while the kernel clears up after the same neighbour.  The
 * first command is the measure: the others are shown as multiples of it.  Prints one line per command:
 * name, median, 95th and 10th percentile in microseconds, and the ratio of the medians.  In a command, "@@" stands for "--".
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CANDIDATES_MAX 16
#define ROUNDS_MAX 100000
#define WARMUP_ROUNDS 20 /* at most, and a quarter of the others */

extern char **environ;

struct candidate {
	const char *name;
	char **argv; /* NULL-terminated */
	double *us;
};

static double now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail with this clock */
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static bool run_once(const struct candidate *c, const posix_spawn_file_actions_t *actions,
		     double *ret_us)
{
	double start = now_us();
	int status = 0;
	pid_t pid;

	if (posix_spawnp(&pid, c->argv[0], actions, NULL, c->argv, environ) != 0)
		return false;
	if (waitpid(pid, &status, 0) != pid)
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

/* Of sorted values. */
static double percentile(const double *values, size_t count, double p)
{
	return values[(size_t)((double)(count - 1) * p)];
}

/* Splits argv at "--".  Returns the number of commands, 0 when the line makes no sense. */
static size_t parse_commands(char **argv, struct candidate ret[static CANDIDATES_MAX])
{
	static char dashes[] = "--";
	size_t count = 0;

	while (*argv) {
		if (count == CANDIDATES_MAX || !argv[1])
			return 0;
		ret[count++] = (struct candidate){.name = argv[0], .argv = argv + 1};
		for (; *argv && strcmp(*argv, "--") != 0; argv++)
			if (strcmp(*argv, "@@") == 0)
				*argv = dashes;
		if (*argv)
			*argv++ = NULL;
	}
	return count;
}

static size_t parse_rounds(const char *text)
{
	size_t rounds = 0;

	for (; *text >= '0' && *text <= '9' && rounds <= ROUNDS_MAX; text++)
		rounds = rounds * 10 + (size_t)(*text - '0');
	return *text || rounds > ROUNDS_MAX ? 0 : rounds;
}

/* Another order of the same numbers; the same orders each time the program runs. */
static void shuffle(size_t *order, size_t count)
{
	static uint64_t state = 1;

	for (size_t i = count; i > 1; i--) {
		size_t other;
		size_t swap = order[i - 1];

		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		other = (size_t)(state >> 33) % i;
		order[i - 1] = order[other];
		order[other] = swap;
	}
}

static bool measure(struct candidate *all, size_t count, size_t rounds)
{
	const size_t warmup = rounds / 4 < WARMUP_ROUNDS ? rounds / 4 : WARMUP_ROUNDS;
	posix_spawn_file_actions_t actions;
	const char *in = getenv("BENCH_STDIN"); /* for commands that read something */
	size_t order[CANDIDATES_MAX];

	if (posix_spawn_file_actions_init(&actions) != 0 ||
	    posix_spawn_file_actions_addopen(&actions, 0, in ? in : "/dev/null", O_RDONLY, 0) !=
		    0 ||
	    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) != 0)
		return false;
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t round = 0; round < rounds + warmup; round++) {
		shuffle(order, count);
		for (size_t i = 0; i < count; i++) {
			struct candidate *c = &all[order[i]];
			double us = 0;

			if (!run_once(c, &actions, &us)) {
				(void)fprintf(stderr, "spawn_bench: '%s' does not run here\n",
					      c->name);
				return false;
			}
			if (round >= warmup)
				c->us[round - warmup] = us;
		}
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	return true;
}

int main(int argc, char **argv)
{
	struct candidate all[CANDIDATES_MAX];
	size_t rounds = argc > 2 ? parse_rounds(argv[1]) : 0;
	size_t count = rounds ? parse_commands(argv + 2, all) : 0;
	double base = 0;

	if (count == 0) {
		(void)fprintf(
			stderr,
			"usage: spawn_bench ROUNDS NAME COMMAND... [-- NAME COMMAND...]...\n");
		return 2;
	}
	for (size_t i = 0; i < count; i++) {
		all[i].us = calloc(rounds, sizeof(double));
		if (!all[i].us)
			return 1;
	}
	if (!measure(all, count, rounds))
		return 1;
	for (size_t i = 0; i < count; i++) {
		double median;

		qsort(all[i].us, rounds, sizeof(double), compare);
		median = percentile(all[i].us, rounds, 0.5);
		base = i == 0 ? median : base;
		(void)printf("%s\t%.1f\t%.1f\t%.1f\t%.3f\n", all[i].name, median,
			     percentile(all[i].us, rounds, 0.95),
			     percentile(all[i].us, rounds, 0.1), median / base);
		free(all[i].us);
	}
	return 0;
}
