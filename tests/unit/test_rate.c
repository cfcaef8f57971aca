/* SPDX-License-Identifier: Apache-2.0 */
/* Calls per minute, across processes that start at once. */
#include "core_fixture.h"

#include "core/rate.h"

#include <sys/wait.h>

static bool take(const char *dir, int64_t limit)
{
	struct cordon_error err = {0};
	bool allowed = false;

	if (rate_take(dir, limit, &allowed, &err) < 0)
		fail_msg("%s", err.message);
	return allowed;
}

static void test_in_order(void **state)
{
	char dir[1024];

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s", fixture_path("a"));
	for (int i = 0; i < 3; i++)
		assert_true(take(dir, 3));
	assert_false(take(dir, 3));
	assert_false(take(dir, 3)); /* a refused call is not counted, and still refused */
	assert_true(take(dir, 4));
	assert_false(take(dir, 0));
}

static void test_at_once(void **state)
{
	enum { STARTED = 20, LIMIT = 3 };
	pid_t pids[STARTED];
	int gate[2], allowed = 0;
	char dir[1024];

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s", fixture_path("b"));
	assert_int_equal(pipe(gate), 0);
	for (int i = 0; i < STARTED; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			bool ok = false;
			char c;

			(void)close(gate[1]);
			(void)!read(gate[0], &c, 1); /* until all are there */
			_exit(rate_take(dir, LIMIT, &ok, NULL) < 0 ? 2 : ok);
		}
	}
	(void)close(gate[1]);
	for (int i = 0; i < STARTED; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
		allowed += WEXITSTATUS(status);
	}
	(void)close(gate[0]);
	assert_int_equal(allowed, LIMIT);
}

/* Times of the future are of an earlier boot; old ones no longer count; half of one is nothing. */
static void test_contents(void **state)
{
	int64_t times[4] = {INT64_MAX, INT64_MAX - 1, -1000000, INT64_MIN};
	char dir[1024];

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s", fixture_path("c"));
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(io_write_file_at(AT_FDCWD, fixture_path("c/rate"), times,
					  sizeof(times) - 3, 0600),
			 0);
	assert_true(take(dir, 1));
	assert_false(take(dir, 1));
}

static void test_failures(void **state)
{
	struct cordon_error err = {0};
	bool allowed = true;

	(void)state;
	fixture_write("file", "x");
	assert_true(rate_take(fixture_path("file"), 1, &allowed, &err) < 0);
	assert_int_equal(mkdir(fixture_path("d"), 0700), 0);
	assert_int_equal(symlink("/dev/zero", fixture_path("d/rate")), 0);
	assert_true(rate_take(fixture_path("d"), 1, &allowed, &err) < 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
