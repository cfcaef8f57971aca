/* SPDX-License-Identifier: Apache-2.0 */
/* Change sets: what is told of them, what a commit does, refuses and leaves out, and what a hostile one cannot do. */
#include "cow_kit.h"

#include "workspace/cow/apply.h"
#include "workspace/cow/node.h"
#include "workspace/snap/journal.h"
#include "workspace/cow/textdiff.h"

#include <time.h>

/* Nothing was done in the last moment: times of files differ from that of the set. */
static void let_time_pass(void)
{
	struct timespec ts = {.tv_nsec = 20 * 1000000};

	(void)nanosleep(&ts, NULL);
}

static void test_life(void **state)
{
	struct cow c = COW_NONE, again = COW_NONE;
	AUTO(strv_done) struct strv ids = {0};
	struct cordon_error err = {0};
	char id[COW_ID_MAX];

	(void)state;
	kit_create(&c);
	assert_true(cow_id_is_valid(c.id));
	memcpy(id, c.id, sizeof(id));
	assert_int_equal(cow_list(kit_state, &ids, &err), 0);
	assert_int_equal(ids.n, 1);
	assert_string_equal(ids.v[0], id);
	cow_close(&c);
	assert_int_equal(cow_open(kit_state, id, COW_SHARED, &c, &err), 0);
	assert_int_equal(cow_open(kit_state, id, COW_SHARED, &again, &err), 0);
	assert_string_equal(again.workspace, kit_work);
	cow_close(&again);
	cow_close(&c);
	assert_int_equal(cow_open(kit_state, id, COW_EXCLUSIVE, &c, &err), 0);
	assert_int_equal(cow_discard(&c, &err), 0);
	assert_int_equal(cow_open(kit_state, id, COW_SHARED, &c, &err), CORDON_E_NOT_FOUND);
	assert_int_equal(cow_open(kit_state, "../../x", COW_SHARED, &c, &err), CORDON_E_INVALID);
	assert_int_equal(cow_open(kit_state, "sb-0123456789AB", COW_SHARED, &c, &err),
			 CORDON_E_INVALID);
}

/* One that nobody holds is a leftover, and goes; one that is held or kept stays. */
static void test_sweep(void **state)
{
	const struct cow_options o = {
		.state_dir = kit_state, .workspace = kit_work, .is_temporary = true};
	struct cow left = COW_NONE, held = COW_NONE, kept = COW_NONE;
	AUTO_FREE char *left_dir = NULL;
	struct cordon_error err = {0};

	(void)state;
	assert_int_equal(cow_create(&o, &left, &err), 0);
	assert_int_equal(cow_create(&o, &held, &err), 0);
	kit_create(&kept);
	left_dir = strdup(left.dir);
	cow_close(&left);
	cow_sweep(kit_state);
	assert_int_not_equal(access(left_dir, F_OK), 0);
	assert_int_equal(access(held.dir, F_OK), 0);
	assert_int_equal(access(kept.dir, F_OK), 0);
	assert_int_equal(cow_keep(&held, &err), 0);
	assert_true(cow_id_is_valid(held.id));
	assert_int_equal(access(held.dir, F_OK), 0);
	cow_close(&held);
	cow_close(&kept);
	cow_sweep(kit_state);
	assert_int_equal(cow_open(kit_state, kept.id, COW_SHARED, &kept, &err), CORDON_E_INVALID);
}

static void make_tree(void)
{
	kit_write(kit_work, "a", "one\n");
	kit_write(kit_work, "b", "two\n");
	kit_mkdir(kit_work, "sub");
	kit_write(kit_work, "sub/k", "k\n");
	kit_mkdir(kit_work, "sub/deep");
	kit_write(kit_work, "sub/deep/z", "z\n");
	assert_int_equal(symlink("a", kit_path(kit_work, "link")), 0);
	let_time_pass();
}

/* Copies a file up as overlayfs does: same bytes, times and mode, and a mark. */
static void copy_up(const struct cow *c, const char *name)
{
	const char *up = kit_upper(c);
	struct timespec times[2];
	struct stat st;

	kit_write(up, name, kit_read(kit_work, name));
	assert_int_equal(stat(kit_path(kit_work, name), &st), 0);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	kit_xattr(up, name, "user.overlay.origin", "x");
	assert_int_equal(chmod(kit_path(up, name), st.st_mode & 07777), 0);
	assert_int_equal(utimensat(AT_FDCWD, kit_path(up, name), times, 0), 0);
}

static void test_names(void **state)
{
	struct cow c = COW_NONE;
	const char *up;

	(void)state;
	make_tree();
	kit_create(&c);
	up = kit_upper(&c);
	assert_string_equal(kit_names(&c), "");
	copy_up(&c, "a"); /* and nothing else: no change */
	assert_string_equal(kit_names(&c), "");
	assert_int_equal(chmod(kit_path(up, "a"), 0600), 0);
	assert_string_equal(kit_names(&c), "modified: a\n");
	assert_int_equal(chmod(kit_path(up, "a"), 0644), 0);
	kit_xattr(up, "a", "user.note", "y");
	assert_string_equal(kit_names(&c), "modified: a\n");
	assert_int_equal(removexattr(kit_path(up, "a"), "user.note"), 0);
	assert_string_equal(kit_names(&c), "");
	kit_whiteout(up, "b");
	kit_whiteout(up, "never");
	kit_mkdir(up, "new");
	kit_mkdir(up, "new/empty");
	kit_write(up, "new/f", "f");
	assert_int_equal(mkfifo(kit_path(up, "pipe"), 0600), 0);
	assert_int_equal(symlink("b", kit_path(up, "link")), 0);
	kit_whiteout(up, "sub");
	assert_string_equal(kit_names(&c), "added: new/empty\nadded: new/f\nadded: pipe\n"
					   "deleted: b\ndeleted: sub/deep/z\ndeleted: sub/k\n"
					   "modified: link\n");
	cow_close(&c);
}

