/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to a command's output: limits, capture, readers that are slow or gone.  A test of a
 * limit also runs the same command without it, so that "was stopped" is known to come from the limit.
 */
#include "run_case.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

static const struct {
	const char *what;
	const char *script;
	struct plan_limit limit;
	off_t want_stdout;
	off_t want_stderr;
	bool want_truncated;
	int want_code;
} output_rows[] = {
	{"flood", "exec yes", {true, 100001}, 100001, 0, true, 143},
	{"flood that ignores everything",
	 "trap '' TERM PIPE; while :; do echo xxxxxxx; done 2>/dev/null",
	 {true, 4097},
	 4097,
	 0,
	 true,
	 137},
	{"exactly the limit", "printf 12345", {true, 5}, 5, 0, false, 0},
	{"one more", "printf 123456; exec sleep 30", {true, 5}, 5, 0, true, 143},
	{"both streams count together",
	 "printf 123; sleep 0.1; printf 456 >&2; exec sleep 30",
	 {true, 5},
	 3,
	 2,
	 true,
	 143},
	{"nothing allowed", "printf 1; exec sleep 30", {true, 0}, 0, 0, true, 143},
	{"nothing allowed, nothing written", "exit 3", {true, 0}, 0, 0, false, 3},
	{"below the limit", "printf 123; printf 45 >&2; exit 3", {true, 6}, 3, 2, false, 3},
	{"a megabyte without a limit", "head -c 1000000 /dev/zero", {false, 0}, 1000000, 0, false, 0},
	{"a megabyte below a limit",
	 "head -c 1000000 /dev/zero",
	 {true, 1000000},
	 1000000,
	 0,
	 false,
	 0},
};

static void test_output_limit(void **state)
{
	(void)state;
	for (int is_captured = 0; is_captured < 2; is_captured++) {
		for (size_t i = 0; i < ARRAY_LEN(output_rows); i++) {
			AUTO_CLOSE int out = file_anonymous();
			AUTO_CLOSE int errors = file_anonymous();
			struct run run;

			run_init(&run);
			run.options.captures = is_captured;
			run.options.is_quiet = false;
			run.options.grace_ms = 300;
			run.options.max_output_bytes = output_rows[i].limit;
			run.plan.stdout_fd = out;
			run.plan.stderr_fd = errors;
			run_script(&run, output_rows[i].script);
			if (run.r != 0 || file_size(out) != output_rows[i].want_stdout ||
			    file_size(errors) != output_rows[i].want_stderr ||
			    run.result.is_output_truncated != output_rows[i].want_truncated ||
			    run.result.exit_code != output_rows[i].want_code)
				fail_msg("%s: r %d, exit %d, %lld + %lld bytes, cut %d",
					 output_rows[i].what, run.r, run.result.exit_code,
					 (long long)file_size(out), (long long)file_size(errors),
					 run.result.is_output_truncated);
			if (is_captured) {
				assert_int_equal(run.result.stdout_data.len,
						 output_rows[i].want_stdout);
				assert_int_equal(run.result.stderr_data.len,
						 output_rows[i].want_stderr);
			}
			assert_true(run.result.duration_ms < 300 + SLACK_MS);
			run_done(&run);
		}
	}
}

static void test_capture_large(void **state)
{
	struct run run;

	(void)state;
	run_init(&run);
	run_script(&run, "yes 0123456789abcde | head -c 10485760; yes E | head -c 1048576 >&2");
	assert_int_equal(run.result.exit_code, 0);
	assert_int_equal(run.result.stdout_data.len, 10485760);
	assert_int_equal(run.result.stderr_data.len, 1048576);
	for (size_t i = 0; i < run.result.stdout_data.len; i++)
		if (run.result.stdout_data.data[i] != "0123456789abcde\n"[i % 16])
			fail_msg("byte %zu differs", i);
	run_done(&run);

	/* Beyond the ceiling the rest is left out and said so; the command still ends well. */
	run_init(&run);
	run_script(&run, "head -c 17000000 /dev/zero; exit 6");
	assert_int_equal(run.result.exit_code, 6);
	assert_int_equal(run.result.stdout_data.len, LIMIT_CAPTURE_BYTES);
	assert_true(run.result.is_output_truncated);
	run_done(&run);
}

static void test_capture_binary(void **state)
{
	struct run run;

	(void)state;
	run_init(&run);
	run_script(&run, "printf 'a\\000b\\377\\000'");
	assert_int_equal(run.result.stdout_data.len, 5);
	assert_memory_equal(run.result.stdout_data.data, "a\0b\377\0", 5);
	run_done(&run);
}

