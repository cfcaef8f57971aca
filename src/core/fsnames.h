/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names at the top of a workspace, by a hash of each: what is not in here is not there.  To look at each of
 * the protected names would cost more than all else that is done about them; of many names some are looked
 * at for nothing.
 */
#pragma once

#include "workspace/walk.h"

#include <stdint.h>

#define FSNAMES_BITS 4096

struct fsnames {
	bool is_known; /* else anything may be there */
	uint64_t bits[FSNAMES_BITS / 64];
};

void fsnames_note(struct fsnames *n, const struct walk_names *names);
/* Is name, or the directory that it begins with, certainly not there? */
bool fsnames_lack(const struct fsnames *n, const char *name);
/* Does a program look for name in this workspace?  See protected_looked_for. */
bool fsnames_look_for(const struct fsnames *n, const char *name);
