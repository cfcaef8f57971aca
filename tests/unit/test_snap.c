/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots: taking, listing, restoring, and what is left alone. */
#include "snap_kit.h"

#include "base/limits.h"
#include "workspace/snap/index.h"

#include <sys/un.h>
#include <signal.h>
#include <sys/socket.h>

static int snap_restore_with(struct kit *k, const char *name, const struct snap_restore_options *o,
			     struct snap_changes *ret)
{
	return snap_restore(k->store, name, o, ret, &k->err);
}

static void assert_text(struct kit *k, const char *name, const char *want)
{
	char *text = kit_read(k, name);

	if (!want ? text != NULL : !text || strcmp(text, want) != 0)
		fail_msg("'%s' holds '%s'", name, text ? text : "nothing");
	free(text);
}

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

/* Files that the caller does not name as the sandbox's are never touched or removed. */
static void test_foreign_files_stay(void **state)
{
	const char *removable[] = {NULL, NULL};
	struct snap_restore_options o = {.removable = removable, .removable_count = 2};
	struct stat before, after;
	char made[200], dir[200];
	struct kit k;

	(void)state;
	kit_start(&k);
	kit_write(&k, "old", "text");
	kit_take(&k, "s", NULL);
	kit_write(&k, "mine", "a person's, made meanwhile");
	kit_write(&k, "made", "by the sandbox");
	assert_int_equal(mkdir(kit_path(&k, "dir"), 0700), 0);
	kit_write(&k, "dir/mine too", "a person's, in a directory of the sandbox");
	kit_write(&k, "old", "changed");
	assert_int_equal(stat(kit_path(&k, "mine"), &before), 0);
	(void)snprintf(made, sizeof(made), "%s/made", k.tree);
	(void)snprintf(dir, sizeof(dir), "%s/dir", k.tree);
	removable[0] = made;
	removable[1] = dir;
	assert_int_equal(snap_restore_with(&k, "s", &o, NULL), 0);
	assert_text(&k, "old", "text");
	assert_text(&k, "made", NULL);
	assert_text(&k, "dir/mine too", "a person's, in a directory of the sandbox");
	assert_int_equal(stat(kit_path(&k, "mine"), &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec);
	kit_end(&k);
}

static bool is_made(void *arg, const char *path)
{
	(void)arg;
	return str_ends(path, "/made") || str_ends(path, "/dir");
}

/* The same when a function is asked. */
static void test_asked_about(void **state)
{
	struct snap_restore_options o = {.may_remove = is_made};
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	kit_write(&k, "old", "text");
	kit_take(&k, "s", NULL);
	kit_write(&k, "mine", "a person's");
	kit_write(&k, "made", "by the sandbox");
	assert_int_equal(mkdir(kit_path(&k, "dir"), 0700), 0);
	kit_write(&k, "dir/made", "by the sandbox");
	kit_write(&k, "dir/mine", "a person's");
	assert_int_equal(snap_restore_with(&k, "s", &o, NULL), 0);
	assert_text(&k, "made", NULL);
	assert_text(&k, "dir/made", NULL);
	assert_text(&k, "mine", "a person's");
	assert_text(&k, "dir/mine", "a person's");
	kit_end(&k);
}

/* A path outside the trees is not removed, whatever list it is in. */
static void test_removable_outside(void **state)
{
	char outside[200], dotted[200];
	const char *removable[] = {outside, dotted, "/etc/passwd"};
	struct snap_restore_options o = {.removable = removable, .removable_count = 3};
	struct kit k;

	(void)state;
	kit_start(&k);
	kit_take(&k, "s", NULL);
	(void)snprintf(outside, sizeof(outside), "%s/outside", k.top);
	(void)snprintf(dotted, sizeof(dotted), "%s/../outside", k.tree);
	assert_int_equal(mkdir(outside, 0700), 0);
	assert_int_equal(snap_restore_with(&k, "s", &o, NULL), 0);
	assert_int_equal(access(outside, F_OK), 0);
	kit_end(&k);
}

/* Something foreign in the way: nothing at all is changed, and the dry run says why. */
static void test_conflict(void **state)
{
	struct snap_restore_options o = {.is_dry_run = true};
	struct snap_changes changes = {0};
	struct kit k;
	bool has = false;

	(void)state;
	kit_start(&k);
	kit_write(&k, "a", "text");
	kit_write(&k, "z", "text");
	kit_take(&k, "s", NULL);
	assert_int_equal(unlink(kit_path(&k, "z")), 0);
	assert_int_equal(mkdir(kit_path(&k, "z"), 0700), 0);
	kit_write(&k, "z/mine", "a person's");
	kit_write(&k, "a", "changed");
	assert_int_equal(snap_restore_with(&k, "s", &o, &changes), 0);
	for (size_t i = 0; i < changes.n; i++)
		has |= changes.v[i].op == SNAP_CONFLICT && strstr(changes.v[i].path, "z/mine");
	assert_true(has);
	snap_changes_done(&changes);
	o.is_dry_run = false;
	assert_int_equal(snap_restore_with(&k, "s", &o, NULL), CORDON_E_REFUSED);
	assert_text(&k, "a", "changed");
	assert_text(&k, "z/mine", "a person's");
	o.may_remove = kit_yes;
	assert_int_equal(snap_restore_with(&k, "s", &o, NULL), 0);
	assert_text(&k, "z", "text");
	kit_end(&k);
}

static void test_dry_run(void **state)
{
	static const struct {
		const char *name;
		enum snap_op op;
	} want[] = {{"", SNAP_META},
		    {"changed", SNAP_MODIFY},
		    {"gone", SNAP_ADD},
		    {"mode", SNAP_META},
		    {"new", SNAP_REMOVE}};
	struct snap_restore_options o = {.is_dry_run = true, .may_remove = kit_yes};
	struct snap_changes changes = {0};
	char *before, *after;
	struct kit k;

	(void)state;
	kit_start(&k);
	kit_write(&k, "changed", "text");
	kit_write(&k, "gone", "text");
	kit_write(&k, "mode", "text");
	kit_write(&k, "same", "text");
	kit_take(&k, "s", NULL);
	kit_write(&k, "changed", "text that is longer");
	assert_int_equal(unlink(kit_path(&k, "gone")), 0);
	assert_int_equal(chmod(kit_path(&k, "mode"), 0600), 0);
	kit_write(&k, "new", "new");
	before = kit_describe(k.tree, true);
	assert_int_equal(snap_restore_with(&k, "s", &o, &changes), 0);
	after = kit_describe(k.tree, true);
	kit_assert_same(before, after, "a dry run changes nothing");
	assert_int_equal(changes.n, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(changes.v[i].op, want[i].op);
		if (want[i].name[0])
			assert_string_equal(changes.v[i].path, kit_path(&k, want[i].name));
		else
			assert_string_equal(changes.v[i].path, k.tree);
	}
	snap_changes_done(&changes);
	free(before);
	free(after);
	kit_end(&k);
}

/* Same size and time, other content: the change time gives it away. */
static void test_forged_time(void **state)
{
	struct timespec times[2];
	struct stat st;
	struct kit k;

	(void)state;
	kit_start(&k);
	kit_write(&k, "f", "aaaa");
	(void)usleep(60000); /* old enough to be noted */
	kit_take(&k, "one", NULL);
	assert_int_equal(stat(kit_path(&k, "f"), &st), 0);
	kit_write(&k, "f", "bbbb");
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, kit_path(&k, "f"), times, 0), 0);
	kit_take(&k, "two", NULL);
	kit_restore(&k, "one");
	assert_text(&k, "f", "aaaa");
	kit_restore(&k, "two");
	assert_text(&k, "f", "bbbb");
	kit_end(&k);
}

