/* SPDX-License-Identifier: Apache-2.0 */
/* Processes, the environment and the clock. */
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Waits for the end through the pidfd, then reaps. */
static void reap_wait(struct proc *p, struct proc_exit *ret)
{
	struct pollfd wait = {.fd = p->pidfd, .events = POLLIN};

	assert_int_equal(poll(&wait, 1, 20000), 1);
	assert_int_equal(proc_reap(p, ret), 1);
}

static void test_exit_codes(void **state)
{
	static const int codes[] = {0, 1, 42, 127, 255};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		struct proc p = PROC_NONE;
		struct proc_exit e = {0};
		int r = proc_clone(0, &p);

		if (r == 0)
			_exit(codes[i]);
		assert_true(r > 0 && p.pid == r && p.pidfd >= 0);
		reap_wait(&p, &e);
		assert_int_equal(e.code, codes[i]);
		assert_int_equal(e.signal, 0);
	}
}

static void test_signals(void **state)
{
	static const int signals[] = {SIGTERM, SIGKILL, SIGUSR1};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		struct proc p = PROC_NONE;
		struct proc_exit e = {.code = 7};
		int r = proc_clone(0, &p);

		if (r == 0)
			for (;;)
				(void)pause();
		assert_true(r > 0);
		assert_int_equal(proc_reap(&p, &e), 0); /* still running: nothing written */
		assert_int_equal(e.code, 7);
		assert_int_equal(proc_signal(&p, 0), 0);
		assert_int_equal(proc_signal(&p, signals[i]), 0);
		reap_wait(&p, &e);
		assert_int_equal(e.code, -1);
		assert_int_equal(e.signal, signals[i]);
		/* Reaped: no second time, and no signal to whoever has the number now. */
		assert_int_equal(p.pid, -1);
		assert_int_equal(p.pidfd, -1);
		assert_int_equal(proc_reap(&p, &e), -ECHILD);
		assert_int_equal(proc_signal(&p, SIGKILL), -ESRCH);
	}
}

static void test_signal_zombie(void **state)
{
	struct proc p = PROC_NONE;
	struct proc_exit e;
	struct pollfd wait = {.events = POLLIN};
	int r = proc_clone(0, &p);

	(void)state;
	if (r == 0)
		_exit(3);
	assert_true(r > 0);
	wait.fd = p.pidfd;
	assert_int_equal(poll(&wait, 1, 20000), 1);
	assert_int_equal(proc_signal(&p, SIGKILL), 0);
	assert_int_equal(proc_reap(&p, &e), 1);
	assert_int_equal(e.code, 3);
	proc_done(&p);
	proc_done(&p);
}

static void test_usage(void **state)
{
	struct proc p = PROC_NONE;
	struct proc_exit e;
	int r = proc_clone(0, &p);

	(void)state;
	if (r == 0) {
		/* Enough that the kernel's batched count of pages cannot round it away. */
		static char touched[4 << 20];
		struct rusage own;

		memset(touched, 1, sizeof(touched));
		__asm__ volatile("" : : "r"(touched) : "memory");
		do {
			(void)getrusage(RUSAGE_SELF, &own);
		} while (own.ru_utime.tv_sec * 1000000 + own.ru_utime.tv_usec +
				 own.ru_stime.tv_sec * 1000000 + own.ru_stime.tv_usec <
			 30000);
		_exit(0);
	}
	assert_true(r > 0);
	reap_wait(&p, &e);
	assert_true(e.usage.ru_utime.tv_sec * 1000000 + e.usage.ru_utime.tv_usec +
			    e.usage.ru_stime.tv_sec * 1000000 + e.usage.ru_stime.tv_usec >=
		    30000);
	assert_true(e.usage.ru_maxrss > 2048);
}

