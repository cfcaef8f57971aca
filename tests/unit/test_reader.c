/* SPDX-License-Identifier: Apache-2.0 */
/* The cage of readers, live: each act works without it (the control), and not with it. */
#include "backend/confine/reader.h"
#include "backend/confine/landlock.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

static char tree[] = "/tmp/cordon-reader-XXXXXX";

static bool act_read_inside(void)
{
	return open("inside", O_RDONLY | O_CLOEXEC) >= 0;
}

static bool act_memory(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *q = malloc((size_t)8 << 20);

	free(q);
	return p != MAP_FAILED && q;
}

static bool act_read_outside(void)
{
	return open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0;
}

static bool act_write_inside(void)
{
	return open("inside", O_WRONLY | O_CLOEXEC) >= 0;
}

static bool act_create(void)
{
	return open("new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0;
}

static bool act_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0;
}

static bool act_execute(void)
{
	char *const argv[] = {(char *)(uintptr_t) "true", NULL};

	(void)execv("/bin/true", argv); /* ends with code 0 */
	return false;
}

static bool act_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid > 0;
}

static bool act_run_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED;
}

static bool act_make_executable(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p != MAP_FAILED && mprotect(p, 4096, PROT_READ | PROT_EXEC) == 0;
}

/* Opened before the cage. */
static int nothing = -1;

static bool act_type(void)
{
	char c = 'x';

	/* that is no terminal: what counts is that the question gets to it */
	return ioctl(nothing, TIOCSTI, &c) == 0 || errno != EPERM;
}

static bool act_kill(void)
{
	return kill(getppid(), 0) == 0;
}

static const struct {
	const char *what;
	bool (*act)(void);
	bool with_tree,
		without; /* may it be done in the cage with a tree, and in the one without? */
	bool needs_landlock;
} rows[] = {
	{"read inside", act_read_inside, true, false, false},
	{"memory", act_memory, true, true, false},
	{"read outside", act_read_outside, false, false, true},
	{"write inside", act_write_inside, false, false, true},
	{"create", act_create, false, false, true},
	{"socket", act_socket, false, false, false},
	{"execute", act_execute, false, false, false},
	{"fork", act_fork, false, false, false},
	{"memory that runs", act_run_memory, false, false, false},
	{"memory that becomes so", act_make_executable, false, false, false},
	{"typing into a terminal", act_type, false, false, false},
	{"a signal", act_kill, false, false, false},
};

enum cage { CAGE_NONE, CAGE_TREE, CAGE_SHUT };

static bool tried(bool (*act)(void), enum cage cage)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = cage == CAGE_TREE ? open(tree, O_PATH | O_CLOEXEC) : -1;

		if (chdir(tree) < 0 || (cage != CAGE_NONE && reader_confine(fd) < 0))
			_exit(99);
		/* not _exit(), before which sanitizers make calls of their own */
		(void)syscall(SYS_exit_group, act() ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 99);
	assert_true(WIFEXITED(status) || WTERMSIG(status) == SIGSYS);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_acts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!tried(rows[i].act, CAGE_NONE))
			fail_msg("%s: does not work without the cage", rows[i].what);
		if (rows[i].needs_landlock && landlock_abi() <= 0)
			continue;
		if (tried(rows[i].act, CAGE_TREE) != rows[i].with_tree)
			fail_msg("%s, with a tree", rows[i].what);
		if (tried(rows[i].act, CAGE_SHUT) != rows[i].without)
			fail_msg("%s, without one", rows[i].what);
	}
}

/* Makes seccomp() fail with EINVAL in this process, and the question whether there is one as well. */
static int without_seccomp(bool is_unknown)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, is_unknown ? SYS_prctl : UINT32_MAX, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_GET_SECCOMP, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_LEN(code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* Only a kernel that has no filters is one without them: any other refusal is an error. */
static void test_refused(void **state)
{
	static const struct {
		bool is_unknown;
		int want;
	} kernels[] = {{false, -EINVAL}, {true, -EOPNOTSUPP}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
		int status = 0;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			if (without_seccomp(kernels[i].is_unknown) < 0)
				_exit(99);
			_exit(reader_confine(-1) == kernels[i].want ? 0 : 1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

static int setup(void **state)
{
	int fd;

	(void)state;
	nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (nothing < 0 || !mkdtemp(tree) || chdir(tree) < 0)
		return -1;
	fd = open("inside", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	(void)close(fd);
	return fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	(void)unlink("inside");
	(void)unlink("new");
	return chdir("/") < 0 || rmdir(tree) < 0 ? -1 : 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_acts),
						  cmocka_unit_test(test_refused)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
