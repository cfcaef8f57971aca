/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A commit that is killed.  Every call of the C library that changes something is counted (the linker puts us in
 * between); a child is killed before the first, before the second, and so on, until one comes to the end.  Each
 * time every file is the old or the new one, and whoever opens the set next finishes the commit.
 */
#include "cow_kit.h"

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

static long *left; /* until we are killed; shared with the child */
static bool counts;

static void step(void)
{
	if (counts && --*left == 0)
		(void)kill(getpid(), SIGKILL);
}

#define WRAP(type, name, parameters, arguments)                                                    \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		step();                                                                            \
		return __real_##name arguments;                                                    \
	}

/* NOLINTBEGIN(bugprone-reserved-identifier) the linker's names */
WRAP(int, renameat, (int a, const char *p, int b, const char *q), (a, p, b, q))
WRAP(int, renameat2, (int a, const char *p, int b, const char *q, unsigned f), (a, p, b, q, f))
WRAP(int, mkdirat, (int a, const char *p, mode_t m), (a, p, m))
WRAP(int, unlinkat, (int a, const char *p, int f), (a, p, f))
WRAP(int, symlinkat, (const char *t, int a, const char *p), (t, a, p))
WRAP(int, mknodat, (int a, const char *p, mode_t m, dev_t d), (a, p, m, d))
WRAP(int, fchmod, (int fd, mode_t m), (fd, m))
WRAP(int, fchown, (int fd, uid_t u, gid_t g), (fd, u, g))
WRAP(int, ftruncate, (int fd, off_t n), (fd, n))
WRAP(int, futimens, (int fd, const struct timespec *t), (fd, t))
WRAP(int, utimensat, (int a, const char *p, const struct timespec *t, int f), (a, p, t, f))
WRAP(int, fsetxattr, (int fd, const char *n, const void *v, size_t l, int f), (fd, n, v, l, f))
WRAP(int, fdatasync, (int fd), (fd))
WRAP(int, fsync, (int fd), (fd))
WRAP(ssize_t, copy_file_range, (int a, off_t *x, int b, off_t *y, size_t n, unsigned f),
     (a, x, b, y, n, f))
/* NOLINTEND(bugprone-reserved-identifier) */

static const struct {
	const char *path;
	const char *old; /* NULL: not there */
	const char *new;
} files[] = {
	{"a", "old a\n", "new a\n"},
	{"b", "old b\n", NULL},
	{"d/e/added", NULL, "added\n"},
	{"d/kept", "kept\n", "kept\n"},
	{"gone/x", "x\n", NULL},
	{"gone/y/z", "z\n", NULL},
	{"kind/file", "in a directory\n", NULL},
	{"linked", "old link\n", "new, in place\n"},
	{"parted", "one file\n", "its own\n"},
	{"parted2", "one file\n", "another one\n"},
};

