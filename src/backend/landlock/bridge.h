/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a command in the host's own network to the egress proxy, and the only one.
 *
 * Theory of operation.  The command has sockets of TCP that it cannot connect (seccomp.h, waits_connect).  For each
 * connect() the broker takes the very socket of the caller, connects it to a listener of its own on loopback, accepts
 * the other end at once, makes sure that it is the other end of this socket and of no other, and hands it to the proxy
 * through a channel that only the two of them have, with a head (net/hatch.h) that says where the caller wanted to go.
 * The proxy listens nowhere.
 *
 * Why nothing is to be won by being quick.  The address that is connected to is ours; where the caller wanted to go was
 * read once and reaches the proxy beside the connection, not in it, so there is no first word that another thread of
 * the caller's could say before it, and no secret in the stream that could be read back (SO_TIMESTAMPING gives copies
 * of what was sent).  Whoever else on the machine connects to the listener is not the other end of a socket that we
 * hold, and is hung up on.  Which end is which is told by the addresses and ports of both: while we hold a socket that
 * is connected, no other connection in this network has them.
 *
 * Rejected: a listener of the proxy's and an unguessable word at the start of each connection (both races above); a
 * new socket in place of the caller's (what was set on it, and who waits for it in an epoll, would be lost).
 */
#pragma once

#include "net/hatch.h"

#define BRIDGE_BACKLOG 64
#define BRIDGE_STRANGERS_MAX 1024 /* hung up on for one connection, before it is given up */
#define BRIDGE_WAIT_MS 2000       /* for loopback */

struct bridge {
	int listener;
	int out;       /* to the proxy */
	uint16_t port; /* that the listener has */
};

#define BRIDGE_NONE ((struct bridge){.listener = -1, .out = -1})

/* Makes both ends; *ret_in is what the proxy reads: messages of a head and one descriptor each.  0 or -errno. */
CORDON_MUST_CHECK int bridge_make(struct bridge *ret, int *ret_in);
void bridge_done(struct bridge *b);
/* Connects the socket, of TCP and not connected, and hands its other end out.  0 or the -errno for the caller; then the
 * socket is not connected.  Waits at most BRIDGE_WAIT_MS; allocates nothing. */
CORDON_MUST_CHECK int bridge_lead(const struct bridge *b, int sock, const struct hatch_head *head);
