/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor with real processes: how calls end, time limits, signals, and what the command finds
 * (test_relay.c has the output).  A test of a limit also runs the same command without it, so that
 * "was stopped" is known to come from the limit.
 */
#include "run_case.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static const struct {
	const char *what;
	const char *script;
	int want_code;
	int want_signal;
	const char *want_stdout;
	const char *want_stderr;
} end_rows[] = {
	{"success", "true", 0, 0, "", ""},
	{"failure", "exit 7", 7, 0, "", ""},
	{"255", "exit 255", 255, 0, "", ""},
	{"its own 124 is not a timeout", "exit 124", 124, 0, "", ""},
	{"output", "echo out; echo err >&2", 0, 0, "out\n", "err\n"},
	{"output without a newline, after a pause", "printf a; sleep 0.05; printf b", 0, 0, "ab",
	 ""},
	{"SIGTERM", "kill -TERM $$", 143, SIGTERM, "", ""},
	{"SIGKILL", "kill -KILL $$", 137, SIGKILL, "", ""},
	{"SIGSEGV", "kill -SEGV $$", 139, SIGSEGV, "", ""},
	{"SIGINT", "kill -INT $$", 130, SIGINT, "", ""},
	{"stdin is at its end", "cat; echo done", 0, 0, "done\n", ""},
	{"stdout closed by the command itself", "exec >&-; sleep 0.05; exit 3", 3, 0, "", ""},
};

static void test_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(end_rows); i++) {
		struct run run;

		run_init(&run);
		run_script(&run, end_rows[i].script);
		if (run.r != 0 || !run.result.is_started ||
		    run.result.exit_code != end_rows[i].want_code ||
		    run.result.signal != end_rows[i].want_signal)
			fail_msg("%s: r %d, exit %d, signal %d (%s)", end_rows[i].what, run.r,
				 run.result.exit_code, run.result.signal, run.err.message);
		assert_string_equal(buf_cstr(&run.result.stdout_data), end_rows[i].want_stdout);
		assert_string_equal(buf_cstr(&run.result.stderr_data), end_rows[i].want_stderr);
		assert_false(run.result.is_timed_out || run.result.is_oom ||
			     run.result.is_output_truncated);
		assert_true(run.result.duration_ms > 0 && run.result.usage.max_rss_kb > 0);
		assert_int_equal(run.result.usage.processes, -1);
		run_done(&run);
	}
}

static char temp_dir[] = "/tmp/cordon-run-XXXXXX";

static void temp_make(const char *name, const char *text, mode_t mode)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", temp_dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, text, strlen(text), CLOCK_NEVER), 0);
	(void)close(fd);
}

static void test_not_started(void **state)
{
	static const struct {
		const char *what;
		const char *command;
		int want_code;
		const char *want_message;
	} exec_rows[] = {
		{"not in PATH", "no-such-command", 127, "'no-such-command': command not found"},
		{"no such path", "./none", 127, "'./none': command not found"},
		{"below a file", "./plain/x", 127, "command not found"},
		{"not executable", "./plain", 126, "cannot be executed: Permission denied"},
		{"a directory", "./", 126, "cannot be executed"},
		{"neither program nor script", "./noformat", 126,
		 "cannot be executed: Exec format"},
		{"interpreter missing", "./badscript", 127, "command not found"},
		{"empty", "", 127, "command not found"},
		{"positive control", "./good", 5, NULL},
	};

	(void)state;
	temp_make("plain", "#!/bin/sh\n", 0600);
	temp_make("noformat", "neither\n", 0700);
	temp_make("badscript", "#!/no/such/interpreter\n", 0700);
	temp_make("good", "#!/bin/sh\nexit 5\n", 0700);
	for (size_t i = 0; i < ARRAY_LEN(exec_rows); i++) {
		char command[64];
		struct run run;

		run_init(&run);
		(void)snprintf(command, sizeof(command), "%s", exec_rows[i].command);
		run.argv[0] = command;
		run.plan.cwd = temp_dir;
		run_go(&run);
		if (run.r != 0 || run.result.exit_code != exec_rows[i].want_code ||
		    run.result.is_started != !exec_rows[i].want_message)
			fail_msg("%s: r %d, exit %d (%s)", exec_rows[i].what, run.r,
				 run.result.exit_code, run.err.message);
		if (exec_rows[i].want_message &&
		    !strstr(run.err.message, exec_rows[i].want_message))
			fail_msg("%s: '%s'", exec_rows[i].what, run.err.message);
		run_done(&run);
	}
}

