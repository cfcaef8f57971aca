/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of an allowlist for engines whose network namespace we did not make: containers, gVisor, virtual machines.
 *
 * Theory of operation.  The engine gives the call a network with nothing in it but loopback, and one file: a Unix
 * socket, the hatch (net/hatch.h).  Outside the proxy listens on it.  Inside the relay listens where programs look
 * for a network, and passes every connection to the hatch with a head that says where it was going:
 *
 *	127.0.0.1:61080 (and ::1)   what HTTP_PROXY and the others name; HTTP, CONNECT and SOCKS 5
 *	127.0.0.1:53, UDP and TCP   what /etc/resolv.conf names
 *	with RELAY_REDIRECTS        the same network as native makes (capture.h): every TCP connection and every question for a
 *	                            name, whatever address they are for; all the rest is rejected
 *
 * The relay decides nothing and is not trusted.  Who ends it ends the call's network; who speaks to the hatch
 * without it is judged as if it had.  Without a redirect a program that ignores the variables finds no route: closed.
 *
 * What an engine does (PLAN_NET_PROXY):
 *  1. hatch_listen() in a directory of the call's own that nobody else can enter, before it starts anything.  The
 *     descriptor goes to spawn_result.doors.hatch, and the supervisor hands it to the proxy.  Connections that come before
 *     that wait.
 *  2. Shows the call that socket (a bind of its directory, read-only, is enough) and, where it has no program of its own that
 *     calls relay_open(), the file that relay_install() writes.
 *  3. Shows it an /etc/resolv.conf with "nameserver 127.0.0.1".  The variables are in plan->envp already.
 *  4. Runs inside, first of all: cordon-relay [-r] [-n] SOCKET COMMAND [ARG...].  That listens, leaves a child which
 *     serves, and executes the command.  Without a command it serves itself, and closes its standard streams once
 *     it listens.  It fails with 125 and one line.
 * Where there is a channel of bytes instead of a socket (virtio), -c DEVICE makes SOCKET inside, and mux.h many connections
 * of the channel; outside the engine calls mux_serve() on the other end, in a process of its own, and dials the hatch.
 */
#pragma once

#include "backend/capture.h"

#include <sys/types.h>

#define RELAY_REDIRECTS 1U /* -r: needs the right over the network, which has only loopback */
#define RELAY_NAMELESS 2U  /* -n: no name server, where port 53 cannot be had */

/* Inside. */

struct relay {
	const char *path;             /* of the hatch; borrowed */
	int sockets[CAPTURE_SOCKETS]; /* as capture_make() gives them */
	bool is_redirected;
};

/* Brings loopback up where that is allowed and needed, and listens.  0 or -errno; nothing is left then. */
CORDON_MUST_CHECK int relay_open(const char *path, unsigned flags, struct relay *ret);
/* Serves for good.  Allocates nothing; leaves only when it cannot wait for events. */
_Noreturn void relay_serve(const struct relay *r);

/* Outside. */

/* A socket that listens, in a directory (AT_FDCWD: at a short path).  0 or -errno. */
CORDON_MUST_CHECK int hatch_listen(int dirfd, const char *name, mode_t mode, int *ret);
/* Writes the program cordon-relay, which is static, into a directory, executable for all.  0 or -errno. */
CORDON_MUST_CHECK int relay_install(int dirfd, const char *name);
