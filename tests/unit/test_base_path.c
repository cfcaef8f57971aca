/* SPDX-License-Identifier: Apache-2.0 */
/* Paths: the lexical functions as tables, the resolving ones in a directory of their own. */
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char *tree; /* a fresh directory, by its real path */
static int tree_fd = -1;

static const char *in_tree(const char *name)
{
	static char text[4][512];
	static unsigned turn;
	char *out = text[turn++ % ARRAY_LEN(text)];

	(void)snprintf(out, sizeof(text[0]), "%s%s", tree, name);
	return out;
}

static int tree_make(void **state)
{
	char name[] = "/tmp/cordon-path-XXXXXX";
	int fd;

	(void)state;
	if (!mkdtemp(name))
		return -1;
	tree = realpath(name, NULL);
	tree_fd = open(tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (tree_fd < 0 || mkdirat(tree_fd, "dir", 0755) < 0 ||
	    mkdirat(tree_fd, "dir/sub", 0755) < 0)
		return -1;
	fd = openat(tree_fd, "dir/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	(void)fd_close(fd);
	return symlinkat("dir/sub", tree_fd, "link") < 0 ||
			       symlinkat("gone/x", tree_fd, "dangling") < 0 ||
			       symlinkat("/gone-for-good", tree_fd, "dangling-abs") < 0 ||
			       symlinkat("loop2", tree_fd, "loop1") < 0 ||
			       symlinkat("loop1", tree_fd, "loop2") < 0 ||
			       symlinkat("/etc", tree_fd, "escape-abs") < 0 ||
			       symlinkat("../..", tree_fd, "escape-up") < 0 ||
			       symlinkat("../link/..", tree_fd, "dir/chain") < 0
		       ? -1
		       : 0;
}

static int tree_remove(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		execlp("rm", "rm", "-rf", "--", tree, (char *)NULL);
		_exit(127);
	}
	tree_fd = fd_close(tree_fd);
	free(TAKE_PTR(tree));
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

static void test_normalise(void **state)
{
	static const struct {
		const char *in;
		const char *want;
	} rows[] = {
		{"/", "/"},
		{"//", "/"},
		{"/.", "/"},
		{"/..", "/"},
		{"/../..", "/"},
		{"/a", "/a"},
		{"/a/", "/a"},
		{"/a//b///c", "/a/b/c"},
		{"/a/./b/.", "/a/b"},
		{"/a/../..", "/"},
		{"/a/../../b", "/b"},
		{"/a/b/../c", "/a/c"},
		{"/a/b/..", "/a"},
		{"/a/...", "/a/..."},
		{"/.a/..b", "/.a/..b"},
		{"/a/b/../../c/../d", "/d"},
		{"", NULL},
		{"a", NULL},
		{"./a", NULL},
		{"~/a", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FREE char *out = NULL;
		int r = path_normalise(rows[i].in, &out);

		if (!rows[i].want) {
			if (r != -EINVAL || out)
				fail_msg("'%s': %d", rows[i].in, r);
		} else if (r != 0 || strcmp(out, rows[i].want) != 0) {
			fail_msg("'%s': %d '%s'", rows[i].in, r, out ? out : "");
		}
	}
}

static void test_lengths(void **state)
{
	static char text[LIMIT_PATH_BYTES + 1];
	AUTO_FREE char *fits = NULL;
	AUTO_FREE char *joined = NULL;
	AUTO_FREE char *resolved = NULL;
	char *none = NULL;

	(void)state;
	text[0] = '/';
	memset(text + 1, 'a', LIMIT_PATH_BYTES - 2);
	assert_int_equal(path_normalise(text, &fits), 0);
	assert_string_equal(fits, text);
	assert_int_equal(path_join("/", text + 1, &none), -ENAMETOOLONG);
	assert_int_equal(path_join("/", text + 2, &joined), 0);
	text[LIMIT_PATH_BYTES - 1] = 'a';
	assert_int_equal(path_normalise(text, &none), -ENAMETOOLONG);
	assert_int_equal(path_resolve(text, &none), -ENAMETOOLONG);
	assert_int_equal(path_join("/x", text, &none), -ENAMETOOLONG);
	for (size_t i = 1; i < LIMIT_PATH_BYTES; i += 2)
		text[i] = '.', text[i + 1] = '/';
	text[LIMIT_PATH_BYTES - 1] = '\0';
	assert_int_equal(path_resolve(text, &resolved), 0);
	assert_string_equal(resolved, "/");
	assert_null(none);
}

static void test_join(void **state)
{
	static const struct {
		const char *dir, *name, *want;
	} rows[] = {
		{"/a", "b", "/a/b"}, {"/a/", "b/", "/a/b"},   {"/a", "../b", "/b"},
		{"/a", "", "/a"},    {"/a", "/b", "/b"},      {"/", "b", "/b"},
		{"/a", ".", "/a"},   {"/a", "../../..", "/"}, {"a", "b", NULL},
		{"", "b", "/b"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FREE char *out = NULL;
		int r = path_join(rows[i].dir, rows[i].name, &out);

		if (rows[i].want ? r != 0 || strcmp(out, rows[i].want) != 0 : r != -EINVAL)
			fail_msg("'%s' + '%s': %d", rows[i].dir, rows[i].name, r);
	}
}

static void test_within(void **state)
{
	static const struct {
		const char *path, *dir;
		bool want;
	} rows[] = {
		{"/proj", "/proj", true},
		{"/proj/a", "/proj", true},
		{"/proj2", "/proj", false},
		{"/pro", "/proj", false},
		{"/", "/proj", false},
		{"/proj", "/", true},
		{"/", "/", true},
		{"/proj/a", "/proj/", true},
		{"/proj", "/proj/", true},
		{"/proj2", "/proj/", false},
		{"/a", "", false},
		{"", "", false},
		{"/proj-x/a", "/proj", false},
		{"", "/", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (path_is_within(rows[i].path, rows[i].dir) != rows[i].want)
			fail_msg("'%s' in '%s'", rows[i].path, rows[i].dir);
	assert_string_equal(path_base("/a/b"), "b");
	assert_string_equal(path_base("b"), "b");
	assert_string_equal(path_base("/a/"), "");
	assert_string_equal(path_base("/"), "");
}

static void test_resolve(void **state)
{
	static const struct {
		const char *what, *in, *want;
		int r;
	} rows[] = {
		{"a directory", "/dir", "/dir", 0},
		{"a file", "/dir/file", "/dir/file", 0},
		{"missing", "/dir/a/b", "/dir/a/b", 0},
		{"missing with ..", "/dir/a/../b", "/dir/b", 0},
		{"a link behind a missing name", "/gone/../link", "/dir/sub", 0},
		{"below a file", "/dir/file/x", "/dir/file/x", 0},
		{"a link", "/link", "/dir/sub", 0},
		{"a link and more", "/link/a", "/dir/sub/a", 0},
		{".. of a link is the target's parent", "/link/../file", "/dir/file", 0},
		{"a link through a link", "/dir/chain/file", "/dir/file", 0},
		{"dangling", "/dangling", "/gone/x", 0},
		{"dangling and more", "/dangling/y", "/gone/x/y", 0},
		{"slashes", "//dir///sub//", "/dir/sub", 0},
		{"a loop", "/loop1", NULL, -ELOOP},
		{"below a loop", "/loop1/x", NULL, -ELOOP},
	};
	AUTO_FREE char *out = NULL;
	AUTO_FREE char *root = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FREE char *got = NULL;
		int r = path_resolve(in_tree(rows[i].in), &got);

		if (r != rows[i].r || (r == 0 && strcmp(got, in_tree(rows[i].want)) != 0))
			fail_msg("%s: %d '%s'", rows[i].what, r, got ? got : "");
	}
	assert_int_equal(path_resolve(in_tree("/dangling-abs/y"), &out), 0);
	assert_string_equal(out, "/gone-for-good/y");
	assert_int_equal(path_resolve("/../..", &root), 0);
	assert_string_equal(root, "/");
	assert_int_equal(path_resolve("dir", &out), -EINVAL);
}

/* Runs as nobody in a child: root may search every directory. */
static void test_resolve_no_search(void **state)
{
	int status = -1;
	pid_t pid;

	(void)state;
	if (geteuid() != 0) {
		print_message("# skip: not root, cannot become another user\n");
		skip();
	}
	assert_int_equal(chmod(tree, 0711), 0);
	assert_int_equal(mkdirat(tree_fd, "closed", 0700), 0);
	assert_int_equal(symlinkat("/etc", tree_fd, "closed/link"), 0);
	pid = fork();
	if (pid == 0) {
		char *out = NULL;

		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		if (path_resolve(in_tree("/closed/link/x"), &out) < 0)
			_exit(3);
		_exit(strcmp(out, in_tree("/closed/link/x")) == 0 ? 0 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_open_beneath(void **state)
{
	static const struct {
		const char *what, *path;
		uint64_t more;
		int r; /* 0: opens */
	} rows[] = {
		{"a file", "dir/file", 0, 0},
		{".. inside", "dir/../dir/file", 0, 0},
		{"a link inside", "link/../file", 0, 0},
		{"a link inside, none wanted", "link", RESOLVE_NO_SYMLINKS, -ELOOP},
		{"..", "..", 0, -EXDEV},
		{".. in the middle", "dir/../../x", 0, -EXDEV},
		{"absolute", "/etc/passwd", 0, -EXDEV},
		{"an absolute link", "escape-abs/passwd", 0, -EXDEV},
		{"a link upwards", "escape-up", 0, -EXDEV},
		{"a loop", "loop1", 0, -ELOOP},
		{"missing", "nothing", 0, -ENOENT},
		{"dangling", "dangling", 0, -ENOENT},
		{"empty", "", 0, -ENOENT},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_CLOSE int fd =
			path_open_beneath(tree_fd, rows[i].path, O_RDONLY, 0, rows[i].more);

		if (rows[i].r == 0 ? fd < 0 : fd != rows[i].r)
			fail_msg("%s: %d", rows[i].what, fd);
		if (fd >= 0 && fcntl(fd, F_GETFD) != FD_CLOEXEC)
			fail_msg("%s: not close-on-exec", rows[i].what);
	}
}

static void test_open_beneath_more(void **state)
{
	AUTO_CLOSE int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int created = -1;
	AUTO_CLOSE int unnamed = -1;
	struct stat st;
	mode_t mask = umask(0);

	(void)state;
	assert_int_equal(path_open_beneath(proc_fd, "root", O_PATH, 0, 0), -ELOOP);
	assert_int_equal(path_open_beneath(proc_fd, "cwd/x", O_PATH, 0, 0), -ELOOP);
	assert_int_equal(path_open_beneath(proc_fd, "fd/0", O_RDONLY, 0, 0), -ELOOP);
	created = path_open_beneath(tree_fd, "dir/new", O_CREAT | O_EXCL | O_WRONLY, 0640, 0);
	unnamed = path_open_beneath(tree_fd, "dir", O_TMPFILE | O_WRONLY, 0600, 0);
	(void)umask(mask);
	assert_true(created >= 0);
	assert_int_equal(fstat(created, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_true(unnamed >= 0 || unnamed == -EOPNOTSUPP);
	if (unnamed >= 0) {
		assert_int_equal(fstat(unnamed, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
	}
	assert_int_equal(path_open_beneath(tree_fd, "dangling", O_CREAT | O_WRONLY, 0600, 0),
			 -ENOENT);
	assert_int_equal(path_open_beneath(-1, "x", O_RDONLY, 0, 0), -EBADF);
}

static void test_private_dir(void **state)
{
	struct stat st;
	mode_t mask = umask(022);

	(void)state;
	assert_int_equal(path_make_private_dir(in_tree("/p/q/r"), 0700), 0);
	(void)umask(mask);
	/* All that was created is private, and a second call is content. */
	assert_int_equal(stat(in_tree("/p"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(in_tree("/p/q/r"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(path_make_private_dir(in_tree("/p/q/r/"), 0700), 0);
	assert_int_equal(path_make_private_dir("relative", 0700), -EINVAL);
	/* A link in the middle is followed, a link at the end is not, dangling or not. */
	assert_int_equal(path_make_private_dir(in_tree("/link/z"), 0700), 0);
	assert_int_equal(path_make_private_dir(in_tree("/link"), 0700), -ENOTDIR);
	assert_int_equal(path_make_private_dir(in_tree("/dangling-abs"), 0700), -ENOTDIR);
	assert_int_equal(access("/gone-for-good", F_OK), -1);
	assert_int_equal(path_make_private_dir(in_tree("/dir/file"), 0700), -ENOTDIR);
	assert_int_equal(path_make_private_dir(in_tree("/dir/file/x"), 0700), -ENOTDIR);
	assert_int_equal(path_make_private_dir(in_tree("/loop1/x"), 0700), -ELOOP);
	/* Readable by others is their files' business; writable is not. */
	assert_int_equal(chmod(in_tree("/p"), 0755), 0);
	assert_int_equal(path_make_private_dir(in_tree("/p"), 0700), 0);
	assert_int_equal(chmod(in_tree("/p"), 0770), 0);
	assert_int_equal(path_make_private_dir(in_tree("/p"), 0700), -EPERM);
	assert_int_equal(path_make_private_dir(in_tree("/p"), 0770), 0);
	assert_int_equal(chmod(in_tree("/p"), 0702), 0);
	assert_int_equal(path_make_private_dir(in_tree("/p"), 0700), -EPERM);
}

static void test_private_dir_foreign(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("# skip: not root, cannot make a directory of another user\n");
		skip();
	}
	assert_int_equal(mkdir(in_tree("/foreign"), 0700), 0);
	assert_int_equal(path_make_private_dir(in_tree("/foreign"), 0700), 0);
	assert_int_equal(chown(in_tree("/foreign"), 65534, 65534), 0);
	assert_int_equal(path_make_private_dir(in_tree("/foreign"), 0700), -EPERM);
	assert_int_equal(path_make_private_dir(in_tree("/foreign/ours"), 0700), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normalise),    cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_join),         cmocka_unit_test(test_within),
		cmocka_unit_test(test_resolve),      cmocka_unit_test(test_resolve_no_search),
		cmocka_unit_test(test_open_beneath), cmocka_unit_test(test_open_beneath_more),
		cmocka_unit_test(test_private_dir),  cmocka_unit_test(test_private_dir_foreign),
	};

	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
