/* SPDX-License-Identifier: Apache-2.0 */
/* Limits without control groups of our own, and what a killed cordon leaves: the parts by themselves. */
#include "backend/cgroup/scope.h"
#include "backend/limits.h"
#include "backend/scratch.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/path.h"
#include "run/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_slices(void **state)
{
	static const struct {
		const char *own;
		bool is_root;
		const char *want;
	} rows[] = {
		{"/sys/fs/cgroup/system.slice/x.service", true, "system.slice"},
		{"/sys/fs/cgroup/a.slice/a-b.slice/x.scope", true, "a-b.slice"},
		{"/sys/fs/cgroup", true, ""},
		{"/sys/fs/cgroup/user.slice/user-5.slice/session-2.scope", false, ""},
		{"/sys/fs/cgroup/user.slice/user-5.slice/user@5.service/app.slice/x.scope", false,
		 "app.slice"},
		{"/sys/fs/cgroup/user.slice/user-5.slice/user@5.service/init.scope", false, ""},
		{"/sys/fs/cgroup/.slice/x", true, ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char slice[SCOPE_SLICE_MAX];

		scope_slice(rows[i].own, rows[i].is_root, slice);
		assert_string_equal(slice, rows[i].want);
	}
}

/* A real manager takes the call (tests/qemu); here: its lengths are what they claim to be. */
static void test_call(void **state)
{
	static const char *const slices[] = {"", "a.slice", "app.slice"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(slices); i++) {
		struct buf call = BUF_INIT(65536);
		int type = 0;

		scope_call("cordon-1.scope", slices[i], 4711, &call);
		assert_int_equal(buf_error(&call), 0);
		assert_int_equal(scope_head((const unsigned char *)call.data, &type),
				 call.len - 16);
		assert_int_equal(type, 1);
		assert_non_null(memmem(call.data, call.len, "\x67\x12\0\0", 4)); /* 4711 */
		buf_done(&call);
	}
}

static void test_heads(void **state)
{
	static const struct {
		const char *head;
		int want, type;
	} rows[] = {
		{"l\2\0\1\4\0\0\0\1\0\0\0\5\0\0\0", 12, 2},
		{"l\3\0\1\0\0\0\0\1\0\0\0\0\0\0\0", 0, 3},
		{"B\2\0\1\4\0\0\0\1\0\0\0\5\0\0\0", -EPROTO, 0},
		{"l\0\0\1\4\0\0\0\1\0\0\0\5\0\0\0", -EPROTO, 0},
		{"l\5\0\1\4\0\0\0\1\0\0\0\5\0\0\0", -EPROTO, 0},
		{"l\2\0\2\4\0\0\0\1\0\0\0\5\0\0\0", -EPROTO, 0},
		{"l\2\0\1\xff\xff\xff\xff\1\0\0\0\xff\xff\xff\xff", -EPROTO, 0},
		{"l\2\0\1\0\0\0\0\1\0\0\0\xff\xff\xff\xff", -EPROTO, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int type = 0;

		assert_int_equal(scope_head((const unsigned char *)rows[i].head, &type),
				 rows[i].want);
		assert_int_equal(type, rows[i].type);
	}
}

static char place[256], elsewhere[300];

static int place_setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	(void)snprintf(place, sizeof(place), "%s/scratch-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(place))
		return -1;
	(void)snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", place);
	return mkdir(elsewhere, 0700);
}

static int place_teardown(void **state)
{
	(void)state;
	return rmdir(elsewhere) || rmdir(place); /* everything else is gone */
}

/* Runs f in a process that is then killed: its locks are gone, what it made is not. */
static void in_killed(void (*f)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		f();
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void leave_both(void)
{
	struct scratch a = SCRATCH_NONE, b = SCRATCH_NONE;
	int fd;

	if (scratch_make(place, place, &a) < 0 || scratch_make(place, elsewhere, &b) < 0 ||
	    mkdirat(b.fd, "work", 0) < 0 || mkdirat(a.fd, "d", 0700) < 0 ||
	    symlinkat("/etc", b.fd, "link") < 0)
		_exit(1);
	fd = openat(a.fd, "d/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		_exit(1);
}

static size_t count(const char *dir)
{
	char command[400];
	char text[32] = "";
	FILE *f;

	(void)snprintf(command, sizeof(command), "find '%s' -mindepth 1 -name '.cordon-*' | wc -l",
		       dir);
	f = popen(command, "re");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	(void)pclose(f);
	return (size_t)(text[0] - '0');
}

static void test_leftovers(void **state)
{
	struct scratch mine = SCRATCH_NONE;

	(void)state;
	in_killed(leave_both);
	assert_int_equal(count(place), 3); /* two directories and a note */
	assert_int_equal(scratch_make(place, elsewhere, &mine), 0);
	scratch_sweep(place);
	assert_int_equal(count(place), 2); /* mine, and its note */
	assert_int_equal(access(mine.path, F_OK), 0);
	scratch_done(&mine);
	assert_int_equal(count(place), 0);
}

/* What the killed command started holds the directory's lock a moment longer: nothing is forgotten. */
static void test_held(void **state)
{
	int gate[2], ready[2];
	char c = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(gate, O_CLOEXEC) | pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		struct scratch a = SCRATCH_NONE;

		if (scratch_make(place, elsewhere, &a) == 0 && fork() == 0) {
			(void)close(a.note.fd);
			(void)close(gate[1]);
			(void)!write(ready[1], "", 1);
			(void)!read(gate[0], &c, 1);
			_exit(0);
		}
		(void)!read(gate[0], &c, 1);
		_exit(0);
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	scratch_sweep(place);
	assert_int_equal(count(place), 2); /* held: the directory and its note stay */
	(void)close(gate[0]);
	(void)close(gate[1]); /* lets it go; the pipe's end says when */
	assert_int_equal(read(ready[0], &c, 1), 0);
	(void)close(ready[0]);
	for (int i = 0; i < 1000 && count(place) > 0; i++)
		scratch_sweep(place);
	assert_int_equal(count(place), 0);
}

static void leave_unnoted(void)
{
	struct scratch a = SCRATCH_NONE;

	if (scratch_make(NULL, elsewhere, &a) < 0)
		_exit(1);
}

/* Without a registry the next one in the same place finds it. */
static void test_no_registry(void **state)
{
	struct scratch mine = SCRATCH_NONE;

	(void)state;
	in_killed(leave_unnoted);
	assert_int_equal(count(elsewhere), 1);
	scratch_sweep(place);
	assert_int_equal(count(elsewhere), 1);
	assert_int_equal(scratch_make(NULL, elsewhere, &mine), 0);
	assert_int_equal(count(elsewhere), 1);
	scratch_done(&mine);
	assert_int_equal(count(elsewhere), 0);
}

/* Notes that we did not write lead to nothing that is not ours. */
static void test_bad_notes(void **state)
{
	static const char *const texts[] = {"",
					    "\n",
					    "relative\n",
					    "/etc\n",
					    "/etc/passwd",
					    "//\n",
					    "/.cordon-work-\n",
					    "\xff\xfe\n/\n"};
	AUTO_FREE char *note = NULL;

	(void)state;
	assert_int_equal(path_join(place, SCRATCH_NOTE_PREFIX "bad", &note), 0);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		assert_int_equal(io_write_file_at(AT_FDCWD, note, texts[i], strlen(texts[i]), 0600),
				 0);
		scratch_sweep(place);
		assert_int_equal(access(note, F_OK), -1);
		assert_int_equal(access("/etc/passwd", F_OK), 0);
	}
}

/* A parent and a child that share 8 MiB, and 8 MiB of the child's own. */
static void test_sample(void **state)
{
	const size_t size = 8 << 20;
	struct sample s = {0};
	int gate[2], ready[2];
	char c = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(gate, O_CLOEXEC) | pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		char *shared = malloc(size);

		(void)close(gate[1]);
		memset(shared, 1, size);
		if (fork() == 0) {
			char *own = malloc(size);

			memset(own, 1, size);
			(void)!write(ready[1], own, 1);
			(void)!read(gate[0], &c, 1);
			_exit(own[size - 1] + shared[size - 1]);
		}
		(void)!read(gate[0], &c, 1);
		_exit(shared[size - 1]);
	}
	(void)close(gate[0]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(sample_tree(pid, UINT64_MAX, &s), 0); /* shared pages twice */
	assert_int_equal(s.processes, 2);
	assert_in_range(s.bytes, 3 * size, 6 * size);
	assert_int_equal(sample_tree(pid, 0, &s), 0); /* and once */
	assert_in_range(s.bytes, 2 * size, 3 * size - 1);
	(void)close(gate[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(sample_tree(pid, 0, &s), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_heads),
		cmocka_unit_test_setup_teardown(test_leftovers, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(test_held, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(test_no_registry, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(test_bad_notes, place_setup, place_teardown),
		cmocka_unit_test(test_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
