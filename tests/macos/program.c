/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links what there is for macOS: the profile of a plan, the words for Apple's program, and processes.  On a Mac it runs
 * a command under sandbox-exec and tries from inside to read what is shut; here it is only linked.
 */
#include "backend/apple/apple.h"
#include "backend/seatbelt/sbpl.h"
#include "base/fd.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WAIT_MS 10000

/* Exit status of the words, or -1. */
static int program_run(char *const *words)
{
	struct proc proc;
	struct proc_exit end;
	int r = proc_clone(0, &proc);

	if (r == 0) {
		(void)execv(words[0], words);
		_exit(127);
	}
	if (r < 0 || poll(&(struct pollfd){.fd = proc.pidfd, .events = POLLIN}, 1, WAIT_MS) <= 0 ||
	    proc_reap(&proc, &end) != 1)
		return -1;
	return end.code;
}

int main(int argc, char **argv)
{
	static char tool[] = "/usr/bin/sandbox-exec", p[] = "-p", dashes[] = "--",
		    cat[] = "/bin/cat";
	char *words[] = {tool, p, NULL, dashes, cat, argc > 1 ? argv[1] : dashes, NULL};
	const struct plan_op op = {.kind = PLAN_OP_BIND_RO, .path = argc > 2 ? argv[2] : "/usr"};
	char *const none[] = {NULL};
	struct plan plan = {
		.argv = words, .envp = none, .ops = &op, .op_count = 1, .image = "image"};
	AUTO(buf_done) struct buf profile = BUF_INIT(SBPL_MAX);
	AUTO(buf_done) struct buf env = BUF_INIT(SBPL_MAX);
	AUTO(strv_done) struct strv line = {0};
	struct sbpl_profile rules = {.allows_process = true, .allows_sysctl = true};
	AUTO_FREE struct sbpl_rule *v = NULL;
	struct cordon_error err;

	if (sbpl_rules(&plan, &v, &rules.n, &err) < 0)
		return 2;
	rules.rules = v;
	if (sbpl_write(&rules, &profile, &err) < 0 || apple_env(&plan, &env, &err) < 0 ||
	    apple_line("container", &plan, "name", "/env", &line, &err) < 0)
		return 2;
	words[2] = profile.data;
	return program_run(words);
}
