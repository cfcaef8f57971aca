/* SPDX-License-Identifier: Apache-2.0 */
/* See links.h. */
#include "run/links.h"

#include "base/fd.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LINKS_BACKLOG 64

static struct link_way *links_add(struct links *l, enum link_kind kind)
{
	struct link_way *w = &l->ways[l->n];

	if (l->n == ARRAY_LEN(l->ways))
		return NULL;
	l->n++;
	*w = (struct link_way){.kind = kind, .listener = -1, .target = -1};
	return w;
}

static int links_hold(struct links *l, const char *path, struct cordon_error *err)
{
	struct link_way *w = links_add(l, LINK_SOCKET);
	struct stat st;

	if (!w)
		return cordon_fail(err, CORDON_E_LIMIT, "too many sockets");
	w->target = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (w->target < 0)
		return cordon_fail_errno(err, errno, "socket '%s'", path);
	if (fstat(w->target, &st) < 0 || !S_ISSOCK(st.st_mode))
		return cordon_fail(err, CORDON_E_INVALID, "'%s' is not a socket", path);
	return 0;
}

/* Before the call starts: a port that is in use is said at once. */
static int links_publish(struct links *l, const struct plan_publish *p, struct cordon_error *err)
{
	struct link_way *w = links_add(l, LINK_PUBLISH);
	int on = 1;

	if (!w)
		return cordon_fail(err, CORDON_E_LIMIT, "too many published ports");
	w->port = p->port;
	w->listener = socket(p->address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* Connections of a call before this one that linger are no reason to refuse. */
	if (w->listener < 0 ||
	    setsockopt(w->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    (p->address->sa_family == AF_INET6 &&
	     setsockopt(w->listener, SOL_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0) ||
	    bind(w->listener, p->address, p->address_len) < 0 ||
	    listen(w->listener, LINKS_BACKLOG) < 0)
		return cordon_hint(err, cordon_fail_errno(err, errno, "publish '%s'", p->name),
				   "choose another port of the host: --publish HOSTPORT:PORT");
	return 0;
}

int links_init(struct links *l, const struct plan *plan, struct cordon_error *err)
{
	int r = 0;

	*l = (struct links){0};
	for (size_t i = 0; r == 0 && i < plan->op_count; i++)
		if (plan->ops[i].kind == PLAN_OP_SOCKET)
			r = links_hold(l, plan->ops[i].path, err);
	if (!doors_are_wanted(plan))
		return r;
	for (size_t i = 0; r == 0 && i < 2 * plan->n_ports; i++) { /* IPv4 and IPv6 */
		struct link_way *w = links_add(l, LINK_PORT);

		if (!w)
			return cordon_fail(err, CORDON_E_LIMIT, "too many ports");
		w->port = plan->ports[i / 2];
	}
	for (size_t i = 0; r == 0 && i < plan->n_publish; i++)
		r = links_publish(l, &plan->publish[i], err);
	return r;
}

int links_listen(struct links *l, struct doors *doors)
{
	size_t sockets = 0;
	size_t ports = 0;
	bool publishes = false;

	for (size_t i = 0; i < l->n; i++) {
		struct link_way *w = &l->ways[i];

		publishes |= w->kind == LINK_PUBLISH;
		if (w->kind == LINK_SOCKET && sockets < ARRAY_LEN(doors->sockets))
			w->listener = TAKE_FD(doors->sockets[sockets]);
		else if (w->kind == LINK_PORT && ports < ARRAY_LEN(doors->ports))
			w->listener = TAKE_FD(doors->ports[ports]);
		sockets += w->kind == LINK_SOCKET;
		ports += w->kind == LINK_PORT;
		/* Of IPv6 there may be none. */
		if (w->listener < 0 && (w->kind != LINK_PORT || ports % 2 == 1))
			return -EINVAL;
	}
	for (int six = 0; six < 2; six++)
		for (size_t i = 0; i < LIMIT_PUBLISH_LINKS; i++)
			if (doors->dialers[six][i] >= 0)
				l->dialers[six][l->n_dialers[six]++] =
					TAKE_FD(doors->dialers[six][i]);
	if (sockets < ARRAY_LEN(doors->sockets) && doors->sockets[sockets] >= 0)
		return -EINVAL;
	return !publishes || l->n_dialers[0] > 0 ? 0 : -EINVAL;
}

/* Waits for room for what is there, else for more. */
static short link_events(const struct link *k, int side)
{
	const struct link_half *own = &k->halves[side];
	const struct link_half *other = &k->halves[!side];
	short events = 0;

	if (k->is_dialling)
		return side == 1 ? POLLOUT : 0;
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
		bool has_room = l->n_open < ARRAY_LEN(l->open) &&
				(l->ways[i].kind != LINK_PUBLISH || l->n_dialers[0] > 0);

		polls[n++] = (struct pollfd){.fd = has_room ? l->ways[i].listener : -1,
					     .events = POLLIN};
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
static int link_dial_socket(int target)
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

/* A socket for one family, in the network that the way leads to.  -1: there is none. */
static int link_socket(struct links *l, const struct link_way *w, int six)
{
	if (w->kind == LINK_PUBLISH)
		return l->n_dialers[six] > 0 ? l->dialers[six][--l->n_dialers[six]] : -1;
	return socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Gives the dialled side back: a socket of the call's network is kept for the next connection.  One without an address
 * is not connected. */
static void link_hang_up(struct links *l, struct link *k)
{
	static const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
	int six = k->tried == 2;
	int fd = TAKE_FD(k->halves[1].fd);
	int error;
	socklen_t len = sizeof(error);

	if (fd >= 0 && k->way->kind == LINK_PUBLISH &&
	    connect(fd, &nowhere, sizeof(nowhere)) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 &&
	    l->n_dialers[six] < ARRAY_LEN(l->dialers[six]))
		l->dialers[six][l->n_dialers[six]++] = fd;
	else
		(void)fd_close(fd);
}

/* Loopback by IPv4, then by IPv6.  False: nobody is there. */
static bool link_dial_next(struct links *l, struct link *k)
{
	const struct sockaddr_in four = {.sin_family = AF_INET,
					 .sin_addr = {htonl(INADDR_LOOPBACK)},
					 .sin_port = htons(k->way->port)};
	const struct sockaddr_in6 six = {.sin6_family = AF_INET6,
					 .sin6_addr = IN6ADDR_LOOPBACK_INIT,
					 .sin6_port = htons(k->way->port)};

	k->is_dialling = true;
	while (k->tried < 2) {
		bool is_six;
		int fd;
		int r;

		link_hang_up(l, k);
		is_six = k->tried++ == 1;
		fd = k->halves[1].fd = link_socket(l, k->way, is_six);
		if (fd < 0)
			continue;
		r = is_six ? connect(fd, (const struct sockaddr *)&six, sizeof(six))
			   : connect(fd, (const struct sockaddr *)&four, sizeof(four));
		if (r == 0 || errno == EINPROGRESS)
			return true;
	}
	return false;
}

/* Begins to dial.  False: nobody is there. */
static bool link_dial(struct links *l, struct link *k)
{
	if (k->way->kind != LINK_SOCKET)
		return link_dial_next(l, k);
	k->halves[1].fd = link_dial_socket(k->way->target);
	return k->halves[1].fd >= 0;
}

static void link_free(struct links *l, struct link *k)
{
	(void)fd_close(k->halves[0].fd);
	link_hang_up(l, k);
	free(k);
}

void links_done(struct links *l)
{
	for (size_t i = 0; i < l->n_open; i++)
		link_free(l, l->open[i]);
	for (size_t i = 0; i < l->n; i++) {
		(void)fd_close(l->ways[i].target);
		(void)fd_close(l->ways[i].listener);
	}
	for (int six = 0; six < 2; six++)
		for (size_t i = 0; i < l->n_dialers[six]; i++)
			(void)fd_close(l->dialers[six][i]);
	*l = (struct links){0};
}

/* Who is refused on the other side sees its connection end. */
static void links_accept(struct links *l, const struct link_way *w)
{
	AUTO_CLOSE int fd = accept4(w->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct link *k;

	if (fd < 0 || l->n_open == ARRAY_LEN(l->open))
		return;
	k = calloc(1, sizeof(*k));
	if (!k)
		return;
	k->way = w;
	k->halves[0].fd = TAKE_FD(fd);
	k->halves[1].fd = -1;
	if (link_dial(l, k))
		l->open[l->n_open++] = k;
	else
		link_free(l, k);
}

/* Did it get through?  False: nowhere. */
static bool link_dialled(struct links *l, struct link *k, short revents)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (!revents)
		return true;
	if (getsockopt(k->halves[1].fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		return false;
	if (error)
		return link_dial_next(l, k);
	k->is_dialling = false;
	return true;
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
	size_t ways = l->n;
	const struct pollfd *p = polls + ways;

	/* Backwards, so that the last can take the place of one that goes. */
	for (size_t i = was_open; i-- > 0;) {
		struct link *k = l->open[i];
		bool is_whole = true;

		if (!p[2 * i].revents && !p[2 * i + 1].revents)
			continue;
		if (k->is_dialling)
			is_whole = link_dialled(l, k, p[2 * i + 1].revents);
		for (int side = 0; is_whole && !k->is_dialling && side < 2; side++)
			is_whole = link_move(k, side);
		if (is_whole && !(k->halves[0].is_shut && k->halves[1].is_shut))
			continue;
		l->open[i] = l->open[--l->n_open];
		link_free(l, k);
	}
	for (size_t i = 0; i < ways; i++)
		if (polls[i].revents)
			links_accept(l, &l->ways[i]);
}
