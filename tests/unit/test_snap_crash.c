/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process is killed at every single step of taking, restoring, sweeping and importing: afterwards there is the
 * old state or the new one, every snapshot can be verified, nothing is left lying about, and the same can be done
 * again.
 */
#include "snap_kit.h"

#include "workspace/snap/step.h"

#include <signal.h>

static unsigned crash_at; /* steps to go; 0: never */

void __wrap_snap_step(void);
void __wrap_snap_step(void)
{
	if (crash_at > 0 && --crash_at == 0)
		(void)raise(SIGKILL);
}

/* Does what is asked in a child that dies at step n.  True when it came to its end. */
static bool crash_in(struct kit *k, unsigned n, int (*what)(struct kit *k))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct kit own = *k;

		own.store = NULL;
		if (snap_open(own.state, &own.store, &own.err) < 0)
			_exit(2);
		crash_at = n;
		_exit(what(&own) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		fail_msg("step %u: it failed", n);
	return WIFEXITED(status);
}

static int crash_take(struct kit *k)
{
	const char *roots[] = {k->tree};
	struct snap_take_options o = {.name = "new", .roots = roots, .root_count = 1};
	struct snap_info info = {0};

	return snap_take(k->store, &o, &info, &k->err);
}

static int crash_restore(struct kit *k)
{
	struct snap_restore_options o = {.may_remove = kit_yes};

	return snap_restore(k->store, "old", &o, NULL, &k->err);
}

static int crash_gc(struct kit *k)
{
	struct snap_swept swept;

	return snap_gc(k->store, &swept, &k->err);
}

static void crash_verify(struct kit *k, unsigned n)
{
	struct snap_verified v;

	if (snap_verify(k->store, NULL, &v, &k->err) < 0)
		fail_msg("step %u: %s", n, k->err.message);
	snap_verified_done(&v);
}

static void crash_build(struct kit *k, unsigned seed)
{
	struct kit_random r = {.state = seed * 7919 + 1};

	for (int i = 0; i < 60; i++)
		kit_random_op(&r, k->tree);
}

static void crash_no_staging(struct kit *k, unsigned n)
{
	char path[128];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/snapshots/staging", k->state);
	if (stat(path, &st) < 0 || st.st_nlink != 2)
		fail_msg("step %u: something is left in staging", n);
}

static void test_crash_take(void **state)
{
	struct kit k;
	unsigned n = 0;
	bool is_done;

	(void)state;
	kit_start_quick(&k);
	crash_build(&k, 1);
	kit_take(&k, "old", NULL);
	do {
		struct snap_info info = {0};
		int r;

		kit_write(&k, "fresh", "something that no snapshot has");
		assert_int_equal(truncate(kit_path(&k, "fresh"), 100 + n), 0);
		is_done = crash_in(&k, ++n, crash_take);
		assert_int_equal(snap_recover(k.store, &k.err), 0);
		crash_no_staging(&k, n);
		crash_verify(&k, n);
		r = snap_find(k.store, "new", &info, &k.err);
		assert_true(r == 0 || (r == CORDON_E_NOT_FOUND && !is_done));
		snap_info_done(&info);
		if (r == 0)
			assert_int_equal(snap_remove(k.store, "new", &k.err), 0);
		kit_take(&k, "again", NULL);
		assert_int_equal(snap_remove(k.store, "again", &k.err), 0);
	} while (!is_done);
	assert_true(n > 5);
	kit_end(&k);
}

static void test_crash_restore(void **state)
{
	char *old, *now, *new;
	unsigned n = 0, undone = 0, finished = 0;
	struct kit k;
	bool is_done;

	(void)state;
	kit_start_quick(&k);
	crash_build(&k, 2);
	kit_write(&k, "linked", "one file");
	(void)unlink(kit_path(&k, "linked too"));
	assert_int_equal(link(kit_path(&k, "linked"), kit_path(&k, "linked too")), 0);
	kit_write(&k, "separate", "text");
	old = kit_describe(k.tree, false);
	kit_take(&k, "old", NULL);
	do {
		crash_build(&k, 3);
		kit_write(&k, "linked", "changed in place");
		(void)unlink(kit_path(&k, "separate"));
		(void)mkdir(kit_path(&k, "separate"), 0700);
		kit_write(&k, "separate/made", "by the sandbox");
		new = kit_describe(k.tree, false);
		is_done = crash_in(&k, ++n, crash_restore);
		if (snap_recover(k.store, &k.err) < 0)
			fail_msg("step %u: %s", n, k.err.message);
		now = kit_describe(k.tree, false);
		if (strcmp(now, new) == 0) { /* as if nothing had happened */
			assert_false(is_done);
			undone++;
		} else {
			char what[32];

			(void)snprintf(what, sizeof(what), "step %u", n);
			kit_assert_same(old, now, what);
			finished++;
		}
		crash_verify(&k, n);
		free(now);
		free(new);
		kit_restore(&k, "old");
		now = kit_describe(k.tree, false);
		kit_assert_same(old, now, "restored after a crash");
		free(now);
	} while (!is_done);
	assert_true(undone > 2);
	assert_true(finished > 10);
	free(old);
	kit_end(&k);
}

static void test_crash_gc(void **state)
{
	struct kit k;
	unsigned n = 0;
	bool is_done;
	char *old, *now;

	(void)state;
	kit_start_quick(&k);
	crash_build(&k, 4);
	old = kit_describe(k.tree, false);
	kit_take(&k, "old", NULL);
	do {
		kit_write(&k, "fresh", "what will not be needed");
		assert_int_equal(truncate(kit_path(&k, "fresh"), 4000 + n), 0);
		kit_write(&k, "stays", "needed by both");
		kit_take(&k, "gone", NULL);
		assert_int_equal(snap_remove(k.store, "gone", &k.err), 0);
		is_done = crash_in(&k, ++n, crash_gc);
		crash_verify(&k, n);
		/* The index that the removed snapshot left must not be believed about objects that are gone. */
		kit_take(&k, "next", NULL);
		crash_verify(&k, n);
		kit_restore(&k, "next");
		assert_int_equal(snap_remove(k.store, "next", &k.err), 0);
		kit_restore(&k, "old");
	} while (!is_done);
	now = kit_describe(k.tree, false);
	kit_assert_same(old, now, "after sweeping");
	free(old);
	free(now);
	kit_end(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crash_take),
		cmocka_unit_test(test_crash_restore),
		cmocka_unit_test(test_crash_gc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
