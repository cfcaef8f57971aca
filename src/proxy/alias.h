/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that one sandbox has asked for.  Each gets an address of its own from ranges that are dialled nowhere
 * (198.18.0.0/15 and one unique local prefix), and keeps it: a connection to that address is a connection to that
 * name, and what the name resolved to is looked up once, here outside, and stays.
 */
#pragma once

#include "net/host.h"

#define ALIAS_MAX 65536        /* of one sandbox's life */
#define ALIAS_ADDRESSES_MAX 16 /* of one name that are kept */

struct alias;

enum alias_state { ALIAS_NEW, ALIAS_WAITS, ALIAS_READY, ALIAS_FAILED };

/* Somebody who waits for a name. */
struct alias_waiter {
	struct alias_waiter *next;
	void (*fn)(struct alias_waiter *w, const struct alias *entry);
};

struct alias {
	struct host host;
	uint32_t number;
	enum alias_state state;
	size_t n;
	uint8_t addresses[ALIAS_ADDRESSES_MAX][ADDR_LEN]; /* all of them judged */
	struct alias_waiter *waiters;
	struct aliases *names; /* that it is in */
	char rule[512];        /* why none of the addresses may be dialled, or "" */
	char remedy[512];
};

struct aliases {
	struct alias **entries; /* by number */
	size_t n;
	size_t cap;
	uint32_t *slots; /* hashed: number + 1, or 0 */
	size_t n_slots;
};

void alias_done(struct aliases *names);
/* The entry of a name, made if there is none.  NULL: there are ALIAS_MAX, or no memory. */
struct alias *alias_get(struct aliases *names, const struct host *host);
/* The entry whose address this is, or NULL. */
struct alias *alias_find(const struct aliases *names, const uint8_t addr[static ADDR_LEN]);
/* Is the address in one of the ranges, given out or not? */
bool alias_has_address(const uint8_t addr[static ADDR_LEN]);
/* Its address: four bytes, or sixteen. */
void alias_address4(const struct alias *entry, uint8_t out[static 4]);
void alias_address6(const struct alias *entry, uint8_t out[static ADDR_LEN]);
/* The name has been looked up (or not): tells all who wait. */
void alias_settle(struct alias *entry, enum alias_state state);
