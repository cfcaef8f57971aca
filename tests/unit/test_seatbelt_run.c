/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole run under seatbelt by macOS's half of the supervisor (tests/kqueue), but for the profile's enforcement: this
 * program, copied to where the system's programs are in a mount namespace of its own, stands in for sandbox-exec.  It reads
 * its words as strictly as that, keeps the profile, and executes the command.
 */
#include "run_case.h"

#include "backend/seatbelt/seatbelt.h"
#include "base/fd.h"
#include "base/io.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>

#define TOOL_DIR "/usr/local/bin"
#define TOOL TOOL_DIR "/" SEATBELT_PROGRAM
#define PROFILE "/tmp/cordon-seatbelt-profile"

/* sandbox-exec -p PROFILE -- COMMAND... */
static int tool_main(int argc, char **argv)
{
	static const char begin[] = "(version 1)\n(deny default)\n";

	if (argc < 5 || strcmp(argv[1], "-p") != 0 || strcmp(argv[3], "--") != 0 ||
	    strncmp(argv[2], begin, strlen(begin)) != 0)
		return 64;
	if (io_write_file_at(AT_FDCWD, PROFILE, argv[2], strlen(argv[2]), 0600) < 0)
		return 71;
	(void)execvp(argv[4], argv + 4);
	return errno == ENOENT ? 127 : 126;
}

static bool has_tool;

static int tool_setup(void **state)
{
	AUTO_CLOSE int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int to = -1;
	char part[65536];
	ssize_t n;

	(void)state;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (unshare(CLONE_NEWNS) < 0)
		return 0;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", TOOL_DIR, "tmpfs", 0, "mode=0755") < 0 ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, "mode=01777") < 0)
		return -1;
	to = open(TOOL, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	while ((n = read(from, part, sizeof(part))) > 0)
		if (write(to, part, (size_t)n) != n)
			return -1;
	has_tool = n == 0 && fchmod(to, 0755) == 0;
	return has_tool ? 0 : -1;
}

static void need_tool(void)
{
	if (has_tool)
		return;
	print_message("# skip: not root: no mount namespace\n");
	skip();
}

static const struct {
	const char *what;
	const char *script;
	int64_t timeout_ms;  /* 0: none */
	uint64_t max_output; /* 0: none */
	int want_code;
	int want_signal;
	const char *want_stdout;
	bool is_cut;
} rows[] = {
	{"success", "echo a; echo b >&2", 0, 0, 0, 0, "a\n", false},
	{"failure", "exit 7", 0, 0, 7, 0, "", false},
	{"a signal", "kill -TERM $$", 0, 0, 143, SIGTERM, "", false},
	{"not in time", "echo a; exec sleep 30", 100, 0, 124, SIGTERM, "a\n", false},
	{"not in time, and deaf", "trap '' TERM; echo a; while :; do sleep 1; done", 100, 0, 124,
	 SIGKILL, "a\n", false},
	{"what it leaves in its group is killed", "sleep 30 & echo a", 0, 0, 0, 0, "a\n", false},
	{"too much output", "while :; do echo aaaaaaa; done", 0, 16, 143, SIGTERM,
	 "aaaaaaa\naaaaaaa\n", true},
	{"the words are the command's", "test \"$0\" = 'a b' && echo yes", 0, 0, 0, 0, "yes\n",
	 false},
};

static void test_rows(void **state)
{
	(void)state;
	need_tool();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct plan_op op = {.kind = PLAN_OP_BIND_RW, .path = "/srv"};
		char shell[] = "/bin/sh", c[] = "-c", name[] = "a b";
		char script[128];
		char *argv[] = {shell, c, script, name, NULL};
		AUTO_FREE char *profile = NULL;
		size_t len = 0;
		struct run run;

		(void)unlink(PROFILE);
		run_init(&run);
		(void)snprintf(script, sizeof(script), "%s", rows[i].script);
		run.plan.argv = argv;
		run.plan.ops = &op;
		run.plan.op_count = 1;
		run.plan.net = PLAN_NET_NONE;
		run.options.grace_ms = 200;
		if (rows[i].timeout_ms)
			run.options.timeout_ms = rows[i].timeout_ms;
		if (rows[i].max_output)
			run.options.max_output_bytes = PLAN_LIMIT(rows[i].max_output);
		run.r = supervise_run(&seatbelt_backend, &run.plan, &run.options, &run.result,
				      &run.err);
		if (run.r != 0 || run.result.exit_code != rows[i].want_code ||
		    run.result.signal != rows[i].want_signal ||
		    run.result.is_timed_out != (rows[i].timeout_ms != 0) ||
		    run.result.is_output_truncated != rows[i].is_cut)
			fail_msg("%s: r %d, exit %d, signal %d (%s)", rows[i].what, run.r,
				 run.result.exit_code, run.result.signal, run.err.message);
		assert_string_equal(buf_cstr(&run.result.stdout_data), rows[i].want_stdout);
		assert_int_equal(io_read_file_at(AT_FDCWD, PROFILE, 65536, &profile, &len), 0);
		assert_non_null(
			strstr(profile, "(allow file-read* file-write* (subpath \"/srv\"))"));
		assert_null(strstr(profile, "network"));
		run_done(&run);
	}
}

/* Without the program nothing runs. */
static void test_absent(void **state)
{
	char touch[] = "/usr/bin/touch", file[] = "/tmp/ran";
	char *argv[] = {touch, file, NULL};
	struct run run;

	(void)state;
	need_tool();
	assert_int_equal(rename(TOOL, TOOL ".away"), 0);
	run_init(&run);
	run.plan.argv = argv;
	run.r = supervise_run(&seatbelt_backend, &run.plan, &run.options, &run.result, &run.err);
	assert_int_equal(run.r, CORDON_E_NO_BACKEND);
	assert_int_equal(access(file, F_OK), -1);
	run_done(&run);
	assert_int_equal(rename(TOOL ".away", TOOL), 0);
	run_init(&run);
	run.plan.argv = argv;
	run.r = supervise_run(&seatbelt_backend, &run.plan, &run.options, &run.result, &run.err);
	assert_int_equal(run.r, 0);
	assert_int_equal(access(file, F_OK), 0);
	run_done(&run);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_absent),
	};

	if (strcmp(argv[0], TOOL) == 0)
		return tool_main(argc, argv);
	return cmocka_run_group_tests(tests, tool_setup, NULL);
}
