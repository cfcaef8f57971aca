/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay's loop (relay.h): one thread, one epoll, tables of fixed size.  A link is a client and its connection to the
 * hatch; bytes of each way wait in a buffer of that way.  Questions that come as datagrams share one connection, on
 * which each has a number of ours in place of its own, so that two clients with the same number are told apart.
 */
#include "backend/relay/relay.h"

#include "base/fd.h"
#include "base/mem.h"
#include "net/dns.h"
#include "net/hatch.h"
#include "net/original.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define RELAY_LINKS 256 /* at one time; more wait in the kernel's queue */
#define RELAY_BUFFER 32768
#define RELAY_QUESTIONS 256 /* that wait for an answer; the oldest is forgotten */
#define RELAY_EVENTS 64
#define RELAY_ROUNDS 8 /* of one link at one event, so that others get their turn */
#define RELAY_BATCH 64
#define RELAY_ANSWER_MAX (DNS_QUERY_MAX + DNS_UDP_MAX)

/* What an event is of: a listener (its place), the connection of the questions, or a side of a link. */
#define RELAY_MARK_NAMES 16U
#define RELAY_MARK_LINKS 32U

struct relay_way {
	size_t from; /* bytes that wait: from .. to */
	size_t to;
	bool is_ended; /* nothing more comes */
	bool is_shut;  /* and that was passed on */
	char bytes[RELAY_BUFFER];
};

/* Side 0 is the client, 1 the hatch; way i leads from side i to the other. */
struct relay_link {
	int fd[2];
	uint32_t events[2];
	bool is_used;
	struct relay_way way[2];
};

struct relay_question {
	uint16_t id;    /* ours; 0: none */
	uint16_t asked; /* the client's */
	int fd;
	struct sockaddr_storage peer;
	socklen_t peer_len;
};

static struct {
	const struct relay *relay;
	int epoll;
	bool is_full; /* nobody is accepted */
	size_t n_links;
	struct relay_link links[RELAY_LINKS];
	int names; /* -1: not connected */
	uint16_t last_id;
	struct relay_question questions[RELAY_QUESTIONS];
	size_t answer_len;
	uint8_t answer[2 + RELAY_ANSWER_MAX];
} relay_state;

static bool relay_is_listener(size_t place)
{
	return place / 2 != 1; /* the second pair takes datagrams */
}

/* Registers for events; who wants none is not registered, or an end would be told for ever. */
static int relay_watch(int fd, uint32_t mark, uint32_t had, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.u32 = mark};
	int how = had == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;

	if (had == events)
		return 0;
	return epoll_ctl(relay_state.epoll, how, fd, &e) < 0 ? -errno : 0;
}

/* Hears those who want to come, or not. */
static void relay_admit(bool is_open)
{
	if (is_open == !relay_state.is_full)
		return;
	for (size_t i = 0; i < CAPTURE_SOCKETS; i++)
		if (relay_state.relay->sockets[i] >= 0 && relay_is_listener(i) &&
		    relay_watch(relay_state.relay->sockets[i], (uint32_t)i, is_open ? 0 : EPOLLIN,
				is_open ? EPOLLIN : 0) < 0)
			_exit(1); /* a network that does not answer would only hang */
	relay_state.is_full = !is_open;
}

