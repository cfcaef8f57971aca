/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modes, owners, times and watches on behalf.  Landlock does not look at these, so the check here is the boundary:
 * the object must be in what can be written, or have no name at all; what is watched must be something that can be read.
 */
#include "backend/landlock/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#define META_SET_ID ((unsigned)(S_ISUID | S_ISGID))

/* The object of a call by path or by descriptor, in what can be written. */
static int meta_find(const struct broker_call *c, struct place *p)
{
	int r = c->has_path ? broker_find(c, 0, !(c->flags & AT_SYMLINK_NOFOLLOW), p)
			    : place_of_fd(c->call, c->dirfd[0], p);

	if (r < 0)
		return r;
	if (p->object < 0)
		return -ENOENT;
	r = broker_check(c, p, SCOPE_CHANGE);
	if (r < 0)
		return r;
	/* Files without a name (pipes, memory, removed) are the caller's own. */
	if (p->st.st_nlink == 0 || p->path[0] != '/')
		return 0;
	return scope_is_writable(c->broker->scope, p->path) ? 0 : -EPERM;
}

int64_t broker_chmod(const struct broker_call *c)
{
	AUTO(place_done) struct place p = PLACE_NONE;
	char path[BROKER_FD_PATH_MAX];
	int r;

	if (c->flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (c->mode & META_SET_ID)
		return -EPERM;
	r = meta_find(c, &p);
	if (r < 0)
		return r;
	if (S_ISLNK(p.st.st_mode))
		return -EOPNOTSUPP;
	broker_fd_path(p.object, path);
	return chmod(path, c->mode) < 0 ? -errno : 0;
}

int64_t broker_chown(const struct broker_call *c)
{
	AUTO(place_done) struct place p = PLACE_NONE;
	int r;

	if (c->flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	r = meta_find(c, &p);
	if (r < 0)
		return r;
	return fchownat(p.object, "", (uid_t)c->more[0], (gid_t)c->more[1], AT_EMPTY_PATH) < 0
		       ? -errno
		       : 0;
}

/* From the struct of the call to that of utimensat(). */
static int meta_read_times(const struct broker_call *c, struct timespec ret[static 2])
{
	struct timeval values[2];
	int r;

#ifdef SYS_utime
	if (c->call->data.nr == SYS_utime) {
		struct utimbuf seconds;

		r = notify_read(c->call, c->more[0], &seconds, sizeof(seconds));
		ret[0] = (struct timespec){.tv_sec = seconds.actime};
		ret[1] = (struct timespec){.tv_sec = seconds.modtime};
		return r;
	}
#endif
	if (c->call->data.nr == SYS_utimensat)
		return notify_read(c->call, c->more[0], ret, 2 * sizeof(*ret));
	r = notify_read(c->call, c->more[0], values, sizeof(values));
	for (unsigned i = 0; r == 0 && i < 2; i++) {
		if (values[i].tv_usec < 0 || values[i].tv_usec >= 1000000)
			return -EINVAL;
		ret[i] = (struct timespec){values[i].tv_sec, values[i].tv_usec * 1000};
	}
	return r;
}

int64_t broker_times(const struct broker_call *c)
{
	AUTO(place_done) struct place p = PLACE_NONE;
	struct broker_call own = *c;
	struct timespec times[2] = {{0}, {0}};
	int r;

	if (c->flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	/* Two of these calls mean the descriptor when there is no path. */
	own.has_path = c->path[0] || c->dirfd[0] == AT_FDCWD;
	r = c->more[0] ? meta_read_times(c, times) : 0;
	if (r == 0)
		r = meta_find(&own, &p);
	if (r < 0)
		return r;
	return utimensat(p.object, "", c->more[0] ? times : NULL, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

/* A watch tells the names in a directory and what others do with them.  We are in the caller's domain: what we can open
 * it may read.  Of other kinds than files and directories an open would be more than a look. */
int64_t broker_watch(const struct broker_call *c)
{
	AUTO(place_done) struct place p = PLACE_NONE;
	AUTO_CLOSE int watcher = -1;
	AUTO_CLOSE int opened = -1;
	uint32_t mask = (uint32_t)c->more[1];
	char path[BROKER_FD_PATH_MAX];
	int r;

	watcher = notify_grab_fd(c->call, (int)(uint32_t)c->more[0]);
	if (watcher < 0)
		return watcher;
	r = broker_find(c, 0, !(mask & IN_DONT_FOLLOW), &p);
	if (r < 0)
		return r;
	if (p.object < 0)
		return -ENOENT;
	r = broker_check(c, &p, SCOPE_READ);
	if (r < 0)
		return r;
	if (!S_ISDIR(p.st.st_mode) && !S_ISREG(p.st.st_mode))
		return -EACCES;
	broker_fd_path(p.object, path);
	opened = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (opened < 0)
		return -errno;
	/* The way to it is a link, which is followed. */
	r = inotify_add_watch(watcher, path, mask & ~(uint32_t)IN_DONT_FOLLOW);
	return r < 0 ? -errno : r;
}
