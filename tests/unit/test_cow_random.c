/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random trees and random operations, three ways: on a copy of the tree directly, through a change set that is
 * committed, and through one that is discarded.  The first two give the same tree, the third the one that was
 * there before; and what an operation did not touch is the same file with the same times.
 *
 * The number of sequences is CORDON_COW_SEQUENCES, or a few; the seed is printed, and CORDON_COW_SEED repeats it.
 * The overlay is mounted in namespaces of a child's own; without them the test is skipped.
 */
#include "cow_kit.h"

#include "base/env.h"
#include "base/parse.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

enum { SEQUENCES = 40, NAMES = 6, DEPTH = 3, OPERATIONS = 25 };

static uint64_t dice;

static unsigned roll(unsigned n)
{
	/* xorshift64*: the same everywhere */
	dice ^= dice >> 12;
	dice ^= dice << 25;
	dice ^= dice >> 27;
	return (unsigned)((dice * UINT64_C(2685821657736338717)) >> 33) % n;
}

static void random_path(char *ret, size_t size)
{
	unsigned depth = 1 + roll(DEPTH);
	size_t at = 0;

	for (unsigned i = 0; i < depth && at + 4 < size; i++)
		at += (size_t)snprintf(ret + at, size - at, "%s%c%s", i ? "/" : "",
				       (char)('a' + roll(NAMES)), roll(9) ? "" : " \xff\n");
}

static int remove_all(int top, const char *path)
{
	return prune_tree(top, path);
}

static void write_some(int top, const char *path, int flags)
{
	int fd = openat(top, path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags,
			roll(2) ? 0644 : 0755);
	char text[64];
	int n = snprintf(text, sizeof(text), "%u\n%u\n", roll(1000), roll(1000));

	if (fd < 0)
		return;
	if (roll(8) == 0)
		(void)!ftruncate(fd, roll(20000)); /* a hole, or shorter */
	(void)!write(fd, text, (size_t)n);
	(void)close(fd);
}

static void copy_all(int from, const char *name, int to, const char *as);

static void copy_attribute(int from, int to)
{
	char value[64];
	ssize_t n = fgetxattr(from, "user.test", value, sizeof(value));

	if (n >= 0)
		(void)fsetxattr(to, "user.test", value, (size_t)n, 0);
}

