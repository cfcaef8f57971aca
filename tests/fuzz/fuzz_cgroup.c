/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parsers of control group text.  The input is mountinfo, a NUL and /proc/self/cgroup.  Beyond not
 * crashing: a path that is found is absolute, bounded and never steps up, and equal input gives equal
 * output.  The same bytes are read as a control file and as
 * the beginning of a message of systemd's.
 */
#include "backend/cgroup/layout.h"
#include "backend/cgroup/scope.h"
#include "backend/cgroup/value.h"
#include "base/limits.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int claim)
{
	if (!claim)
		abort();
}

static void check_path(const char *path, const char *again)
{
	require(!path == !again);
	if (!path)
		return;
	require(strcmp(path, again) == 0);
	require(path[0] == '/' && strlen(path) < LIMIT_PATH_BYTES);
}

static void check_values(const char *text)
{
	uint64_t number = 0, stat = 0;

	if (cgroup_number(text, &number) == 0)
		require(number == UINT64_MAX ? strncmp(text, "max", 3) == 0 : number <= INT64_MAX);
	if (cgroup_stat(text, "oom_kill", &stat) == 0)
		require(strstr(text, "oom_kill ") != NULL);
	if (cgroup_has_word(text, "memory"))
		require(strstr(text, "memory") != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 2);
	struct cgroup_layout a = {0}, b = {0};
	const char *mounts = text;
	const char *self;
	int r;

	if (!text)
		return 0;
	if (size >= 16) {
		int type = 0;

		r = scope_head(data, &type);
		require(r < 0 || (r <= 65536 && type >= 1 && type <= 4));
	}
	memcpy(text, data, size);
	text[size] = text[size + 1] = '\0';
	self = strlen(mounts) < size ? mounts + strlen(mounts) + 1 : mounts + strlen(mounts);
	r = cgroup_layout_parse(mounts, self, &a);
	require(r == cgroup_layout_parse(mounts, self, &b));
	check_path(a.v2, b.v2);
	for (size_t c = 0; c < CGROUP_CONTROLLER_COUNT; c++) {
		require(r == 0 || !a.v1[c]);
		check_path(a.v1[c], b.v1[c]);
	}
	check_values(mounts);
	check_values(self);
	cgroup_layout_done(&a);
	cgroup_layout_done(&b);
	free(text);
	return 0;
}
