/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A proxy that stands alone: as many processes as the connections need, each with all the descriptors that one
 * process may have, on one listening socket.  They know nothing of each other: names are looked up and judged by each.
 */
#pragma once

#include "proxy/proxy.h"

#define POOL_MAX 32 /* processes */

struct pool {
	struct proxy workers[POOL_MAX];
	uint64_t at[POOL_MAX]; /* how far their logs were read */
	size_t n;
	bool has_failed; /* after pool_stop(): one of them did not end as it should */
};

struct pool_stats {
	uint64_t allowed; /* requests */
	uint64_t blocked;
	uint64_t failed;
	uint64_t bytes; /* both ways, of connections that have ended */
};

/* Starts them.  o->limits.connections is for all of them together (CORDON_E_LIMIT: too many).  The listener stays the
 * caller's.  Give *ret back with pool_done() in any case. */
CORDON_MUST_CHECK int pool_start(const struct proxy_options *o, int listener, struct pool *ret,
				 struct cordon_error *err);
/* The next entry of any of their logs: 1, or 0 when there is none. */
CORDON_MUST_CHECK int pool_next(struct pool *p, struct proxy_log_entry *ret, uint64_t *lost);
/* Their control sockets can be read: takes the ringing off. */
void pool_heard(struct pool *p);
void pool_stats(const struct pool *p, struct pool_stats *ret);
/* The i-th host that was asked for, over all of them; a host may come more than once.  False: there is none. */
bool pool_host(const struct pool *p, size_t i, struct proxy_log_host *ret);
/* Ends them all and waits; logs and numbers can be read until pool_done(). */
void pool_stop(struct pool *p);
void pool_done(struct pool *p);
