/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait for an answer, live: a child under a filter with a listener makes one call, the test answers
 * it, and the child's exit code is the errno that it saw (0 for success).
 */
#include "backend/confine/notify.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CHILD_FAILED 99
#define WAIT_MS 5000

static char scratch[] = "/tmp/cordon-notify-XXXXXX";

struct caller {
	pid_t pid;
	int listener;
};

/* Starts a child that installs the filter, sends its listener and runs act(). */
static struct caller start(int (*act)(void))
{
	const struct seccomp_policy policy = {.files = SECCOMP_FILES_WRITES};
	struct seccomp_program program;
	struct caller c;
	int pair[2];

	assert_int_equal(seccomp_build(&policy, &program), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (c.pid == 0) {
		int listener;

		if (chdir(scratch) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
			_exit(CHILD_FAILED);
		listener = notify_install(&program);
		if (listener < 0 || notify_send_fd(pair[1], listener) < 0)
			_exit(CHILD_FAILED);
		(void)close(listener);
		_exit(act() & 0xff);
	}
	(void)close(pair[1]);
	c.listener = notify_receive_fd(pair[0], clock_deadline(WAIT_MS));
	assert_true(c.listener >= 0);
	(void)close(pair[0]);
	notify_setup(c.listener);
	return c;
}

static struct notify_call next(const struct caller *c)
{
	struct pollfd p = {.fd = c->listener, .events = POLLIN};
	struct notify_call call;

	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_int_equal(notify_next(c->listener, &call), 1);
	return call;
}

static int finish(struct caller *c)
{
	int status;

	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	c->listener = fd_close(c->listener);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int act_mkdir(void)
{
	return mkdirat(AT_FDCWD, "made", 0700) < 0 ? errno : 0;
}

static void test_answers(void **state)
{
	struct caller c = start(act_mkdir);
	struct notify_call call = next(&c);

	(void)state;
	assert_true(notify_is_waiting(&call));
	assert_int_equal(call.data.nr, SYS_mkdirat);
	assert_int_equal(notify_refuse(&call, EDQUOT), 0);
	assert_int_equal(finish(&c), EDQUOT);
	assert_int_equal(access("made", F_OK), -1);

	/* an error of 0 is not success */
	c = start(act_mkdir);
	call = next(&c);
	assert_int_equal(notify_refuse(&call, 0), 0);
	assert_int_equal(finish(&c), EPERM);

	c = start(act_mkdir);
	call = next(&c);
	assert_int_equal(notify_return(&call, 0), 0);
	assert_int_equal(finish(&c), 0);
	assert_int_equal(access("made", F_OK), -1);

	c = start(act_mkdir);
	call = next(&c);
	assert_int_equal(notify_continue(&call), 0);
	assert_int_equal(finish(&c), 0);
	assert_int_equal(rmdir("made"), 0);
}

static int act_write(void)
{
	int fd = open("elsewhere", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	if (!(fcntl(fd, F_GETFD) & FD_CLOEXEC))
		return CHILD_FAILED;
	return write(fd, "x", 1) == 1 ? 0 : errno;
}

static int act_no_room(void)
{
	struct rlimit none = {0, 0};

	if (setrlimit(RLIMIT_NOFILE, &none) < 0)
		return CHILD_FAILED;
	return act_write();
}

static void test_given_descriptor(void **state)
{
	struct caller c = start(act_write);
	struct notify_call call = next(&c);
	int fd = open("given", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char byte = 0;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(notify_give_fd(&call, fd, /* is_cloexec= */ true), 0);
	assert_int_equal(finish(&c), 0);
	assert_int_equal(pread(fd, &byte, 1, 0), 1);
	assert_int_equal(byte, 'x');
	assert_int_equal(access("elsewhere", F_OK), -1);

	c = start(act_no_room);
	call = next(&c);
	assert_int_equal(notify_give_fd(&call, fd, true), 0);
	assert_int_equal(finish(&c), EMFILE);
	(void)close(fd);
	assert_int_equal(unlink("given"), 0);
}

/* A string that ends with the page, with nothing mapped behind it. */
static char *edge_of_page(const char *text)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *m = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED || munmap(m + page, page) < 0)
		_exit(CHILD_FAILED);
	memcpy(m + page - strlen(text) - 1, text, strlen(text) + 1);
	return m + page - strlen(text) - 1;
}

static void ask(const char *path)
{
	(void)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

static int act_strings(void)
{
	static char longest[LIMIT_PATH_BYTES + 1];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *open_end = edge_of_page("") - page + 1;

	memset(longest, 'a', LIMIT_PATH_BYTES);
	ask("plain");
	ask("");
	ask(edge_of_page("edge"));
	ask(longest);     /* no end within the limit */
	ask(longest + 1); /* just fits */
	ask((const char *)8);
	ask(NULL);
	memset(open_end, 'b', page);
	ask(open_end + 100); /* runs into nothing */
	return 0;
}

static void test_strings(void **state)
{
	static const struct {
		const char *want; /* or the error */
		int r;
	} rows[] = {
		{"plain", 5},
		{"", 0},
		{"edge", 4},
		{NULL, -ENAMETOOLONG},
		{NULL, LIMIT_PATH_BYTES - 1},
		{NULL, -EFAULT},
		{NULL, -EFAULT},
		{NULL, -EFAULT},
	};
	struct caller c = start(act_strings);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct notify_call call = next(&c);
		char path[LIMIT_PATH_BYTES];
		char bytes[4];

		assert_int_equal(notify_read_path(&call, call.data.args[1], path), rows[i].r);
		if (rows[i].want)
			assert_string_equal(path, rows[i].want);
		if (i == 0) {
			assert_int_equal(notify_read(&call, call.data.args[1], bytes, 4), 0);
			assert_memory_equal(bytes, "plai", 4);
			assert_int_equal(notify_read(&call, 8, bytes, 4), -EFAULT);
			assert_int_equal(notify_read_string(&call, call.data.args[1], bytes, 4),
					 -ENAMETOOLONG);
		}
		assert_int_equal(notify_refuse(&call, EPERM), 0);
	}
	assert_int_equal(finish(&c), 0);
}

/* A caller that is killed while it waits is nobody's trouble, and the last one's end is heard. */
static void test_gone(void **state)
{
	struct caller c = start(act_mkdir);
	struct notify_call call = next(&c);
	struct pollfd p = {.fd = c.listener, .events = POLLIN};
	char path[LIMIT_PATH_BYTES];
	int status;

	(void)state;
	assert_int_equal(kill(c.pid, SIGKILL), 0);
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	assert_false(notify_is_waiting(&call));
	assert_int_equal(notify_read_path(&call, call.data.args[1], path), -ENOENT);
	assert_int_equal(notify_open_fd(&call, AT_FDCWD), -ENOENT);
	assert_int_equal(notify_umask(&call), -ENOENT);
	assert_int_equal(notify_refuse(&call, EPERM), 0);
	assert_int_equal(notify_return(&call, 0), 0);
	assert_int_equal(notify_continue(&call), 0);
	assert_int_equal(notify_give_fd(&call, STDERR_FILENO, true), 0);
	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_int_equal(notify_next(c.listener, &call), -EPIPE);
	(void)close(c.listener);
}

/* Killed between the news and the look: nothing is there, and nothing blocks. */
static void test_gone_before(void **state)
{
	struct caller c = start(act_mkdir);
	struct pollfd p = {.fd = c.listener, .events = POLLIN};
	struct notify_call call;
	int status;
	int r;

	(void)state;
	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_int_equal(kill(c.pid, SIGKILL), 0);
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	r = notify_next(c.listener, &call);
	assert_true(r == 0 || r == -EPIPE);
	(void)close(c.listener);
}

static void *thread_mkdir(void *data)
{
	*(int *)data = act_mkdir();
	return NULL;
}

static int act_in_thread(void)
{
	pthread_t thread;
	int r = CHILD_FAILED;
	int fd = open("/", O_RDONLY | O_DIRECTORY);

	(void)umask(0137);
	if (fd < 0 || dup2(fd, 50) < 0 || pthread_create(&thread, NULL, thread_mkdir, &r) != 0 ||
	    pthread_join(thread, NULL) != 0)
		return CHILD_FAILED;
	return r;
}

static void test_looks(void **state)
{
	struct caller c = start(act_in_thread);
	struct notify_call call = next(&c);
	struct stat a;
	struct stat b;
	int fd;

	(void)state;
	assert_true(call.tid != c.pid);
	assert_int_equal(notify_process(&call), c.pid);
	assert_int_equal(notify_umask(&call), 0137);
	fd = notify_open_fd(&call, AT_FDCWD);
	assert_true(fd >= 0 && fstat(fd, &a) == 0 && stat(scratch, &b) == 0);
	assert_true(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
	(void)close(fd);
	fd = notify_open_fd(&call, 50);
	assert_true(fd >= 0 && fstat(fd, &a) == 0 && stat("/", &b) == 0);
	assert_true(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
	assert_true(fcntl(fd, F_GETFL) & O_PATH);
	(void)close(fd);
	assert_int_equal(notify_open_fd(&call, 51), -EBADF);
	assert_int_equal(notify_open_fd(&call, -7), -EBADF);
	assert_int_equal(notify_refuse(&call, EPERM), 0);
	assert_int_equal(finish(&c), EPERM);
}

static int act_second_listener(void)
{
	const struct seccomp_policy policy = {.files = SECCOMP_FILES_WRITES};
	struct seccomp_program program;
	int r;

	if (seccomp_build(&policy, &program) < 0)
		return CHILD_FAILED;
	r = notify_install(&program);
	return r < 0 ? -r : 0;
}

/* Nobody inside can put a listener of his own before ours. */
static void test_one_listener(void **state)
{
	struct caller c = start(act_second_listener);

	(void)state;
	assert_int_equal(finish(&c), EBUSY);
}

static void ignore_signal(int sig)
{
	(void)sig;
}

static int act_interrupted(void)
{
	struct sigaction action = {.sa_handler = ignore_signal};
	struct itimerval often = {{0, 500}, {0, 500}};

	if (sigaction(SIGALRM, &action, NULL) < 0 || setitimer(ITIMER_REAL, &often, NULL) < 0)
		return CHILD_FAILED;
	return act_mkdir();
}

/* Signals do not make a call come twice. */
static void test_signals(void **state)
{
	struct caller c = start(act_interrupted);
	struct notify_call call = next(&c);
	const struct timespec pause = {0, 20000000};

	(void)state;
	(void)nanosleep(&pause, NULL);
	if (!notify_is_waiting(&call)) {
		print_message("# skip: the kernel is older than 5.19\n");
		assert_int_equal(kill(c.pid, SIGKILL), 0);
		(void)finish(&c);
		skip();
	}
	assert_int_equal(notify_refuse(&call, EDQUOT), 0);
	assert_int_equal(finish(&c), EDQUOT);
}

static void test_channel(void **state)
{
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(notify_receive_fd(pair[0], clock_deadline(1)), -ETIMEDOUT);
	assert_int_equal(send(pair[1], "x", 1, 0), 1); /* a byte without a descriptor */
	assert_int_equal(notify_receive_fd(pair[0], clock_deadline(WAIT_MS)), -EPROTO);
	(void)close(pair[1]);
	assert_int_equal(notify_receive_fd(pair[0], clock_deadline(WAIT_MS)), -EPIPE);
	assert_int_equal(notify_send_fd(pair[0], STDERR_FILENO), -EPIPE);
	(void)close(pair[0]);
}

static int group_setup(void **state)
{
	(void)state;
	return mkdtemp(scratch) && chdir(scratch) == 0 ? 0 : -1;
}

static int group_teardown(void **state)
{
	(void)state;
	return chdir("/") == 0 && rmdir(scratch) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),      cmocka_unit_test(test_given_descriptor),
		cmocka_unit_test(test_strings),      cmocka_unit_test(test_gone),
		cmocka_unit_test(test_gone_before),  cmocka_unit_test(test_looks),
		cmocka_unit_test(test_one_listener), cmocka_unit_test(test_signals),
		cmocka_unit_test(test_channel),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
