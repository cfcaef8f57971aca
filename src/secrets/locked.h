/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for values that must not be found later: pages of their own that are locked (not swapped out), left
 * out of core dumps and wiped when they are given back.  Locking is best effort: a user without the right to lock
 * memory still gets the rest, and is_locked says so.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct locked {
	char *data; /* NULL: none */
	size_t size;
	bool is_locked;
};

enum locked_fork {
	LOCKED_STAYS,   /* a child does not have it */
	LOCKED_INHERITS /* a child has a copy, for its execve() */
};

/* size bytes of zeroes.  0 or -errno. */
CORDON_MUST_CHECK int locked_new(size_t size, enum locked_fork fork, struct locked *ret);
/* Of locked_new(): keeps it out of dumps and, if it stays, out of children.  0 or -errno. */
CORDON_MUST_CHECK int locked_hide(void *data, size_t size, enum locked_fork fork);
/* Reads a whole stream of at most max bytes (-EFBIG beyond) without a copy elsewhere.  *ret_len is without the
 * NUL that follows. */
CORDON_MUST_CHECK int locked_read(int fd, size_t max, struct locked *ret, size_t *ret_len);
void locked_done(struct locked *m);
