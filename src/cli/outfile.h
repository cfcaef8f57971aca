/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that a verb writes when a call has ended, under a name that the caller gave.  The name may lie where calls can
 * write, so nothing that a call put there is followed, opened or kept: the file is made anew beside its place and takes it.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct outfile {
	int fd;     /* written as it is; or -1 */
	int dir;    /* the file's directory, or -1 */
	char *name; /* in it */
};

#define OUTFILE_NONE                                                                               \
	{                                                                                          \
		.fd = -1, .dir = -1                                                                \
	}

/* Looks whether it can be written, before the call: a bad name must not cost one.  What the file held is gone then, so
 * that nobody takes it for this call's.  "fd:N", and what is in /dev and /proc, is opened.  option stands in messages; workspace may be NULL. */
CORDON_MUST_CHECK int outfile_open(const char *option, const char *path, const char *workspace,
				   struct outfile *ret, struct cordon_error *err);
static inline bool outfile_is_given(const struct outfile *o)
{
	return o->fd >= 0 || o->dir >= 0;
}
/* All that is in it, in the place of what was written before (behind it, where a descriptor was given).  0 or -errno. */
CORDON_MUST_CHECK int outfile_put(struct outfile *o, const void *data, size_t len);
void outfile_done(struct outfile *o);
