/* SPDX-License-Identifier: Apache-2.0 */
/* See opened.h. */
#include "run/opened.h"

#include "base/fd.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define OPENED_EVENTS 4096 /* bytes of events taken at once */

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
		if (o->watches[i] < 0)
			r = 1;
	}
	return r;
}

static void opened_event(const struct opened *o, int watch, struct seen *seen)
{
	struct seen_event *event;

	/* Two names of one file have one watch: either may have been used. */
	for (size_t i = 0; i < o->paths->n; i++)
		if (o->watches[i] == watch)
			(void)seen_add(seen, &(struct seen_event){.kind = SEEN_OPENED},
				       o->paths->v[i], strlen(o->paths->v[i]), &event);
}

void opened_finish(struct opened *o, struct seen *seen)
{
	union {
		struct inotify_event event;
		char bytes[OPENED_EVENTS];
	} u;
	ssize_t n;

	while (o->fd >= 0 && (n = read(o->fd, u.bytes, sizeof(u.bytes))) > 0)
		for (size_t at = 0; at + sizeof(u.event) <= (size_t)n;) {
			struct inotify_event event;

			memcpy(&event, u.bytes + at, sizeof(event));
			at += sizeof(event) + event.len;
			if (event.mask & IN_OPEN)
				opened_event(o, event.wd, seen);
		}
	o->fd = fd_close(o->fd);
	free(TAKE_PTR(o->watches));
}
