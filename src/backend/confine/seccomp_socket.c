/* SPDX-License-Identifier: Apache-2.0 */
/* The filter's blocks about sockets: which families, types and protocols there are. */
#include "backend/confine/seccomp_builder.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
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
	if (b->policy->allows_inet) {
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