static void test_cwd(void **state)
{
	struct run run;

	(void)state;
	run_init(&run);
	run.plan.cwd = "/no/such/directory";
	run_script(&run, "pwd");
	assert_int_equal(run.r, CORDON_E_INVALID);
	assert_false(run.result.is_started);
	assert_string_equal(run.err.message,
			    "working directory '/no/such/directory': No such file or directory");
	run_done(&run);

	run_init(&run);
	run.plan.cwd = temp_dir;
	run_script(&run, "pwd");
	assert_int_equal(run.result.exit_code, 0);
	assert_memory_equal(buf_cstr(&run.result.stdout_data), temp_dir, strlen(temp_dir));
	run_done(&run);
}

static const struct {
	const char *what;
	const char *script;
	int64_t timeout_ms;
	int64_t grace_ms;
	int want_code;
	int want_signal;
	bool want_timed_out;
	double at_least_ms;
} time_rows[] = {
	{"ends by itself", "sleep 0.3; exit 4", 10000, 2000, 4, 0, false, 300},
	{"no timeout", "sleep 0.3; exit 4", -1, 2000, 4, 0, false, 300},
	{"SIGTERM is enough", "exec sleep 30", 200, 5000, 124, SIGTERM, true, 200},
	{"cleans up and exits", "trap 'exit 9' TERM; while :; do sleep 0.02; done", 200, 5000, 124,
	 0, true, 200},
	{"ignores SIGTERM", "trap '' TERM; while :; do sleep 0.02; done", 200, 300, 124, SIGKILL,
	 true, 500},
	{"ignores SIGTERM, no grace", "trap '' TERM; while :; do sleep 0.02; done", 100, 0, 124,
	 SIGKILL, true, 100},
	{"stopped", "kill -STOP $$", 200, 5000, 124, SIGTERM, true, 200},
	{"zero is at once", "exec sleep 30", 0, 5000, 124, SIGTERM, true, 0},
};

static void test_timeout(void **state)
{
	(void)state;
	for (int is_captured = 0; is_captured < 2; is_captured++) {
		for (size_t i = 0; i < ARRAY_LEN(time_rows); i++) {
			struct run run;

			run_init(&run);
			run.options.captures = is_captured;
			run.options.timeout_ms = time_rows[i].timeout_ms;
			run.options.grace_ms = time_rows[i].grace_ms;
			run_script(&run, time_rows[i].script);
			if (run.r != 0 || run.result.exit_code != time_rows[i].want_code ||
			    run.result.signal != time_rows[i].want_signal ||
			    run.result.is_timed_out != time_rows[i].want_timed_out ||
			    run.result.duration_ms < time_rows[i].at_least_ms ||
			    run.result.duration_ms > time_rows[i].at_least_ms + SLACK_MS)
				fail_msg("%s: r %d, exit %d, signal %d, %.1f ms", time_rows[i].what,
					 run.r, run.result.exit_code, run.result.signal,
					 run.result.duration_ms);
			run_done(&run);
		}
	}
}

static bool process_is_alive(pid_t pid)
{
	char path[64];
	char text[512] = "";
	const char *state;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (io_read(fd, text, sizeof(text) - 1, CLOCK_NEVER) < 0)
		text[0] = '\0';
	(void)close(fd);
	state = strrchr(text, ')');
	return state && state[2] != 'Z' && state[2] != 'X';
}

