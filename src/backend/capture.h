/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network in which every way leads to us.  Made inside a new network namespace by who owns it, before privileges
 * are given up: loopback is the only interface; everything is routed there; TCP is redirected to one port and
 * questions for names to another, whatever address they were for; the rest is rejected at once.  The sockets on those
 * ports are handed out of the sandbox, to the proxy.
 *
 * Needs no helper and no root.  Short, allocates nothing.
 */
#pragma once

#include <cordon/error.h>

#include <stdbool.h>
#include <stdint.h>

#define CAPTURE_PORT 61080     /* of the proxy; its protocols are told apart by their first byte */
#define CAPTURE_DNS_PORT 61053 /* of the name server */
#define CAPTURE_SOURCE 0x0a00020fU /* 10.0.2.15: without an address there is no IPv4 source */
#define CAPTURE_SOCKETS 6 /* TCP, DNS over UDP, DNS over TCP; each for IPv4 and then IPv6 */

/* Sets the network up and gives the sockets, -1 for those of IPv6 where there is none.  0 or -errno. */
CORDON_MUST_CHECK int capture_make(int ret_fds[static CAPTURE_SOCKETS]);
/* A socket on which the kernel tells what is rejected there (net/trace.h), or -1 where it cannot be had: then nobody is
 * told. */
int capture_told(void);
/* A socket of AF_INET or AF_INET6 on a port of loopback, listening if it can.  0 or -errno. */
CORDON_MUST_CHECK int capture_socket(int family, int type, uint16_t port, int *ret);
/* Does it work here?  Tried in new namespaces of these flags (CLONE_NEWNET and perhaps CLONE_NEWUSER), of a process of
 * its own. */
bool capture_works(uint64_t flags);
