/* SPDX-License-Identifier: Apache-2.0 */
/* See keeper_log.h. */
#include "core/keeper_log.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEEPER_LOG_HALF (LIMIT_SANDBOX_LOG / 2)

int keeper_log_open(int dir, struct keeper_log *ret)
{
	AUTO_CLOSE int fd = openat(dir, KEEPER_LOG,
				   O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	*ret = (struct keeper_log){.dir = dir, .fd = TAKE_FD(fd), .used = (size_t)st.st_size};
	return 0;
}

/* The file becomes the old one. */
static void keeper_log_turn(struct keeper_log *l)
{
	struct keeper_log next = KEEPER_LOG_NONE;

	if (renameat(l->dir, KEEPER_LOG, l->dir, KEEPER_LOG_OLD) < 0 ||
	    keeper_log_open(l->dir, &next) < 0)
		return; /* later, perhaps */
	(void)fd_close(l->fd);
	*l = next;
}

void keeper_log_write(struct keeper_log *l, const char *data, size_t len)
{
	if (l->fd < 0)
		return;
	if (l->used + len > KEEPER_LOG_HALF)
		keeper_log_turn(l);
	if (l->used + len > KEEPER_LOG_HALF)
		return;
	if (io_write(l->fd, data, len, CLOCK_NEVER) == 0)
		l->used += len;
}