/* Waits at most ms until the process is gone (or a zombie of somebody else). */
static bool process_ends(pid_t pid, int64_t ms)
{
	int64_t deadline = clock_deadline(ms);

	while (process_is_alive(pid)) {
		if (clock_ms() >= deadline)
			return false;
		(void)poll(NULL, 0, 2);
	}
	return true;
}

/* The number on the first line. */
static pid_t number_of(const char *text)
{
	char line[32];
	int64_t number = 0;

	(void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
	assert_int_equal(parse_int(line, 1, INT32_MAX, &number), 0);
	return (pid_t)number;
}

static void test_grandchild(void **state)
{
	static const struct {
		const char *what;
		const char *script;
		bool is_killed;
	} grandchild_rows[] = {
		{"holds the pipe", "sleep 30 & echo $!", true},
		{"ignores SIGTERM", "(trap '' TERM; exec sleep 30) & echo $!", true},
		/* In a session of its own it is beyond a process group: no kill-tree at this level. */
		{"in another session", "setsid sh -c 'echo $$; exec sleep 3' & sleep 0.2", false},
	};

	(void)state;
	/* With a pipe of ours in between, and without. */
	for (size_t i = 0; i < 2 * ARRAY_LEN(grandchild_rows); i++) {
		AUTO_CLOSE int out = file_anonymous();
		const char *what = grandchild_rows[i / 2].what;
		bool is_killed = grandchild_rows[i / 2].is_killed;
		char text[32] = "";
		struct run run;
		pid_t pid;

		run_init(&run);
		run.options.captures = i % 2;
		run.options.is_quiet = false;
		run.plan.stdout_fd = out;
		run_script(&run, grandchild_rows[i / 2].script);
		assert_int_equal(run.result.exit_code, 0);
		assert_true(pread(out, text, sizeof(text) - 1, 0) > 0);
		pid = number_of(text);
		if (run.result.duration_ms > 300 + SLACK_MS)
			fail_msg("%s: %.1f ms", what, run.result.duration_ms);
		if (process_ends(pid, 200) != is_killed)
			fail_msg("%s: %s", what, is_killed ? "alive" : "dead");
		if (!is_killed)
			(void)kill(pid, SIGKILL);
		run_done(&run);
	}
}

static void test_open_files(void **state)
{
	struct run run;

	(void)state;
	run_init(&run);
	run.plan.max_open_files = PLAN_LIMIT(37);
	run_script(&run, "ulimit -Sn; ulimit -Hn");
	assert_string_equal(buf_cstr(&run.result.stdout_data), "37\n37\n");
	run_done(&run);

	run_init(&run);
	run.plan.max_open_files = PLAN_LIMIT(6);
	run_script(&run, "exec 3</dev/null 4</dev/null 5</dev/null 6</dev/null");
	assert_int_not_equal(run.result.exit_code, 0);
	run_done(&run);

	run_init(&run);
	run_script(&run, "exec 3</dev/null 4</dev/null 5</dev/null 6</dev/null");
	assert_int_equal(run.result.exit_code, 0);
	run_done(&run);

	/* Above the hard limit: what holds already is kept. */
	run_init(&run);
	run.plan.max_open_files = PLAN_LIMIT(UINT64_MAX - 1);
	run_script(&run, "ulimit -n >/dev/null");
	assert_int_equal(run.r, 0);
	assert_int_equal(run.result.exit_code, 0);
	run_done(&run);
}

static void test_environment(void **state)
{
	static char one[] = "ONE=1";
	static char two[] = "TWO=a b";
	char *const envp[] = {path_variable, one, two, NULL};
	static char command[] = "env";
	struct run run;

	(void)state;
	assert_int_equal(setenv("CORDON_TEST_LEAK", "1", 1), 0);
	run_init(&run);
	run.plan.envp = envp;
	run.argv[0] = command;
	run_go(&run);
	assert_string_equal(buf_cstr(&run.result.stdout_data),
			    "PATH=/usr/local/bin:/usr/bin:/bin\nONE=1\nTWO=a b\n");
	run_done(&run);
}

/* Nothing of ours is open in the command, and nothing of the command's stays open here. */
static void test_descriptors(void **state)
{
	/* The fourth is ls's own, on the directory it reads. */
	static char command[] = "ls";
	static char directory[] = "/proc/self/fd";
	int leak = open("/dev/null", O_RDONLY); /* on purpose without O_CLOEXEC */
	int before = fd_dup(0, 3);
	int after;
	struct run run;

	(void)state;
	assert_true(leak >= 0);
	(void)close(before);
	for (int i = 0; i < 3; i++) {
		run_init(&run);
		run.options.forwards_signals = true;
		run.argv[0] = command;
		run.argv[1] = directory;
		run_go(&run);
		assert_string_equal(buf_cstr(&run.result.stdout_data), "0\n1\n2\n3\n");
		run_done(&run);
	}
	after = fd_dup(0, 3);
	assert_int_equal(before, after);
	(void)close(after);
	(void)close(leak);
}

/* Every order of 0, 1 and 2 in the plan arrives as planned. */
static void test_stdio_order(void **state)
{
	int saved[3];
	int in[2];

	(void)state;
	for (int i = 0; i < 3; i++)
		saved[i] = fd_dup(i, 10);
	for (int order = 0; order < 6; order++) {
		static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
						 {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
		int out = file_anonymous();
		int errors = file_anonymous();
		char text[16] = "";
		struct run run;

		assert_int_equal(pipe2(in, O_CLOEXEC), 0);
		assert_int_equal(io_write(in[1], "IN", 2, CLOCK_NEVER), 0);
		(void)close(in[1]);
		assert_true(dup3(in[0], orders[order][0], O_CLOEXEC) >= 0);
		assert_true(dup3(out, orders[order][1], O_CLOEXEC) >= 0);
		assert_true(dup3(errors, orders[order][2], O_CLOEXEC) >= 0);
		run_init(&run);
		run.options.captures = false;
		run.plan.stdin_fd = orders[order][0];
		run.plan.stdout_fd = orders[order][1];
		run.plan.stderr_fd = orders[order][2];
		run_script(&run, "cat; echo ERROR >&2");
		for (int i = 0; i < 3; i++)
			assert_int_equal(dup3(saved[i], i, 0), i);
		assert_int_equal(run.result.exit_code, 0);
		assert_int_equal(pread(out, text, sizeof(text), 0), 2);
		assert_string_equal(text, "IN");
		assert_int_equal(file_size(errors), 6);
		(void)close(in[0]);
		(void)close(out);
		(void)close(errors);
		run_done(&run);
	}
	for (int i = 0; i < 3; i++)
		(void)close(saved[i]);
}

static void signal_nothing(int sig)
{
	(void)sig;
}

/* The hexadecimal number that follows label. */
static unsigned long long signal_bits(const struct buf *text, const char *label)
{
	const char *at = strstr(buf_cstr(text), label);
	unsigned long long bits = 0;

	assert_non_null(at);
	for (at += strlen(label); isxdigit((unsigned char)*at); at++)
		bits = bits << 4 |
		       (unsigned long long)(isdigit((unsigned char)*at) ? *at - '0'
									: *at - 'a' + 10);
	return bits;
}

/* Handlers and the mask do not reach the command; what was ignored stays so, except SIGPIPE. */
static void test_signal_state(void **state)
{
	struct sigaction handled = {.sa_handler = signal_nothing};
	struct sigaction ignored = {.sa_handler = SIG_IGN};
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t usr;
	struct run run;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &handled, NULL), 0);
	assert_int_equal(sigaction(SIGPIPE, &ignored, NULL), 0);
	assert_int_equal(sigaction(SIGHUP, &ignored, NULL), 0);
	assert_int_equal(sigaction(SIGCHLD, &ignored, NULL), 0);
	(void)sigemptyset(&usr);
	(void)sigaddset(&usr, SIGUSR2);
	assert_int_equal(sigprocmask(SIG_BLOCK, &usr, NULL), 0);

	run_init(&run);
	run.options.forwards_signals = true;
	run_script(&run, "exec grep -E '^Sig(Blk|Ign)' /proc/self/status");
	assert_int_equal(run.r, 0); /* collected although SIGCHLD was ignored */
	assert_int_equal(run.result.exit_code, 0);
	/* Bit 0 is signal 1, SIGHUP.  Bits 31 and 32 are libc's own: its posix_spawn() leaves them
	 * ignored in whatever make starts, and no program can tell. */
	assert_int_equal(signal_bits(&run.result.stdout_data, "SigBlk:\t"), 0);
	assert_int_equal(signal_bits(&run.result.stdout_data, "SigIgn:\t") & ~0x180000000ULL, 1);
	run_done(&run);

	assert_int_equal(sigaction(SIGCHLD, NULL, &handled), 0);
	assert_ptr_equal(handled.sa_handler, SIG_IGN); /* put back */
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &usr, NULL), 0);
	assert_int_equal(sigaction(SIGCHLD, &standard, NULL), 0);
	assert_int_equal(sigaction(SIGHUP, &standard, NULL), 0);
	assert_int_equal(sigaction(SIGPIPE, &standard, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &standard, NULL), 0);
}

