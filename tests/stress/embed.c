/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that embeds libcordon and runs many calls: it must not lose descriptors, memory, processes or
 * changes of its own signal state to them.  Half of the calls end well; the others are killed at a timeout,
 * flood their output, are not found, or are refused, because it is the ways out that leak.
 *
 * usage: embed [CALLS]      300 unless given
 */
#include <cordon/cordon.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/parse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CALLS = 300,
	WARM_UP = 40,      /* calls until caches are filled */
	GROWTH_PAGES = 160 /* of resident memory, after warming up: allocators are not exact */
};

static char place[256], workspace[300], state[300];

/* What to run, and how it must end. */
static const struct {
	const char *command;
	const char *policy;
	int exit_code;
} rows[] = {
	{"true", "", 0},
	{"exit 7", "", 7},
	{"echo out; echo err >&2; sleep 0 & setsid sleep 60 & true", "", 0},
	{"/nonexistent", "", 127},
	{"sleep 60", "sandbox: {resource_limits: {timeout_ms: 30, grace_ms: 10}}\n", 124},
	{"yes", "sandbox: {resource_limits: {max_output_bytes: 4096, grace_ms: 2000}}\n",
	 128 + SIGTERM},
	{"blocked",
	 "sandbox: {capabilities: {shell: {mode: restricted, blocked_commands: [blocked]}}}\n",
	 126},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static int tests, failed;

static void ok(bool good, const char *what, long had, long has)
{
	printf("%sok %d - %s\n# %ld, then %ld\n", good ? "" : "not ", ++tests, what, had, has);
	failed += !good;
}

static struct cordon_policy *policy_of(const char *text)
{
	const struct cordon_policy_places places = {
		.struct_size = sizeof(places),
		.workspace = workspace,
		.config_dir = "/nonexistent",
		.state_dir = state,
	};
	struct cordon_policy_options *o = NULL;
	struct cordon_policy *p = NULL;
	struct cordon_error err;

	if (cordon_policy_options_new_at(&places, &o, &err) < 0 ||
	    (*text && cordon_policy_options_text(o, text, strlen(text), "embed.yaml", &err) < 0) ||
	    cordon_policy_load(o, &p, &err) < 0)
		printf("# policy: %s\n", err.message);
	cordon_policy_options_free(o);
	return p;
}

static bool call(size_t i)
{
	const struct cordon_request_options ro = {.struct_size = sizeof(ro), .cwd = workspace};
	const struct cordon_run_options o = {.struct_size = sizeof(o)};
	struct cordon_policy *p = policy_of(rows[i % ROWS].policy);
	struct cordon_request *request = NULL;
	struct cordon_report *report = NULL;
	struct cordon_error err = {0};
	int r = p ? cordon_request_shell(rows[i % ROWS].command, &ro, &request, &err) : -1;
	int code = -1;

	if (r == 0)
		r = cordon_run(p, request, &o, &report, &err);
	if (report)
		code = cordon_report_exit_code(report);
	if (r < 0 || code != rows[i % ROWS].exit_code)
		printf("# '%s': %d: %s\n", rows[i % ROWS].command, code, err.message);
	cordon_report_free(report);
	cordon_request_free(request);
	cordon_policy_free(p);
	return r == 0 && code == rows[i % ROWS].exit_code;
}

static long descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	long n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		(void)closedir(d);
	return n;
}

static long pages(void)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int64_t resident = 0;
	char *second;

	if (io_read_file_at(AT_FDCWD, "/proc/self/statm", 256, &text, &len) < 0)
		return -1;
	second = text + strcspn(text, " ");
	second += *second == ' ';
	second[strcspn(second, " ")] = '\0';
	return parse_int(second, 0, INT64_MAX, &resident) < 0 ? -1 : (long)resident;
}

static long blocked(void)
{
	sigset_t set;
	long n = 0;

	(void)sigprocmask(SIG_BLOCK, NULL, &set);
	for (int sig = 1; sig < NSIG; sig++)
		n += sigismember(&set, sig) == 1;
	return n;
}

static void run_all(long calls)
{
	long good = 0, fds, resident, mask;

	for (long i = 0; i < WARM_UP; i++)
		(void)call((size_t)i);
	fds = descriptors();
	resident = pages();
	mask = blocked();
	for (long i = 0; i < calls; i++)
		good += call((size_t)i);
	ok(good == calls, "every call ends as it must", calls, good);
	ok(descriptors() == fds, "no descriptor is left", fds, descriptors());
	ok(pages() <= resident + GROWTH_PAGES, "no memory is left", resident, pages());
	ok(blocked() == mask, "the signal mask is as it was", mask, blocked());
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "no process is left", 0, 0);
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	char command[320];
	int64_t calls = CALLS;

	if (argc > 1 && parse_int(argv[1], 1, 1000000, &calls) < 0)
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	(void)snprintf(place, sizeof(place), "%s/embed-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(place))
		return 1;
	(void)snprintf(workspace, sizeof(workspace), "%s/ws", place);
	(void)snprintf(state, sizeof(state), "%s/state", place);
	if (mkdir(workspace, 0755) < 0 || mkdir(state, 0700) < 0)
		return 1;
	if (call(0))
		run_all((long)calls);
	else
		printf("1..0 # SKIP no sandbox works here\n");
	if (tests)
		printf("1..%d\n", tests);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", place);
	return system(command) != 0 || failed > 0;
}
