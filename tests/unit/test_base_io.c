/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded reading and writing, descriptors, and the log's one line per message. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char tree[] = "/tmp/cordon-io-XXXXXX";
static int tree_fd = -1;

static int tree_make(void **state)
{
	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	if (!mkdtemp(tree))
		return -1;
	tree_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return tree_fd < 0 ? -1 : 0;
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
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

static size_t tree_count(void)
{
	DIR *d = opendir(tree);
	size_t n = 0;

	assert_non_null(d);
	for (const struct dirent *e = readdir(d); e; e = readdir(d))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void tree_put(const char *name, size_t len)
{
	AUTO_FREE char *data = malloc(len + 1);

	assert_non_null(data);
	memset(data, 'x', len);
	assert_int_equal(io_write_file_at(tree_fd, name, data, len, 0600), 0);
}

/* A child that writes count pieces, one every pause_ms. */
static pid_t writer_start(int fd, const char *piece, int count, unsigned pause_ms)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	for (int i = 0; i < count; i++) {
		(void)!write(fd, piece, strlen(piece));
		(void)usleep(pause_ms * 1000);
	}
	_exit(0);
}

static void writer_end(pid_t pid)
{
	int status;

	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void test_short_reads(void **state)
{
	int p[2];
	char got[32] = "";
	pid_t pid;

	(void)state;
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		assert_int_equal(pipe2(p, O_CLOEXEC), 0);
		assert_int_equal(fd_nonblock(p[0], nonblock), 0);
		pid = writer_start(p[1], "abc", 4, 5);
		(void)fd_close(p[1]);
		assert_int_equal(io_read(p[0], got, 10, clock_deadline(20000)), 10);
		assert_memory_equal(got, "abcabcabca", 10);
		assert_int_equal(io_read(p[0], got, sizeof(got), CLOCK_NEVER), 2);
		assert_int_equal(io_read(p[0], got, sizeof(got), CLOCK_NEVER), 0);
		writer_end(pid);
		(void)fd_close(p[0]);
	}
	assert_int_equal(io_read(-1, got, 1, CLOCK_NEVER), -EBADF);
	assert_int_equal(io_read(-1, got, 1, clock_deadline(1000)), -EBADF);
	assert_int_equal(io_read(1023, got, 1, clock_deadline(1000)), -EBADF);
	assert_int_equal(io_read(-1, got, 0, CLOCK_NEVER), 0);
}

static void test_read_deadline(void **state)
{
	int p[2];
	char got[64];
	int64_t start;

	(void)state;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		assert_int_equal(fd_nonblock(p[0], nonblock), 0);
		start = clock_ms();
		assert_int_equal(io_read(p[0], got, sizeof(got), clock_deadline(50)), -ETIMEDOUT);
		assert_true(clock_ms() - start >= 49);
		assert_int_equal(io_read(p[0], got, sizeof(got), clock_deadline(0)), -ETIMEDOUT);
	}
	/* What is there is read even when the deadline has passed. */
	assert_int_equal(io_write(p[1], "abc", 3, CLOCK_NEVER), 0);
	assert_int_equal(io_read(p[0], got, 3, 1), 3);
	(void)fd_close(p[0]);
	(void)fd_close(p[1]);
}

/* Drips a byte per millisecond for ten seconds; the deadline is 200 ms. */
static void test_read_drip(void **state)
{
	static char got[65536];
	int p[2];
	pid_t pid;
	int64_t start;

	(void)state;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	pid = writer_start(p[1], "x", 10000, 1);
	start = clock_ms();
	assert_int_equal(io_read(p[0], got, sizeof(got), clock_deadline(200)), -ETIMEDOUT);
	assert_true(clock_ms() - start < 5000);
	writer_end(pid);
	(void)fd_close(p[0]);
	(void)fd_close(p[1]);
}

/* An endless source is cut off at the limit. */
static void test_read_flood(void **state)
{
	AUTO_CLOSE int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char *got = NULL;
	size_t len = 0;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(io_read_all(fd, 1000000, clock_deadline(20000), &got, &len), -EFBIG);
	assert_null(got);
}

