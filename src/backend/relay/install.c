/* SPDX-License-Identifier: Apache-2.0 */
/* The program that we carry in ourselves: see relay.h. */
#include "backend/relay/relay.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char relay_program[];
extern const char relay_program_end[];

int relay_install(int dirfd, const char *name)
{
	AUTO_CLOSE int fd =
		openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
	int r;

	if (fd < 0)
		return -errno;
	r = io_write(fd, relay_program, (size_t)(relay_program_end - relay_program), CLOCK_NEVER);
	if (r == 0 && fchmod(fd, 0555) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dirfd, name, 0);
	return r;
}
