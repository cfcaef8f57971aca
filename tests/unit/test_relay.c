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
#include "run/relay.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

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

/* A stage that holds what follows the last line end. */
struct holder {
	char held[64];
	size_t len;
};

static int holder_quiet(void *data, struct buf *out)
{
	struct holder *h = data;

	buf_add(out, h->held, h->len);
	h->len = 0;
	return buf_error(out);
}

static int holder_feed(void *data, const char *bytes, size_t len, struct buf *out)
{
	const char *end = memrchr(bytes, '\n', len);
	size_t whole = end ? (size_t)(end + 1 - bytes) : 0;
	struct holder *h = data;

	if (end && holder_quiet(h, out) < 0)
		return -1;
	buf_add(out, bytes, whole);
	assert_true(h->len + len - whole <= sizeof(h->held));
	memcpy(h->held + h->len, bytes + whole, len - whole);
	h->len += len - whole;
	return buf_error(out);
}

/* Of what is held nothing goes on. */
static int holder_cut(void *data, struct buf *out)
{
	struct holder *h = data;

	(void)out;
	h->len = 0;
	return 0;
}

static size_t holder_held(const void *data)
{
	const struct holder *h = data;

	return h->len;
}

/* A relay through a holder into a pipe. */
struct staged {
	struct holder holder;
	struct stage stage;
	struct relay_budget budget;
	struct relay relay;
	int sink[2];
	int in; /* where the command would write */
};

static void staged_init(struct staged *t)
{
	*t = (struct staged){.in = -1};
	t->stage = (struct stage){.data = &t->holder,
				  .feed = holder_feed,
				  .quiet = holder_quiet,
				  .end = holder_quiet,
				  .cut = holder_cut,
				  .held = holder_held};
	assert_int_equal(pipe2(t->sink, O_CLOEXEC), 0);
	assert_int_equal(fd_nonblock(t->sink[0], true), 0);
	assert_int_equal(relay_init(&t->relay, t->sink[1], NULL, &t->budget, &t->in), 0);
	t->relay.stage = &t->stage;
}

static void staged_write(struct staged *t, const char *text)
{
	assert_int_equal(io_write(t->in, text, strlen(text), CLOCK_NEVER), 0);
}

/* One turn of a loop such as the supervisor's. */
static void staged_turn(struct staged *t, int ms)
{
	struct pollfd poll_fd = relay_poll(&t->relay);

	assert_true(poll(&poll_fd, 1, relay_wait_ms(&t->relay, 1, ms)) >= 0);
	assert_int_equal(relay_move(&t->relay, poll_fd.revents), 0);
	relay_rest(&t->relay, 1);
}

static void staged_done(struct staged *t)
{
	relay_done(&t->relay);
	(void)fd_close(t->in);
	(void)fd_close(t->sink[0]);
	(void)fd_close(t->sink[1]);
}

/* Fills the sink; returns how many bytes that took. */
static size_t sink_fill(struct staged *t)
{
	static const char page[PIPE_BUF];
	size_t n = 0;

	while (write(t->relay.sink, page, sizeof(page)) == sizeof(page)) /* ours, non-blocking */
		n += sizeof(page);
	return n;
}

static void sink_take(struct staged *t, size_t n)
{
	char page[PIPE_BUF];

	for (; n > 0; n -= sizeof(page))
		assert_int_equal(read(t->sink[0], page, sizeof(page)), sizeof(page));
}

/* The reader is busy in the quiet moment: what is held goes when he is not. */
static void test_quiet_while_busy(void **state)
{
	char got[64] = "";
	struct staged t;
	size_t filled;
	int64_t until;

	(void)state;
	staged_init(&t);
	filled = sink_fill(&t);
	assert_true(filled > 0);
	staged_write(&t, "line\nname? ");
	until = clock_deadline(3 * RELAY_QUIET_MS);
	while (clock_ms() < until)
		staged_turn(&t, 10);
	assert_int_equal(t.holder.len, 6); /* waits behind the line, which waits too */
	sink_take(&t, filled);
	until = clock_deadline(3 * RELAY_QUIET_MS + SLACK_MS);
	while (t.holder.len > 0 && clock_ms() < until)
		staged_turn(&t, 10);
	staged_turn(&t, 10);
	assert_int_equal(read(t.sink[0], got, sizeof(got) - 1), 11);
	assert_string_equal(got, "line\nname? ");
	assert_int_equal(relay_wait_ms(&t.relay, 1, -1), -1);
	staged_done(&t);
}

/* The reader is gone while something is held: there is nothing to wake up for any more. */
static void test_quiet_after_drop(void **state)
{
	struct staged t;
	sigset_t pipe_only, old;

	(void)state;
	(void)sigemptyset(&pipe_only);
	(void)sigaddset(&pipe_only, SIGPIPE);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &pipe_only, &old), 0);
	staged_init(&t);
	t.sink[0] = fd_close(t.sink[0]);
	staged_write(&t, "a\nb");
	staged_turn(&t, 1000);
	(void)sigtimedwait(&pipe_only, NULL, &(struct timespec){0});
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
	assert_true(t.relay.is_broken);
	assert_true(relay_is_finished(&t.relay));
	assert_int_equal(relay_wait_ms(&t.relay, 1, -1), -1);
	staged_done(&t);
}

/* The end of the stream is no quiet moment: what is held goes at once, behind what waits. */
static void test_held_at_the_end(void **state)
{
	(void)state;
	for (int is_busy = 0; is_busy < 2; is_busy++) {
		char got[64] = "";
		struct staged t;
		size_t filled;

		staged_init(&t);
		filled = is_busy ? sink_fill(&t) : 0;
		staged_write(&t, "line\nno line");
		staged_turn(&t, 1000);
		assert_int_equal(t.holder.len, 7);
		t.in = fd_close(t.in);
		if (is_busy)
			relay_drain(&t.relay);
		else
			staged_turn(&t, 1000);
		assert_int_equal(t.holder.len, 0);
		assert_int_equal(relay_wait_ms(&t.relay, 1, -1), -1);
		sink_take(&t, filled);
		for (int i = 0; i < 3 && !relay_is_finished(&t.relay); i++)
			staged_turn(&t, 0);
		assert_true(relay_is_finished(&t.relay));
		assert_int_equal(read(t.sink[0], got, sizeof(got) - 1), 12);
		assert_string_equal(got, "line\nno line");
		staged_done(&t);
	}
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
		cmocka_unit_test(test_output_limit),     cmocka_unit_test(test_capture_large),
		cmocka_unit_test(test_capture_binary),   cmocka_unit_test(test_sinks),
		cmocka_unit_test(test_slow_reader),      cmocka_unit_test(test_broken_reader),
		cmocka_unit_test(test_late_output),      cmocka_unit_test(test_quiet_while_busy),
		cmocka_unit_test(test_quiet_after_drop), cmocka_unit_test(test_held_at_the_end),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
