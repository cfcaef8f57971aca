/* SPDX-License-Identifier: Apache-2.0 */
/* See links.h. */
#include "run/links.h"

#include "base/fd.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

int links_init(struct links *l, const struct plan *plan, struct cordon_error *err)
{
	*l = (struct links){0};
	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];
		struct stat st;
		int fd;

		if (op->kind != PLAN_OP_SOCKET)
			continue;
		if (l->n == LIMIT_SOCKETS)
			return cordon_fail(err, CORDON_E_LIMIT, "too many sockets");
		fd = open(op->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return cordon_fail_errno(err, errno, "socket '%s'", op->path);
		l->listeners[l->n] = -1;
		l->targets[l->n++] = fd;
		if (fstat(fd, &st) < 0 || !S_ISSOCK(st.st_mode))
			return cordon_fail(err, CORDON_E_INVALID, "'%s' is not a socket", op->path);
	}
	return 0;
}

int links_listen(struct links *l, const int *fds, size_t n)
{
	if (n != l->n)
		return -EINVAL;
	memcpy(l->listeners, fds, n * sizeof(*fds));
	return 0;
}

static void link_free(struct link *k)
{
	(void)fd_close(k->halves[0].fd);
	(void)fd_close(k->halves[1].fd);
	free(k);
}

void links_done(struct links *l)
{
	for (size_t i = 0; i < l->n; i++) {
		(void)fd_close(l->targets[i]);
		(void)fd_close(l->listeners[i]);
	}
	for (size_t i = 0; i < l->n_open; i++)
		link_free(l->open[i]);
	*l = (struct links){0};
}

/* Waits for room for what is there, else for more. */
static short link_events(const struct link *k, int side)
{
	const struct link_half *own = &k->halves[side];
	const struct link_half *other = &k->halves[!side];
	short events = 0;

	if (!own->has_ended && own->from == own->to)
		events |= POLLIN;
	if (other->from < other->to)
		events |= POLLOUT;
	return events;
}

size_t links_poll(const struct links *l, struct pollfd polls[static LINKS_POLLS])
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		/* When all places are taken new ones wait in the kernel's queue. */
		bool has_room = l->n_open < ARRAY_LEN(l->open);

		polls[n++] =
			(struct pollfd){.fd = has_room ? l->listeners[i] : -1, .events = POLLIN};
	}
	for (size_t i = 0; i < l->n_open; i++)
		for (int side = 0; side < 2; side++) {
			short events = link_events(l->open[i], side);

			polls[n++] = (struct pollfd){
				.fd = events ? l->open[i]->halves[side].fd : -1, .events = events};
		}
	return n;
}

/* A connection of our own to the host's socket.  The fd or -errno. */
static int link_dial(int target)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return -errno;
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", target);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	r = -errno;
	(void)fd_close(fd);
	return r;
}

/* Who is refused by the host sees its connection end. */
static void links_accept(struct links *l, size_t i)
{
	AUTO_CLOSE int inside = accept4(l->listeners[i], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	AUTO_CLOSE int host = inside < 0 ? -1 : link_dial(l->targets[i]);
	struct link *k;

	if (inside < 0 || host < 0 || l->n_open == ARRAY_LEN(l->open))
		return;
	k = calloc(1, sizeof(*k));
	if (!k)
		return;
	k->halves[0].fd = TAKE_FD(inside);
	k->halves[1].fd = TAKE_FD(host);
	l->open[l->n_open++] = k;
}

static void link_end(struct link_half *h)
{
	h->has_ended = true;
	h->from = h->to = 0;
}

/* Moves from one side to the other.  False: the link is broken. */
static bool link_move(struct link *k, int side)
{
	struct link_half *own = &k->halves[side];
	int other = k->halves[!side].fd;
	ssize_t n;

	if (!own->has_ended && own->from == own->to) {
		n = recv(own->fd, own->data, sizeof(own->data), MSG_DONTWAIT);
		if (n > 0) {
			own->from = 0;
			own->to = (size_t)n;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			link_end(own);
		}
	}
	if (own->from < own->to) {
		n = send(other, own->data + own->from, own->to - own->from,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		own->from += n > 0 ? (size_t)n : 0;
	}
	if (own->has_ended && !own->is_shut && own->from == own->to) {
		own->is_shut = true;
		if (shutdown(other, SHUT_WR) < 0)
			return false;
	}
	return true;
}

void links_move(struct links *l, const struct pollfd *polls)
{
	size_t was_open = l->n_open;
	const struct pollfd *p = polls + l->n;

	/* Backwards, so that the last can take the place of one that goes. */
	for (size_t i = was_open; i-- > 0;) {
		struct link *k = l->open[i];
		bool is_whole = true;

		if (!p[2 * i].revents && !p[2 * i + 1].revents)
			continue;
		for (int side = 0; is_whole && side < 2; side++)
			is_whole = link_move(k, side);
		if (is_whole && !(k->halves[0].is_shut && k->halves[1].is_shut))
			continue;
		link_free(k);
		l->open[i] = l->open[--l->n_open];
	}
	for (size_t i = 0; i < l->n; i++)
		if (polls[i].revents)
			links_accept(l, i);
}
