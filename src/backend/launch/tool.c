/* SPDX-License-Identifier: Apache-2.0 */
/* See tool.h. */
#include "backend/launch/tool.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const tool_dirs[] = {"/usr/bin", "/bin", "/usr/local/bin"};

/* Why it is not trusted, or NULL. */
static const char *tool_distrust(const struct stat *st, bool is_dir)
{
	if (is_dir ? !S_ISDIR(st->st_mode) : !S_ISREG(st->st_mode))
		return is_dir ? "is not a directory" : "is not a file";
	if (st->st_uid != 0)
		return "does not belong to root";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "can be written by others than root";
	if (!is_dir && st->st_mode & (S_ISUID | S_ISGID))
		return "runs with the rights of its owner";
	return NULL;
}

/* The program in dir, or -errno. */
static int tool_open_in(int dir, const char *name, const char **why)
{
	/* Not O_PATH: its content is read when it is executed by descriptor. */
	AUTO_CLOSE int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(dir, &st) < 0)
		return -errno;
	*why = tool_distrust(&st, /* is_dir= */ true);
	if (*why)
		return -EPERM;
	if (fstat(fd, &st) < 0)
		return -errno;
	*why = tool_distrust(&st, /* is_dir= */ false);
	if (*why)
		return -EPERM;
	return TAKE_FD(fd);
}

int tool_open(const char *name, char ret_path[static TOOL_PATH_MAX],
	      char ret_why[static TOOL_WHY_MAX])
{
	int result = -ENOENT;

	(void)snprintf(ret_why, TOOL_WHY_MAX, "there is no %s in /usr/bin, /bin or /usr/local/bin",
		       name);
	for (size_t i = 0; i < ARRAY_LEN(tool_dirs); i++) {
		AUTO_CLOSE int dir = open(tool_dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		const char *why = NULL;
		int fd = dir < 0 ? -errno : tool_open_in(dir, name, &why);

		(void)snprintf(ret_path, TOOL_PATH_MAX, "%s/%s", tool_dirs[i], name);
		if (fd >= 0)
			return fd;
		if (fd == -ENOENT || fd == -ENOTDIR || result != -ENOENT)
			continue;
		result = fd; /* the first that is wrong, unless a right one follows */
		(void)snprintf(ret_why, TOOL_WHY_MAX, "%s %s", ret_path,
			       why ? why : "cannot be opened");
	}
	return result;
}
