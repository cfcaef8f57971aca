/* SPDX-License-Identifier: Apache-2.0 */
/* See opened.h. */
#include "run/opened.h"

#include "base/fd.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPENED_EVENTS 4096 /* bytes of events taken at once */

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
	o->watches = calloc(paths->n, sizeof(*o->watches));
	if (!o->watches)
		return -ENOMEM;
	o->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (o->fd < 0) {
		free(TAKE_PTR(o->watches));
		return 1;
	}
	o->paths = paths;
	for (size_t i = 0; i < paths->n; i++) {
		o->watches[i] = inotify_add_watch(o->fd, paths->v[i],
						  IN_OPEN | IN_ONESHOT | IN_DONT_FOLLOW);
		if (o->watches[i] < 0 && opened_is_missed(paths->v[i], errno))
			r = 1;
	}
	return r;
}

/* False: not every fact could be kept. */
static bool opened_event(const struct opened *o, int watch, struct seen *seen)
{
	uint64_t dropped = seen->dropped;
	struct seen_event *event;

	/* Two names of one file have one watch: either may have been used. */
	for (size_t i = 0; i < o->paths->n; i++)
		if (o->watches[i] == watch)
			(void)seen_add(seen, &(struct seen_event){.kind = SEEN_OPENED},
				       o->paths->v[i], strlen(o->paths->v[i]), &event);
	/* The call may have filled the list with others before. */
	return seen->dropped == dropped;
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
	union {
		struct inotify_event event;
		char bytes[OPENED_EVENTS];
	} u;
	bool is_whole = true;
	ssize_t n;

	while (o->fd >= 0 && (n = read(o->fd, u.bytes, sizeof(u.bytes))) > 0)
		for (size_t at = 0; at + sizeof(u.event) <= (size_t)n;) {
			struct inotify_event event;

			memcpy(&event, u.bytes + at, sizeof(event));
			at += sizeof(event) + event.len;
			if (event.mask & IN_OPEN)
				is_whole &= opened_event(o, event.wd, seen);
			if (event.mask & IN_Q_OVERFLOW)
				is_whole = false;
		}
	if (o->fd >= 0)
		opened_close(o->fd);
	o->fd = -1;
	free(TAKE_PTR(o->watches));
	return is_whole;
}