static void copy_children(int from, int to)
{
	struct dirent **names;
	int n = scandirat(from, ".", &names, NULL, kit_by_name);

	for (int i = 0; i < n; i++) {
		if (strcmp(names[i]->d_name, ".") != 0 && strcmp(names[i]->d_name, "..") != 0)
			copy_all(from, names[i]->d_name, to, names[i]->d_name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

/* What mv does between file systems; plain enough for trees of this test. */
static void copy_all(int from, const char *name, int to, const char *as)
{
	char text[32768];
	struct timespec times[2];
	struct stat st;
	int a, b;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

		text[n < 0 ? 0 : n] = '\0';
		(void)!symlinkat(text, to, as);
	} else if (S_ISFIFO(st.st_mode)) {
		(void)mknodat(to, as, S_IFIFO | 0600, 0);
		(void)!fchmodat(to, as, st.st_mode & 07777, 0);
	} else {
		bool is_dir = S_ISDIR(st.st_mode);

		if (is_dir)
			(void)mkdirat(to, as, 0700);
		a = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		b = is_dir ? openat(to, as, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			   : openat(to, as, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (is_dir) {
			copy_children(a, b);
		} else {
			ssize_t n = read(a, text, sizeof(text));

			(void)!write(b, text, (size_t)(n < 0 ? 0 : n));
		}
		copy_attribute(a, b);
		(void)fchmod(b, st.st_mode & 07777);
		(void)close(a);
		(void)close(b);
	}
	(void)utimensat(to, as, times, AT_SYMLINK_NOFOLLOW);
}

static void move(int top, const char *from, const char *to)
{
	struct stat st;

	if (fstatat(top, from, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fstatat(top, to, &st, AT_SYMLINK_NOFOLLOW) == 0 || strncmp(to, from, strlen(from)) == 0)
		return; /* onto nothing, and not into itself */
	if (renameat(top, from, top, to) == 0 || errno != EXDEV)
		return;
	copy_all(top, from, top, to);
	(void)remove_all(top, from);
}

/* One operation; the same rolls whatever is there. */
static void operate(int top)
{
	static const mode_t modes[] = {0600, 0644, 0755, 0700, 0444};
	char path[256], other[256];
	unsigned what = roll(14);
	unsigned number = roll(1000);
	mode_t mode = modes[roll(ARRAY_LEN(modes))];
	uint64_t kept;
	struct stat st;

	random_path(path, sizeof(path));
	random_path(other, sizeof(other));
	kept = dice;
	switch (what) {
	case 0:
	case 1:
	case 2:
		write_some(top, path, O_CREAT | O_TRUNC);
		break;
	case 3:
		write_some(top, path, O_APPEND);
		break;
	case 4:
		write_some(top, path, 0);
		break;
	case 5:
	case 6:
		(void)mkdirat(top, path, 0755);
		break;
	case 7:
		(void)remove_all(top, path);
		break;
	case 8:
		(void)!symlinkat(other, top, path);
		break;
	case 9:
		(void)mknodat(top, path, S_IFIFO | 0600, 0);
		break;
	case 10:
		if (fstatat(top, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(st.st_mode))
			(void)!fchmodat(top, path, S_ISDIR(st.st_mode) ? mode | 0700 : mode, 0);
		break;
	case 11: {
		int fd = openat(top, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		char value[16];
		int n = snprintf(value, sizeof(value), "%u", number);

		if (fd >= 0 && number % 4)
			(void)fsetxattr(fd, "user.test", value, (size_t)n, 0);
		else if (fd >= 0)
			(void)fremovexattr(fd, "user.test");
		(void)fd_close(fd);
		break;
	}
	case 12: {
		const struct timespec times[] = {{.tv_sec = number}, {.tv_sec = 1000 + number}};

		(void)utimensat(top, path, times, AT_SYMLINK_NOFOLLOW);
		break;
	}
	default:
		move(top, path, other);
		break;
	}
	/* What was rolled depended on what was there. */
	dice = kept;
	(void)roll(2);
}

static void operate_all(const char *top, uint64_t seed, int n)
{
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	dice = seed;
	for (int i = 0; i < n; i++)
		operate(fd);
	(void)close(fd);
}

/* The operations through an overlay, in a child; what was seen there at the end is put in a file. */
static bool operate_in(const struct cow *c, uint64_t seed)
{
	char options[2048], at[600];
	struct stat before, after;
	int status = 0;
	pid_t pid;

	(void)snprintf(options, sizeof(options),
		       "lowerdir=%s,upperdir=%s/upper,workdir=%s/work,userxattr", kit_work, c->dir,
		       c->dir);
	(void)snprintf(at, sizeof(at), "%s/mnt", kit_dir);
	(void)mkdir(at, 0755);
	assert_int_equal(stat("/proc/self/ns/mnt", &before), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
		const struct __user_cap_data_struct none[2] = {0};
		uid_t uid = geteuid();
		gid_t gid = getegid();
		struct buf seen;
		char map[64];
		int fd;

		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			_exit(77);
		fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
		(void)!write(fd, "deny", 4);
		(void)fd_close(fd);
		fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
		(void)!write(fd, map, (size_t)snprintf(map, sizeof(map), "%u %u 1", uid, uid));
		(void)fd_close(fd);
		fd = open("/proc/self/gid_map", O_WRONLY | O_CLOEXEC);
		(void)!write(fd, map, (size_t)snprintf(map, sizeof(map), "%u %u 1", gid, gid));
		(void)fd_close(fd);
		/* Nothing is mounted where others could see it. */
		if (stat("/proc/self/ns/mnt", &after) < 0 || after.st_ino == before.st_ino ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("overlay", at, "overlay", 0, options) < 0)
			_exit(77);
		/* As a call has none of its namespace's capabilities; root has those of root, as outside. */
		if (uid != 0 && syscall(SYS_capset, &header, none) < 0)
			_exit(77);
		operate_all(at, seed, OPERATIONS);
		seen = kit_list(at, KIT_TIMES);
		kit_write(kit_dir, "seen", buf_cstr(&seen));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) != 77;
}

static char *whole_file(const char *name)
{
	struct stat st;
	int fd = open(kit_path(kit_dir, name), O_RDONLY | O_CLOEXEC);
	char *text;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	text = calloc(1, (size_t)st.st_size + 1);
	assert_non_null(text);
	assert_int_equal(read(fd, text, (size_t)st.st_size), st.st_size);
	(void)close(fd);
	return text;
}

static void same(uint64_t seed, const char *what, const char *have, const char *want)
{
	size_t i = 0;

	if (strcmp(have, want) == 0)
		return;
	while (have[i] && have[i] == want[i])
		i++;
	while (i > 0 && have[i - 1] != '\n')
		i--;
	fail_msg("CORDON_COW_SEED=%llu: %s:\n%.200s\nwant:\n%.200s", (unsigned long long)seed, what,
		 have + i, want + i);
}

/* Every line of before whose path has no change is a line of after. */
static void untouched(uint64_t seed, const struct changes *changes, char *before, const char *after)
{
	for (char *line = strtok_r(before, "\n", &before); line;
	     line = strtok_r(NULL, "\n", &before)) {
		const char *path = line + 2; /* "./" */
		size_t len = strcspn(path, " ");
		const char *mode = strstr(line, " 100");
		/* Regular files: directories change with what is in them. */
		bool is_touched = !mode || strspn(mode + 1, "01234567") != 6 ||
				  mode[8 + strspn(mode + 8, "0123456789")] != ':';

		for (size_t i = 0; i < changes->n && !is_touched; i++)
			is_touched = strncmp(changes->v[i].path, path, len) == 0;
		if (!is_touched && !strstr(after, line))
			fail_msg("CORDON_COW_SEED=%llu: not the same file: %s",
				 (unsigned long long)seed, line);
	}
}

static bool sequence(uint64_t seed)
{
	const struct commit_options all = {0};
	struct buf before, plain, direct, after, history;
	struct commit_result result;
	struct cordon_error err = {0};
	struct changes changes;
	struct cow c = COW_NONE;
	char *seen;

	operate_all(kit_work, seed * 31 + 7, 3 * OPERATIONS);
	before = kit_list(kit_work, KIT_HISTORY);
	/* A file that was made in the same moment as the set would be in conflict with it. */
	(void)nanosleep(&(struct timespec){.tv_nsec = 8000000}, NULL);
	kit_create(&c);
	if (!operate_in(&c, seed)) {
		cow_close(&c);
		buf_done(&before);
		return false;
	}
	seen = whole_file("seen");
	/* Nothing has changed so far, and nothing does when it is thrown away. */
	history = kit_list(kit_work, KIT_HISTORY);
	same(seed, "before the commit", buf_cstr(&history), buf_cstr(&before));
	buf_done(&history);
	if (roll(4) == 0) {
		assert_int_equal(cow_discard(&c, &err), 0);
		history = kit_list(kit_work, KIT_HISTORY);
		same(seed, "discarded", buf_cstr(&history), buf_cstr(&before));
		buf_done(&history);
		buf_done(&before);
		free(seen);
		return true;
	}
	/* Directly, in a copy. */
	{
		int from = open(kit_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		copy_all(from, "work", from, "direct");
		(void)close(from);
		plain = kit_list(kit_work, KIT_PLAIN);
		direct = kit_list(kit_path(kit_dir, "direct"), KIT_PLAIN);
		same(seed, "the copy", buf_cstr(&direct), buf_cstr(&plain));
		buf_done(&plain);
		buf_done(&direct);
	}
	operate_all(kit_path(kit_dir, "direct"), seed, OPERATIONS);
	assert_int_equal(changes_read(&c, &changes, &err), 0);
	if (changes_commit(&c, &all, &result, &err) < 0)
		fail_msg("CORDON_COW_SEED=%llu: %s", (unsigned long long)seed, err.message);
	assert_int_equal(result.left_out.n, 0);
	commit_result_done(&result);
	plain = kit_list(kit_work, KIT_PLAIN);
	direct = kit_list(kit_path(kit_dir, "direct"), KIT_PLAIN);
	after = kit_list(kit_work, KIT_TIMES);
	history = kit_list(kit_work, KIT_HISTORY);
	same(seed, "committed, against direct", buf_cstr(&plain), buf_cstr(&direct));
	same(seed, "committed, against what the call saw", buf_cstr(&after), seen);
	untouched(seed, &changes, before.data, buf_cstr(&history));
	assert_string_equal(kit_names(&c), "");
	changes_done(&changes);
	buf_done(&before);
	buf_done(&plain);
	buf_done(&direct);
	buf_done(&after);
	buf_done(&history);
	free(seen);
	cow_close(&c);
	return true;
}

static void test_sequences(void **state)
{
	const char *given = env_get("CORDON_COW_SEED");
	const char *count = env_get("CORDON_COW_SEQUENCES");
	int64_t seed = (int64_t)time(NULL) * 1000, n = SEQUENCES;

	(void)state;
	if (given)
		assert_int_equal(parse_int(given, 1, INT64_MAX, &seed), 0);
	if (count)
		assert_int_equal(parse_int(count, 1, 1000000, &n), 0);
	print_message("CORDON_COW_SEED=%lld, %lld sequences\n", (long long)seed, (long long)n);
	for (int64_t i = 0; i < (given ? 1 : n); i++) {
		bool works;

		assert_int_equal(kit_setup(NULL), 0);
		works = sequence((uint64_t)(seed + i));
		assert_int_equal(kit_teardown(NULL), 0);
		if (!works) {
			print_message("# skip: no overlay in a user namespace here\n");
			skip();
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sequences)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
