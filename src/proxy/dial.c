/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a target that is allowed to a server that is there: its name is looked up, every address that may be dialled
 * is tried in turn, and the client hears that it can go on.
 */
#include "proxy/conn.h"

#include "base/fd.h"
#include "net/socks.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

/* Is there something to be said to the server as soon as it is there? */
static bool dial_has_words(const struct conn *c)
{
	return c->way == CONN_REQUESTS || (c->way == CONN_TRANSPARENT && c->in_len > 0);
}

static int dial_connect(struct conn *c, const uint8_t addr[static ADDR_LEN])
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(c->port)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(c->port)};
	bool is_four = addr_is_v4(addr);
	int off = 0;
	int fd =
		socket(is_four ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return -errno;
	/* Our first words go with the last packet of the handshake: the server is woken once.  Not where it may be the
	 * one to speak first, for it would wait for that packet. */
	if (dial_has_words(c))
		(void)setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &off, sizeof(off));
	memcpy(&six.sin6_addr, addr, ADDR_LEN);
	memcpy(&four.sin_addr, addr + 12, 4);
	r = is_four ? connect(fd, (const struct sockaddr *)&four, sizeof(four))
		    : connect(fd, (const struct sockaddr *)&six, sizeof(six));
	if (r < 0 && errno != EINPROGRESS) {
		r = -errno;
		(void)fd_close(fd);
		return r;
	}
	c->server = (struct source){.fn = conn_server_event, .loop = c->loop, .fd = fd};
	return 0;
}

/* Is the connection already there?  A near one is at once, and need not be waited for.  Who has something to say finds
 * out by saying it, and writes down later; an error is told only once.  1, -EAGAIN, or why it is not. */
static int dial_is_there(struct conn *c)
{
	struct pollfd pfd = {.fd = c->server.fd, .events = POLLOUT};

	if (c->way == CONN_REQUESTS && !c->client.tls)
		return exchange_speak(c);
	return poll(&pfd, 1, 0) == 1 && pfd.revents == POLLOUT ? 1 : -EAGAIN;
}

/* The next address that is left, or the end. */
void dial_next(struct conn *c)
{
	size_t n = c->host.kind == HOST_NAME ? c->entry->n : 1;

	loop_close(&c->server);
	while (c->tried < n) {
		const uint8_t *addr = c->host.kind == HOST_NAME ? c->entry->addresses[c->tried]
								: c->host.addr;
		int r;

		c->tried++;
		if (dial_connect(c, addr) < 0)
			continue;
		c->phase = CONN_DIALS;
		conn_touch(c, c->loop->limits.connect_ms);
		r = dial_is_there(c);
		if (r > 0) {
			dial_done(c);
			return;
		}
		if (r == -EAGAIN && loop_watch(&c->server, EPOLLOUT) == 0 &&
		    loop_watch(&c->client, 0) == 0)
			return;
		loop_close(&c->server);
	}
	c->tried = 0;
	conn_refuse(c, 502, "the host cannot be reached", "", "");
}

static void dial_looked_up(struct alias_waiter *w, const struct alias *entry)
{
	struct conn *c = (struct conn *)(void *)((char *)w - offsetof(struct conn, waiter));

	c->is_waiting_name = false;
	if (c->phase != CONN_LOOKS)
		return; /* ended meanwhile */
	c->entry = entry;
	if (entry->state != ALIAS_READY) {
		conn_refuse(c, entry->rule[0] ? 403 : 502,
			    entry->rule[0] ? "the policy does not allow this host's address"
					   : "the host's name could not be looked up",
			    entry->rule, entry->remedy);
		return;
	}
	dial_next(c);
}

void conn_dial(struct conn *c)
{
	struct alias *entry;

	c->tried = 0;
	c->phase = CONN_LOOKS;
	conn_touch(c, c->loop->limits.connect_ms);
	if (loop_watch(&c->client, 0) < 0) {
		conn_end(c);
		return;
	}
	if (c->host.kind != HOST_NAME) {
		dial_next(c);
		return;
	}
	entry = alias_get(&c->loop->aliases, &c->host);
	if (!entry) {
		conn_refuse(c, 502, "too many names", "", "");
		return;
	}
	c->waiter.fn = dial_looked_up;
	c->is_waiting_name = true;
	resolve_name(c->loop, entry, &c->waiter);
}

/* The server is there. */
void dial_done(struct conn *c)
{
	static const char granted[] = "HTTP/1.1 200 Connection established\r\n\r\n";
	uint8_t answer[10];
	const void *bytes = NULL;
	size_t len = 0;

	/* The first words went without: they wait for nothing. */
	(void)setsockopt(c->server.fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	conn_book(c);
	c->booked = c->host;
	c->booked_port = c->port;
	if (!c->is_told) {
		loop_record(c->loop, c->host.name, c->port, true, c->rule, "", 0);
		conn_log(c, 200, c->rule, "");
	}
	c->is_told = false;
	if (c->phase == CONN_DIALS && c->way == CONN_REQUESTS) {
		if (c->client.tls)
			shake_server(c);
		else
			exchange_dialled(c);
		return;
	}
	if (c->way == CONN_CONNECT) {
		bytes = granted;
		len = sizeof(granted) - 1;
	} else if (c->way == CONN_SOCKS) {
		socks_answer(SOCKS_GRANTED, answer);
		bytes = answer;
		len = sizeof(answer);
	}
	/* The first bytes on a connection: the buffer has room. */
	if (len > 0 &&
	    send(c->client.fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len) {
		conn_end(c);
		return;
	}
	c->phase = CONN_SPEAKS;
	conn_go_on(c);
}
