/* SPDX-License-Identifier: Apache-2.0 */
/* What of macOS's halves can be run here and is no part of the supervisor: opening beneath a directory, names of a directory,
 * and the list of backends. */
#include "backend/registry.h"
#include "base/fd.h"
#include "base/path.h"
#include "core/fsnames.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char top[] = "/tmp/cordon-darwin-XXXXXX";
static int top_fd = -1;

static int group_setup(void **state)
{
	(void)state;
	if (!mkdtemp(top))
		return -1;
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top_fd < 0 || mkdirat(top_fd, "d", 0700) < 0 || mkdirat(top_fd, "d/e", 0700) < 0 ||
	    symlinkat("d", top_fd, "to-d") < 0 || symlinkat("/etc", top_fd, "out") < 0 ||
	    symlinkat("/etc/passwd", top_fd, "d/passwd") < 0)
		return -1;
	return close(openat(top_fd, "d/e/f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int group_teardown(void **state)
{
	static const char *const files[] = {"d/e/f", "d/e/new", "d/passwd", "to-d", "out"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		(void)unlinkat(top_fd, files[i], 0);
	(void)unlinkat(top_fd, "d/e", AT_REMOVEDIR);
	(void)unlinkat(top_fd, "d", AT_REMOVEDIR);
	(void)close(top_fd);
	return rmdir(top);
}

static void test_beneath(void **state)
{
	static const struct {
		const char *path;
		int flags;
		uint64_t more;
		int want; /* 0: it opens */
	} rows[] = {
		{"d", O_RDONLY | O_DIRECTORY, 0, 0},
		{"d/e/f", O_RDONLY, 0, 0},
		{"d/e/f", O_RDONLY, PATH_NO_SYMLINKS, 0},
		{"d//e/f", O_RDONLY, 0, 0},
		{"d/e/new", O_WRONLY | O_CREAT | O_EXCL, 0, 0},
		{"d/e/new", O_WRONLY | O_CREAT | O_EXCL, 0, -EEXIST},
		{"d/e/none", O_RDONLY, 0, -ENOENT},
		{"", O_RDONLY, 0, -ENOENT},
		{"/etc/passwd", O_RDONLY, 0, -EXDEV},
		{"..", O_RDONLY, 0, -EXDEV},
		{"d/../d/e/f", O_RDONLY, 0, -EXDEV},
		{"d/e/../../..", O_RDONLY, 0, -EXDEV},
		{"out/passwd", O_RDONLY, 0, -ENOTDIR},
		{"to-d/e/f", O_RDONLY, 0, -ENOTDIR},
		{"d/passwd", O_RDONLY, 0, -ELOOP},
		{"d/e/f", O_RDONLY, 1 << 20, -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int fd = path_open_beneath(top_fd, rows[i].path, rows[i].flags, 0600, rows[i].more);

		if (rows[i].want == 0 ? fd < 0 : fd != rows[i].want)
			fail_msg("'%s': %d, not %d", rows[i].path, fd, rows[i].want);
		if (fd >= 0)
			assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		(void)fd_close(fd);
	}
}

/* What the links lead to can be opened without it. */
static void test_beneath_control(void **state)
{
	static const char *const paths[] = {"out/passwd", "to-d/e/f", "d/passwd"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		int fd = openat(top_fd, paths[i], O_RDONLY | O_CLOEXEC);

		assert_true(fd >= 0);
		(void)close(fd);
	}
}

static void test_names(void **state)
{
	struct fsnames names = {0};
	struct fsnames none = {0};
	char path[64];

	(void)state;
	fsnames_list(&names, top);
	assert_true(names.is_known);
	assert_false(fsnames_lack(&names, "d"));
	assert_false(fsnames_lack(&names, "to-d/x"));
	assert_true(fsnames_lack(&names, ".mcp.json"));
	/* Of a link, or what is not there, nothing is known. */
	(void)snprintf(path, sizeof(path), "%s/to-d", top);
	fsnames_list(&none, path);
	assert_false(none.is_known);
	assert_false(fsnames_lack(&none, ".mcp.json"));
}

static void test_backends(void **state)
{
	const struct cordon_backend *b = NULL;
	struct candidate candidates[BACKEND_COUNT];
	struct cordon_error err = {0};
	struct probe own;
	size_t n = registry_probe(PROBE_QUICK, GUARANTEE_NONE, candidates);

	(void)state;
	assert_int_equal(n, 3);
	assert_string_equal(candidates[0].backend->info->name, "apple-container");
	assert_string_equal(candidates[1].backend->info->name, "seatbelt");
	assert_string_equal(candidates[2].backend->info->name, "noop");
	assert_int_not_equal(registry_find("native", &b, &err), 0);
	assert_int_equal(registry_find("noop", &b, &err), 0);
	/* What it says of itself, and what is left of that without what stands below it. */
	b->probe(PROBE_QUICK, GUARANTEE_NONE, &own);
	assert_true(own.guarantees & GUARANTEE_BIT(SNAPSHOT));
	assert_false(candidates[2].probe.guarantees & GUARANTEE_BIT(SNAPSHOT));
	assert_true(candidates[2].probe.guarantees & GUARANTEE_BIT(WALL_CLOCK));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beneath),
		cmocka_unit_test(test_beneath_control),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_backends),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