/* A new connection to the hatch, or -errno. */
static int relay_dial(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	size_t len = strlen(relay_state.relay->path);

	if (fd < 0)
		return -errno;
	if (len >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	memcpy(a.sun_path, relay_state.relay->path, len + 1);
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* As if nobody were there. */
static void relay_reject(int fd)
{
	struct linger now = {.l_onoff = 1};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	(void)fd_close(fd);
}

static void relay_end(struct relay_link *l, bool is_broken)
{
	if (is_broken)
		relay_reject(l->fd[0]);
	else
		(void)fd_close(l->fd[0]);
	(void)fd_close(l->fd[1]);
	l->fd[0] = l->fd[1] = -1; /* its place is free when no event of this turn can mean it */
}

/* Moves what can be moved one way.  False: the link is broken. */
static bool relay_move(struct relay_link *l, int side)
{
	struct relay_way *w = &l->way[side];

	for (int i = 0; i < RELAY_ROUNDS; i++) {
		ssize_t n;

		if (w->from == w->to && !w->is_ended) {
			n = recv(l->fd[side], w->bytes, sizeof(w->bytes), MSG_DONTWAIT);
			if (n < 0)
				return errno == EAGAIN || errno == EINTR;
			w->from = 0;
			w->to = (size_t)n;
			w->is_ended = n == 0;
		}
		if (w->from < w->to) {
			n = send(l->fd[!side], w->bytes + w->from, w->to - w->from,
				 MSG_DONTWAIT | MSG_NOSIGNAL);
			if (n < 0)
				return errno == EAGAIN || errno == EINTR;
			w->from += (size_t)n;
		} else if (w->is_ended) {
			w->is_shut = true;
			return shutdown(l->fd[!side], SHUT_WR) == 0;
		}
	}
	return true;
}

static uint32_t relay_wants(const struct relay_link *l, int side)
{
	const struct relay_way *out = &l->way[!side];
	const struct relay_way *in = &l->way[side];

	return (in->from == in->to && !in->is_ended ? (uint32_t)EPOLLIN : 0) |
	       (out->from < out->to ? (uint32_t)EPOLLOUT : 0);
}

static void relay_link_event(struct relay_link *l)
{
	uint32_t mark = RELAY_MARK_LINKS + 2 * (uint32_t)(l - relay_state.links);
	bool is_well = true;

	if (l->fd[0] < 0)
		return;
	for (int side = 0; is_well && side < 2; side++)
		is_well = l->way[side].is_shut || relay_move(l, side);
	for (int side = 0; is_well && side < 2; side++) {
		uint32_t wants = relay_wants(l, side);

		is_well = relay_watch(l->fd[side], mark + (uint32_t)side, l->events[side], wants) ==
			  0;
		l->events[side] = wants;
	}
	if (!is_well || (l->way[0].is_shut && l->way[1].is_shut))
		relay_end(l, !is_well);
}

static void relay_free_ended(void)
{
	for (size_t i = 0; i < RELAY_LINKS; i++)
		if (relay_state.links[i].is_used && relay_state.links[i].fd[0] < 0) {
			relay_state.links[i].is_used = false;
			relay_state.n_links--;
		}
	relay_admit(relay_state.n_links < RELAY_LINKS);
}

/* A client of the listener at this place. */
static void relay_link(size_t place, int fd)
{
	struct hatch_head head = {.kind = place / 2 == 2 ? HATCH_NAMES : HATCH_PROXY};
	struct relay_link *l = relay_state.links;
	int out = relay_dial();

	if (out < 0) {
		relay_reject(fd);
		return;
	}
	while (l->is_used) /* there is one: n_links says so */
		l++;
	if (head.kind == HATCH_PROXY && relay_state.relay->is_redirected &&
	    original_target(fd, CAPTURE_PORT, head.addr, &head.port))
		head.kind = HATCH_ADDRESS;
	/* All but the buffers, which are only written. */
	l->fd[0] = fd;
	l->fd[1] = out;
	l->events[0] = l->events[1] = 0;
	l->is_used = true;
	for (int side = 0; side < 2; side++) {
		struct relay_way *w = &l->way[side];

		w->from = w->to = 0;
		w->is_ended = w->is_shut = false;
	}
	hatch_write(&head, (uint8_t *)l->way[0].bytes);
	l->way[0].to = HATCH_HEAD_SIZE;
	relay_state.n_links++;
	relay_link_event(l);
}

static void relay_accept(size_t place)
{
	while (relay_state.n_links < RELAY_LINKS) {
		int fd = accept4(relay_state.relay->sockets[place], NULL, NULL,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		relay_link(place, fd);
	}
	relay_admit(false);
}

/* ---- questions for names ---- */

static void relay_names_end(void)
{
	relay_state.names = fd_close(relay_state.names);
	relay_state.answer_len = 0;
	for (size_t i = 0; i < RELAY_QUESTIONS; i++)
		relay_state.questions[i].id = 0; /* they ask again */
}

static int relay_names_start(void)
{
	const struct hatch_head head = {.kind = HATCH_NAMES};
	uint8_t bytes[HATCH_HEAD_SIZE];
	int r;

	if (relay_state.names >= 0)
		return 0;
	r = relay_dial();
	if (r < 0)
		return r;
	relay_state.names = r;
	hatch_write(&head, bytes);
	if (send(r, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(bytes) ||
	    relay_watch(r, RELAY_MARK_NAMES, 0, EPOLLIN) < 0) {
		relay_names_end();
		return -EIO;
	}
	return 0;
}

/* One question, which starts at frame + 2. */
static void relay_ask(int fd, uint8_t *frame, size_t len, const struct sockaddr_storage *peer,
		      socklen_t peer_len)
{
	struct relay_question *q;

	if (relay_names_start() < 0)
		return; /* they ask again */
	/* 0 is nobody's. */
	relay_state.last_id =
		relay_state.last_id == UINT16_MAX ? 1 : (uint16_t)(relay_state.last_id + 1);
	q = &relay_state.questions[relay_state.last_id % RELAY_QUESTIONS];
	*q = (struct relay_question){.id = relay_state.last_id,
				     .asked = (uint16_t)(frame[2] << 8 | frame[3]),
				     .fd = fd,
				     .peer = *peer,
				     .peer_len = peer_len};
	frame[0] = (uint8_t)(len >> 8);
	frame[1] = (uint8_t)len;
	frame[2] = (uint8_t)(q->id >> 8);
	frame[3] = (uint8_t)q->id;
	/* A part of one would break all that follow. */
	if (send(relay_state.names, frame, len + 2, MSG_DONTWAIT | MSG_NOSIGNAL) !=
	    (ssize_t)(len + 2))
		relay_names_end();
}

static void relay_questions(int fd)
{
	for (int i = 0; i < RELAY_BATCH; i++) {
		uint8_t frame[2 + DNS_QUERY_MAX];
		struct sockaddr_storage peer = {0};
		socklen_t peer_len = sizeof(peer);
		ssize_t n = recvfrom(fd, frame + 2, DNS_QUERY_MAX, MSG_DONTWAIT | MSG_TRUNC,
				     (struct sockaddr *)&peer, &peer_len);

		if (n < 0)
			return;
		if (n >= 2 && n <= DNS_QUERY_MAX)
			relay_ask(fd, frame, (size_t)n, &peer, peer_len);
	}
}

/* To who asked. */
static void relay_answer(uint8_t *bytes, size_t len)
{
	uint16_t id = (uint16_t)(bytes[0] << 8 | bytes[1]);
	struct relay_question *q = &relay_state.questions[id % RELAY_QUESTIONS];

	if (id == 0 || q->id != id)
		return; /* forgotten */
	bytes[0] = (uint8_t)(q->asked >> 8);
	bytes[1] = (uint8_t)q->asked;
	(void)sendto(q->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL,
		     (const struct sockaddr *)&q->peer, q->peer_len); /* they ask again */
	q->id = 0;
}

static void relay_answers(void)
{
	uint8_t *bytes = relay_state.answer;
	ssize_t n;

	if (relay_state.names < 0)
		return;
	n = recv(relay_state.names, bytes + relay_state.answer_len,
		 sizeof(relay_state.answer) - relay_state.answer_len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		relay_names_end();
		return;
	}
	relay_state.answer_len += (size_t)n;
	while (relay_state.answer_len >= 2) {
		size_t len = (size_t)bytes[0] << 8 | bytes[1];

		if (len < 2 || len > RELAY_ANSWER_MAX) {
			relay_names_end();
			return;
		}
		if (relay_state.answer_len < len + 2)
			return;
		relay_answer(bytes + 2, len);
		relay_state.answer_len -= len + 2;
		memmove(bytes, bytes + len + 2, relay_state.answer_len);
	}
}

static void relay_event(uint32_t mark)
{
	if (mark >= RELAY_MARK_LINKS)
		relay_link_event(&relay_state.links[(mark - RELAY_MARK_LINKS) / 2]);
	else if (mark == RELAY_MARK_NAMES)
		relay_answers();
	else if (relay_is_listener(mark))
		relay_accept(mark);
	else
		relay_questions(relay_state.relay->sockets[mark]);
}

void relay_serve(const struct relay *r)
{
	relay_state.relay = r;
	relay_state.names = -1;
	relay_state.is_full = true;
	relay_state.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (relay_state.epoll < 0)
		_exit(1);
	relay_admit(true);
	for (size_t i = 0; i < CAPTURE_SOCKETS; i++)
		if (r->sockets[i] >= 0 && !relay_is_listener(i) &&
		    relay_watch(r->sockets[i], (uint32_t)i, 0, EPOLLIN) < 0)
			_exit(1);
	for (;;) {
		struct epoll_event events[RELAY_EVENTS];
		int n = epoll_wait(relay_state.epoll, events, RELAY_EVENTS, -1);

		for (int i = 0; i < n; i++)
			relay_event(events[i].data.u32);
		if (n < 0 && errno != EINTR)
			_exit(1);
		relay_free_ended();
	}
}
