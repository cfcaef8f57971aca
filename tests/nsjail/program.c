/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for nsjail where there is none: takes those of its published options that cordon uses, strictly and with
 * the values that cordon means, and lets bubblewrap do what they ask for.  It shows that the line is one that nsjail
 * understands and what the launcher makes of a /proc that nobody covered; not what nsjail does.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME = 1000, SWITCH, CAP, FD, IDS, NEWUSER, NEWNET, COUNT };

static const struct option options[] = {
	{"mode", required_argument, NULL, NAME},
	{"time_limit", required_argument, NULL, NAME},
	{"hostname", required_argument, NULL, NAME},
	{"chroot", required_argument, NULL, NAME},
	{"cwd", required_argument, NULL, NAME},
	{"nice_level", required_argument, NULL, NAME},
	{"mount", required_argument, NULL, NAME},
	{"user", required_argument, NULL, IDS},
	{"group", required_argument, NULL, IDS},
	{"cap", required_argument, NULL, CAP},
	{"pass_fd", required_argument, NULL, FD},
	{"quiet", no_argument, NULL, SWITCH},
	{"disable_rlimits", no_argument, NULL, SWITCH},
	{"skip_setsid", no_argument, NULL, SWITCH},
	{"disable_proc", no_argument, NULL, SWITCH},
	{"disable_clone_newuser", no_argument, NULL, NEWUSER},
	{"disable_clone_newnet", no_argument, NULL, NEWNET},
	{NULL, 0, NULL, 0},
};

/* Of those that have one meaning: what cordon has to say.  NULL: anything. */
static const char *const wanted[] = {"o", "0", "cordon", "/view", "/", NULL, "none:/proc:proc:"};

static void fail(const char *what)
{
	(void)fprintf(stderr, "[F][now][1] main():1 %s\n", what);
	exit(0xff);
}

int main(int argc, char **argv)
{
	char *line[64] = {"bwrap",
			  "--unshare-ipc",
			  "--unshare-pid",
			  "--unshare-uts",
			  "--unshare-cgroup-try",
			  "--hostname",
			  "cordon",
			  "--die-with-parent",
			  "--as-pid-1",
			  "--dev-bind",
			  "/view",
			  "/",
			  "--proc",
			  "/proc",
			  "--chdir",
			  "/",
			  "--cap-drop",
			  "ALL"};
	size_t n = 0;
	int seen[COUNT - NAME] = {0}, names = 0, fds = 0, index, c;

	while (line[n])
		n++;
	while ((c = getopt_long(argc, argv, "", options, &index)) != -1) {
		if (c == '?')
			fail("Couldn't parse cmdline options");
		if (c == NAME && ++names && wanted[index] && strcmp(optarg, wanted[index]) != 0)
			fail(options[index].name);
		if (c == FD && (optarg[0] != '3' + fds++ || optarg[1]))
			fail("pass_fd");
		if (c == CAP) {
			line[n++] = "--cap-add";
			line[n++] = optarg;
		}
		seen[c - NAME]++;
	}
	if (names != 7 || fds != 6 || seen[CAP - NAME] != 3 || seen[SWITCH - NAME] != 4)
		fail("an option is missing");
	if (seen[IDS - NAME] != (seen[NEWUSER - NAME] ? 0 : 2))
		fail("ids");
	if (argc - optind != 1 || strcmp(argv[optind], "/proc/self/fd/3") != 0)
		fail("the command");
	if (!seen[NEWUSER - NAME])
		line[n++] = "--unshare-user";
	if (!seen[NEWNET - NAME])
		line[n++] = "--unshare-net";
	line[n++] = "--";
	line[n++] = argv[optind];
	execv("/usr/bin/bwrap", line);
	fail("no bwrap");
}
