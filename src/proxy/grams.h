/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values in the names of hosts, which are short, have no case and few characters: who takes a value out that way
 * cuts it, and writes it in hexadecimal or base32.  So pieces of it are looked for: all runs of GRAMS_LEN characters that
 * a name can have, of the value as it is, backwards, in hexadecimal, base32 and base64, wherever dots cut them.  A form
 * that is shorter is looked for as a whole.
 */
#pragma once

#include "proxy/boundary.h"

#include <stdint.h>

#define GRAMS_LEN 16

struct gram {
	uint64_t hash;
	uint32_t secret;
};

struct grams {
	struct gram *items; /* by hash */
	size_t n;
	size_t cap;
	char **shorts; /* forms of less than GRAMS_LEN */
	uint32_t *short_secrets;
	size_t n_shorts;
};

/* 0 or -ENOMEM. */
CORDON_MUST_CHECK int grams_make(const struct boundary *b, struct grams *ret);
void grams_done(struct grams *g);
/* Whose value a part of the name is, or NULL.  A name that stands in the value with its dots is a host that the value
 * speaks of, and not the value. */
const struct boundary_secret *grams_find(const struct grams *g, const struct boundary *b,
					 const char *name);
