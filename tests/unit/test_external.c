/* SPDX-License-Identifier: Apache-2.0 */
/* Which cordon-proxy is run: the installed one first, and none that somebody else could have put there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "proxy/external.h"

#define PLACE_SIZE 64
#define PATH_SIZE 128

static char place[PLACE_SIZE];

static void at(const char *name, char out[static PATH_SIZE])
{
	(void)snprintf(out, PATH_SIZE, "%s/%s", place, name);
}

static void make(const char *name, unsigned mode, unsigned group, bool is_dir)
{
	char path[PATH_SIZE];

	at(name, path);
	if (is_dir) {
		assert_int_equal(mkdir(path, 0700), 0);
	} else {
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

		assert_true(fd >= 0);
		assert_int_equal(close(fd), 0);
	}
	if (group)
		assert_int_equal(chown(path, (uid_t)-1, group), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void drop(void)
{
	static const char *const names[] = {"libexec/cordon-proxy", "libexec", "bin/cordon-proxy",
					    "bin"};
	char path[PATH_SIZE];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		at(names[i], path);
		(void)remove(path);
	}
}

static void test_which(void **state)
{
	enum { NONE, LIBEXEC, BESIDE };
	static const struct {
		const char *what;
		unsigned libexec;  /* mode of the directory; 0: not there */
		unsigned program;  /* of the one in it */
		unsigned bin;      /* of the directory of the command */
		unsigned beside;   /* of the one in it */
		unsigned group;    /* of what is in bin, and bin; 0: our own */
		bool owns;         /* only for root: as another user owns it */
		const char *write; /* what the call can write to */
		int want;
		int error;
	} rows[] = {
		{"both", 0755, 0755, 0755, 0755, 0, false, NULL, LIBEXEC, 0},
		{"not installed", 0, 0, 0755, 0755, 0, false, NULL, BESIDE, 0},
		{"an empty place", 0755, 0, 0755, 0755, 0, false, NULL, BESIDE, 0},
		{"none", 0, 0, 0755, 0, 0, false, NULL, NONE, -ENOENT},
		{"a bad one that is installed is not passed over", 0755, 0757, 0755, 0755, 0, false,
		 NULL, NONE, -EPERM},
		{"a bad place", 0777, 0755, 0755, 0755, 0, false, NULL, NONE, -EPERM},
		{"everybody can change it", 0, 0, 0755, 0757, 0, false, NULL, NONE, -EPERM},
		{"everybody can replace it", 0, 0, 0757, 0755, 0, false, NULL, NONE, -EPERM},
		{"a sticky place", 0, 0, 01777, 0755, 0, false, NULL, BESIDE, 0},
		{"our own group", 0, 0, 0775, 0775, 0, false, NULL, BESIDE, 0},
		{"another group's place", 0, 0, 0775, 0755, 12345, false, NULL, NONE, -EPERM},
		{"somebody else's", 0, 0, 0755, 0755, 0, true, NULL, NONE, -EPERM},
		{"the call's", 0, 0, 0755, 0755, 0, false, "bin", NONE, -EPERM},
		{"in what is the call's", 0, 0, 0755, 0755, 0, false, ".", NONE, -EPERM},
		{"not in what is the call's", 0, 0, 0755, 0755, 0, false, "bi", BESIDE, 0},
		{"installed, and the call can write", 0755, 0755, 0755, 0755, 0, false, "bin",
		 LIBEXEC, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char libexec[PATH_SIZE];
		char self[PATH_SIZE];
		char program[PATH_SIZE];
		char write[PATH_SIZE];
		const char *writable[] = {write, NULL};
		struct stat got = {0};
		struct stat want = {0};
		int fd;

		if ((rows[i].group || rows[i].owns) && geteuid() != 0)
			continue;
		if (rows[i].libexec)
			make("libexec", rows[i].libexec, 0, true);
		if (rows[i].program)
			make("libexec/cordon-proxy", rows[i].program, 0, false);
		make("bin", rows[i].bin, rows[i].group, true);
		if (rows[i].beside)
			make("bin/cordon-proxy", rows[i].beside, rows[i].group, false);
		at("libexec", libexec);
		at("bin/cordon", self);
		if (rows[i].write && strcmp(rows[i].write, ".") == 0)
			(void)snprintf(write, sizeof(write), "%s", place);
		else
			at(rows[i].write ? rows[i].write : "nothing", write);
		at(rows[i].want == LIBEXEC ? "libexec/cordon-proxy" : "bin/cordon-proxy", program);
		if (rows[i].owns)
			assert_int_equal(chown(program, 12345, (gid_t)-1), 0);
		fd = external_open(libexec, self, writable);
		if (rows[i].want == NONE ? fd != rows[i].error : fd < 0)
			fail_msg("%s: %d", rows[i].what, fd);
		if (fd >= 0) {
			assert_int_equal(fstat(fd, &got), 0);
			assert_int_equal(stat(program, &want), 0);
			if (got.st_ino != want.st_ino)
				fail_msg("%s: the other one", rows[i].what);
			assert_int_equal(close(fd), 0);
		}
		drop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_which)};
	int r;

	(void)snprintf(place, sizeof(place), "/tmp/cordon-external-XXXXXX");
	if (!mkdtemp(place))
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	drop();
	(void)rmdir(place);
	return r;
}
