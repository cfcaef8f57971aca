/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections to servers that are kept for the next client.  Programs come with a connection for each request; that the
 * server is dialled each time, too, would double what we add to it.  Only plain HTTP, only between requests that can be sent
 * again (GET and HEAD without a body) and that carry no credentials: a server may take a connection for a person.  Every
 * request is judged before it gets one.
 */
#pragma once

#include "base/mem.h"
#include "net/host.h"

#include <stdint.h>

struct loop;
struct source;

#define SPARE_MAX 16
#define SPARE_MS 4000 /* servers close what is idle after five seconds, or later */

/* Keeps the connection to that host; it is the source's no longer. */
void spare_give(struct loop *l, struct source *server, const struct host *host, uint16_t port);
/* Hands one to the source, if there is one that still is good, watched for what comes.  False: there is none. */
CORDON_MUST_CHECK bool spare_take(struct loop *l, const struct host *host, uint16_t port,
				  struct source *ret);
/* Closes those whose time is over.  Milliseconds until the next, or -1. */
int spare_expire(struct loop *l);
