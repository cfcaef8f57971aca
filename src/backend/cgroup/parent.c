/* SPDX-License-Identifier: Apache-2.0 */
/* See parent.h. */
#include "backend/cgroup/parent.h"

#include "backend/cgroup/dir.h"
#include "backend/cgroup/value.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

int cgroup_parent_open(const char *path, bool is_v2)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return -errno;
	if (fs.f_type != (is_v2 ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC))
		return -ENOTSUP;
	return TAKE_FD(fd);
}

static void (*parent_end_helpers)(void);

void cgroup_parent_helpers(void (*end)(void))
{
	parent_end_helpers = end;
}

/* Turns the controllers on for the groups below fd, those that are not on already. */
static int parent_enable(int fd, const char *const *controllers)
{
	AUTO_FREE char *enabled = NULL;
	struct buf missing = BUF_INIT(256);
	int r = cgroup_dir_read(fd, "cgroup.subtree_control", &enabled);

	for (size_t i = 0; r == 0 && controllers[i]; i++)
		if (!cgroup_has_word(enabled, controllers[i]))
			buf_printf(&missing, "%s+%s", missing.len ? " " : "", controllers[i]);
	if (r == 0)
		r = buf_error(&missing);
	if (r == 0 && missing.len > 0)
		r = cgroup_dir_write(fd, "cgroup.subtree_control", missing.data);
	buf_done(&missing);
	return r;
}

/* Moves us into a group of our own below fd, if we are alone in fd: then it has no processes left and can
 * have controllers.  We stay there; the lock lives as long as we do.  Only ever touches ourselves. */
static int parent_step_aside(int fd, char ret_name[static CGROUP_NAME_BYTES])
{
	AUTO_FREE char *procs = NULL;
	char alone[32];
	int aside;
	int r;

	if (parent_end_helpers)
		parent_end_helpers();
	r = cgroup_dir_read(fd, "cgroup.procs", &procs);
	if (r < 0)
		return r;
	(void)snprintf(alone, sizeof(alone), "%d\n", (int)getpid());
	if (strcmp(procs, alone) != 0)
		return -EBUSY;
	(void)snprintf(ret_name, CGROUP_NAME_BYTES, CGROUP_SELF_PREFIX "%d", (int)getpid());
	aside = cgroup_dir_make(fd, ret_name);
	if (aside < 0)
		return aside;
	r = cgroup_dir_write(aside, "cgroup.procs", "0");
	if (r < 0) {
		(void)!cgroup_dir_remove(fd, ret_name); /* we are not in it */
		(void)fd_close(aside);
	}
	return r; /* the descriptor stays open on purpose: it is the lock */
}

static int parent_enable_alone(int fd, const char *const *controllers)
{
	char name[CGROUP_NAME_BYTES];
	int r = parent_step_aside(fd, name);

	if (r < 0)
		return r;
	r = parent_enable(fd, controllers);
	if (r < 0 && cgroup_dir_write(fd, "cgroup.procs", "0") == 0)
		(void)!cgroup_dir_remove(fd, name);
	return r;
}

int cgroup_parent_v2(const char *own, const char *const *controllers)
{
	AUTO_FREE char *above = NULL;
	AUTO_CLOSE int fd = -1;
	int r;

	if (str_starts(path_base(own), CGROUP_SELF_PREFIX)) {
		r = path_join(own, "..", &above); /* we stepped aside before */
		if (r < 0)
			return r;
	}
	fd = cgroup_parent_open(above ? above : own, /* is_v2= */ true);
	if (fd < 0)
		return fd;
	if (!controllers[0])
		return TAKE_FD(fd);
	r = parent_enable(fd, controllers);
	if (r == -EBUSY)
		r = parent_enable_alone(fd, controllers);
	return r < 0 ? r : TAKE_FD(fd);
}