/* Starts a supervisor in a process of its own, with the script's stdout in the pipe.  The process
 * exits with the call's exit code. */
static pid_t supervisor_start(const char *script, int *ret_output)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct run run;

		run_init(&run);
		run.options.captures = false;
		run.options.forwards_signals = true;
		run.plan.stdout_fd = ends[1];
		(void)close(ends[0]);
		run_script(&run, script);
		_exit(run.r == 0 ? run.result.exit_code : 99);
	}
	(void)close(ends[1]);
	*ret_output = ends[0];
	return pid;
}

/* Reads one line with a number. */
static int read_number(int fd)
{
	char text[32] = "";
	size_t used = 0;

	while (used < sizeof(text) - 1 && !strchr(text, '\n')) {
		ssize_t n = io_read(fd, text + used, 1, clock_deadline(10000));

		assert_int_equal(n, 1);
		used++;
	}
	return number_of(text);
}

static void test_forwarded_signals(void **state)
{
	static const struct {
		const char *what;
		int sig;
		const char *script;
		int want;
	} signal_rows[] = {
		{"SIGTERM by default", SIGTERM, "echo $$; exec sleep 30", 143},
		{"SIGINT by default", SIGINT, "echo $$; exec sleep 30", 130},
		{"SIGHUP by default", SIGHUP, "echo $$; exec sleep 30", 129},
		{"SIGQUIT by default", SIGQUIT, "ulimit -c 0; echo $$; exec sleep 30", 131},
		{"SIGTERM caught", SIGTERM,
		 "trap 'exit 5' TERM; echo $$; while :; do sleep 0.02; done", 5},
		{"SIGINT caught", SIGINT,
		 "trap 'exit 6' INT; echo $$; while :; do sleep 0.02; done", 6},
		{"SIGWINCH", SIGWINCH, "trap 'exit 7' WINCH; echo $$; while :; do sleep 0.02; done",
		 7},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(signal_rows); i++) {
		int output;
		pid_t pid = supervisor_start(signal_rows[i].script, &output);
		int child = read_number(output);
		int status = 0;

		(void)poll(NULL, 0, 20); /* the shell's exec */
		assert_int_equal(kill(pid, signal_rows[i].sig), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != signal_rows[i].want)
			fail_msg("%s: status %#x", signal_rows[i].what, (unsigned)status);
		assert_true(process_ends(child, 500));
		(void)close(output);
	}
}