/* A file that changes right after it was saved, within one tick of the clock, is not taken for the saved one. */
static void test_young_file(void **state)
{
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	for (int i = 0; i < 50; i++) {
		char a[16], b[16], text[16], other[16];

		(void)snprintf(a, sizeof(a), "a%d", i);
		(void)snprintf(b, sizeof(b), "b%d", i);
		(void)snprintf(text, sizeof(text), "%04d", 2 * i);
		(void)snprintf(other, sizeof(other), "%04d", 2 * i + 1);
		kit_write(&k, "f", text);
		kit_take(&k, a, NULL);
		kit_write(&k, "f", other);
		kit_take(&k, b, NULL);
		kit_restore(&k, a);
		assert_text(&k, "f", text);
		kit_restore(&k, b);
		assert_text(&k, "f", other);
	}
	kit_end(&k);
}

/* The same without a kernel whose clock is finer than the rule needs. */
static void test_young_is_not_noted(void **state)
{
	const int64_t second = 1000000000, now = 1700000000 * second;
	static const struct {
		int64_t age_ns;
		uint32_t part_ns; /* of the change time, where it is given */
		bool is_noted;
	} rows[] = {
		{0, 1, false},          {-5000000000, 1, false}, /* of the future */
		{10000000, 1, false},   {100000000, 1, true},
		{1000000000, 0, false}, /* whole seconds: the file system may not know better */
		{3000000000, 0, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t at = now - rows[i].age_ns + rows[i].part_ns;
		struct statx st = {.stx_ino = 7};

		st.stx_ctime.tv_sec = at / second;
		st.stx_ctime.tv_nsec = (uint32_t)(at % second);
		if ((snap_index_see(&st, now, true).ino != 0) != rows[i].is_noted)
			fail_msg("row %zu", i);
		assert_int_equal(snap_index_see(&st, now, false).ino, 0);
	}
}

static void test_second_reads_nothing(void **state)
{
	struct snap_info first = {0}, second = {0}, third = {0};
	struct kit k;

	(void)state;
	kit_start(&k);
	for (int i = 0; i < 200; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "f%d", i);
		kit_write(&k, name, name);
	}
	(void)usleep(60000);
	kit_take(&k, "one", &first);
	kit_take(&k, "two", &second);
	assert_int_equal(first.read_files, 200);
	assert_int_equal(second.read_files, 0);
	assert_int_equal(second.stored_bytes, 0);
	assert_memory_equal(first.manifest, second.manifest, SNAP_DIGEST);
	kit_write(&k, "f7", "changed");
	kit_take(&k, "three", &third);
	assert_int_equal(third.read_files, 1);
	snap_info_done(&first);
	snap_info_done(&second);
	snap_info_done(&third);
	kit_end(&k);
}

