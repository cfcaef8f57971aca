/* SPDX-License-Identifier: Apache-2.0 */
/* See watch.h: the answers, refused calls and addresses.  Paths have a file of their own. */
#include "backend/confine/watch.h"

#include "base/fd.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define WATCH_TEXT_MAX 256 /* of a refused call */

struct watch *watch_new(const struct plan *plan, const struct seccomp_program *filter,
			const struct seccomp_program *denied)
{
	struct watch *w = malloc(sizeof(*w));

	if (w)
		*w = (struct watch){.filter = *filter, .plan = plan, .root = -1};
	if (w && denied)
		w->denied = *denied;
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	(void)fd_close(w->root);
	free(w);
}

void watch_done(void *data)
{
	watch_free(data);
}

/* The caller's name, for people; the caller can choose it. */
static void watch_comm(const struct notify_call *c, char ret[static SEEN_COMM_MAX])
{
	char path[64];
	AUTO_CLOSE int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)c->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, ret, SEEN_COMM_MAX - 1);
	if (n < 0 || !notify_is_waiting(c))
		n = 0;
	ret[n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

void watch_note(const struct watch *w, const struct notify_call *c, const struct seen_event *fact,
		const char *text)
{
	struct seen_event *event;

	if (!seen_add(w->plan->seen, fact, text, strlen(text), &event))
		return;
	event->pid = c->tid;
	watch_comm(c, event->comm);
}

static void watch_refused(const struct watch *w, const struct notify_call *c)
{
	const struct seccomp_row *row = seccomp_row_of(c->data.nr);
	struct buf text = BUF_INIT(WATCH_TEXT_MAX);

	watch_call_text(&c->data, row ? row->name : "?", &text);
	if (buf_error(&text) == 0)
		watch_note(w, c,
			   &(struct seen_event){.kind = SEEN_SYSCALL, .why = row ? row->why : NULL},
			   buf_cstr(&text));
	buf_done(&text);
}

/* By the policy's own list. */
static void watch_listed(const struct watch *w, const struct notify_call *c)
{
	const char *name = seccomp_call_name(c->data.nr);

	watch_note(w, c, &(struct seen_event){.kind = SEEN_SYSCALL, .is_listed = true},
		   name ? name : "?");
}

static bool watch_is_listed(const struct watch *w, const struct notify_call *c)
{
	return w->denied.len > 0 && (seccomp_evaluate(&w->denied, &c->data) &
				     SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO;
}

union watch_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	char bytes[sizeof(struct sockaddr_un) + 1]; /* and a NUL */
};

static void watch_inet(const struct watch *w, const struct notify_call *c,
		       const union watch_address *a)
{
	bool is_4 = a->any.sa_family == AF_INET;
	char host[INET6_ADDRSTRLEN];
	char text[INET6_ADDRSTRLEN + 16];
	const void *address = is_4 ? (const void *)&a->in.sin_addr : &a->in6.sin6_addr;
	uint32_t v4 = ntohl(a->in.sin_addr.s_addr);

	/* Its own loopback is the call's; "any" means that, too. */
	if (is_4 ? v4 >> 24 == IN_LOOPBACKNET || v4 == INADDR_ANY
		 : IN6_IS_ADDR_LOOPBACK(&a->in6.sin6_addr) ||
			    IN6_IS_ADDR_UNSPECIFIED(&a->in6.sin6_addr))
		return;
	if (!inet_ntop(a->any.sa_family, address, host, sizeof(host)))
		return;
	(void)snprintf(text, sizeof(text), is_4 ? "%s:%u" : "[%s]:%u", host,
		       ntohs(is_4 ? a->in.sin_port : a->in6.sin6_port));
	watch_note(w, c, &(struct seen_event){.kind = SEEN_HOST}, text);
}

/* connect() and sendto(): where to. */
static void watch_address(const struct watch *w, const struct notify_call *c, uint64_t at,
			  uint64_t len)
{
	union watch_address a = {0};

	if (len < sizeof(sa_family_t) || len > sizeof(struct sockaddr_un) ||
	    notify_read(c, at, &a, (size_t)len) < 0)
		return;
	if ((a.any.sa_family == AF_INET && len >= sizeof(a.in)) ||
	    (a.any.sa_family == AF_INET6 && len >= sizeof(a.in6)))
		watch_inet(w, c, &a);
	else if (a.any.sa_family == AF_UNIX && a.un.sun_path[0] == '/')
		watch_note(w, c, &(struct seen_event){.kind = SEEN_SOCKET}, a.un.sun_path);
}

static void watch_told(struct watch *w, const struct notify_call *c)
{
	if (c->data.nr == SYS_connect)
		watch_address(w, c, c->data.args[1], c->data.args[2]);
	else if (c->data.nr == SYS_sendto)
		watch_address(w, c, c->data.args[4], c->data.args[5]);
	else
		watch_paths(w, c);
}

static int watch_answer(struct watch *w, const struct notify_call *c)
{
	uint32_t answer = seccomp_evaluate(&w->filter, &c->data);

	switch (answer & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_USER_NOTIF:
	case SECCOMP_RET_ALLOW:
		if (watch_is_listed(w, c)) {
			watch_listed(w, c);
			return notify_refuse(c, EPERM);
		}
		if ((answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW)
			return notify_refuse(c, EPERM); /* not what we were installed for */
		watch_told(w, c);
		return notify_continue(c);
	case SECCOMP_RET_ERRNO:
		watch_refused(w, c);
		return notify_refuse(c, (int)(answer & SECCOMP_RET_DATA));
	default: /* not what we were installed for */
		return notify_refuse(c, EPERM);
	}
}

int watch_handle(void *data, int listener)
{
	for (unsigned i = 0; i < NOTIFY_BATCH; i++) {
		struct notify_call call;
		int r = notify_next(listener, &call);

		if (r == -EPIPE)
			return 1;
		if (r > 0)
			r = watch_answer(data, &call);
		else if (r == 0)
			return 0;
		if (r < 0)
			return r;
	}
	return 0;
}