/* Ctrl-Z stops both, fg continues both. */
static void test_stop_and_continue(void **state)
{
	int output;
	pid_t pid = supervisor_start("trap 'exit 3' TERM; echo $$; while :; do sleep 0.01; done",
				     &output);
	int child = read_number(output);
	int status = 0;

	(void)state;
	assert_int_equal(kill(pid, SIGTSTP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_true(process_is_alive(child));
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	(void)close(output);
}

/* A terminal's foreground job: the command stays in our group, so that Ctrl-C reaches it from the
 * kernel, once, and we live to tell. */
static void test_terminal(void **state)
{
	char line[64] = "";
	size_t used = 0;
	int status = 0;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	pid_t pid;

	(void)state;
	assert_true(master >= 0);
	assert_int_equal(grantpt(master), 0);
	assert_int_equal(unlockpt(master), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct run run;
		int tty;

		(void)setsid();
		tty = open(ptsname(master), O_RDWR | O_CLOEXEC); /* becomes our terminal */
		run_init(&run);
		run.options.captures = false;
		run.options.forwards_signals = true;
		run.plan.stdin_fd = tty;
		run.plan.stdout_fd = tty;
		/* Not a shell: its traps would count two signals in a row as one. */
		run.options.timeout_ms = 10000;
		run_script(&run,
			   "exec perl -e '$SIG{INT} = sub { $n++ }; syswrite STDOUT, qq(go\\n);"
			   "1 until defined sysread STDIN, $x, 9; exit 40 + $n'");
		_exit(run.r == 0 ? run.result.exit_code : 99);
	}
	while (used < sizeof(line) - 1 && !strstr(line, "go")) {
		assert_int_equal(io_read(master, line + used, 1, clock_deadline(10000)), 1);
		used++;
	}
	(void)poll(NULL, 0, 20);
	assert_int_equal(io_write(master, "\003", 1, CLOCK_NEVER), 0);
	(void)poll(NULL, 0, 100);
	assert_int_equal(io_write(master, "\n", 1, CLOCK_NEVER), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 41)
		fail_msg("status %#x", (unsigned)status);
	(void)close(master);
}

#ifndef SUPERVISE_KQUEUE
static void test_supervisor_killed(void **state)
{
	int output;
	pid_t pid = supervisor_start("trap '' TERM HUP INT; echo $$; while :; do sleep 1; done",
				     &output);
	int child = read_number(output);

	(void)state;
	assert_true(process_is_alive(child));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(process_ends(child, 100));
	(void)close(output);
}
#endif

static void test_no_zombies(void **state)
{
	struct run run;

	(void)state;
	for (int i = 0; i < 50; i++) {
		static char missing[] = "./none";

		run_init(&run);
		if (i % 2) {
			run.argv[0] = missing;
			run_go(&run);
		} else {
			run_script(&run, "exit 0");
		}
		assert_int_equal(run.r, 0);
		run_done(&run);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static int group_setup(void **state)
{
	(void)state;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return null_fd < 0 || !mkdtemp(temp_dir) ? -1 : 0;
}

static int group_teardown(void **state)
{
	static const char *const names[] = {"plain", "noformat", "badscript", "good", ""};
	char path[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", temp_dir, names[i]);
		(void)remove(path);
	}
	(void)close(null_fd);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_not_started),
		cmocka_unit_test(test_cwd),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_grandchild),
		cmocka_unit_test(test_open_files),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_stdio_order),
		cmocka_unit_test(test_signal_state),
		cmocka_unit_test(test_forwarded_signals),
		cmocka_unit_test(test_stop_and_continue),
		cmocka_unit_test(test_terminal),
#ifndef SUPERVISE_KQUEUE /* macOS has no signal for a parent's death */
		cmocka_unit_test(test_supervisor_killed),
#endif
		cmocka_unit_test(test_no_zombies),
	};

	/* A shell's background job ignores them, and so would all that it starts. */
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGQUIT, SIG_DFL);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
