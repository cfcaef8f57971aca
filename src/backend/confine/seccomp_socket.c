/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter's blocks about sockets: which families, types and protocols there are, and which options.
 *
 * TCP that waits (waits_connect) is for a command in the host's own network: a socket of it may have no peer but the one
 * that was connected on its behalf.  So there is no type or protocol but TCP itself (MPTCP, SMC and SCTP would open
 * paths of their own), nobody binds or listens, nothing is sent with MSG_FASTOPEN, and options are an allowlist.
 */
#include "backend/confine/seccomp_builder.h"

#include "base/mem.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/*
 * Which error a refused socket gets decides whether programs go on.  A family: EAFNOSUPPORT, which
 * getaddrinfo(), libuv and Go read as "not on this machine" and try the next one; EPERM makes them stop.  A
 * protocol: EPROTONOSUPPORT, on which Go goes from MPTCP to TCP and ping from ICMP to raw.  A type: EPERM,
 * as the kernel answers for SOCK_RAW without the capability.
 */
static void seccomp_block_inet(struct seccomp_builder *b)
{
	seccomp_load_arg(b, 1, 0xf); /* SOCK_TYPE_MASK: without CLOEXEC and NONBLOCK */
	seccomp_jump_equal(b, SOCK_STREAM, 2, 0);
	seccomp_jump_equal(b, SOCK_DGRAM, 5, 0);
	seccomp_return_errno(b, EPERM);
	seccomp_load_arg(b, 2, 0xffffffffu);
	seccomp_jump_equal(b, 0, 6, 0);
	seccomp_jump_equal(b, IPPROTO_TCP, 5, 0);
	seccomp_return_errno(b, EPROTONOSUPPORT);
	seccomp_load_arg(b, 2, 0xffffffffu);
	seccomp_jump_equal(b, 0, 2, 0);
	seccomp_jump_equal(b, IPPROTO_UDP, 1, 0);
	seccomp_return_errno(b, EPROTONOSUPPORT);
	seccomp_return(b, SECCOMP_RET_ALLOW);
}
#define BLOCK_INET 14u /* its length */

/* The same without datagrams. */
static void seccomp_block_tcp(struct seccomp_builder *b)
{
	seccomp_load_arg(b, 1, 0xf);
	seccomp_jump_equal(b, SOCK_STREAM, 1, 0);
	seccomp_return_errno(b, EPERM);
	seccomp_load_arg(b, 2, 0xffffffffu);
	seccomp_jump_equal(b, 0, 2, 0);
	seccomp_jump_equal(b, IPPROTO_TCP, 1, 0);
	seccomp_return_errno(b, EPROTONOSUPPORT);
	seccomp_return(b, SECCOMP_RET_ALLOW);
}
#define BLOCK_TCP 9u

void seccomp_block_socket(struct seccomp_builder *b)
{
	seccomp_load_arg(b, 0, 0xffffffffu);
	if (b->policy->allows_unix) {
		seccomp_jump_equal(b, AF_UNIX, 0, 1);
		seccomp_return(b, SECCOMP_RET_ALLOW);
	}
	if (b->policy->allows_netlink_route) {
		seccomp_jump_equal(b, AF_NETLINK, 0, 4);
		seccomp_load_arg(b, 2, 0xffffffffu);
		seccomp_jump_equal(b, NETLINK_ROUTE, 0, 1);
		seccomp_return(b, SECCOMP_RET_ALLOW);
		seccomp_return_errno(b, EPROTONOSUPPORT);
	}
	if (b->policy->waits_connect) {
		seccomp_jump_equal(b, AF_INET, 1, 0);
		seccomp_jump_equal(b, AF_INET6, 0, BLOCK_TCP);
		seccomp_block_tcp(b);
	} else if (b->policy->allows_inet) {
		seccomp_jump_equal(b, AF_INET, 1, 0);
		seccomp_jump_equal(b, AF_INET6, 0, BLOCK_INET);
		seccomp_block_inet(b);
	}
	seccomp_return_errno(b, EAFNOSUPPORT);
}

/*
 * Pairs are how processes talk to their children, so AF_UNIX ones are always there.  But a datagram socket
 * of a pair can still send to, and connect to, any named socket on the machine (a connected stream cannot:
 * EISCONN); where AF_UNIX is closed only the connected kinds pass.  SOCK_RAW is a datagram socket here.
 */
void seccomp_block_socketpair(struct seccomp_builder *b)
{
	seccomp_load_arg(b, 0, 0xffffffffu);
	if (b->policy->allows_unix) {
		seccomp_jump_equal(b, AF_UNIX, 0, 1);
		seccomp_return(b, SECCOMP_RET_ALLOW);
	} else {
		seccomp_jump_equal(b, AF_UNIX, 0, 6);
		seccomp_load_arg(b, 1, 0xf);
		seccomp_jump_equal(b, SOCK_STREAM, 2, 0);
		seccomp_jump_equal(b, SOCK_SEQPACKET, 1, 0);
		seccomp_return_errno(b, EPERM);
		seccomp_return(b, SECCOMP_RET_ALLOW);
	}
	seccomp_return_errno(b, EAFNOSUPPORT);
}