/* The kinds of sink differ in how they are written without blocking. */
static void test_sinks(void **state)
{
	(void)state;
	for (int is_socket = 0; is_socket < 2; is_socket++) {
		int ends[2];
		struct run run;
		char got[8] = "";

		if (is_socket)
			assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
					 0);
		else
			assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		run_init(&run);
		run.options.is_quiet = false;
		run.plan.stdout_fd = ends[1];
		run_script(&run, "printf hello");
		assert_int_equal(run.result.exit_code, 0);
		assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0); /* not ours to change */
		(void)close(ends[1]);
		assert_int_equal(io_read(ends[0], got, sizeof(got), CLOCK_NEVER), 5);
		assert_string_equal(got, "hello");
		(void)close(ends[0]);
		run_done(&run);
	}
}

/* A reader that takes nothing for a while loses nothing, and the deadlines still hold. */
static void test_slow_reader(void **state)
{
	int ends[2];
	struct run run;
	pid_t reader;
	int status;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	reader = fork();
	assert_true(reader >= 0);
	if (reader == 0) {
		static char chunk[400000];

		(void)close(ends[1]);
		(void)poll(NULL, 0, 500);
		_exit(io_read(ends[0], chunk, sizeof(chunk), CLOCK_NEVER) == 300000 ? 0 : 1);
	}
	(void)close(ends[0]);
	run_init(&run);
	run.options.captures = false;
	run.options.max_output_bytes = PLAN_LIMIT(1000000);
	run.plan.stdout_fd = ends[1];
	run_script(&run, "head -c 300000 /dev/zero");
	(void)close(ends[1]);
	assert_int_equal(run.result.exit_code, 0);
	assert_false(run.result.is_output_truncated);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(status, 0);
	run_done(&run);

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	run_init(&run);
	run.options.captures = false;
	run.options.max_output_bytes = PLAN_LIMIT(1000000);
	run.options.timeout_ms = 200;
	run.options.grace_ms = 100;
	run.plan.stdout_fd = ends[1];
	run_script(&run, "head -c 300000 /dev/zero");
	assert_int_equal(run.result.exit_code, 124);
	assert_true(run.result.is_output_truncated);
	assert_true(run.result.duration_ms < 400 + SLACK_MS);
	(void)close(ends[0]);
	(void)close(ends[1]);
	run_done(&run);
}

/* Our reader goes away: the command gets SIGPIPE in its turn and we live. */
static void test_broken_reader(void **state)
{
	sigset_t pending;
	struct run run;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	(void)close(ends[0]);
	run_init(&run);
	run.options.captures = false;
	run.options.max_output_bytes = PLAN_LIMIT(100000000);
	run.plan.stdout_fd = ends[1];
	run_script(&run, "exec yes");
	assert_int_equal(run.r, 0);
	assert_int_equal(run.result.exit_code, 128 + SIGPIPE);
	assert_int_equal(sigpending(&pending), 0);
	assert_false(sigismember(&pending, SIGPIPE));
	run_done(&run);

	/* A command that ignores it goes on to its end. */
	run_init(&run);
	run.options.captures = false;
	run.options.max_output_bytes = PLAN_LIMIT(100000000);
	run.plan.stdout_fd = ends[1];
	run_script(&run,
		   "trap '' PIPE; for i in 1 2 3; do echo x; sleep 0.05; done 2>/dev/null; exit 8");
	assert_int_equal(run.result.exit_code, 8);
	(void)close(ends[1]);
	run_done(&run);
}

/* Output that somebody still in the group writes just after the end is not lost. */
static void test_late_output(void **state)
{
	struct run run;

	(void)state;
	run_init(&run);
	run_script(&run, "(sleep 0.03; echo late) & exit 0");
	assert_string_equal(buf_cstr(&run.result.stdout_data), "late\n");
	run_done(&run);
}

static int group_setup(void **state)
{
	(void)state;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return null_fd < 0 ? -1 : 0;
}

static int group_teardown(void **state)
{
	(void)state;
	return close(null_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_limit),   cmocka_unit_test(test_capture_large),
		cmocka_unit_test(test_capture_binary), cmocka_unit_test(test_sinks),
		cmocka_unit_test(test_slow_reader),    cmocka_unit_test(test_broken_reader),
		cmocka_unit_test(test_late_output),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