static void make(void)
{
	static const char *const dirs[] = {"d", "d/e", "gone", "gone/y", "kind"};

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		kit_mkdir(kit_work, dirs[i]);
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (files[i].old)
			kit_write(kit_work, files[i].path, files[i].old);
	assert_int_equal(link(kit_path(kit_work, "linked"), kit_path(kit_work, "linked2")), 0);
	assert_int_equal(unlink(kit_path(kit_work, "parted2")), 0);
	assert_int_equal(link(kit_path(kit_work, "parted"), kit_path(kit_work, "parted2")), 0);
	assert_int_equal(link(kit_path(kit_work, "parted"), kit_path(kit_work, "parted3")), 0);
	kit_write(kit_work, "mode", "mode\n");
	(void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void change(const struct cow *c)
{
	const char *up = kit_upper(c);

	kit_write(up, "a", "new a\n");
	kit_xattr(up, "a", "user.note", "n");
	kit_whiteout(up, "b");
	kit_mkdir(up, "d");
	kit_mkdir(up, "d/e");
	kit_write(up, "d/e/added", "added\n");
	assert_int_equal(chmod(kit_path(up, "d/e"), 0750), 0);
	kit_mkdir(up, "d/fresh");
	assert_int_equal(symlink("../a", kit_path(up, "d/fresh/link")), 0);
	assert_int_equal(mkfifo(kit_path(up, "d/fresh/pipe"), 0600), 0);
	kit_whiteout(up, "gone");
	kit_write(up, "kind", "a file now\n");
	kit_write(up, "linked", "new, in place\n");
	kit_xattr(up, "linked", "user.overlay.origin", "x");
	kit_write(up, "parted", "its own\n");
	kit_write(up, "parted2", "another one\n");
	kit_write(up, "mode", "mode\n");
	assert_int_equal(chmod(kit_path(up, "mode"), 0600), 0);
}

static bool is(const char *path, const char *want)
{
	const char *have = kit_read(kit_work, path);

	return want ? have && strcmp(have, want) == 0 : !have;
}

static void check_old_or_new(long n)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		/* The one that is written in place may be seen while it is. */
		if (strcmp(files[i].path, "linked") == 0)
			continue;
		if (!is(files[i].path, files[i].old) && !is(files[i].path, files[i].new))
			fail_msg("step %ld: '%s' is neither the old nor the new one", n,
				 files[i].path);
	}
}

/* Kills a commit before step n.  True when it came to its end. */
static bool kill_at(const char *id, long n)
{
	int status = 0;
	pid_t pid;

	*left = n;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct commit_result result;
		struct cow c = COW_NONE;
		int r = cow_open(kit_state, id, COW_EXCLUSIVE, &c, NULL);

		counts = true;
		if (r == 0)
			r = changes_commit(&c, &(struct commit_options){0}, &result, NULL);
		_exit(r < 0 ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		return true;
	}
	assert_int_equal(WTERMSIG(status), SIGKILL);
	return false;
}

static bool has_staging(void)
{
	DIR *d = opendir(kit_work);
	const struct dirent *e;
	bool found = false;

	while ((e = readdir(d)))
		found |= strncmp(e->d_name, ".cordon-commit-", 15) == 0;
	(void)closedir(d);
	return found;
}

static void test_every_step(void **state)
{
	struct buf want = BUF_INIT(1 << 20);
	bool is_over = false;
	long n = 0;

	(void)state;
	left = mmap(NULL, sizeof(*left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(left != MAP_FAILED);
	/* First all of it, to know what it comes to; then up to one step more each time. */
	for (long at = LONG_MAX; !is_over; at = ++n) {
		struct cordon_error err = {0};
		struct cow c = COW_NONE;
		struct buf have;
		char id[COW_ID_MAX];

		assert_int_equal(kit_setup(NULL), 0);
		make();
		kit_create(&c);
		change(&c);
		memcpy(id, c.id, sizeof(id));
		cow_close(&c);
		is_over = kill_at(id, at) && at != LONG_MAX;
		check_old_or_new(at);
		if (cow_open(kit_state, id, COW_SHARED, &c, &err) < 0)
			fail_msg("step %ld: %s", at, err.message);
		/* Before its journal is whole nothing has begun; after that all is done. */
		if (kit_names(&c)[0] != '\0') {
			if (!is("a", "old a\n") || !is("b", "old b\n"))
				fail_msg("step %ld: half done: %s", at, kit_names(&c));
		} else {
			have = kit_list(kit_work, KIT_PLAIN);
			if (want.len == 0)
				want = have;
			else
				assert_string_equal(buf_cstr(&have), buf_cstr(&want));
			if (have.data != want.data)
				buf_done(&have);
			assert_string_equal(kit_read(kit_work, "linked2"), "new, in place\n");
			assert_string_equal(kit_read(kit_work, "parted3"), "one file\n");
		}
		assert_false(has_staging());
		cow_close(&c);
		assert_int_equal(kit_teardown(NULL), 0);
	}
	print_message("%ld steps\n", n);
	assert_true(n > 40); /* or somebody has taken the counting away */
	buf_done(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_step)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