static void test_same_content_once(void **state)
{
	struct snap_info one = {0}, two = {0};
	struct kit_random random = {.state = 1};
	static char text[100001];
	struct kit k;

	(void)state;
	kit_start(&k);
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = (char)('a' + kit_pick(&random, 26));
	kit_write(&k, "a", text);
	kit_take(&k, "one", &one);
	kit_write(&k, "b", text);
	kit_write(&k, "c", text);
	kit_take(&k, "two", &two);
	assert_true(one.stored_bytes > 1000);
	assert_true(two.stored_bytes < 1000); /* the listing alone */
	snap_info_done(&one);
	snap_info_done(&two);
	kit_end(&k);
}

/* More than 4 GiB, nearly all of it hole: neither the time nor the space of it, and the holes stay. */
static void test_large_sparse(void **state)
{
	const off_t size = (off_t)5 << 30;
	struct snap_info info = {0};
	struct stat before, after;
	char at[5] = "", got[5] = "";
	struct kit k;
	int fd;

	(void)state;
	kit_start(&k);
	fd = open(kit_path(&k, "big"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	memcpy(at, "here", 5);
	assert_int_equal(pwrite(fd, at, 4, size - 4), 4);
	assert_int_equal(pwrite(fd, at, 4, (off_t)3 << 30), 4);
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(fstat(fd, &before), 0);
	(void)close(fd);
	kit_take(&k, "s", &info);
	assert_int_equal(info.bytes, size);
	snap_info_done(&info);
	assert_int_equal(unlink(kit_path(&k, "big")), 0);
	kit_restore(&k, "s");
	fd = open(kit_path(&k, "big"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &after), 0);
	assert_int_equal(after.st_size, size);
	assert_true(after.st_blocks <= before.st_blocks + 64);
	assert_int_equal(pread(fd, got, 4, size - 4), 4);
	assert_string_equal(got, "here");
	assert_int_equal(pread(fd, got, 4, (off_t)3 << 30), 4);
	assert_string_equal(got, "here");
	(void)close(fd);
	kit_end(&k);
}

/* Directories of the tree were exchanged for links that lead outside. */
static void test_hostile_links(void **state)
{
	char outside[128], victim[160];
	char *text = NULL;
	size_t len;
	struct kit k;
	int fd;

	(void)state;
	kit_start(&k);
	(void)snprintf(outside, sizeof(outside), "%s/outside", k.top);
	(void)snprintf(victim, sizeof(victim), "%s/file", outside);
	assert_int_equal(mkdir(outside, 0755), 0);
	fd = open(victim, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "outside", 7), 7);
	(void)close(fd);
	assert_int_equal(mkdir(kit_path(&k, "dir"), 0755), 0);
	kit_write(&k, "dir/file", "inside");
	kit_write(&k, "file", "text");
	kit_take(&k, "s", NULL);
	kit_remove(kit_path(&k, "dir"));
	assert_int_equal(symlink(outside, kit_path(&k, "dir")), 0);
	assert_int_equal(unlink(kit_path(&k, "file")), 0);
	assert_int_equal(symlink(victim, kit_path(&k, "file")), 0);
	/* what lies behind a link is not saved as if it were in the tree */
	kit_take(&k, "links", NULL);
	kit_restore(&k, "s");
	assert_text(&k, "dir/file", "inside");
	assert_text(&k, "file", "text");
	assert_int_equal(io_read_file_at(AT_FDCWD, victim, 100, &text, &len), 0);
	assert_string_equal(text, "outside");
	free(text);
	kit_restore(&k, "links");
	assert_int_equal(readlink(kit_path(&k, "dir"), victim, sizeof(victim) - 1),
			 (ssize_t)strlen(outside));
	kit_end(&k);
}

/* Somebody exchanges a directory for a link to the outside all the time while we save and restore. */
static void test_race(void **state)
{
	char outside[128], victim[160], dir[160], aside[160];
	char *text = NULL;
	size_t len;
	struct kit k;
	pid_t pid;
	int fd, status;

	(void)state;
	kit_start_quick(&k);
	(void)snprintf(outside, sizeof(outside), "%s/outside", k.top);
	(void)snprintf(victim, sizeof(victim), "%s/file", outside);
	(void)snprintf(dir, sizeof(dir), "%s/dir", k.tree);
	(void)snprintf(aside, sizeof(aside), "%s/aside", k.top);
	assert_int_equal(mkdir(outside, 0755), 0);
	fd = open(victim, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "outside", 7), 7);
	(void)close(fd);
	assert_int_equal(mkdir(dir, 0755), 0);
	kit_write(&k, "dir/file", "inside");
	kit_take(&k, "s", NULL);
	assert_int_equal(symlink(outside, aside), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		for (;;)
			(void)renameat2(AT_FDCWD, dir, AT_FDCWD, aside, RENAME_EXCHANGE);
	for (int i = 0; i < 300; i++) {
		struct snap_restore_options o = {0};

		fd = open(kit_path(&k, "dir/file"), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
		(void)close(fd);
		/* It may fail, for the tree changes under it; never may it reach the outside. */
		(void)!snap_restore(k.store, "s", &o, NULL, &k.err);
		text = NULL;
		assert_int_equal(io_read_file_at(AT_FDCWD, victim, 100, &text, &len), 0);
		assert_string_equal(text, "outside");
		free(text);
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(access(victim, F_OK), 0);
	kit_end(&k);
}

static void test_only(void **state)
{
	char path[200];
	const char *only[] = {path};
	struct snap_restore_options o = {.only = only, .only_count = 1, .may_remove = kit_yes};
	struct kit k;

	(void)state;
	kit_start(&k);
	assert_int_equal(mkdir(kit_path(&k, "dir"), 0755), 0);
	kit_write(&k, "dir/a", "text");
	kit_write(&k, "dir/b", "text");
	kit_write(&k, "other", "text");
	kit_take(&k, "s", NULL);
	kit_remove(kit_path(&k, "dir"));
	kit_write(&k, "other", "changed");
	kit_write(&k, "new", "new");
	(void)snprintf(path, sizeof(path), "%s/dir/a", k.tree);
	assert_int_equal(snap_restore_with(&k, "s", &o, NULL), 0);
	assert_text(&k, "dir/a", "text");
	assert_text(&k, "dir/b", NULL);
	assert_text(&k, "other", "changed");
	assert_text(&k, "new", "new");
	(void)snprintf(path, sizeof(path), "%s/new", k.tree);
	assert_int_equal(snap_restore_with(&k, "s", &o, NULL), 0);
	assert_text(&k, "new", NULL);
	(void)snprintf(path, sizeof(path), "%s/never", k.tree);
	assert_int_equal(snap_restore_with(&k, "s", &o, NULL), CORDON_E_NOT_FOUND);
	kit_end(&k);
}

/* Files as roots, one of them not there. */
static void test_file_roots(void **state)
{
	char there[200], missing[200];
	const char *roots[] = {there, missing};
	struct snap_take_options t = {.name = "s", .roots = roots, .root_count = 2};
	struct snap_restore_options o = {.may_remove = kit_yes};
	struct snap_info info = {0};
	struct kit k;

	(void)state;
	kit_start(&k);
	(void)snprintf(there, sizeof(there), "%s/there", k.tree);
	(void)snprintf(missing, sizeof(missing), "%s/missing", k.tree);
	kit_write(&k, "there", "text");
	kit_write(&k, "beside", "text");
	assert_int_equal(snap_take(k.store, &t, &info, &k.err), 0);
	assert_int_equal(info.files, 1);
	snap_info_done(&info);
	kit_write(&k, "there", "changed");
	kit_write(&k, "missing", "made");
	kit_write(&k, "beside", "changed too");
	kit_write(&k, "new", "new");
	assert_int_equal(snap_restore_with(&k, "s", &o, NULL), 0);
	assert_text(&k, "there", "text");
	assert_text(&k, "missing", NULL);
	assert_text(&k, "beside", "changed too");
	assert_text(&k, "new", "new");
	kit_end(&k);
}

static void test_target(void **state)
{
	char other[128], *before, *after;
	struct snap_restore_options o = {.target = other};
	struct kit k;

	(void)state;
	kit_start(&k);
	kit_write(&k, "a", "text");
	assert_int_equal(mkdir(kit_path(&k, "d"), 0750), 0);
	kit_write(&k, "d/b", "text");
	kit_take(&k, "s", NULL);
	(void)snprintf(other, sizeof(other), "%s/other", k.top);
	assert_int_equal(snap_restore_with(&k, "s", &o, NULL), 0);
	before = kit_describe(k.tree, false);
	after = kit_describe(other, false);
	kit_assert_same(before, after, "in another place");
	free(before);
	free(after);
	kit_end(&k);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		int want;
	} rows[] = {
		{"good", 0},
		{"good", CORDON_E_INVALID}, /* taken */
		{"v1.2_x-3", 0},
		{"", CORDON_E_INVALID},
		{".", CORDON_E_INVALID},
		{"..", CORDON_E_INVALID},
		{".hidden", CORDON_E_INVALID},
		{"-rf", CORDON_E_INVALID},
		{"a/b", CORDON_E_INVALID},
		{"../x", CORDON_E_INVALID},
		{"a b", CORDON_E_INVALID},
		{"\xc3\xa4", CORDON_E_INVALID},
		{"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		 CORDON_E_INVALID},
	};
	struct snap_info info = {0};
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *roots[] = {k.tree};
		struct snap_take_options o = {
			.name = rows[i].name, .roots = roots, .root_count = 1};
		int r = snap_take(k.store, &o, &info, &k.err);

		if (r != rows[i].want)
			fail_msg("'%s': %d", rows[i].name, r);
		if (r == 0)
			snap_info_done(&info);
	}
	assert_int_equal(snap_find(k.store, "../names/good", &info, &k.err), CORDON_E_INVALID);
	assert_int_equal(snap_remove(k.store, "../lock", &k.err), CORDON_E_INVALID);
	kit_end(&k);
}

static void test_list(void **state)
{
	const char *roots[1];
	struct snap_take_options o = {.root_count = 1, .roots = roots, .owner = "sb-1"};
	struct snap_info made = {0};
	struct snap_list list = {0};
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	roots[0] = k.tree;
	kit_take(&k, "first", NULL);
	(void)usleep(2000);
	assert_int_equal(snap_take(k.store, &o, &made, &k.err), 0);
	assert_true(str_starts(made.name, "snap-"));
	(void)usleep(2000);
	kit_take(&k, "third", NULL);
	assert_int_equal(snap_list(k.store, NULL, &list, NULL, &k.err), 0);
	assert_int_equal(list.n, 3);
	assert_string_equal(list.v[0].name, "third");
	assert_string_equal(list.v[1].name, made.name);
	assert_string_equal(list.v[2].name, "first");
	assert_string_equal(list.v[0].roots.v[0], k.tree);
	snap_list_done(&list);
	assert_int_equal(snap_list(k.store, "sb-1", &list, NULL, &k.err), 0);
	assert_int_equal(list.n, 1);
	snap_list_done(&list);
	snap_info_done(&made);
	kit_end(&k);
}

static void test_ceilings(void **state)
{
	struct snap_info info = {0};
	const char *roots[1];
	struct snap_take_options o = {.name = "s", .roots = roots, .root_count = 1};
	struct kit_random random = {.state = 1};
	static char text[200001];
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	roots[0] = k.tree;
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = (char)('a' + kit_pick(&random, 26));
	kit_write(&k, "a", text);
	kit_write(&k, "b", "b");
	snap_set_ceilings(k.store, &(struct snap_ceilings){.files = 2});
	assert_int_equal(snap_take(k.store, &o, &info, &k.err), CORDON_E_LIMIT);
	snap_set_ceilings(k.store, &(struct snap_ceilings){.files = 100, .store_bytes = 1000});
	assert_int_equal(snap_take(k.store, &o, &info, &k.err), CORDON_E_LIMIT);
	snap_set_ceilings(k.store, &(struct snap_ceilings){.store_bytes = 1 << 20, .snapshots = 1});
	o.deadline_ms = 1; /* long ago */
	assert_int_equal(snap_take(k.store, &o, &info, &k.err), CORDON_E_TIMEOUT);
	o.deadline_ms = 0;
	assert_int_equal(snap_take(k.store, &o, &info, &k.err), 0);
	snap_info_done(&info);
	o.name = "t";
	assert_int_equal(snap_take(k.store, &o, &info, &k.err), CORDON_E_LIMIT);
	kit_end(&k);
}

/* The state directory in the tree: neither saved, nor removed, nor set back. */
static void test_state_in_tree(void **state)
{
	struct snap_info info = {0};
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	snap_close(k.store);
	(void)snprintf(k.state, sizeof(k.state), "%s/tree/state", k.top);
	kit_open(&k);
	kit_write(&k, "state/audit", "one line");
	kit_write(&k, "a", "text");
	kit_take(&k, "s", &info);
	assert_int_equal(info.files, 2);
	snap_info_done(&info);
	kit_write(&k, "state/audit", "two lines");
	kit_write(&k, "a", "changed");
	kit_restore(&k, "s");
	assert_text(&k, "a", "text");
	assert_text(&k, "state/audit", "two lines");
	kit_end(&k);
}

static void test_keep(void **state)
{
	const char *roots[1];
	struct snap_take_options o = {.roots = roots, .root_count = 1, .owner = "auto", .keep = 3};
	struct snap_list list = {0};
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	roots[0] = k.tree;
	kit_take(&k, "by-hand", NULL);
	for (int i = 0; i < 30; i++) {
		struct snap_info info = {0};
		char text[16];

		(void)snprintf(text, sizeof(text), "%d", i);
		kit_write(&k, "a", text);
		assert_int_equal(snap_take(k.store, &o, &info, &k.err), 0);
		snap_info_done(&info);
	}
	assert_int_equal(snap_list(k.store, "auto", &list, NULL, &k.err), 0);
	assert_int_equal(list.n, 3);
	kit_restore(&k, list.v[0].name);
	assert_text(&k, "a", "29");
	snap_list_done(&list);
	kit_restore(&k, "by-hand");
	kit_end(&k);
}

/* Two of them became names of one: each gets back what it was. */
static void test_joined_specials(void **state)
{
	struct kit k;
	char *before, *after;

	(void)state;
	kit_start(&k);
	assert_int_equal(mkfifo(kit_path(&k, "one"), 0600), 0);
	assert_int_equal(mkfifo(kit_path(&k, "two"), 0640), 0);
	assert_int_equal(symlink("there", kit_path(&k, "three")), 0);
	assert_int_equal(symlink("there", kit_path(&k, "four")), 0);
	assert_int_equal(utimensat(AT_FDCWD, kit_path(&k, "four"),
				   (struct timespec[]){{.tv_sec = 1}, {.tv_sec = 2}},
				   AT_SYMLINK_NOFOLLOW),
			 0);
	before = kit_describe(k.tree, false);
	kit_take(&k, "s", NULL);
	assert_int_equal(unlink(kit_path(&k, "two")), 0);
	assert_int_equal(link(kit_path(&k, "one"), kit_path(&k, "two")), 0);
	assert_int_equal(unlink(kit_path(&k, "four")), 0);
	assert_int_equal(link(kit_path(&k, "three"), kit_path(&k, "four")), 0);
	assert_int_equal(chmod(kit_path(&k, "one"), 0606), 0);
	kit_restore(&k, "s");
	after = kit_describe(k.tree, false);
	kit_assert_same(before, after, "names that were joined");
	free(before);
	free(after);
	kit_end(&k);
}

static void test_sockets_skipped(void **state)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct snap_info info = {0};
	struct kit k;
	int fd;

	(void)state;
	kit_start_quick(&k);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/socket", k.tree);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	kit_take(&k, "s", &info);
	assert_int_equal(info.skipped, 1);
	assert_int_equal(info.files, 1);
	snap_info_done(&info);
	kit_restore(&k,
		    "s"); /* the socket may be removed as anything that is not in the snapshot */
	(void)close(fd);
	kit_end(&k);
}

/* A name that was alone is not written through another name of the inode that it has now. */
static void test_joined_to_foreign(void **state)
{
	struct snap_restore_options o = {0};
	struct kit k;

	(void)state;
	kit_start(&k);
	kit_write(&k, "alone", "text");
	kit_take(&k, "s", NULL);
	kit_write(&k, "mine", "text"); /* the same, as it happens */
	assert_int_equal(unlink(kit_path(&k, "alone")), 0);
	assert_int_equal(link(kit_path(&k, "mine"), kit_path(&k, "alone")), 0);
	assert_int_equal(snap_restore_with(&k, "s", &o, NULL), 0);
	assert_text(&k, "alone", "text");
	kit_write(&k, "alone", "written now");
	assert_text(&k, "mine", "text");
	kit_end(&k);
}

/* A file with a name outside the tree keeps its inode, and so the name outside. */
static void test_linked_outside(void **state)
{
	struct snap_restore_options o = {0};
	struct stat before, after;
	char outside[128];
	struct kit k;

	(void)state;
	kit_start(&k);
	kit_write(&k, "f", "text");
	(void)snprintf(outside, sizeof(outside), "%s/outside", k.top);
	assert_int_equal(link(kit_path(&k, "f"), outside), 0);
	assert_int_equal(stat(outside, &before), 0);
	kit_take(&k, "s", NULL);
	kit_write(&k, "f", "changed and longer than before");
	assert_int_equal(snap_restore_with(&k, "s", &o, NULL), 0);
	assert_text(&k, "f", "text");
	assert_int_equal(stat(kit_path(&k, "f"), &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(after.st_nlink, 2);
	kit_end(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_foreign_files_stay),
		cmocka_unit_test(test_asked_about),
		cmocka_unit_test(test_removable_outside),
		cmocka_unit_test(test_conflict),
		cmocka_unit_test(test_dry_run),
		cmocka_unit_test(test_forged_time),
		cmocka_unit_test(test_young_file),
		cmocka_unit_test(test_young_is_not_noted),
		cmocka_unit_test(test_second_reads_nothing),
		cmocka_unit_test(test_same_content_once),
		cmocka_unit_test(test_large_sparse),
		cmocka_unit_test(test_hostile_links),
		cmocka_unit_test(test_race),
		cmocka_unit_test(test_only),
		cmocka_unit_test(test_file_roots),
		cmocka_unit_test(test_target),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_ceilings),
		cmocka_unit_test(test_state_in_tree),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_joined_specials),
		cmocka_unit_test(test_sockets_skipped),
		cmocka_unit_test(test_joined_to_foreign),
		cmocka_unit_test(test_linked_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
