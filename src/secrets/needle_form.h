/* SPDX-License-Identifier: Apache-2.0 */
/* The forms in which needle.h looks for a value.  Pure, but for the memory. */
#pragma once

#include "secrets/locked.h"

#include <stdint.h>

struct form {
	const char *text;
	size_t len;
	size_t secret; /* whose it is */
	bool wraps;    /* may be broken over lines */
};

struct form_list {
	struct form *items;
	size_t n;
	size_t cap;
};

/* Room for all forms of a value of len bytes. */
#define FORM_ROOM(len) (64 * (len) + 1024)

/* Appends the forms of a value, which lie in memory of FORM_ROOM(len) bytes.  0 or -errno. */
CORDON_MUST_CHECK int form_make(const char *value, size_t len, size_t secret, struct locked *memory,
				struct form_list *ret);
