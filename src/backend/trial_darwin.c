/* SPDX-License-Identifier: Apache-2.0 */
/* See trial_host.h: macOS's half. */
#include "backend/trial_host.h"

#include "base/limits.h"
#include "base/proc.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysctl.h>

const char *trial_place(void)
{
	return "/private/tmp"; /* /tmp is a link to it, and profiles name what a link leads to */
}

int trial_host(char ret[static TRIAL_HOST_MAX])
{
	char program[LIMIT_PATH_BYTES];
	char boot[64];
	size_t len = sizeof(boot);
	struct stat exe;
	int n;
	int r = proc_exe(program, sizeof(program));

	if (r < 0)
		return r;
	if (sysctlbyname("kern.bootsessionuuid", boot, &len, NULL, 0) < 0 ||
	    stat(program, &exe) < 0)
		return -errno;
	boot[sizeof(boot) - 1] = '\0';
	n = snprintf(ret, TRIAL_HOST_MAX, "%s %llu %lld %lld", boot, (unsigned long long)exe.st_ino,
		     (long long)exe.st_size, (long long)exe.st_mtime);
	return n < 0 || n >= TRIAL_HOST_MAX ? -E2BIG : 0;
}
