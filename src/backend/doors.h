/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sockets inside a call that are ours, of its own network and in its own view: made there by the first process,
 * while that still may, and handed out over the channel.  Whoever holds them speaks and listens in there without ever
 * being there, and nothing of what is outside comes in but through them.
 */
#pragma once

#include "backend/capture.h"
#include "backend/plan.h"
#include "base/fdpass.h"
#include "base/limits.h"

#include <stdint.h>
#include <sys/types.h>

/* -1: there is none. */
struct doors {
	int capture[CAPTURE_SOCKETS]; /* with PLAN_NET_PROXY */
	/* Listeners on loopback, for each of the plan's ports IPv4 (always) and then IPv6. */
	int ports[2 * LIMIT_PORTS];
	int dialers[2]
		   [LIMIT_PUBLISH_LINKS]; /* not connected, IPv4 and IPv6; where the plan publishes ports */
	int sockets[LIMIT_SOCKETS]; /* listeners, one for each PLAN_OP_SOCKET, in order */
	int told;   /* beside capture, where it can be had: what the network rejects (capture.h) */
	int hatch;  /* with PLAN_NET_PROXY, of an engine instead of capture (relay/relay.h) */
	int handed; /* the same, where connections are handed over one by one (landlock/bridge.h) */
	/* With PLAN_NET_PROXY, last of all: a pipe on which the first process waits for the word that somebody serves the
	 * others.  Until then the command does not start: one that could not get out, and that was ended for it, would have
	 * begun.  A pipe, and not the channel: what else goes in there has its own order, and an end is seen in both. */
	int served;
};

/* Does the plan ask for some of a network?  Then that is made by us, whatever else makes namespaces. */
bool doors_are_wanted(const struct plan *plan);

/* In the first process, with loopback up and the right over the network: makes them, sends them and waits until they
 * are served.  Looks first that this is not the network of parent_net (an inode), where every rule would change the
 * machine.  Allocates nothing; does nothing if none are wanted.  0 or -errno. */
CORDON_MUST_CHECK int doors_open(const struct plan *plan, int channel, ino_t parent_net);
/* The same in steps, for who has something else to do meanwhile.  Sending closes them; *ret_served is given to
 * doors_await(), which closes it, before the command starts. */
CORDON_MUST_CHECK int doors_make(const struct plan *plan, struct doors *ret);
CORDON_MUST_CHECK int doors_send(const struct plan *plan, int channel, struct doors *d,
				 int *ret_served);
CORDON_MUST_CHECK int doors_await(int served);
/* The listeners of the view, which belong to no network. */
CORDON_MUST_CHECK int doors_send_sockets(int channel, const int *fds, size_t n);

/* In our own process. */

void doors_init(struct doors *d);
void doors_done(struct doors *d);
/* As fdpass_receive(), for a message of DOORS_MESSAGE bytes that begins with a number >= 0; doors that come before it
 * are given in *ret.  Fails when one was given before: each comes once.  Returns early when those of PLAN_NET_PROXY are
 * complete: doors_are_due() tells that, and doors_take() comes next. */
#define DOORS_MESSAGE 16
CORDON_MUST_CHECK ssize_t doors_hear(int channel, void *message, int64_t deadline_ms,
				     int ret_fds[static FDPASS_MAX], size_t *ret_n,
				     struct doors *ret);
bool doors_are_due(const struct doors *d);
/* Has them taken as the plan says, closes what was taken, and lets the first process go on.  0 or the error. */
CORDON_MUST_CHECK int doors_take(const struct plan *plan, struct doors *d,
				 struct cordon_error *err);
/* The inode of our own network. */
CORDON_MUST_CHECK int doors_network(ino_t *ret);