/*
 * What programs set on sockets of TCP and on pairs, and what concerns the connection alone.  Left out on purpose:
 *
 * - where packets go: IP_OPTIONS and IPV6_RTHDR (a source route has its first hop in the packet, so that the SYN to our
 *   own listener would go to a stranger; not every kernel wants a capability for it), SO_BINDTODEVICE,
 *   SO_BINDTOIFINDEX, SO_DONTROUTE, SO_MARK, IP_PKTINFO, IP_UNICAST_IF, IP_TRANSPARENT, IP_FREEBIND, IPV6_ADDRFORM,
 *   flow labels, multicast;
 * - peers without connect(): TCP_FASTOPEN, TCP_FASTOPEN_CONNECT, TCP_REPAIR*;
 * - what the kernel makes of the bytes: TCP_ULP (TLS, SMC and others are modules, with a record), TCP_MD5SIG,
 *   SO_ATTACH_*, SO_ZEROCOPY, TCP_CONGESTION (loads modules);
 * - copies of what was sent: SO_TIMESTAMPING;
 * - sharing a port: SO_REUSEPORT.
 *
 * ENOPROTOOPT: an option that this kernel does not have, which programs live with.
 */
static const struct {
	uint16_t level;
	uint16_t option;
} seccomp_options[] = {
	{SOL_SOCKET, SO_DEBUG},
	{SOL_SOCKET, SO_REUSEADDR},
	{SOL_SOCKET, SO_BROADCAST},
	{SOL_SOCKET, SO_SNDBUF},
	{SOL_SOCKET, SO_RCVBUF},
	{SOL_SOCKET, SO_KEEPALIVE},
	{SOL_SOCKET, SO_OOBINLINE},
	{SOL_SOCKET, SO_PRIORITY},
	{SOL_SOCKET, SO_LINGER},
	{SOL_SOCKET, SO_PASSCRED},
	{SOL_SOCKET, SO_RCVLOWAT},
	{SOL_SOCKET,
	 20}, /* SO_RCVTIMEO, SO_SNDTIMEO, and the same with 64 bits: as everywhere but on old machines */
	{SOL_SOCKET, 21},
	{SOL_SOCKET, 66},
	{SOL_SOCKET, 67},
	{IPPROTO_TCP, TCP_NODELAY},
	{IPPROTO_TCP, TCP_CORK},
	{IPPROTO_TCP, TCP_KEEPIDLE},
	{IPPROTO_TCP, TCP_KEEPINTVL},
	{IPPROTO_TCP, TCP_KEEPCNT},
	{IPPROTO_TCP, TCP_SYNCNT},
	{IPPROTO_TCP, TCP_LINGER2},
	{IPPROTO_TCP, TCP_WINDOW_CLAMP},
	{IPPROTO_TCP, TCP_QUICKACK},
	{IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS},
	{IPPROTO_TCP, TCP_USER_TIMEOUT},
	{IPPROTO_TCP, TCP_NOTSENT_LOWAT},
	{IPPROTO_IP, IP_TOS},
	{IPPROTO_IP, IP_TTL},
	{IPPROTO_IPV6, IPV6_V6ONLY},
	{IPPROTO_IPV6, IPV6_TCLASS},
	{IPPROTO_IPV6, IPV6_UNICAST_HOPS},
};

/* Level by level: not this one: on to the next; an option of it: to the last instruction; none: to the one before. */
void seccomp_block_setsockopt(struct seccomp_builder *b)
{
	static const uint16_t levels[] = {SOL_SOCKET, IPPROTO_TCP, IPPROTO_IP, IPPROTO_IPV6};
	size_t left = ARRAY_LEN(seccomp_options) + 3 * ARRAY_LEN(levels); /* before the answers */

	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		size_t n = 0;

		for (size_t k = 0; k < ARRAY_LEN(seccomp_options); k++)
			n += seccomp_options[k].level == levels[i];
		seccomp_load_arg(b, 1, 0xffffffffu);
		seccomp_jump_equal(b, levels[i], 0, n + 1);
		seccomp_load_arg(b, 2, 0xffffffffu);
		left -= 3;
		for (size_t k = 0; k < ARRAY_LEN(seccomp_options); k++)
			if (seccomp_options[k].level == levels[i]) {
				/* The last of its level goes to the refusal, else on to the next one. */
				left--;
				seccomp_jump_equal(b, seccomp_options[k].option, left + 1,
						   --n == 0 ? left : 0);
			}
	}
	seccomp_return_errno(b, ENOPROTOOPT);
	seccomp_return(b, SECCOMP_RET_ALLOW);
}
