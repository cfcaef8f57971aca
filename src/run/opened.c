/* SPDX-License-Identifier: Apache-2.0 */
/* See opened.h. */
#include "run/opened.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "workspace/sensitive.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPENED_EVENTS 4096 /* bytes of events taken at once */
/* IN_ATTRIB: its number of names, too.  Not IN_ONESHOT: after a chmod() nothing would be watched.  What overflows is told. */
#define OPENED_MASK (IN_OPEN | IN_ATTRIB | IN_MOVE_SELF | IN_DONT_FOLLOW)

/* Could the file that cannot be watched be opened by the call?  Not if it is gone, nor if it is another user's that may not be
 * read: the call has no other rights than we have.  What is our own it can make readable. */
static bool opened_is_missed(const char *path, int error)
{
	struct stat st;

	if (error == ENOENT || error == ENOTDIR)
		return false;
	return error != EACCES || lstat(path, &st) < 0 || st.st_uid == geteuid();
}

int opened_start(struct opened *o, const struct strv *paths)
{
	int r = 0;

	*o = OPENED_NONE;
	if (!paths || paths->n == 0)
		return 0;
	o->files = calloc(paths->n, sizeof(*o->files));
	if (!o->files)
		return -ENOMEM;
	o->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (o->fd < 0) {
		free(TAKE_PTR(o->files));
		return 1;
	}
	o->paths = paths;
	for (size_t i = 0; i < paths->n; i++) {
		struct opened_file *f = &o->files[i];
		struct stat st;

		f->watch = inotify_add_watch(o->fd, paths->v[i], OPENED_MASK);
		if (f->watch < 0)
			r |= opened_is_missed(paths->v[i], errno);
		else if (lstat(paths->v[i], &st) == 0) {
			f->dev = st.st_dev;
			f->ino = st.st_ino;
			f->is_dir = S_ISDIR(st.st_mode);
			f->links = st.st_nlink;
		}
	}
	return r;
}

/*
 * Has the file got a name that we do not know?  Whoever renames it, or links it and removes the name that gave it away, opens it in
 * the next call, where nobody watches the new name: so that counts as opening it.
 *
 * A directory above it that is renamed says nothing to the file, and the name stays what gives it away, unless only a pattern
 * of the policy did.  One that is removed is gone when the kernel ignores its watch.  A file that had other names before
 * (packages that are linked from a store) may lose one of them: who removes them all day must not be tainted by that.
 */
static bool opened_is_hidden(const struct opened *o, size_t i, uint32_t events)
{
	const struct opened_file *f = &o->files[i];
	const char *path = o->paths->v[i];
	struct stat st;

	if (events & IN_MOVE_SELF)
		return true;
	if (events & IN_IGNORED)
		return false;
	if (lstat(path, &st) == 0 && st.st_ino == f->ino && st.st_dev == f->dev)
		return st.st_nlink > f->links && !f->is_dir;
	return events & IN_ATTRIB ? f->links <= 1 : !sensitive_name(path_base(path));
}

/* False: not every fact could be kept. */
static bool opened_tell(const struct opened *o, const uint32_t *events, struct seen *seen)
{
	/* The call may have filled the list with others before. */
	uint64_t dropped = seen->dropped;
	struct seen_event *event;

	for (size_t i = 0; i < o->paths->n; i++) {
		/* Two names of one file have one watch: either may have been used. */
		uint32_t mask = o->files[i].watch < 0 ? 0 : events[o->files[i].watch];

		if (o->files[i].watch >= 0 && ((mask & IN_OPEN) || opened_is_hidden(o, i, mask)))
			(void)seen_add(seen, &(struct seen_event){.kind = SEEN_OPENED},
				       o->paths->v[i], strlen(o->paths->v[i]), &event);
	}
	return seen->dropped == dropped;
}

/* What happened to each watch.  They are numbered from 1, in a new instance.  False: some of it was lost. */
static bool opened_read(const struct opened *o, uint32_t *events)
{
	union {
		struct inotify_event event;
		char bytes[OPENED_EVENTS];
	} u;
	bool is_whole = true;
	ssize_t n;

	while ((n = read(o->fd, u.bytes, sizeof(u.bytes))) > 0)
		for (size_t at = 0; at + sizeof(u.event) <= (size_t)n;) {
			struct inotify_event event;

			memcpy(&event, u.bytes + at, sizeof(event));
			at += sizeof(event) + event.len;
			if (event.wd > 0 && (size_t)event.wd <= o->paths->n)
				events[event.wd] |= event.mask;
			else
				is_whole = false; /* IN_Q_OVERFLOW */
		}
	return is_whole;
}

/*
 * Closes the descriptor without waiting.  The kernel lets whoever closes an inotify instance, also by exiting, wait
 * until no processor can see its marks any more: 2 to 20 ms.  So it is sent to a socket whose own descriptor is
 * in the same message: when we close both ends nobody can reach them but through themselves, and the
 * kernel's collector of such garbage closes all in a thread of its own (since 6.10; before, we wait here).
 */
static void opened_close(int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	char byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&m);
	int pair[2];
	int sent[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
		sent[0] = pair[1];
		sent[1] = fd;
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(sent));
		memcpy(CMSG_DATA(header), sent, sizeof(sent));
		/* Where it cannot be sent we wait. */
		(void)!sendmsg(pair[0], &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		(void)fd_close(pair[0]);
		(void)fd_close(pair[1]);
	}
	(void)fd_close(fd);
}

bool opened_finish(struct opened *o, struct seen *seen)
{
	AUTO_FREE uint32_t *events = NULL;
	bool is_whole = true;

	if (o->fd < 0)
		return true;
	events = calloc(o->paths->n + 1, sizeof(*events));
	if (events)
		is_whole = opened_read(o, events);
	is_whole = events && opened_tell(o, events, seen) && is_whole;
	opened_close(o->fd);
	o->fd = -1;
	free(TAKE_PTR(o->files));
	return is_whole;
}
