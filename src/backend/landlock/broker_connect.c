/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect() on behalf.  Nothing of the caller's decides where its socket goes: that is the bridge.  The address, read
 * once, only becomes what the proxy is told, which judges it like any other.
 */
#include "backend/capture.h"
#include "backend/landlock/broker.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define CONNECT_DNS_PORT 53

/* Is it a socket of plain TCP?  Its family, or -errno. */
static int connect_family(int sock)
{
	int values[3] = {0};
	static const int options[] = {SO_DOMAIN, SO_TYPE, SO_PROTOCOL};

	for (unsigned i = 0; i < 3; i++) {
		socklen_t len = sizeof(values[i]);

		if (getsockopt(sock, SOL_SOCKET, options[i], &values[i], &len) < 0)
			return errno == ENOTSOCK ? -ENOTSOCK : -EACCES;
	}
	if ((values[0] != AF_INET && values[0] != AF_INET6) || values[1] != SOCK_STREAM ||
	    values[2] != IPPROTO_TCP)
		return -EACCES;
	return values[0];
}

/* The address as the kernel would read it for a socket of that family. */
static int connect_target(int family, const struct sockaddr_storage *a, size_t len,
			  struct hatch_head *ret)
{
	struct sockaddr_in four;
	struct sockaddr_in6 six;

	*ret = (struct hatch_head){.kind = HATCH_ADDRESS};
	if (len < sizeof(a->ss_family))
		return -EINVAL;
	/* AF_UNSPEC, too, which would let go of the peer: then what was handed out is somebody else's. */
	if (a->ss_family != family)
		return -EAFNOSUPPORT;
	if (family == AF_INET) {
		if (len < sizeof(four))
			return -EINVAL;
		memcpy(&four, a, sizeof(four));
		ret->port = ntohs(four.sin_port);
		ret->addr[10] = ret->addr[11] = 0xff;
		memcpy(ret->addr + 12, &four.sin_addr, sizeof(four.sin_addr));
	} else {
		if (len < offsetof(struct sockaddr_in6, sin6_scope_id))
			return -EINVAL;
		memcpy(&six, a, sizeof(six));
		ret->port = ntohs(six.sin6_port);
		memcpy(ret->addr, &six.sin6_addr, ADDR_LEN);
	}
	return ret->port == 0 ? -ECONNREFUSED : 0;
}

static bool connect_is_loopback(const uint8_t addr[static ADDR_LEN])
{
	static const uint8_t four[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127};
	static const uint8_t six[ADDR_LEN] = {[ADDR_LEN - 1] = 1};

	return memcmp(addr, four, sizeof(four)) == 0 || memcmp(addr, six, sizeof(six)) == 0;
}

/* The proxy's own address is what HTTP_PROXY and the like name, and a name server is ours, whichever was meant. */
static void connect_sort(struct hatch_head *head)
{
	if (head->port == CONNECT_DNS_PORT)
		head->kind = HATCH_NAMES;
	else if (head->port == CAPTURE_PORT && connect_is_loopback(head->addr))
		head->kind = HATCH_PROXY;
}

int64_t broker_connect(const struct broker_call *c)
{
	struct sockaddr_storage address = {0};
	AUTO_CLOSE int sock = -1;
	struct hatch_head head;
	int32_t len = (int32_t)c->more[1];
	int r;

	if (c->broker->bridge.listener < 0)
		return -EACCES;
	if (len < 0 || (size_t)len > sizeof(address))
		return -EINVAL;
	sock = notify_grab_fd(c->call, c->dirfd[0]);
	if (sock < 0)
		return sock;
	r = connect_family(sock);
	if (r < 0)
		return r;
	if (len > 0) {
		int e = notify_read(c->call, c->more[0], &address, (size_t)len);

		if (e < 0)
			return e;
	}
	r = connect_target(r, &address, (size_t)len, &head);
	if (r < 0)
		return r;
	connect_sort(&head);
	return bridge_lead(&c->broker->bridge, sock, &head);
}