/* Flags that would need a stack or fields of their own are refused before the kernel sees them. */
static void test_clone_flags(void **state)
{
	static const uint64_t flags[] = {CLONE_VM, CLONE_VM | CLONE_VFORK, CLONE_SETTLS,
					 CLONE_PARENT_SETTID, 0x200000000ull /* into a cgroup */};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		struct proc p = PROC_NONE;

		assert_int_equal(proc_clone(flags[i], &p), -EINVAL);
		assert_int_equal(p.pidfd, -1);
	}
}

struct env_row {
	const char *what;
	const char *home, *xdg, *own; /* NULL: unset */
	int r;
	const char *want; /* NULL: below the home of /etc/passwd */
};

static void env_put(const char *name, const char *value)
{
	assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

static void test_env_dirs(void **state)
{
	static const struct env_row rows[] = {
		{"home", "/h/u", NULL, NULL, 0, "/h/u/.config/cordon"},
		{"home is normalised", "/h/./u//", NULL, NULL, 0, "/h/u/.config/cordon"},
		{"XDG", "/h/u", "/x", NULL, 0, "/x/cordon"},
		{"XDG, relative: ignored", "/h/u", "x", NULL, 0, "/h/u/.config/cordon"},
		{"XDG, empty: ignored", "/h/u", "", NULL, 0, "/h/u/.config/cordon"},
		{"own", "/h/u", "/x", "/own/c/", 0, "/own/c"},
		{"own, relative: an error", "/h/u", "/x", "own", -EINVAL, NULL},
		{"own, empty: as unset", "/h/u", "/x", "", 0, "/x/cordon"},
		{"no home", NULL, NULL, NULL, 0, NULL},
		{"relative home", "h", NULL, NULL, 0, NULL},
		{"empty home", "", NULL, NULL, 0, NULL},
	};
	const struct passwd *pw = getpwuid(getuid());

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FREE char *out = NULL;
		int r;

		env_put("HOME", rows[i].home);
		env_put("XDG_CONFIG_HOME", rows[i].xdg);
		env_put("CORDON_CONFIG_DIR", rows[i].own);
		r = env_config_dir(&out);
		if (r == 0 && !rows[i].want && pw) {
			size_t n = strlen(pw->pw_dir);

			assert_int_equal(strncmp(out, pw->pw_dir, n), 0);
			assert_string_equal(out + n, "/.config/cordon");
		} else if (rows[i].r != r || (rows[i].want && strcmp(out, rows[i].want) != 0)) {
			if (pw)
				fail_msg("%s: %d '%s'", rows[i].what, r, out ? out : "");
		}
	}
	env_put("HOME", "/h");
	env_put("XDG_STATE_HOME", NULL);
	env_put("CORDON_STATE_DIR", NULL);
	{
		AUTO_FREE char *out = NULL;

		assert_int_equal(env_state_dir(&out), 0);
		assert_string_equal(out, "/h/.local/state/cordon");
	}
	env_put("CORDON_STATE_DIR", "./x");
	{
		char *out = NULL;

		assert_int_equal(env_state_dir(&out), -EINVAL);
	}
}

static void test_env_get(void **state)
{
	(void)state;
	env_put("CORDON_TEST", "v");
	assert_string_equal(env_get("CORDON_TEST"), "v");
	env_put("CORDON_TEST", "");
	assert_null(env_get("CORDON_TEST"));
	env_put("CORDON_TEST", NULL);
	assert_null(env_get("CORDON_TEST"));
}

static void test_clock(void **state)
{
	int64_t before = clock_ms(), ns = clock_ns();

	(void)state;
	assert_true(clock_ns() >= ns && ns / 1000000 >= before);
	assert_true(clock_deadline(-1) == CLOCK_NEVER);
	assert_true(clock_deadline(INT64_MAX) == CLOCK_NEVER);
	assert_true(clock_deadline(INT64_MAX - 1) == CLOCK_NEVER);
	assert_true(clock_deadline(1000) >= before + 1000);
	assert_int_equal(clock_poll_timeout(CLOCK_NEVER), -1);
	assert_int_equal(clock_poll_timeout(CLOCK_NEVER - 1), INT_MAX);
	assert_int_equal(clock_poll_timeout(0), 0);
	assert_int_equal(clock_poll_timeout(INT64_MIN), 0);
	assert_in_range(clock_poll_timeout(clock_deadline(100000)), 90000, 100000);
}

