/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random trees and random changes: a restore gives back every byte and every value, whatever happened in between, and
 * what did not change keeps inode and times.  CORDON_SNAP_SEQUENCES and CORDON_SNAP_SEED choose how many and which.
 */
#include "snap_kit.h"

#include "base/parse.h"

#define DEFAULT_SEQUENCES 200

static int64_t random_number(const char *name, int64_t otherwise)
{
	const char *text = getenv(name);
	int64_t n;

	return text && parse_int(text, 1, INT64_MAX, &n) == 0 ? n : otherwise;
}

/* A second restore finds nothing to do, and does nothing: inodes and change times stay. */
static void random_settled(struct kit *k, const char *name, uint64_t seed)
{
	struct snap_restore_options o = {.may_remove = kit_yes, .is_dry_run = true};
	struct snap_changes changes = {0};
	char *before = kit_describe(k->tree, true), *after;

	assert_int_equal(snap_restore(k->store, name, &o, &changes, &k->err), 0);
	if (changes.n > 0)
		fail_msg("seed %" PRIu64 ": %s '%s' after the restore", seed,
			 snap_op_name(changes.v[0].op), changes.v[0].path);
	snap_changes_done(&changes);
	kit_restore(k, name);
	after = kit_describe(k->tree, true);
	kit_assert_same(before, after, "a restore of what is restored");
	free(before);
	free(after);
}

static void random_sequence(struct kit *k, uint64_t seed)
{
	struct kit_random r = {.state = seed * 0x9e3779b97f4a7c15u | 1};
	char *states[3] = {0}, *now;
	static const char *const names[] = {"s0", "s1", "s2"};
	unsigned n = 1 + kit_pick(&r, 3);

	for (unsigned i = 0; i < n; i++) {
		for (unsigned ops = kit_pick(&r, 60); ops > 0; ops--)
			kit_random_op(&r, k->tree);
		states[i] = kit_describe(k->tree, false);
		kit_take(k, names[i], NULL);
	}
	for (unsigned round = 0; round < 2; round++) {
		unsigned to = kit_pick(&r, n);
		char what[80];

		for (unsigned ops = kit_pick(&r, 40); ops > 0; ops--)
			kit_random_op(&r, k->tree);
		kit_restore(k, names[to]);
		now = kit_describe(k->tree, false);
		(void)snprintf(what, sizeof(what), "seed %" PRIu64 ", round %u", seed, round);
		kit_assert_same(states[to], now, what);
		free(now);
		random_settled(k, names[to], seed);
	}
	for (unsigned i = 0; i < n; i++) {
		free(states[i]);
		assert_int_equal(snap_remove(k->store, names[i], &k->err), 0);
	}
}

static void test_random(void **state)
{
	int64_t n = random_number("CORDON_SNAP_SEQUENCES", DEFAULT_SEQUENCES);
	int64_t first = random_number("CORDON_SNAP_SEED", 1);
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	for (int64_t i = 0; i < n; i++) {
		random_sequence(&k, (uint64_t)(first + i));
		if (i % 16 == 15) { /* from an empty tree again */
			kit_remove(k.tree);
			assert_int_equal(mkdir(k.tree, 0755), 0);
		}
	}
	kit_end(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
