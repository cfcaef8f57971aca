/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots: taking, listing, restoring, and what is left alone. */
#include "snap_kit.h"

static void test_round(void **state)
{
	struct kit k;
	char *before, *after;

	(void)state;
	kit_start(&k);
	kit_write(&k, "one", "first");
	kit_write(&k, "two", "second");
	assert_int_equal(mkdir(kit_path(&k, "dir"), 0700), 0);
	kit_write(&k, "dir/three", "third");
	assert_int_equal(mkdir(kit_path(&k, "empty"), 0711), 0);
	assert_int_equal(symlink("/etc/passwd", kit_path(&k, "link")), 0);
	assert_int_equal(mkfifo(kit_path(&k, "fifo"), 0600), 0);
	assert_int_equal(link(kit_path(&k, "one"), kit_path(&k, "dir/other")), 0);
	before = kit_describe(k.tree, false);
	kit_take(&k, "s", NULL);
	kit_write(&k, "one", "changed");
	kit_remove(kit_path(&k, "dir"));
	assert_int_equal(rmdir(kit_path(&k, "empty")), 0);
	kit_write(&k, "empty", "not a directory");
	assert_int_equal(unlink(kit_path(&k, "link")), 0);
	kit_write(&k, "new", "new");
	kit_restore(&k, "s");
	after = kit_describe(k.tree, false);
	kit_assert_same(before, after, "after the restore");
	free(before);
	free(after);
	kit_end(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
