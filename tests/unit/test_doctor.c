/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The doctor's one dangerous act is to mount.  Its children must refuse where they cannot prove that
 * the mount namespace is their own; the rest of the doctor is tested by command.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/proc.h"
#include "core/doctor_linux.h"

static uint64_t own_mount_ns(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/ns/mnt", &st), 0);
	return (uint64_t)st.st_ino;
}

/* Runs a probe in a child with these namespaces.  False, and said, when there are none to be had. */
static bool probe_in(uint64_t namespaces, uint64_t mount_ns,
		     void (*probe)(const struct doctor_context *c, struct doctor_row *ret),
		     struct doctor_row *ret)
{
	struct doctor_context c = {.mount_ns = mount_ns, .uid = geteuid(), .gid = getegid()};
	struct proc_exit ended;
	struct proc p = PROC_NONE;
	int fds[2], r;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	r = proc_clone(namespaces, &p);
	if (r == 0) {
		struct doctor_row row = {.works = false};

		probe(&c, &row);
		_exit(io_write(fds[1], &row, sizeof(row), CLOCK_NEVER) < 0);
	}
	(void)fd_close(fds[1]);
	if (r > 0) {
		assert_int_equal(io_read(fds[0], ret, sizeof(*ret), clock_deadline(5000)),
				 sizeof(*ret));
		while (proc_reap(&p, &ended) == 0)
			(void)usleep(1000);
	}
	(void)fd_close(fds[0]);
	if (r < 0)
		print_message("# skip: no namespaces for a probe here\n");
	return r > 0;
}

static void (*const mounting[])(const struct doctor_context *c, struct doctor_row *ret) = {
	doctor_try_tmpfs,
	doctor_try_proc,
	doctor_try_overlay,
};

static void test_refuses(void **state)
{
	struct {
		const char *what;
		uint64_t namespaces, mount_ns;
	} rows[] = {
		{"the parent's mount namespace", CLONE_NEWUSER | CLONE_NEWPID, own_mount_ns()},
		{"a parent's that is not known", DOCTOR_NAMESPACES, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (size_t k = 0; k < ARRAY_LEN(mounting); k++) {
			struct doctor_row row = {.works = true};

			if (!probe_in(rows[i].namespaces, rows[i].mount_ns, mounting[k], &row))
				skip();
			if (row.works || !strstr(row.detail, "nothing was mounted"))
				fail_msg("%s: %s", rows[i].what, row.detail);
			assert_true(row.fix[0] != '\0');
		}
	}
}

/* The control: with the proof they go on, whatever comes of it. */
static void test_goes_on(void **state)
{
	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(mounting); k++) {
		struct doctor_row row = {.works = true};

		if (!probe_in(DOCTOR_NAMESPACES, own_mount_ns(), mounting[k], &row))
			skip();
		assert_null(strstr(row.detail, "nothing was mounted"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_goes_on),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
