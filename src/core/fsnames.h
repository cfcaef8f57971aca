/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names at the top of a workspace or of home, by a hash of each: what is not in here is not there.  To look
 * at each of the protected names would cost more than all else that is done about them; of many names some are
 * looked at for nothing.
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
/* Home, and ~/.config, which many names begin with. */
struct fsnames_home {
	struct fsnames top;
	struct fsnames config;
};

/* The two halves of fsnames.c: one name, and the names of dir, unless that is a link. */
void fsnames_add(struct fsnames *n, const char *name);
void fsnames_list(struct fsnames *n, const char *dir);

/* Lists both.  Where that cannot be done, one is a link, or there are very many names, nothing is known. */
void fsnames_list_home(struct fsnames_home *n, const char *home);
/* Is name certainly not there, nor a link on the way to it? */
bool fsnames_home_lacks(const struct fsnames_home *n, const char *name);

/* Is name, or the directory that it begins with, certainly not there? */
bool fsnames_lack(const struct fsnames *n, const char *name);
/* Does a program look for name in this workspace?  See protected_looked_for. */
bool fsnames_look_for(const struct fsnames *n, const char *name);
