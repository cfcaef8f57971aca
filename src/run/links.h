/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Granted Unix sockets.  Inside the sandbox stands a socket of ours; here a connection to it is answered by
 * one that we make ourselves to the host's.  So no socket of the host is ever inside, the service behind it
 * sees cordon, and only bytes pass: no descriptors, no credentials.
 *
 * The host's socket is held from before the call on, by its inode: a call that can rename directories around
 * it cannot make us connect to another one.  A service that makes its socket anew is not found again.
 */
#pragma once

#include "backend/plan.h"
#include "base/limits.h"

#include <poll.h>

#define LINKS_BYTES 16384 /* on their way in one direction */
#define LINKS_POLLS (LIMIT_SOCKETS + 2 * LIMIT_SOCKET_LINKS)

struct link_half {
	int fd;          /* where it reads; -1 after its end */
	bool has_ended;  /* nothing more will be read */
	bool is_shut;    /* and the other side was told */
	size_t from, to; /* data[from..to) waits for the other side */
	char data[LINKS_BYTES];
};

struct link {
	struct link_half halves[2]; /* inside, host */
};

struct links {
	size_t n;
	int targets[LIMIT_SOCKETS];   /* of the host, O_PATH */
	int listeners[LIMIT_SOCKETS]; /* inside; -1 until the call runs */
	struct link *open[LIMIT_SOCKET_LINKS];
	size_t n_open;
};

/* Holds the sockets that the plan names.  0 or a negative code. */
CORDON_MUST_CHECK int links_init(struct links *l, const struct plan *plan,
				 struct cordon_error *err);
/* Takes the listeners, in the order of the plan.  -EINVAL when they are not as many as the plan names. */
CORDON_MUST_CHECK int links_listen(struct links *l, const int *fds, size_t n);
void links_done(struct links *l);

/* What to wait for; returns how many of polls it filled. */
size_t links_poll(const struct links *l, struct pollfd polls[static LINKS_POLLS]);
/* Moves what can be moved; polls as links_poll() filled them. */
void links_move(struct links *l, const struct pollfd *polls);
