/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library's judgement of commands and texts costs, beside programs that only search.
 *
 * Usage: text_bench ROUNDS COMMANDS TEXT OTHER [-- NAME COMMAND...]...
 *
 * COMMANDS has one command per line, TEXT and OTHER are any texts; the other commands read TEXT by themselves.  Each round does
 * everything once.  What counts is processor time, ours or the other program's, so that a busy machine disturbs
 * little.  Prints one line each: name, the median of the rounds, and its unit.
 */
#include "base/parse.h"
#include "core/judge.h"
#include "secrets/leak.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 1000
#define PEERS_MAX 8
#define PIECE 65536

enum { ROW_COMMANDS, ROW_SECRETS, ROW_PIPELINE, ROW_OTHER, ROWS_OWN };

struct text {
	char *data;
	size_t len;
};

struct row {
	const char *name;
	char **argv; /* of another program, or NULL */
	double values[ROUNDS_MAX];
};

static struct row rows[ROWS_OWN + PEERS_MAX] = {
	[ROW_COMMANDS] = {.name = "commands"},
	[ROW_SECRETS] = {.name = "secrets"},
	[ROW_PIPELINE] = {.name = "whole pipeline"},
	[ROW_OTHER] = {.name = "whole pipeline, other text"},
};
static struct policy *policy;

_Noreturn static void die(const char *what)
{
	(void)fprintf(stderr, "text_bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct text load(const char *path)
{
	FILE *in = fopen(path, "re");
	struct stat st;
	struct text t = {0};

	if (!in || fstat(fileno(in), &st) < 0)
		die(path);
	t.len = (size_t)st.st_size;
	t.data = malloc(t.len + 1);
	if (!t.data || fread(t.data, 1, t.len, in) != t.len || t.len == 0)
		die(path);
	t.data[t.len] = '\0';
	(void)fclose(in);
	return t;
}

static double cpu_s(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* cannot fail with this clock */
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void judge(enum inspect_kind kind, const char *text, size_t len)
{
	struct judge_input in = {.policy = policy, .kind = kind, .cwd = "/work", .home = "/home/u"};
	struct judgement j = {0};

	if (judge_text(&in, text, len, &j, NULL) < 0)
		die("judge");
	judgement_done(&j);
}

/* Microseconds for one command. */
static double time_commands(const struct text *commands)
{
	double start = cpu_s();
	size_t n = 0;

	for (size_t at = 0; at < commands->len;) {
		const char *end = memchr(commands->data + at, '\n', commands->len - at);
		size_t len = end ? (size_t)(end - commands->data) - at : commands->len - at;

		judge(INSPECT_COMMAND, commands->data + at, len);
		at += len + 1;
		n++;
	}
	return (cpu_s() - start) * 1e6 / (double)n;
}

static void ignore(void *data, const struct leak *leak)
{
	(void)data;
	(void)leak;
}

static double time_secrets(const struct text *text)
{
	double start = cpu_s();
	struct leak_scanner *s = NULL;
	int r = leak_scanner_new(ignore, NULL, &s, NULL);

	for (size_t at = 0; r == 0 && at < text->len; at += PIECE)
		r = leak_feed(s, text->data + at, text->len - at < PIECE ? text->len - at : PIECE,
			      NULL);
	if (r == 0)
		r = leak_end(s, NULL);
	leak_scanner_free(s);
	if (r < 0)
		die("secrets");
	return (double)text->len / 1e6 / (cpu_s() - start);
}

static double time_pipeline(const struct text *text)
{
	double start = cpu_s();

	judge(INSPECT_OUTPUT, text->data, text->len);
	return (double)text->len / 1e6 / (cpu_s() - start);
}

/* What another program needs for it, its start included. */
static double time_peer(char **argv, const struct text *text)
{
	posix_spawn_file_actions_t actions;
	struct rusage used;
	int status = 0;
	pid_t pid;
	double s;

	if (posix_spawn_file_actions_init(&actions) != 0 ||
	    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) != 0 ||
	    posix_spawn_file_actions_adddup2(&actions, 1, 2) != 0)
		die("posix_spawn");
	errno = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	if (errno || wait4(pid, &status, 0, &used) != pid)
		die(argv[0]);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
		errno = EINVAL;
		die(argv[0]);
	}
	s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	return (double)text->len / 1e6 / s;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void measure(size_t rounds, size_t n, const struct text *commands, const struct text *text,
		    const struct text *other)
{
	(void)time_commands(commands); /* once for what is only made once */
	for (size_t k = 0; k < rounds; k++) {
		rows[ROW_COMMANDS].values[k] = time_commands(commands);
		rows[ROW_SECRETS].values[k] = time_secrets(text);
		rows[ROW_PIPELINE].values[k] = time_pipeline(text);
		rows[ROW_OTHER].values[k] = time_pipeline(other);
		for (size_t i = ROWS_OWN; i < n; i++)
			rows[i].values[k] = time_peer(rows[i].argv, text);
	}
	for (size_t i = 0; i < n; i++) {
		qsort(rows[i].values, rounds, sizeof(double), compare);
		(void)printf("%s\t%.2f\t%s\n", rows[i].name, rows[i].values[rounds / 2],
			     i == ROW_COMMANDS ? "us" : "MB/s");
	}
}

int main(int argc, char **argv)
{
	int64_t rounds = 0;
	size_t n = ROWS_OWN;
	struct text commands, text, other;

	if (argc < 5 || parse_int(argv[1], 1, ROUNDS_MAX, &rounds) < 0) {
		(void)fputs(
			"usage: text_bench ROUNDS COMMANDS TEXT OTHER [-- NAME COMMAND...]...\n",
			stderr);
		return 2;
	}
	for (int i = 5; i < argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		if (i + 2 >= argc || n == ROWS_OWN + PEERS_MAX)
			return 2;
		argv[i] = NULL; /* the end of the one before */
		rows[n].name = argv[i + 1];
		rows[n++].argv = &argv[i + 2];
	}
	commands = load(argv[2]);
	text = load(argv[3]);
	other = load(argv[4]);
	policy = policy_new();
	if (!policy || policy_default(policy, "/work", NULL) < 0)
		die("policy");
	measure((size_t)rounds, n, &commands, &text, &other);
	policy_free(policy);
	free(commands.data);
	free(text.data);
	free(other.data);
	return 0;
}
