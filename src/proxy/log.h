/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a proxy was asked, request by request, in memory that the proxy writes and its owner reads.  The last
 * PROXY_LOG_ENTRIES are kept; whoever is slower than that learns how many he missed.  The reader believes nothing but
 * the bounds: the writer speaks with hostile programs.
 */
#pragma once

#include "net/host.h"

#include <stdatomic.h>

#define PROXY_LOG_ENTRIES 1024
#define PROXY_LOG_HOSTS 256 /* that are counted one by one; the rest only in sum */

struct proxy_log_entry {
	_Atomic uint64_t number; /* the first is 1; 0: it is being written */
	int64_t wall_ms;
	uint16_t port;
	uint16_t status; /* as HTTP has it: 200, or why not */
	bool is_allowed;
	char method[24]; /* of HTTP, or CONNECT, SOCKS5, TCP */
	char host[HOST_TEXT_SIZE];
	char rule[256];
	char remedy[256];
};

struct proxy_log_host {
	uint64_t count; /* requests, refused ones too */
	char host[HOST_TEXT_SIZE];
};

struct proxy_log {
	_Atomic uint64_t n; /* entries that were ever written */
	_Atomic uint32_t is_rung;
	uint32_t n_hosts;
	uint64_t allowed;
	uint64_t blocked;
	uint64_t failed; /* allowed, and the other side could not be reached */
	struct proxy_log_host hosts[PROXY_LOG_HOSTS];
	struct proxy_log_entry entries[PROXY_LOG_ENTRIES];
};

/* The writer's side: status 200 is an allowed one, 502 and 504 failed.  True: ring, the reader may sleep. */
CORDON_MUST_CHECK bool proxy_log_add(struct proxy_log *log, const char *method, const char *host,
				     uint16_t port, unsigned status, const char *rule,
				     const char *remedy);
/* The reader's: the entry after the *at-th, with its strings ended, and *at counted on.  1, 0 when there is none.
 * *lost grows by those that were overwritten before they were read. */
CORDON_MUST_CHECK int proxy_log_next(const struct proxy_log *log, uint64_t *at,
				     struct proxy_log_entry *ret, uint64_t *lost);
