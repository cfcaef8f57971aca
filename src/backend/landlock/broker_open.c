/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening on behalf.  What exists is opened through the descriptor that was checked; what does not is made
 * in the directory that was, without following anything.
 */
#include "backend/landlock/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_TMPFILE 020000000 /* the bit of O_TMPFILE that is not O_DIRECTORY */
#define OPEN_SET_ID ((unsigned)(S_ISUID | S_ISGID))

static int64_t open_give(const struct broker_call *c, int fd)
{
	int r;

	if (fd < 0)
		return -errno;
	r = notify_give_fd(c->call, fd, c->flags & O_CLOEXEC);
	(void)fd_close(fd);
	return r < 0 ? r : BROKER_ANSWERED;
}

/* The open of a FIFO waits for its other end: in a process of its own, so that others do not wait too. */
static int64_t open_waiting(const struct broker_call *c, const char *path, int flags)
{
	struct broker *b = c->broker;
	size_t i = 0;
	pid_t pid;

	while (i < ARRAY_LEN(b->helpers) && b->helpers[i])
		i++;
	if (i == ARRAY_LEN(b->helpers))
		return -ENFILE;
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		int64_t r = open_give(c, open(path, flags));

		if (r != BROKER_ANSWERED && notify_refuse(c->call, (int)-r) < 0)
			_exit(1);
		_exit(0);
	}
	b->helpers[i] = pid;
	return BROKER_ANSWERED;
}

static bool open_writes(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || flags & (O_TRUNC | OPEN_TMPFILE);
}

/* A file without a name, in a directory. */
static int64_t open_unnamed(const struct broker_call *c, const struct place *p)
{
	int r = broker_check(c, p, SCOPE_CHANGE);

	if (r == 0 && c->mode & OPEN_SET_ID)
		r = -EPERM;
	if (r == 0)
		r = broker_take_umask(c);
	if (r < 0)
		return r;
	return open_give(c, openat(p->object, ".", c->flags | O_CLOEXEC, c->mode));
}

static int64_t open_existing(const struct broker_call *c, const struct place *p)
{
	int flags = (c->flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC;
	char path[BROKER_FD_PATH_MAX];
	int r;

	if (c->flags & O_CREAT && c->flags & O_EXCL)
		return -EEXIST;
	if (c->flags & O_CREAT && S_ISDIR(p->st.st_mode))
		return -EISDIR;
	if (c->flags & O_DIRECTORY && !S_ISDIR(p->st.st_mode))
		return -ENOTDIR;
	r = broker_check(c, p,
			 open_writes(c->flags) && !(c->flags & O_PATH) ? SCOPE_CHANGE : SCOPE_READ);
	if (r < 0)
		return r;
	if (c->flags & O_PATH)
		return open_give(c, fd_dup(p->object, 3));
	if (S_ISLNK(p->st.st_mode))
		return -ELOOP;
	broker_fd_path(p->object, path);
	if (S_ISFIFO(p->st.st_mode) && !(flags & O_NONBLOCK) && (flags & O_ACCMODE) != O_RDWR)
		return open_waiting(c, path, flags);
	return open_give(c, open(path, flags));
}

static int64_t open_new(const struct broker_call *c, const struct place *p)
{
	int r;

	if (!(c->flags & O_CREAT))
		return -ENOENT;
	if (p->wants_dir)
		return -EISDIR;
	if (c->mode & OPEN_SET_ID)
		return -EPERM;
	r = broker_check(c, p, SCOPE_CHANGE);
	if (r == 0)
		r = broker_take_umask(c);
	if (r < 0)
		return r;
	return open_give(c, openat(p->parent, p->name, c->flags | O_NOFOLLOW | O_CLOEXEC, c->mode));
}

int64_t broker_open(const struct broker_call *c)
{
	struct broker_call own = *c;
	AUTO(place_done) struct place p;
	bool follows;
	int flags;
	int r;

	/* The kernel, too, looks at nothing else then. */
	if (own.flags & O_PATH)
		own.flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	flags = own.flags;
	follows = !(flags & O_NOFOLLOW) && !(flags & O_CREAT && flags & O_EXCL);
	own.flags = 0; /* there is no AT_EMPTY_PATH here */
	r = broker_find(&own, 0, follows, &p);
	if (r < 0)
		return r;
	own.flags = flags;
	if (flags & OPEN_TMPFILE && p.object >= 0)
		return open_unnamed(&own, &p);
	return p.object >= 0 ? open_existing(&own, &p) : open_new(&own, &p);
}

int64_t broker_creat(const struct broker_call *c)
{
	struct broker_call own = *c;

	own.flags = O_CREAT | O_WRONLY | O_TRUNC;
	return broker_open(&own);
}

int64_t broker_truncate(const struct broker_call *c)
{
	AUTO(place_done) struct place p;
	AUTO_CLOSE int fd = -1;
	char path[BROKER_FD_PATH_MAX];
	int r = broker_find(c, 0, /* follows= */ true, &p);

	if (r == 0 && p.object < 0)
		r = -ENOENT;
	if (r == 0 && !S_ISREG(p.st.st_mode))
		r = S_ISDIR(p.st.st_mode) ? -EISDIR : -EINVAL;
	if (r == 0)
		r = broker_check(c, &p, SCOPE_CHANGE);
	if (r < 0)
		return r;
	broker_fd_path(p.object, path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || ftruncate(fd, (off_t)c->more[0]) < 0 ? -errno : 0;
}