static void test_write_deadline(void **state)
{
	static char data[1 << 20];
	int p[2];
	pid_t pid;
	int status;

	(void)state;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(fd_nonblock(p[1], true), 0);
	assert_int_equal(io_write(p[1], data, sizeof(data), clock_deadline(50)), -ETIMEDOUT);
	(void)fd_close(p[0]);
	(void)fd_close(p[1]);
	/* With a reader all of it arrives through the non-blocking end. */
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(fd_nonblock(p[1], true), 0);
	pid = fork();
	if (pid == 0) {
		size_t total = 0;
		ssize_t n;

		(void)fd_close(p[1]);
		while ((n = read(p[0], data, 777)) > 0)
			total += (size_t)n;
		_exit(total == sizeof(data) ? 0 : 1);
	}
	(void)fd_close(p[0]);
	assert_int_equal(io_write(p[1], data, sizeof(data), clock_deadline(20000)), 0);
	(void)fd_close(p[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* Nobody reads any more. */
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	(void)fd_close(p[0]);
	assert_int_equal(io_write(p[1], "x", 1, CLOCK_NEVER), -EPIPE);
	(void)fd_close(p[1]);
	assert_int_equal(io_write(-1, "x", 1, CLOCK_NEVER), -EBADF);
	assert_int_equal(io_write(-1, "", 0, CLOCK_NEVER), 0);
}

static void test_file_limits(void **state)
{
	static const struct {
		size_t size, max;
		int r;
	} rows[] = {
		{0, 0, 0},
		{0, 10, 0},
		{1, 0, -EFBIG},
		{100, 100, 0},
		{101, 100, -EFBIG},
		{16384, 16384, 0},
		{16385, 16384, -EFBIG},
		{100000, 100000, 0},
		{100000, 99999, -EFBIG},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FREE char *data = NULL;
		size_t len = 4711;
		int r;

		tree_put("limit", rows[i].size);
		r = io_read_file_at(tree_fd, "limit", rows[i].max, &data, &len);
		if (r != rows[i].r)
			fail_msg("%zu of %zu: %d", rows[i].size, rows[i].max, r);
		if (r == 0) {
			assert_int_equal(len, rows[i].size);
			assert_int_equal(data[len], '\0');
		} else {
			assert_null(data);
			assert_int_equal(len, 4711);
		}
	}
}

static void test_file_kinds(void **state)
{
	static const struct {
		const char *path;
		int r;
	} rows[] = {
		{"fifo", -EINVAL},      {"dir", -EISDIR},     {"/dev/zero", -EINVAL},
		{"/dev/null", -EINVAL}, {"nothing", -ENOENT}, {"limit/x", -ENOTDIR},
		{"", -ENOENT},
	};
	AUTO_FREE char *status = NULL;
	char *none = NULL;
	size_t len = 0;

	(void)state;
	assert_int_equal(mkfifoat(tree_fd, "fifo", 0600), 0);
	assert_int_equal(mkdirat(tree_fd, "dir", 0700), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int r = io_read_file_at(tree_fd, rows[i].path, 1000, &none, &len);

		if (r != rows[i].r || none)
			fail_msg("%s: %d", rows[i].path, r);
	}
	/* Says size 0, has content; and the limit holds without a size. */
	assert_int_equal(io_read_file_at(AT_FDCWD, "/proc/self/status", 65536, &status, &len), 0);
	assert_true(len > 100 && strstr(status, "Pid:"));
	assert_int_equal(io_read_file_at(AT_FDCWD, "/proc/self/status", 100, &none, &len), -EFBIG);
}

/* A file that grows while it is read comes complete or is too large, never cut at its first size. */
static void test_file_grows(void **state)
{
	int p[2], status;
	char got = 0;
	pid_t pid;

	(void)state;
	tree_put("grows", 1);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		int fd = openat(tree_fd, "grows", O_WRONLY | O_APPEND | O_CLOEXEC);

		for (int i = 0; i < 20000 && fd >= 0; i++) {
			if (i == 10)
				(void)!write(p[1], "x", 1);
			(void)!write(fd, "0123456789abcdef", 16);
		}
		_exit(0);
	}
	assert_int_equal(io_read(p[0], &got, 1, clock_deadline(20000)), 1);
	for (int i = 0; i < 200; i++) {
		AUTO_FREE char *data = NULL;
		struct stat before;
		size_t len = 0;
		int r;

		assert_int_equal(fstatat(tree_fd, "grows", &before, 0), 0);
		r = io_read_file_at(tree_fd, "grows", 100000, &data, &len);
		assert_true(r == -EFBIG || (r == 0 && len >= (size_t)before.st_size));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	(void)fd_close(p[0]);
	(void)fd_close(p[1]);
}

static void test_write_file(void **state)
{
	AUTO_FREE char *data = NULL;
	size_t len = 0;
	struct stat st;
	size_t before;

	(void)state;
	assert_int_equal(io_write_file_at(tree_fd, "target", "one", 3, 0600), 0);
	before = tree_count();
	assert_int_equal(io_write_file_at(tree_fd, "target", "two!", 4, 0600), 0);
	assert_int_equal(io_read_file_at(tree_fd, "target", 100, &data, &len), 0);
	assert_string_equal(data, "two!");
	assert_int_equal(fstatat(tree_fd, "target", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* A link is replaced; what it points at is not touched. */
	assert_int_equal(symlinkat("target", tree_fd, "alias"), 0);
	assert_int_equal(io_write_file_at(tree_fd, "alias", "", 0, 0600), 0);
	assert_int_equal(fstatat(tree_fd, "alias", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode) && st.st_size == 0);
	assert_int_equal(fstatat(tree_fd, "target", &st, 0), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(tree_count(), before + 1);
}

static void test_write_file_failure(void **state)
{
	static char data[65536];
	struct rlimit old, small;
	AUTO_FREE char *kept = NULL;
	size_t before, len = 0;
	int r;

	(void)state;
	assert_int_equal(io_write_file_at(tree_fd, "kept", "old", 3, 0600), 0);
	(void)mkdirat(tree_fd, "dir", 0700);
	before = tree_count();
	assert_int_equal(io_write_file_at(tree_fd, "dir", "x", 1, 0600), -EISDIR);
	assert_int_equal(io_write_file_at(tree_fd, "no/where", "x", 1, 0600), -ENOENT);
	assert_int_equal(io_write_file_at(-1, "x", "x", 1, 0600), -EBADF);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){.rlim_cur = 1000, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	r = io_write_file_at(tree_fd, "kept", data, sizeof(data), 0600);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(r, -EFBIG);
	assert_int_equal(tree_count(), before);
	assert_int_equal(io_read_file_at(tree_fd, "kept", 100, &kept, &len), 0);
	assert_string_equal(kept, "old");
}

static void test_fd(void **state)
{
	AUTO_CLOSE int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int copy = -1;
	int taken;

	(void)state;
	errno = EXDEV;
	assert_int_equal(fd_close(-1), -1);
	assert_int_equal(fd_close(1023), -1);
	assert_int_equal(errno, EXDEV);
	copy = fd_dup(fd, 100);
	assert_true(copy >= 100);
	assert_int_equal(fcntl(copy, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fd_dup(-1, 0), -EBADF);
	assert_int_equal(fd_nonblock(copy, true), 0);
	assert_true(fcntl(copy, F_GETFL) & O_NONBLOCK);
	assert_int_equal(fd_nonblock(copy, false), 0);
	assert_false(fcntl(copy, F_GETFL) & O_NONBLOCK);
	assert_int_equal(fd_nonblock(-1, true), -EBADF);
	taken = TAKE_FD(copy);
	assert_int_equal(copy, -1);
	assert_int_equal(fcntl(taken, F_GETFD), FD_CLOEXEC);
	(void)fd_close(taken);
	assert_int_equal(fcntl(taken, F_GETFD), -1);
}

/* In a child whose 0 and 2 are closed. */
static void test_fill_stdio(void **state)
{
	int status = -1;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct stat st, null_st;

		(void)fd_close(0);
		(void)fd_close(2);
		if (fd_fill_stdio() != 0 || fd_fill_stdio() != 0 || stat("/dev/null", &null_st) < 0)
			_exit(1);
		for (int fd = 0; fd <= 2; fd += 2)
			if (fstat(fd, &st) < 0 || st.st_rdev != null_st.st_rdev ||
			    fcntl(fd, F_GETFD) != 0)
				_exit(2);
		_exit((fcntl(0, F_GETFL) & O_ACCMODE) == O_RDONLY &&
				      (fcntl(2, F_GETFL) & O_ACCMODE) == O_WRONLY
			      ? 0
			      : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* What fn writes to stderr. */
static char *log_capture(void (*fn)(void))
{
	AUTO_CLOSE int saved = fd_dup(2, 10);
	char *text = NULL;
	AUTO_CLOSE int fd = openat(tree_fd, "log", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(saved >= 0 && fd >= 0);
	assert_int_equal(dup2(fd, 2), 2);
	fn();
	assert_int_equal(dup2(saved, 2), 2);
	assert_int_equal(io_read_file_at(tree_fd, "log", 1 << 20, &text, NULL), 0);
	return text;
}

static void log_levels(void)
{
	struct cordon_error err = {.message = "m\033[31m", .hint = "h\n"};

	log_set_level(LOG_LEVEL_QUIET);
	log_error("e%d", 1);
	log_warning("w1");
	log_info("i1");
	log_set_level(LOG_LEVEL_VERBOSE);
	log_warning("w2");
	log_info("i2");
	log_set_level(LOG_LEVEL_NORMAL);
	log_info("i3");
	log_cordon_error(&err);
}

/* Long and hostile: what a program that wants to silence a warning would try. */
static void log_long(void)
{
	static char text[200000];

	memset(text, '\033', sizeof(text) - 1);
	log_error("begin %s", text);
}

static void test_log(void **state)
{
	AUTO_FREE char *levels = log_capture(log_levels);
	AUTO_FREE char *cut = log_capture(log_long);
	size_t len = strlen(cut);

	(void)state;
	assert_string_equal(levels, "cordon: e1\ncordon: warning: w2\ncordon: i2\n"
				    "cordon: m\\x1b[31m\ncordon: hint: h\\n\n");
	assert_true(strncmp(cut, "cordon: begin \\x1b\\x1b", 22) == 0);
	assert_true(len > 1000 && len < 65536);
	assert_string_equal(cut + len - 8, "\\x1b...\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_reads),
		cmocka_unit_test(test_read_deadline),
		cmocka_unit_test(test_read_drip),
		cmocka_unit_test(test_read_flood),
		cmocka_unit_test(test_write_deadline),
		cmocka_unit_test(test_file_limits),
		cmocka_unit_test(test_file_kinds),
		cmocka_unit_test(test_file_grows),
		cmocka_unit_test(test_write_file),
		cmocka_unit_test(test_write_file_failure),
		cmocka_unit_test(test_fd),
		cmocka_unit_test(test_fill_stdio),
		cmocka_unit_test(test_log),
	};

	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