static void test_stamp(void **state)
{
	static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ";
	char stamp[CLOCK_STAMP_LEN + 1] = "", later[CLOCK_STAMP_LEN];
	int64_t wall = clock_wall_ms();

	(void)state;
	stamp[CLOCK_STAMP_LEN] = 'G'; /* a guard */
	clock_stamp(stamp);
	assert_int_equal(stamp[CLOCK_STAMP_LEN], 'G');
	assert_int_equal(strlen(stamp), CLOCK_STAMP_LEN - 1);
	for (size_t i = 0; shape[i]; i++)
		assert_true(shape[i] == 'd' ? stamp[i] >= '0' && stamp[i] <= '9'
					    : stamp[i] == shape[i]);
	while (clock_wall_ms() < wall + 5)
		;
	clock_stamp(later);
	assert_true(strcmp(stamp, later) < 0); /* stamps sort as time does */
	assert_true(wall > 1700000000000);
}

/* In the middle: its child says what it is and what proc_tie() said, and stays. */
_Noreturn static void tie_middle(int said, int go, bool ties, bool waits)
{
	const pid_t parent = getpid();
	struct proc p = PROC_NONE;
	int word[2] = {0};
	int r = proc_clone(0, &p);

	if (r != 0) {
		if (waits)
			r = (int)read(go, &word, 1);
		_exit(r < 0);
	}
	while (!waits && getppid() == parent)
		(void)sched_yield();
	word[0] = (int)getpid();
	word[1] = ties ? proc_tie(parent) : 0;
	(void)!write(said, word, sizeof(word));
	for (;;)
		(void)pause();
}

static void test_tie(void **state)
{
	static const struct {
		const char *what;
		bool ties;
		bool waits; /* its parent, for us */
		int want;
		bool dies;
	} rows[] = {
		{"the parent ends later", true, true, 0, true},
		{"without it the child lives on", false, true, 0, false},
		{"the parent was gone before: no signal comes, but it is told", true, false, -ESRCH,
		 false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pollfd end = {.events = POLLIN};
		struct proc middle = PROC_NONE;
		struct proc_exit e;
		int said[2], go[2], word[2];

		assert_int_equal(pipe2(said, O_CLOEXEC), 0);
		assert_int_equal(pipe2(go, O_CLOEXEC), 0);
		if (proc_clone(0, &middle) == 0)
			tie_middle(said[1], go[0], rows[i].ties, rows[i].waits);
		(void)fd_close(said[1]);
		assert_int_equal(read(said[0], word, sizeof(word)), sizeof(word));
		assert_int_equal(write(go[1], "", 1), 1);
		reap_wait(&middle, &e);
		/* Nobody else has the other end. */
		end.fd = said[0];
		if (word[1] != rows[i].want ||
		    poll(&end, 1, rows[i].dies ? 20000 : 50) != rows[i].dies)
			fail_msg("%s: %d", rows[i].what, word[1]);
		if (!rows[i].dies)
			assert_int_equal(kill(word[0], SIGKILL), 0);
		(void)fd_close(said[0]);
		(void)fd_close(go[0]);
		(void)fd_close(go[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_codes),    cmocka_unit_test(test_signals),
		cmocka_unit_test(test_signal_zombie), cmocka_unit_test(test_usage),
		cmocka_unit_test(test_clone_flags),   cmocka_unit_test(test_env_dirs),
		cmocka_unit_test(test_env_get),       cmocka_unit_test(test_clock),
		cmocka_unit_test(test_stamp),         cmocka_unit_test(test_tie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
