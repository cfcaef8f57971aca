/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many connections over one channel of bytes: what a virtual machine has instead of a Unix socket (relay.h).
 *
 * Theory of operation.  The end inside listens and gives every connection a number; the end outside dials the hatch for
 * it.  Frames go over the channel, each a head of six bytes (kind, 0, number, length; in network order) and at most
 * MUX_FRAME bytes:
 *
 *	OPEN    inside only: this number is a new connection
 *	DATA    its bytes; no more than the other end has room for
 *	ROOM    four bytes: so many more may be sent.  At first there is room for MUX_WINDOW
 *	END     no more data comes
 *	GONE    the last frame about this number from this end.  A number is free when both ends have said so
 *
 * A connection that nobody reads thus holds up none of the others.  The other end is not trusted: a frame that breaks
 * these rules ends the channel, and with it the call's network.
 */
#pragma once

#include <cordon/error.h>

#define MUX_STREAMS 256 /* at one time; more wait in the listener's queue */
#define MUX_WINDOW 32768
#define MUX_FRAME 8192

struct mux {
	int channel;  /* borrowed; made non-blocking */
	int listener; /* inside: borrowed, non-blocking; outside: -1 */
	/* Outside: a new connection to the hatch, which is taken, or -errno. */
	int (*dial)(void *data);
	void *data;
};

/* Serves until the channel ends; the caller ignores SIGPIPE.  0, or -errno (-EPROTO: the other end broke the rules). */
CORDON_MUST_CHECK int mux_serve(const struct mux *m);
