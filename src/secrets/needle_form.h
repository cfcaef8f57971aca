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
	bool goes_on; /* a piece that is not the first: right behind one of the same secret it is the same finding */
};

struct form_list {
	struct form *items;
	size_t n;
	size_t cap;
};

/* Bytes of a value that is looked for in two codings at once, and with every byte escaped: what memory all forms of it
 * take.  At the boundary there is no such limit (proxy/boundary.h). */
#define FORM_DOUBLE_MAX 16384

/* Room for all forms of a value of len bytes. */
#define FORM_ROOM(len) (((len) <= FORM_DOUBLE_MAX ? 256 : 64) * (len) + 1024)

/* Appends the forms of a value, which lie in memory of FORM_ROOM(len) bytes.  0 or -errno. */
CORDON_MUST_CHECK int form_make(const char *value, size_t len, size_t secret, struct locked *memory,
				struct form_list *ret);
