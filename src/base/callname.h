/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls by name, and sets of them.  A set is what a policy adds to the filter that every sandbox has;
 * it can only take away.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For messages; the list itself is callname_set_at(). */
#define CALLNAME_SETS "@basic @files @process @network @ipc @system"
#define CALLSET_NUMBERS 512 /* no table of a known architecture reaches it */

struct callname {
	const char *name;
	int16_t nr[2]; /* x86_64, generic; -1: does not exist */
	const char *set;
};

/* NULL past the last. */
const struct callname *callname_at(size_t i);
/* The names of the sets, "@basic" and so on.  NULL past the last. */
const char *callname_set_at(size_t i);
/* Is text the name of a call or of a set? */
bool callname_is_known(const char *text);

struct callset {
	uint64_t bits[CALLSET_NUMBERS / 64];
};

static inline bool callset_has(const struct callset *s, unsigned nr)
{
	return nr < CALLSET_NUMBERS && (s->bits[nr / 64] >> (nr % 64) & 1);
}
/* Calls that no set can hold: a command is started with them, returns from its signal handlers and ends. */
bool callname_is_needed(const char *name);
/* Adds a call or all calls of a set, by the numbers of a column of the table (0 x86_64, 1 generic).  A call
 * that does not exist there, or is needed, adds nothing.  0 or -EINVAL for a name that is not known. */
CORDON_MUST_CHECK int callset_add(struct callset *s, unsigned column, const char *text);
