/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What passes between a call and the host by exact name: Unix sockets and ports of the host that are granted, and ports
 * of the call that are published.  On each side stands a socket of ours, and bytes are passed on between two
 * connections: no socket of the host is ever inside, the service sees cordon, and only bytes pass, no descriptors and
 * no credentials.
 *
 * A Unix socket of the host is held from before the call on, by its inode: a call that can rename directories around
 * it cannot make us connect to another one.  A service that makes its socket anew is not found again.
 *
 * A connection into the call's network is made on sockets that were made in there (doors.h).  There are as many as may
 * be open at one time; each is used again.
 */
#pragma once

#include "backend/doors.h"
#include "backend/plan.h"
#include "base/limits.h"

#include <poll.h>

#define LINKS_BYTES 16384 /* on their way in one direction */
#define LINKS_WAYS (LIMIT_SOCKETS + 2 * LIMIT_PORTS + LIMIT_PUBLISH)
#define LINKS_POLLS (LINKS_WAYS + 2 * LIMIT_SOCKET_LINKS)

enum link_kind {
	LINK_SOCKET,  /* from the call to a Unix socket of the host */
	LINK_PORT,    /* from the call to a port of the host's loopback */
	LINK_PUBLISH, /* from the host to a port of the call's loopback */
};

/* Where connections come from, and where they lead. */
struct link_way {
	enum link_kind kind;
	int listener;  /* -1 until the call runs */
	int target;    /* LINK_SOCKET: O_PATH */
	uint16_t port; /* the others: on loopback there */
};

struct link_half {
	int fd;          /* where it reads; -1 after its end */
	bool has_ended;  /* nothing more will be read */
	bool is_shut;    /* and the other side was told */
	size_t from, to; /* data[from..to) waits for the other side */
	char data[LINKS_BYTES];
};

struct link {
	struct link_half halves[2]; /* who came, whom we dialled */
	const struct link_way *way;
	bool is_dialling;
	unsigned tried; /* families */
};

struct links {
	size_t n;
	struct link_way ways[LINKS_WAYS];
	int dialers[2][LIMIT_PUBLISH_LINKS]; /* in the call's network, not connected; IPv4, IPv6 */
	size_t n_dialers[2];
	struct link *open[LIMIT_SOCKET_LINKS];
	size_t n_open;
};

/* Holds the sockets that the plan names and listens on the ports that it publishes.  0 or a negative code. */
CORDON_MUST_CHECK int links_init(struct links *l, const struct plan *plan,
				 struct cordon_error *err);
/* Takes its listeners from the doors.  -EINVAL when they are not those that the plan names. */
CORDON_MUST_CHECK int links_listen(struct links *l, struct doors *doors);
void links_done(struct links *l);

/* What to wait for; returns how many of polls it filled. */
size_t links_poll(const struct links *l, struct pollfd polls[static LINKS_POLLS]);
/* Moves what can be moved; polls as links_poll() filled them. */
void links_move(struct links *l, const struct pollfd *polls);
