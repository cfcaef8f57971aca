/* SPDX-License-Identifier: Apache-2.0 */
/* Containers made ahead, without an engine: how many there may be, what their key is made of, and one that does not
 * answer. */
#include "backend/container/call.h"
#include "backend/container/warm.h"
#include "backend/plan.h"
#include "backend/scratch.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/prune.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define HANG_S 60
#define SKIPPED 77

static char top[] = "/tmp/test-warm-XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(top) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return prune_tree(AT_FDCWD, top);
}

/* Whatever keys a caller makes, there are not more; and what has gone makes room. */
static void test_total(void **state)
{
	struct scratch places[WARM_TOTAL + 1];
	struct scratch other;
	struct warm_key key;

	(void)state;
	assert_int_equal(scratch_make(top, top, &other), 0); /* does not count */
	for (unsigned i = 0; i < WARM_TOTAL; i++) {
		(void)snprintf(key.hex, sizeof(key.hex), "%032x", i);
		assert_int_equal(warm_count(top, &key), 0);
		assert_int_equal(warm_place(top, &key, SIZE_MAX, &places[i]), 0);
		assert_int_equal(warm_count(top, &key), 1);
		assert_int_equal(warm_place(top, &key, 1, &places[WARM_TOTAL]), -EDQUOT);
		assert_int_equal(warm_count(top, NULL), i + 1);
	}
	(void)snprintf(key.hex, sizeof(key.hex), "%032x", (unsigned)WARM_TOTAL);
	assert_int_equal(warm_place(top, &key, SIZE_MAX, &places[WARM_TOTAL]), -EDQUOT);
	assert_int_equal(warm_count(top, NULL), WARM_TOTAL);
	scratch_done(&places[0]);
	assert_int_equal(warm_place(top, &key, SIZE_MAX, &places[0]), 0);
	for (unsigned i = 0; i < WARM_TOTAL; i++)
		scratch_done(&places[i]);
	assert_int_equal(warm_count(top, NULL), 0);
	scratch_done(&other);
}

/* One that is frozen, with a queue that is full: it is left, and for nobody else. */
static void test_frozen(void **state)
{
	const struct warm_key key = {.hex = "0123456789abcdef0123456789abcdef"};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	AUTO_CLOSE int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int queue[8];
	struct scratch place;
	int64_t start;
	int pidfd = -1;
	int n = 0;

	(void)state;
	assert_int_equal(warm_place(top, &key, SIZE_MAX, &place), 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/" CALL_SOCKET, place.path);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	do {
		assert_true(n < (int)ARRAY_LEN(queue));
		queue[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	} while (connect(queue[n++], (struct sockaddr *)&address, sizeof(address)) == 0);
	assert_int_equal(errno, EAGAIN);
	(void)alarm(HANG_S); /* or it would wait for ever */
	start = clock_ms();
	assert_int_equal(warm_take(top, &key, &pidfd), -ENOENT);
	(void)alarm(0);
	assert_true(clock_ms() - start >= WARM_GREETING_MS / 2);
	assert_int_equal(warm_count(top, &key), 0);
	while (n > 0)
		(void)close(queue[--n]);
	scratch_leave(&place);
}

static struct warm_key key_of(const char *mark, const char *device)
{
	struct buf create = BUF_INIT(64);
	const struct plan_op op = {.kind = PLAN_OP_DEVICE, .path = device};
	const struct plan plan = {.ops = &op, .op_count = 1};
	AUTO(marks_done) struct marks marks = {0};
	struct warm_key key;

	if (marks_add(&marks, mark, mark) < 0 ||
	    warm_key(&create, "/socket", &plan, &marks, "/inside", &key) < 0)
		_exit(2);
	return key;
}

static bool is_same(const struct warm_key *a, const struct warm_key *b)
{
	return strcmp(a->hex, b->hex) == 0;
}

/* In a mount namespace of its own. */
static int keys(void)
{
	char home[64];
	char mark[80];
	char device[80];
	struct warm_key first;
	struct warm_key now;

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return SKIPPED;
	(void)snprintf(home, sizeof(home), "%s/home", top);
	(void)snprintf(mark, sizeof(mark), "%s/w", home);
	(void)snprintf(device, sizeof(device), "%s/device", home);
	if (mkdir(home, 0700) < 0 || mount("tmpfs", home, "tmpfs", MS_NOSUID, NULL) < 0 ||
	    mkdir(mark, 0700) < 0 || mknod(device, S_IFCHR | 0600, makedev(1, 3)) < 0)
		return SKIPPED;
	first = key_of(mark, device);
	now = key_of(mark, device);
	if (!is_same(&first, &now))
		return 3;
	/* What the mark lies in. */
	if (mount(NULL, home, NULL, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NOEXEC, NULL) < 0)
		return SKIPPED;
	now = key_of(mark, device);
	if (is_same(&first, &now))
		return 4;
	if (mount(NULL, home, NULL, MS_REMOUNT | MS_BIND | MS_NOSUID, NULL) < 0)
		return SKIPPED;
	now = key_of(mark, device);
	if (!is_same(&first, &now))
		return 5;
	/* Another device of the same name. */
	if (unlink(device) < 0 || mknod(device, S_IFCHR | 0600, makedev(1, 5)) < 0)
		return SKIPPED;
	now = key_of(mark, device);
	if (is_same(&first, &now))
		return 6;
	/* And what is mounted below it. */
	first = now;
	if (mount("tmpfs", mark, "tmpfs", 0, NULL) < 0)
		return SKIPPED;
	now = key_of(mark, device);
	return is_same(&first, &now) ? 7 : 0;
}

static void test_key(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(keys());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_frozen),
		cmocka_unit_test(test_key),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
