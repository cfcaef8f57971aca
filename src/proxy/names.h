/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that one sandbox has asked for.  Each gets an address of its own from ranges that are dialled nowhere
 * (198.18.0.0/15 and one unique local prefix), and keeps it: a connection to that address is a connection to that
 * name, and what the name resolved to is looked up once, here outside, and stays.
 */
#pragma once

#include "net/host.h"

#define NAMES_MAX 65536       /* of one sandbox's life */
#define NAMES_ADDRESSES_MAX 16 /* of one name that are kept */

struct name_entry;

enum name_state { NAME_NEW, NAME_WAITS, NAME_READY, NAME_FAILED };

/* Somebody who waits for a name. */
struct name_waiter {
	struct name_waiter *next;
	void (*fn)(struct name_waiter *w, const struct name_entry *entry);
};

struct name_entry {
	struct host host;
	uint32_t number;
	enum name_state state;
	size_t n;
	uint8_t addresses[NAMES_ADDRESSES_MAX][ADDR_LEN]; /* all of them judged */
	struct name_waiter *waiters;
	struct names *names; /* that it is in */
	char rule[512];      /* why none of the addresses may be dialled, or "" */
	char remedy[512];
};

struct names {
	struct name_entry **entries; /* by number */
	size_t n;
	size_t cap;
	uint32_t *slots; /* hashed: number + 1, or 0 */
	size_t n_slots;
};

void names_done(struct names *names);
/* The entry of a name, made if there is none.  NULL: there are NAMES_MAX, or no memory. */
struct name_entry *names_get(struct names *names, const struct host *host);
/* The entry whose address this is, or NULL. */
struct name_entry *names_find(const struct names *names, const uint8_t addr[static ADDR_LEN]);
/* Is the address in one of the ranges, given out or not? */
bool names_has_address(const uint8_t addr[static ADDR_LEN]);
/* Its address: four bytes, or sixteen. */
void names_address4(const struct name_entry *entry, uint8_t out[static 4]);
void names_address6(const struct name_entry *entry, uint8_t out[static ADDR_LEN]);
/* The name has been looked up (or not): tells all who wait. */
void names_settle(struct name_entry *entry, enum name_state state);
