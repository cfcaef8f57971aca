/* SPDX-License-Identifier: Apache-2.0 */
/* Where the relay listens: see relay.h. */
#include "backend/relay/relay.h"

#include "base/fd.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define RELAY_DNS_PORT 53

/* Up, if it is not, and if we may. */
static int relay_loopback(void)
{
	struct ifreq lo = {.ifr_name = "lo"};
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &lo) < 0)
		return -errno;
	if (lo.ifr_flags & IFF_UP)
		return 0;
	lo.ifr_flags |= IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &lo) < 0 ? -errno : 0;
}

/* A redirect changes the network that we are in.  Whatever that is, it must lead nowhere: the machine's own has an
 * interface beside loopback. */
static int relay_network_is_empty(void)
{
	struct if_nameindex *all = if_nameindex();
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r = !all || fd < 0 ? -errno : 0;

	for (size_t i = 0; r == 0 && all[i].if_index != 0; i++) {
		struct ifreq one = {0};

		memcpy(one.ifr_name, all[i].if_name, strnlen(all[i].if_name, IFNAMSIZ - 1));
		if (ioctl(fd, SIOCGIFFLAGS, &one) < 0)
			r = -errno;
		else if (one.ifr_flags & IFF_UP && !(one.ifr_flags & IFF_LOOPBACK))
			r = -ENOTUNIQ;
	}
	if (all)
		if_freenameindex(all);
	return r;
}

static int relay_sockets(unsigned flags, int fds[static CAPTURE_SOCKETS])
{
	for (size_t i = 0; i < CAPTURE_SOCKETS; i++) {
		bool is_six = i % 2 == 1;
		int r;

		if (i >= 2 && flags & RELAY_NAMELESS)
			break;
		r = capture_socket(is_six ? AF_INET6 : AF_INET,
				   i / 2 == 1 ? SOCK_DGRAM : SOCK_STREAM,
				   i < 2 ? CAPTURE_PORT : RELAY_DNS_PORT, &fds[i]);
		if (r < 0 && !(is_six && (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL)))
			return r;
	}
	return 0;
}

int relay_open(const char *path, unsigned flags, struct relay *ret)
{
	struct relay relay = {.path = path, .is_redirected = flags & RELAY_REDIRECTS};
	int r = relay_loopback();

	for (size_t i = 0; i < CAPTURE_SOCKETS; i++)
		relay.sockets[i] = -1;
	if (r == 0 && relay.is_redirected)
		r = relay_network_is_empty();
	if (r == 0)
		r = relay.is_redirected ? capture_make(relay.sockets)
					: relay_sockets(flags, relay.sockets);
	for (size_t i = 0; r < 0 && i < CAPTURE_SOCKETS; i++)
		(void)fd_close(relay.sockets[i]);
	if (r == 0)
		*ret = relay;
	return r;
}
