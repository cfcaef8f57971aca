/* SPDX-License-Identifier: Apache-2.0 */
/* See libexec.h. */
#include "base/libexec.h"

#include "base/fd.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char libexec_dir[] = CORDON_LIBEXEC_DIR;

/* Who could change it could see the secrets: is that the user or root alone? */
static bool libexec_is_ours(const struct stat *st)
{
	bool is_dir = S_ISDIR(st->st_mode);
	bool is_sticky = is_dir && st->st_mode & S_ISVTX;

	if (st->st_uid != 0 && st->st_uid != geteuid())
		return false;
	if (is_sticky)
		return true;
	if (st->st_mode & S_IWOTH)
		return false;
	return !(st->st_mode & S_IWGRP) || st->st_gid == getegid() || (!is_dir && st->st_uid == 0);
}

static int libexec_try(const char *name, const char *dir)
{
	AUTO_CLOSE int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int fd = -1;
	struct stat st;

	if (at < 0)
		return -errno;
	fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(at, &st) < 0)
		return -errno;
	if (!libexec_is_ours(&st))
		return -EPERM;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || !libexec_is_ours(&st))
		return -EPERM;
	return TAKE_FD(fd);
}

int libexec_open_in(const char *name, const char *dir, const char *self,
		    const char *const *writable)
{
	char beside[PATH_MAX];
	const char *slash = strrchr(self, '/');
	int r = libexec_try(name, dir);

	if (r != -ENOENT || !slash || slash == self)
		return r;
	(void)snprintf(beside, sizeof(beside), "%.*s", (int)(slash - self), self);
	r = libexec_try(name, beside);
	/* A call could have put it there. */
	for (size_t i = 0; r >= 0 && writable && writable[i]; i++)
		if (path_is_within(beside, writable[i])) {
			(void)fd_close(r);
			r = -EPERM;
		}
	return r;
}

int libexec_open(const char *name, const char *const *writable)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	return libexec_open_in(name, libexec_dir, self, writable);
}
