/* SPDX-License-Identifier: Apache-2.0 */
/* See trial_host.h. */
#include "backend/trial_host.h"

#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* In a container /tmp is often the container's own file system, which cannot carry another overlay; what a call
 * works on is not. */
const char *trial_place(void)
{
	static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm"};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct statfs fs;

		if (statfs(places[i], &fs) == 0 && fs.f_type != OVERLAYFS_SUPER_MAGIC &&
		    access(places[i], W_OK | X_OK) == 0)
			return places[i];
	}
	return "/tmp";
}

int trial_host(char ret[static TRIAL_HOST_MAX])
{
	AUTO_FREE char *boot = NULL;
	struct stat user_ns;
	struct stat exe;
	size_t len;
	int n;
	int r = io_read_file_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 64, &boot, &len);

	if (r < 0)
		return r;
	boot[strcspn(boot, "\n")] = '\0';
	if (stat("/proc/self/ns/user", &user_ns) < 0 || stat("/proc/self/exe", &exe) < 0)
		return -errno;
	n = snprintf(ret, TRIAL_HOST_MAX, "%s %llu %llu %lld %lld", boot,
		     (unsigned long long)user_ns.st_ino, (unsigned long long)exe.st_ino,
		     (long long)exe.st_size, (long long)exe.st_mtim.tv_sec);
	return n < 0 || n >= TRIAL_HOST_MAX ? -E2BIG : 0;
}
