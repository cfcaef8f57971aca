/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast texts are read: a file goes through the text pipeline, through the search for credentials, or line by line
 * through the inspection of commands, in this process and with everything warm.  Time is that of this process alone,
 * so that others on the machine matter little; the best of the rounds counts.
 *
 * Usage: inspect-bench text|secrets|commands FILE [ROUNDS]
 */
#include "base/mem.h"
#include "inspect/inspect.h"
#include "secrets/leak.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, FILE_MAX = 256 << 20 };

static double cpu_seconds(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* cannot fail with this clock */
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static char *slurp(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rbe");
	char *text = f ? malloc(FILE_MAX) : NULL;

	if (text)
		*ret_len = fread(text, 1, FILE_MAX, f);
	if (f)
		(void)fclose(f);
	return text;
}

static int one(enum inspect_kind kind, const char *text, size_t len)
{
	struct inspect_context context = {.document = INSPECT_DOCUMENT_OUTPUT};
	struct findings found = {0};
	int r = kind == INSPECT_KIND_COUNT ? leak_inspect(text, len, &found, NULL)
					   : inspect(&context, kind, text, len, &found, NULL);

	findings_done(&found);
	return r;
}

/* Each line by itself; how many there were in *ret_lines. */
static int lines(const char *text, size_t len, size_t *ret_lines)
{
	int r = 0;

	*ret_lines = 0;
	for (size_t at = 0; at < len && r >= 0; ++*ret_lines) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;

		r = one(INSPECT_COMMAND, text + at, n);
		at += n + 1;
	}
	return r;
}

int main(int argc, char **argv)
{
	bool is_text = argc > 2 && strcmp(argv[1], "text") == 0;
	bool is_command = argc > 2 && strcmp(argv[1], "commands") == 0;
	int rounds = argc > 3 ? argv[3][0] - '0' : ROUNDS;
	AUTO_FREE char *text = NULL;
	size_t len = 0, n = 0;
	double best = 1e9;

	if (argc > 2)
		text = slurp(argv[2], &len);
	if (!text || len == 0 || rounds < 1 || rounds > 9) {
		(void)fprintf(stderr, "usage: inspect-bench text|secrets|commands FILE [1-9]\n");
		return 2;
	}
	for (int i = 0; i < rounds; i++) {
		double start = cpu_seconds();
		int r = is_command ? lines(text, len, &n)
				   : one(is_text ? INSPECT_OUTPUT : INSPECT_KIND_COUNT, text, len);

		if (r < 0)
			return 1;
		start = cpu_seconds() - start;
		best = start < best ? start : best;
	}
	if (is_command)
		(void)printf("%.1f us a command\n", best * 1e6 / (double)n);
	else
		(void)printf("%.0f MB/s\n", (double)len / best / 1e6);
	return 0;
}
