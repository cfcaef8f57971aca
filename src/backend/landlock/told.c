/* SPDX-License-Identifier: Apache-2.0 */
/* See told.h. */
#include "backend/landlock/told.h"

#include "backend/confine/watch.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#define TOLD_TEXT_MAX 256 /* of a refused call */

void told_send(int fd, const struct told *t)
{
	size_t len = offsetof(struct told, path) + strlen(t->path) + 1;

	if (fd >= 0 && send(fd, t, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return; /* full, or nobody there */
}

static void told_add(struct seen *seen, const struct told *t, const struct seen_event *fact,
		     const char *text)
{
	struct seen_event *event;

	if (!seen_add(seen, fact, text, strlen(text), &event))
		return;
	event->pid = t->pid;
	memcpy(event->comm, t->comm, sizeof(event->comm));
	event->comm[sizeof(event->comm) - 1] = '\0';
}

static void told_note(struct seen *seen, const struct told *t)
{
	const struct seccomp_row *row;
	struct buf text = BUF_INIT(TOLD_TEXT_MAX);

	if (t->kind == SEEN_PATH && t->want < SEEN_WANT_COUNT && t->path[0] == '/') {
		told_add(seen, t,
			 &(struct seen_event){.kind = SEEN_PATH,
					      .want = (enum seen_want)t->want,
					      .is_refused = t->is_refused},
			 t->path);
	} else if (t->kind == SEEN_SYSCALL) {
		row = seccomp_row_of(t->data.nr);
		watch_call_text(&t->data, row ? row->name : "?", &text);
		if (buf_error(&text) == 0)
			told_add(seen, t,
				 &(struct seen_event){.kind = SEEN_SYSCALL,
						      .why = row ? row->why : NULL},
				 buf_cstr(&text));
	}
	buf_done(&text);
}

int told_take(int fd, struct seen *seen)
{
	for (unsigned i = 0; i < TOLD_BATCH; i++) {
		struct told t;
		ssize_t n = recv(fd, &t, sizeof(t), MSG_DONTWAIT);

		if (n == 0)
			return 1;
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		if ((size_t)n <= offsetof(struct told, path))
			continue;
		t.path[(size_t)n - offsetof(struct told, path) - 1] = '\0';
		told_note(seen, &t);
	}
	return 0;
}
