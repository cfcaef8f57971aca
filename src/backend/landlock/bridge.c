/* SPDX-License-Identifier: Apache-2.0 */
/* See bridge.h. */
#include "backend/landlock/bridge.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

static struct sockaddr_in bridge_address(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int bridge_listen(struct bridge *b)
{
	struct sockaddr_in a = bridge_address(0);
	socklen_t len = sizeof(a);

	b->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* What is accepted inherits the option. */
	if (b->listener < 0 ||
	    setsockopt(b->listener, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)) < 0 ||
	    bind(b->listener, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    listen(b->listener, BRIDGE_BACKLOG) < 0 ||
	    getsockname(b->listener, (struct sockaddr *)&a, &len) < 0)
		return -errno;
	b->port = ntohs(a.sin_port);
	return 0;
}

int bridge_make(struct bridge *ret, int *ret_in)
{
	struct bridge b = BRIDGE_NONE;
	int pair[2] = {-1, -1};
	int r = bridge_listen(&b);

	if (r == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		r = -errno;
	b.out = pair[0];
	/* A proxy that has as much as it can take must not stop who hands it more. */
	if (r == 0)
		r = fd_nonblock(b.out, true);
	if (r < 0) {
		(void)fd_close(pair[1]);
		bridge_done(&b);
		return r;
	}
	*ret = b;
	*ret_in = pair[1];
	return 0;
}

void bridge_done(struct bridge *b)
{
	(void)fd_close(b->listener);
	(void)fd_close(b->out);
	*b = BRIDGE_NONE;
}

/* One end of a connection as IPv4, also of a socket for both families. */
static bool bridge_end(int fd, int (*get)(int, struct sockaddr *, socklen_t *),
		       struct sockaddr_in *ret)
{
	struct sockaddr_in6 a = {0};
	socklen_t len = sizeof(a);

	if (get(fd, (struct sockaddr *)&a, &len) < 0)
		return false;
	if (a.sin6_family == AF_INET) {
		memcpy(ret, &a, sizeof(*ret));
		return true;
	}
	if (a.sin6_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&a.sin6_addr))
		return false;
	*ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = a.sin6_port};
	memcpy(&ret->sin_addr, a.sin6_addr.s6_addr + 12, sizeof(ret->sin_addr));
	return true;
}

static bool bridge_is_same(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
	return a->sin_port == b->sin_port && a->sin_addr.s_addr == b->sin_addr.s_addr;
}

/* Are they the two ends of one connection?  Asked while we hold both. */
static bool bridge_is_pair(int sock, int other)
{
	struct sockaddr_in ends[4];

	return bridge_end(sock, getsockname, &ends[0]) &&
	       bridge_end(other, getpeername, &ends[1]) &&
	       bridge_end(sock, getpeername, &ends[2]) &&
	       bridge_end(other, getsockname, &ends[3]) && bridge_is_same(&ends[0], &ends[1]) &&
	       bridge_is_same(&ends[2], &ends[3]);
}

static int bridge_wait(int fd, short events, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = events};
	int r;

	while ((r = poll(&p, 1, clock_poll_timeout(deadline))) < 0)
		if (errno != EINTR)
			return -errno;
	return r == 0 ? -ETIMEDOUT : 0;
}

static int bridge_dial(const struct bridge *b, int sock, int64_t deadline)
{
	const struct sockaddr_in four = bridge_address(b->port);
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = four.sin_port};
	const struct sockaddr *a = (const struct sockaddr *)&four;
	socklen_t alen = sizeof(four);
	socklen_t len = sizeof(int);
	int family = 0;
	int error = 0;
	int r;

	if (getsockopt(sock, SOL_SOCKET, SO_DOMAIN, &family, &len) < 0)
		return -errno;
	if (family == AF_INET6) {
		/* There may be IPv6 and no ::1.  The option is the caller's, and has nothing more to say. */
		if (setsockopt(sock, IPPROTO_IPV6, IPV6_V6ONLY, &(int){0}, sizeof(int)) < 0)
			return -EADDRNOTAVAIL;
		six.sin6_addr.s6_addr[10] = six.sin6_addr.s6_addr[11] = 0xff;
		memcpy(six.sin6_addr.s6_addr + 12, &four.sin_addr, sizeof(four.sin_addr));
		a = (const struct sockaddr *)&six;
		alen = sizeof(six);
	}
	if (connect(sock, a, alen) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	r = bridge_wait(sock, POLLOUT, deadline);
	len = sizeof(error);
	if (r == 0 && getsockopt(sock, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		r = -errno;
	return r < 0 ? r : -error;
}

/* The other end of the socket, or -errno.  Others that wait at the listener are hung up on. */
static int bridge_accept(const struct bridge *b, int sock, int64_t deadline)
{
	for (unsigned i = 0; i < BRIDGE_STRANGERS_MAX; i++) {
		int other = accept4(b->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		int r;

		if (other >= 0 && bridge_is_pair(sock, other))
			return other;
		(void)fd_close(other);
		if (other >= 0 || errno == EINTR || errno == ECONNABORTED)
			continue;
		r = errno == EAGAIN ? bridge_wait(b->listener, POLLIN, deadline) : -errno;
		if (r < 0)
			return r;
	}
	return -ECONNREFUSED;
}

static int bridge_join(const struct bridge *b, int sock, const struct hatch_head *head)
{
	int64_t deadline = clock_deadline(BRIDGE_WAIT_MS);
	uint8_t bytes[HATCH_HEAD_SIZE];
	AUTO_CLOSE int other = -1;
	int r = bridge_dial(b, sock, deadline);

	if (r < 0)
		return r;
	other = bridge_accept(b, sock, deadline);
	if (other < 0)
		return other;
	hatch_write(head, bytes);
	return fdpass_send(b->out, bytes, sizeof(bytes), &other, 1) < 0 ? -ECONNREFUSED : 0;
}

int bridge_lead(const struct bridge *b, int sock, const struct hatch_head *head)
{
	static const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	int flags = fcntl(sock, F_GETFL);
	int r;

	if (flags < 0)
		return -errno;
	/* Also: nothing below may undo a connection that was there before. */
	if (getpeername(sock, (struct sockaddr *)&peer, &len) == 0)
		return -EISCONN;
	/* It must not be us who waits.  The flag is the caller's too: it is put back, and who changes it meanwhile can
	 * only make us wait for our own listener. */
	if (!(flags & O_NONBLOCK) && fcntl(sock, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	r = bridge_join(b, sock, head);
	/* So that it can be tried again; but not one that was no socket to be connected (a listener from outside). */
	if (r < 0 && r != -EISCONN)
		(void)connect(sock, &nowhere, sizeof(nowhere));
	if (!(flags & O_NONBLOCK) && fcntl(sock, F_SETFL, flags) < 0 && r == 0)
		r = -errno;
	return r;
}