/* A directory that was removed and made anew hides what the host has in it. */
static void test_opaque(void **state)
{
	struct cow c = COW_NONE;
	const char *up;

	(void)state;
	make_tree();
	kit_create(&c);
	up = kit_upper(&c);
	kit_mkdir(up, "sub");
	kit_write(up, "sub/fresh", "f");
	assert_string_equal(kit_names(&c), "added: sub/fresh\n");
	kit_xattr(up, "sub", "user.overlay.opaque", "y");
	assert_string_equal(kit_names(&c),
			    "added: sub/fresh\ndeleted: sub/deep/z\ndeleted: sub/k\n");
	/* And so does what is made in it, without a mark of its own. */
	kit_mkdir(up, "sub/deep");
	assert_string_equal(kit_names(&c),
			    "added: sub/fresh\ndeleted: sub/deep/z\ndeleted: sub/k\n");
	cow_close(&c);
}

static void commit_ok(struct cow *c, const char *path, size_t want)
{
	const struct commit_options o = {.paths = &path, .n_paths = path ? 1 : 0};
	struct commit_result result;
	struct cordon_error err = {0};

	if (changes_commit(c, &o, &result, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(result.n, want);
	commit_result_done(&result);
}

/* What nothing was done to is the same file afterwards. */
static void test_commit(void **state)
{
	struct cow c = COW_NONE;
	struct stat before, after;
	const char *up;

	(void)state;
	make_tree();
	assert_int_equal(stat(kit_path(kit_work, "sub/deep/z"), &before), 0);
	kit_create(&c);
	up = kit_upper(&c);
	copy_up(&c, "a");
	kit_write(up, "a", "changed\n");
	kit_whiteout(up, "b");
	kit_mkdir(up, "new");
	kit_write(up, "new/f", "f");
	assert_int_equal(chmod(kit_path(up, "new/f"), 04751), 0);
	assert_int_equal(chmod(kit_path(up, "new"), 0750), 0);
	assert_int_equal(mkfifo(kit_path(up, "pipe"), 0640), 0);
	assert_int_equal(unlink(kit_path(up, "a")), 0);
	kit_write(up, "a", "changed\n");
	kit_mkdir(up, "link"); /* a link became a directory */
	kit_write(up, "link/in", "in");
	commit_ok(&c, NULL, 6);
	assert_string_equal(kit_read(kit_work, "a"), "changed\n");
	assert_null(kit_read(kit_work, "b"));
	assert_string_equal(kit_read(kit_work, "link/in"), "in");
	assert_int_equal(stat(kit_path(kit_work, "new/f"), &after), 0);
	assert_int_equal(after.st_mode & 07777, 0751); /* no set-user-id program is given away */
	assert_int_equal(stat(kit_path(kit_work, "new"), &after), 0);
	assert_int_equal(after.st_mode & 07777, 0750);
	assert_int_equal(stat(kit_path(kit_work, "sub/deep/z"), &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_int_equal(after.st_ctim.tv_nsec, before.st_ctim.tv_nsec);
	assert_string_equal(kit_names(&c), "modified: new/f\n");
	/* The same again, and more: what we wrote ourselves is no conflict. */
	kit_write(up, "a", "again\n");
	commit_ok(&c, "a", 1);
	assert_string_equal(kit_read(kit_work, "a"), "again\n");
	cow_close(&c);
}

static void commit_ok_forced(struct cow *c, size_t want)
{
	const struct commit_options o = {.is_forced = true};
	struct commit_result result;
	struct cordon_error err = {0};

	if (changes_commit(c, &o, &result, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(result.n, want);
	commit_result_done(&result);
}

static void test_kinds(void **state)
{
	struct cow c = COW_NONE;
	const char *up;

	(void)state;
	make_tree();
	kit_create(&c);
	up = kit_upper(&c);
	kit_write(up, "sub", "a file now\n"); /* with all that was in it */
	kit_mkdir(up, "a");                   /* a directory now */
	kit_mkdir(up, "a/x");
	kit_write(up, "a/x/y", "y");
	assert_int_equal(symlink("nowhere", kit_path(up, "b")), 0);
	kit_mkdir(kit_work, "tree");
	kit_write(kit_work, "tree/leaf", "leaf");
	assert_int_equal(symlink("sub", kit_path(up, "tree")), 0); /* a link now */
	commit_ok_forced(&c, 8);
	assert_string_equal(kit_read(kit_work, "sub"), "a file now\n");
	assert_string_equal(kit_read(kit_work, "a/x/y"), "y");
	assert_string_equal(kit_names(&c), "");
	cow_close(&c);
}

static void test_chosen(void **state)
{
	const char *missing = "no/such";
	const struct commit_options o = {.paths = &missing, .n_paths = 1};
	struct commit_result result;
	struct cordon_error err = {0};
	struct cow c = COW_NONE;
	const char *up;

	(void)state;
	make_tree();
	kit_create(&c);
	up = kit_upper(&c);
	kit_mkdir(up, "n");
	kit_mkdir(up, "n/m");
	kit_write(up, "n/m/f", "f");
	kit_write(up, "n/m/g", "g");
	kit_whiteout(up, "sub");
	assert_int_equal(changes_commit(&c, &o, &result, &err), CORDON_E_NOT_FOUND);
	commit_result_done(&result);
	commit_ok(&c, "n/m/f", 1); /* with the directories that it needs */
	assert_string_equal(kit_read(kit_work, "n/m/f"), "f");
	assert_null(kit_read(kit_work, "n/m/g"));
	assert_string_equal(kit_names(&c), "added: n/m/g\ndeleted: sub/deep/z\ndeleted: sub/k\n");
	commit_ok(&c, "sub/k", 1);
	assert_null(kit_read(kit_work, "sub/k"));
	assert_string_equal(kit_read(kit_work, "sub/deep/z"), "z\n");
	cow_close(&c);
}

/* Somebody else was there meanwhile: nothing at all is written. */
static void test_conflict(void **state)
{
	struct commit_options o = {0};
	struct commit_result result;
	struct cordon_error err = {0};
	struct cow c = COW_NONE;
	struct buf before, after;
	const char *up;

	(void)state;
	make_tree();
	kit_create(&c);
	up = kit_upper(&c);
	copy_up(&c, "a");
	kit_write(up, "a", "from inside\n");
	kit_write(up, "new", "new\n");
	copy_up(&c, "b");
	kit_write(up, "b", "inside\n");
	let_time_pass();
	kit_write(kit_work, "a", "from outside\n");
	assert_int_equal(unlink(kit_path(kit_work, "b")), 0);
	before = kit_list(kit_work, KIT_HISTORY);
	assert_int_equal(changes_commit(&c, &o, &result, &err), CORDON_E_REFUSED);
	assert_int_equal(result.conflicts.n, 2);
	assert_string_equal(result.conflicts.v[0], "a");
	assert_string_equal(result.conflicts.v[1], "b");
	commit_result_done(&result);
	after = kit_list(kit_work, KIT_HISTORY);
	assert_string_equal(buf_cstr(&before), buf_cstr(&after));
	buf_done(&before);
	buf_done(&after);
	commit_ok(&c, "new", 1);
	o.is_forced = true;
	assert_int_equal(changes_commit(&c, &o, &result, &err), 0);
	assert_int_equal(result.n, 2);
	commit_result_done(&result);
	assert_string_equal(kit_read(kit_work, "a"), "from inside\n");
	cow_close(&c);
}

/* A file that appeared in a directory which the call removed was never seen by it. */
static void test_appeared(void **state)
{
	const struct commit_options o = {.is_forced = false};
	struct commit_result result;
	struct cordon_error err = {0};
	struct cow c = COW_NONE;

	(void)state;
	make_tree();
	kit_create(&c);
	kit_whiteout(kit_upper(&c), "sub");
	let_time_pass();
	kit_write(kit_work, "sub/appeared", "x");
	assert_int_equal(changes_commit(&c, &o, &result, &err), CORDON_E_REFUSED);
	commit_result_done(&result);
	assert_string_equal(kit_read(kit_work, "sub/appeared"), "x");
	assert_string_equal(kit_read(kit_work, "sub/k"), "k\n");
	cow_close(&c);
}

/* Nor does it come back when it was removed outside with all that was in it; a new one is no conflict. */
static void test_disappeared(void **state)
{
	const struct commit_options o = {0};
	struct commit_result result;
	struct cordon_error err = {0};
	struct cow c = COW_NONE;
	const char *up;

	(void)state;
	make_tree();
	kit_create(&c);
	up = kit_upper(&c);
	kit_mkdir(up, "sub");
	kit_xattr(up, "sub", "user.overlay.origin", "x");
	copy_up(&c, "sub/k");
	kit_write(up, "sub/k", "changed inside\n");
	kit_mkdir(up, "new");
	kit_write(up, "new/moved", "moved\n");
	kit_xattr(up, "new/moved", "user.overlay.origin", "x");
	let_time_pass();
	commit_ok(&c, "new", 1);
	assert_int_equal(prune_tree(AT_FDCWD, kit_path(kit_work, "sub")), 0);
	assert_int_equal(changes_commit(&c, &o, &result, &err), CORDON_E_REFUSED);
	assert_string_equal(result.conflicts.v[0], "sub");
	commit_result_done(&result);
	assert_int_not_equal(access(kit_path(kit_work, "sub"), F_OK), 0);
	cow_close(&c);
}

static void test_protected(void **state)
{
	const struct commit_options o = {0};
	struct commit_result result;
	struct cordon_error err = {0};
	struct cow c = COW_NONE;
	const char *up;

	(void)state;
	make_tree();
	kit_mkdir(kit_work, ".git");
	kit_mkdir(kit_work, ".git/hooks");
	kit_write(kit_work, ".git/hooks/post-commit", "mine\n");
	let_time_pass();
	kit_create(&c);
	up = kit_upper(&c);
	kit_mkdir(up, ".git");
	kit_mkdir(up, ".git/hooks");
	kit_write(up, ".git/hooks/post-commit", "evil\n");
	kit_write(up, ".git/index", "index\n");
	kit_write(up, APPLY_STAGING "x", "ours\n");
	kit_mkdir(up, APPLY_STAGING "d");
	kit_write(up, APPLY_STAGING "d/x", "ours\n");
	kit_write(up, JOURNAL_STAGE_PREFIX "x", "ours\n");
	assert_int_equal(changes_commit(&c, &o, &result, &err), 0);
	assert_int_equal(result.left_out.n, 4);
	assert_string_equal(result.left_out.v[3], ".git/hooks/post-commit: it is protected");
	commit_result_done(&result);
	assert_null(kit_read(kit_work, APPLY_STAGING "d/x"));
	assert_null(kit_read(kit_work, JOURNAL_STAGE_PREFIX "x"));
	assert_string_equal(kit_read(kit_work, ".git/hooks/post-commit"), "mine\n");
	assert_string_equal(kit_read(kit_work, ".git/index"), "index\n"); /* the control */
	/* Nor by removing what is above it. */
	assert_int_equal(prune_tree(AT_FDCWD, kit_path(up, ".git")), 0);
	kit_whiteout(up, ".git");
	assert_int_equal(changes_commit(&c, &o, &result, &err), 0);
	commit_result_done(&result);
	assert_string_equal(kit_read(kit_work, ".git/hooks/post-commit"), "mine\n");
	cow_close(&c);
}

/* What was committed and then removed outside does not come back unasked. */
static void test_removed_since(void **state)
{
	const struct commit_options o = {0};
	struct commit_result result;
	struct cordon_error err = {0};
	struct cow c = COW_NONE;
	const char *up;

	(void)state;
	make_tree();
	kit_create(&c);
	up = kit_upper(&c);
	kit_mkdir(up, "made");
	kit_write(up, "made/x", "x\n");
	commit_ok(&c, NULL, 1);
	assert_int_equal(unlink(kit_path(kit_work, "made/x")), 0);
	kit_write(up, "made/y", "y\n");
	assert_int_equal(changes_commit(&c, &o, &result, &err), CORDON_E_REFUSED);
	assert_int_equal(result.conflicts.n, 1);
	assert_string_equal(result.conflicts.v[0], "made/x");
	commit_result_done(&result);
	assert_null(kit_read(kit_work, "made/x"));
	commit_ok(&c, "made/y", 1); /* the control */
	commit_ok_forced(&c, 1);
	assert_string_equal(kit_read(kit_work, "made/x"), "x\n");
	/* Committed, removed by a commit, and made again: nobody else was there. */
	assert_int_equal(unlink(kit_path(up, "made/x")), 0);
	kit_whiteout(up, "made/x");
	commit_ok(&c, "made/x", 1);
	assert_int_equal(unlink(kit_path(up, "made/x")), 0);
	kit_write(up, "made/x", "again\n");
	commit_ok(&c, "made/x", 1);
	assert_string_equal(kit_read(kit_work, "made/x"), "again\n");
	cow_close(&c);
}

/* Somebody writes while the commit is under way: his stays. */
static void test_changed_meanwhile(void **state)
{
	AUTO(apply_done) struct apply a;
	AUTO(strv_done) struct strv left = {0};
	struct changes changes;
	struct cordon_error err = {0};
	struct cow c = COW_NONE;
	const struct change *rows[8];
	const char *up;

	(void)state;
	kit_write(kit_work, "changed", "old\n");
	kit_write(kit_work, "removed", "old\n");
	kit_write(kit_work, "quiet", "old\n");
	kit_create(&c);
	up = kit_upper(&c);
	kit_write(up, "changed", "inside\n");
	kit_whiteout(up, "removed");
	kit_write(up, "quiet", "inside\n");
	kit_write(up, "added", "inside\n");
	assert_int_equal(changes_read(&c, &changes, &err), 0);
	assert_true(changes.n <= ARRAY_LEN(rows));
	for (size_t i = 0; i < changes.n; i++)
		rows[i] = &changes.v[i];
	assert_int_equal(apply_begin(&c, &a, &err), 0);
	a.rows = rows;
	a.n = changes.n;
	a.left = &left;
	assert_int_equal(apply_stage(&a), 0);
	let_time_pass();
	kit_write(kit_work, "changed", "outside\n");
	kit_write(kit_work, "removed", "outside\n");
	kit_write(kit_work, "added", "outside\n");
	assert_int_equal(apply_run(&a), 0);
	assert_int_equal(left.n, 3);
	assert_string_equal(kit_read(kit_work, "changed"), "outside\n");
	assert_string_equal(kit_read(kit_work, "removed"), "outside\n");
	assert_string_equal(kit_read(kit_work, "added"), "outside\n");
	assert_string_equal(kit_read(kit_work, "quiet"), "inside\n"); /* the control */
	changes_done(&changes);
	cow_close(&c);
}

static void make_gitdir(const char *top, const char *repository)
{
	static const char *const dirs[] = {"", "/.git", "/.git/objects", "/.git/refs",
					   "/.git/hooks"};
	char path[64];

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", repository, dirs[i]);
		kit_mkdir(top, path);
	}
	(void)snprintf(path, sizeof(path), "%s/.git/HEAD", repository);
	kit_write(top, path, "ref: refs/heads/main\n");
	(void)snprintf(path, sizeof(path), "%s/.git/config", repository);
	kit_write(top, path, "[core]\n");
}

/* A repository that no guard knows: made outside, or by an earlier commit. */
static void test_new_repository(void **state)
{
	const struct commit_options o = {.is_forced = true};
	struct commit_result result;
	struct cordon_error err = {0};
	struct cow c = COW_NONE;
	const char *up;

	(void)state;
	make_tree();
	kit_create(&c);
	up = kit_upper(&c);
	make_gitdir(kit_work, "dep");
	kit_mkdir(up, "dep");
	kit_mkdir(up, "dep/.git");
	kit_mkdir(up, "dep/.git/hooks");
	kit_write(up, "dep/.git/hooks/pre-commit", "evil\n");
	kit_write(up, "dep/.git/config", "[core] fsmonitor = evil\n");
	kit_write(up, "dep/.git/index", "index\n");
	kit_write(up, ".envrc", "evil\n");
	make_gitdir(up, "r");
	kit_write(up, "r/.git/hooks/post-merge", "first\n");
	assert_int_equal(changes_commit(&c, &o, &result, &err), 0);
	assert_int_equal(result.left_out.n, 3);
	assert_int_equal(result.warnings.n, 1);
	assert_non_null(strstr(result.warnings.v[0], "r/.git: "));
	assert_non_null(strstr(result.warnings.v[0], "hooks/post-merge"));
	commit_result_done(&result);
	assert_null(kit_read(kit_work, "dep/.git/hooks/pre-commit"));
	assert_null(kit_read(kit_work, ".envrc"));
	assert_string_equal(kit_read(kit_work, "dep/.git/config"), "[core]\n");
	assert_string_equal(kit_read(kit_work, "dep/.git/index"), "index\n"); /* the controls */
	assert_string_equal(kit_read(kit_work, "r/.git/hooks/post-merge"), "first\n");
	/* Now it is there. */
	kit_write(up, "r/.git/hooks/post-checkout", "evil\n");
	kit_write(up, "r/f", "fine\n");
	assert_int_equal(changes_commit(&c, &o, &result, &err), 0);
	commit_result_done(&result);
	assert_null(kit_read(kit_work, "r/.git/hooks/post-checkout"));
	assert_string_equal(kit_read(kit_work, "r/f"), "fine\n");
	cow_close(&c);
}

/* The workspace changed to links that lead elsewhere; the set is full of them. */
static void test_escape(void **state)
{
	const struct commit_options o = {.is_forced = true};
	struct commit_result result;
	struct cordon_error err = {0};
	struct cow c = COW_NONE;
	const char *up;

	(void)state;
	kit_mkdir(kit_dir, "outside");
	kit_write(kit_dir, "outside/k", "safe\n");
	make_tree();
	kit_create(&c);
	up = kit_upper(&c);
	kit_mkdir(up, "sub");
	kit_write(up, "sub/k", "evil\n");
	kit_write(up, "sub/n", "evil\n");
	kit_whiteout(up, "sub/deep");
	assert_int_equal(prune_tree(AT_FDCWD, kit_path(kit_work, "sub")), 0);
	assert_int_equal(symlink("../outside", kit_path(kit_work, "sub")), 0);
	/* Forced, it becomes a directory again; outside nothing happens. */
	assert_int_equal(changes_commit(&c, &o, &result, &err), 0);
	commit_result_done(&result);
	assert_string_equal(kit_read(kit_dir, "outside/k"), "safe\n");
	assert_null(kit_read(kit_dir, "outside/n"));
	assert_string_equal(kit_read(kit_work, "sub/k"), "evil\n");
	/* A link in the set is a link, whatever it names. */
	assert_int_equal(unlink(kit_path(up, "sub/k")), 0);
	assert_int_equal(symlink("/etc/passwd", kit_path(up, "sub/k")), 0);
	assert_int_equal(changes_commit(&c, &o, &result, &err), 0);
	commit_result_done(&result);
	assert_null(kit_read(kit_work, "sub/k")); /* O_NOFOLLOW */
	cow_close(&c);
	/* Another directory under the name of the workspace is not the workspace. */
	kit_create(&c);
	kit_write(kit_upper(&c), "x", "x");
	assert_int_equal(rename(kit_work, kit_path(kit_dir, "moved")), 0);
	assert_int_equal(mkdir(kit_work, 0755), 0);
	assert_int_equal(changes_commit(&c, &o, &result, &err), CORDON_E_INVALID);
	commit_result_done(&result);
	assert_null(kit_read(kit_work, "x"));
	cow_close(&c);
}

/* The same between the look and the act: somebody puts a link where a directory was. */
static void test_race(void **state)
{
	const struct change *rows[8];
	struct cordon_error err = {0};
	struct changes changes;
	struct apply a;
	struct cow c = COW_NONE;
	const char *up;

	(void)state;
	kit_mkdir(kit_dir, "outside");
	kit_write(kit_dir, "outside/k", "safe\n");
	make_tree();
	kit_create(&c);
	up = kit_upper(&c);
	kit_mkdir(up, "sub");
	kit_whiteout(up, "sub/k");
	kit_write(up, "sub/n", "evil\n");
	assert_int_equal(changes_read(&c, &changes, &err), 0);
	assert_true(changes.n < ARRAY_LEN(rows));
	for (size_t i = 0; i < changes.n; i++)
		rows[i] = &changes.v[i];
	assert_int_equal(prune_tree(AT_FDCWD, kit_path(kit_work, "sub")), 0);
	assert_int_equal(symlink("../outside", kit_path(kit_work, "sub")), 0);
	assert_int_equal(apply_begin(&c, &a, &err), 0);
	a.rows = rows;
	a.n = changes.n;
	assert_int_equal(apply_stage(&a), 0);
	assert_true(apply_run(&a) < 0);
	apply_done(&a);
	assert_string_equal(kit_read(kit_dir, "outside/k"), "safe\n");
	assert_null(kit_read(kit_dir, "outside/n"));
	changes_done(&changes);
	cow_close(&c);
}

/* Written in place, so that the other name sees it, whether an overlay left its mark or not; not when two names are to
 * have different contents. */
static void test_links(void **state)
{
	struct cow c = COW_NONE;
	const char *up;

	(void)state;
	make_tree();
	assert_int_equal(link(kit_path(kit_work, "a"), kit_path(kit_work, "a2")), 0);
	assert_int_equal(link(kit_path(kit_work, "b"), kit_path(kit_work, "b2")), 0);
	let_time_pass();
	kit_create(&c);
	up = kit_upper(&c);
	copy_up(&c, "a");
	kit_write(up, "a", "written in place, and longer\n");
	kit_write(up, "b", "no mark\n");
	commit_ok(&c, NULL, 2);
	assert_string_equal(kit_read(kit_work, "a2"), "written in place, and longer\n");
	assert_string_equal(kit_read(kit_work, "b2"), "no mark\n");
	kit_write(up, "a", "one\n");
	kit_write(up, "a2", "another\n");
	commit_ok(&c, NULL, 2);
	assert_string_equal(kit_read(kit_work, "a"), "one\n");
	assert_string_equal(kit_read(kit_work, "a2"), "another\n");
	cow_close(&c);
}

/* A call can make what is hard to remove. */
static void test_discard(void **state)
{
	struct cordon_error err = {0};
	struct buf before, after;
	struct cow c = COW_NONE;
	AUTO_FREE char *dir = NULL;
	AUTO_CLOSE int at = -1;

	(void)state;
	make_tree();
	before = kit_list(kit_work, KIT_HISTORY);
	kit_create(&c);
	dir = strdup(c.dir);
	at = open(kit_upper(&c), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 1500; i++) {
		int next;

		assert_int_equal(mkdirat(at, "deep", 0700), 0);
		next = openat(at, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		if (i % 100 == 50)
			assert_int_equal(fchmod(at, 0), 0);
		(void)close(at);
		at = next;
	}
	for (int i = 0; i < 2000; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "f%d", i);
		assert_int_equal(mknodat(at, name, S_IFREG, 0), 0);
	}
	assert_int_equal(cow_discard(&c, &err), 0);
	assert_int_not_equal(access(dir, F_OK), 0);
	after = kit_list(kit_work, KIT_HISTORY);
	assert_string_equal(buf_cstr(&before), buf_cstr(&after));
	buf_done(&before);
	buf_done(&after);
}

static void test_damaged(void **state)
{
	static const char *const notes[] = {
		"",
		"cordon-change-set 2\n",
		"cordon-change-set 1\ndevice x\n",
		"cordon-change-set 1\ndevice 1\ninode 2\ncreated 3\nlayers odd\nworkspace /x\n",
		"cordon-change-set 1\ndevice 1\ninode 2\ncreated 3\nlayers overlay\nworkspace x\n",
		"cordon-change-set 1\ndevice 1\ninode 2\ncreated 3\nlayers overlay\nworkspace /x",
	};
	struct cordon_error err = {0};
	struct cow c = COW_NONE;
	char id[COW_ID_MAX];
	char dir[600];

	(void)state;
	make_tree();
	kit_create(&c);
	memcpy(id, c.id, sizeof(id));
	(void)snprintf(dir, sizeof(dir), "%s", c.dir);
	cow_close(&c);
	kit_write(dir, "journal", "cordon-journal 1\nnonsense");
	assert_int_equal(cow_open(kit_state, id, COW_SHARED, &c, &err), CORDON_E_INVALID);
	assert_int_equal(unlink(kit_path(dir, "journal")), 0);
	for (size_t i = 0; i < ARRAY_LEN(notes); i++) {
		kit_write(dir, "note", notes[i]);
		assert_int_equal(cow_open(kit_state, id, COW_SHARED, &c, &err), CORDON_E_INVALID);
	}
}

static void test_textdiff(void **state)
{
	static const struct {
		const char *a;
		const char *b;
		const char *want;
	} rows[] = {
		{"", "", ""},
		{"a\n", "a\n", ""},
		{"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
		{"a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n",
		 "@@ -7,3 +7,4 @@\n 7\n 8\n 9\n+10\n"},
		{"a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n",
		 "@@ -1,7 +1,6 @@\n-a\n+c\n b\n-c\n a\n b\n-b\n a\n+c\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF_INIT(4096);

		assert_int_equal(textdiff(rows[i].a, strlen(rows[i].a), rows[i].b,
					  strlen(rows[i].b), &out),
				 0);
		assert_string_equal(buf_cstr(&out), rows[i].want);
		buf_done(&out);
	}
}

/* Texts with nothing in common, as long as they come: bounded, and still right. */
static void test_textdiff_far(void **state)
{
	struct buf a = BUF_INIT(8 << 20), b = BUF_INIT(8 << 20), out = BUF_INIT(32 << 20);
	size_t minus = 0, plus = 0;

	(void)state;
	for (int i = 0; i < 50000; i++) {
		buf_printf(&a, "left %d\n", i);
		buf_printf(&b, "right %d\n", i * 7);
	}
	assert_int_equal(textdiff(a.data, a.len, b.data, b.len, &out), 0);
	assert_int_equal(buf_error(&out), 0);
	for (size_t i = 0; i < out.len; i++)
		if (i == 0 || out.data[i - 1] == '\n') {
			minus += out.data[i] == '-';
			plus += out.data[i] == '+';
		}
	assert_int_equal(minus, 50000);
	assert_int_equal(plus, 50000);
	buf_done(&a);
	buf_done(&b);
	buf_done(&out);
}

static void test_text(void **state)
{
	struct buf out = BUF_INIT(1 << 20);
	struct cordon_error err = {0};
	struct changes changes;
	struct cow c = COW_NONE;
	const char *up;

	(void)state;
	make_tree();
	kit_create(&c);
	up = kit_upper(&c);
	copy_up(&c, "a");
	kit_write(up, "a", "ONE\n");
	kit_write(up, "moved", "two\n");
	kit_whiteout(up, "b");
	kit_write(up, "bin", "x");
	assert_int_equal(truncate(kit_path(up, "bin"), 10), 0);
	assert_int_equal(symlink("sub", kit_path(up, "link")), 0);
	assert_int_equal(changes_read(&c, &changes, &err), 0);
	assert_int_equal(changes_find_renames(&c, &changes, &err), 0);
	assert_int_equal(changes_diff_text(&c, &changes, &out, &err), 0);
	assert_string_equal(buf_cstr(&out),
			    "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+ONE\n"
			    "diff --git a/bin b/bin\nnew file mode 100644\n"
			    "Binary files differ: 0 bytes, then 10 bytes\n"
			    "diff --git a/link b/link\n--- a/link\n+++ b/link\n@@ -1 +1 @@\n-a\n"
			    "\\ No newline at end of file\n+sub\n\\ No newline at end of file\n"
			    "diff --git a/b b/moved\nrename from b\nrename to moved\n");
	changes_done(&changes);
	buf_done(&out);
	cow_close(&c);
}

/* The whole workspace as a copy. */
static void test_copy(void **state)
{
	const struct cow_options o = {
		.state_dir = kit_state, .workspace = kit_work, .layers = COW_COPY};
	const struct cow_guard guards[] = {{.path = kit_path(kit_work, ".git/hooks")}};
	struct cordon_error err = {0};
	struct cow c = COW_NONE;
	char copy[600];

	(void)state;
	make_tree();
	assert_int_equal(mkfifo(kit_path(kit_work, "pipe"), 0640), 0);
	kit_xattr(kit_work, "a", "user.note", "x");
	let_time_pass();
	assert_int_equal(cow_create(&o, &c, &err), 0);
	assert_int_equal(cow_prepare(&c, guards, 1, &err), 0);
	assert_string_equal(kit_names(&c), "");
	(void)snprintf(copy, sizeof(copy), "%s/copy", c.dir);
	kit_write(copy, "a", "changed\n");
	assert_int_equal(unlink(kit_path(copy, "b")), 0);
	assert_int_equal(prune_tree(AT_FDCWD, kit_path(copy, "sub/deep")), 0);
	kit_write(copy, "sub/n", "n\n");
	assert_string_equal(kit_names(&c), "added: sub/n\ndeleted: b\ndeleted: sub/deep/z\n"
					   "modified: a\n");
	commit_ok(&c, NULL, 4);
	assert_string_equal(kit_read(kit_work, "a"), "changed\n");
	assert_null(kit_read(kit_work, "sub/deep/z"));
	assert_string_equal(kit_names(&c), "");
	cow_close(&c);
}

/* What others did to the workspace since it was copied is not the call's doing, and stays when the commit is forced. */
static void test_copy_others(void **state)
{
	const struct cow_options o = {
		.state_dir = kit_state, .workspace = kit_work, .layers = COW_COPY};
	const struct cow_guard guards[] = {{.path = kit_path(kit_work, ".git/hooks")}};
	const struct commit_options all = {0};
	struct commit_result result;
	struct cordon_error err = {0};
	struct cow c = COW_NONE;
	struct stat st;
	char copy[600];

	(void)state;
	make_tree();
	kit_mkdir(kit_work, "gone");
	kit_write(kit_work, "gone/x", "x\n");
	kit_mkdir(kit_work, "torn");
	kit_write(kit_work, "torn/x", "x\n");
	let_time_pass();
	assert_int_equal(cow_create(&o, &c, &err), 0);
	assert_int_equal(cow_prepare(&c, guards, 1, &err), 0);
	(void)snprintf(copy, sizeof(copy), "%s/copy", c.dir);
	let_time_pass();
	kit_write(kit_work, "b", "outside\n");
	kit_write(kit_work, "new", "outside\n");
	kit_write(kit_work, "sub/new", "outside\n");
	assert_int_equal(chmod(kit_path(kit_work, "sub"), 0711), 0);
	assert_int_equal(unlink(kit_path(kit_work, "sub/k")), 0);
	assert_int_equal(prune_tree(AT_FDCWD, kit_path(kit_work, "gone")), 0);
	assert_string_equal(kit_names(&c), "");
	kit_write(copy, "a", "changed\n");
	kit_write(copy, "sub/made", "made\n");
	assert_string_equal(kit_names(&c), "added: sub/made\nmodified: a\n");
	commit_ok_forced(&c, 2);
	assert_string_equal(kit_read(kit_work, "a"), "changed\n");
	assert_string_equal(kit_read(kit_work, "sub/made"), "made\n");
	assert_string_equal(kit_read(kit_work, "b"), "outside\n");
	assert_string_equal(kit_read(kit_work, "new"), "outside\n");
	assert_string_equal(kit_read(kit_work, "sub/new"), "outside\n");
	assert_null(kit_read(kit_work, "sub/k"));
	assert_null(kit_read(kit_work, "gone/x"));
	assert_int_equal(stat(kit_path(kit_work, "sub"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0711);
	/* Where both did something it is a conflict. */
	assert_int_equal(unlink(kit_path(copy, "b")), 0);
	assert_int_equal(changes_commit(&c, &all, &result, &err), CORDON_E_REFUSED);
	assert_string_equal(result.conflicts.v[0], "b");
	commit_result_done(&result);
	assert_string_equal(kit_read(kit_work, "b"), "outside\n");
	kit_write(copy, "b", "both\n");
	kit_write(copy, "torn/x", "inside\n");
	assert_int_equal(prune_tree(AT_FDCWD, kit_path(kit_work, "torn")), 0);
	assert_int_equal(changes_commit(&c, &all, &result, &err), CORDON_E_REFUSED);
	assert_int_equal(result.conflicts.n, 2);
	assert_string_equal(result.conflicts.v[1], "torn");
	commit_result_done(&result);
	cow_close(&c);
}

/* A file of that size that is a hole but for one piece of data. */
static int make_holes(const char *name, off_t size, off_t at, char with)
{
	char path[400];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", kit_work, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	if (at >= 0)
		assert_int_equal(pwrite(fd, &with, 1, at), 1);
	return fd;
}

/* Equal or not, and never by reading a terabyte of nothing. */
static void test_same_content(void **state)
{
	const off_t large = (off_t)1 << 40;
	const struct {
		const char *what;
		off_t size_a, at_a;
		char with_a;
		off_t size_b, at_b;
		char with_b;
		int want;
	} rows[] = {
		{"two empty ones", 0, -1, 0, 0, -1, 0, 1},
		{"holes", large, -1, 0, large, -1, 0, 1},
		{"holes of other sizes", large, -1, 0, large + 1, -1, 0, 0},
		{"the same behind a hole", large, large - 9, 'x', large, large - 9, 'x', 1},
		{"another byte behind a hole", large, large - 9, 'x', large, large - 9, 'y', 0},
		{"data in the second alone", large, -1, 0, large, large - 9, 'x', 0},
		{"data in the first alone", large, large - 9, 'x', large, -1, 0, 0},
		{"zeros that are written", large, large - 9, 0, large, -1, 0, 1},
		{"data behind the end of the other", 4096, -1, 0, large, large - 9, 'x', 0},
		{"the last byte", large, large - 1, 'x', large, large - 1, 'x', 1},
		{"in other places", large, 5, 'x', large, large - 9, 'x', 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int a = make_holes("a", rows[i].size_a, rows[i].at_a, rows[i].with_a);
		int b = make_holes("b", rows[i].size_b, rows[i].at_b, rows[i].with_b);

		if (node_same_content(a, b) != rows[i].want)
			fail_msg("%s", rows[i].what);
		(void)close(a);
		(void)close(b);
	}
}

#define ROW(f) cmocka_unit_test_setup_teardown(f, kit_setup, kit_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(test_life),           ROW(test_sweep),
		ROW(test_names),          ROW(test_same_content),
		ROW(test_opaque),         ROW(test_commit),
		ROW(test_kinds),          ROW(test_chosen),
		ROW(test_conflict),       ROW(test_appeared),
		ROW(test_disappeared),    ROW(test_protected),
		ROW(test_removed_since),  ROW(test_changed_meanwhile),
		ROW(test_new_repository), ROW(test_escape),
		ROW(test_race),           ROW(test_links),
		ROW(test_discard),        ROW(test_damaged),
		ROW(test_textdiff),       ROW(test_textdiff_far),
		ROW(test_text),           ROW(test_copy),
		ROW(test_copy_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
