/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file or directory of a change set or of a workspace, held by descriptor: opened whatever its mode, compared and
 * copied with all that belongs to it.  Nobody's path is followed: names are single components, links stand for
 * themselves.
 */
#pragma once

#include "base/buf.h"
#include "base/fd.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Open for reading.  Its owner may have taken that right from himself: then it is given back, and taken again
 * in node_close(). */
struct node {
	int fd;
	mode_t mode;       /* to put back */
	bool is_opened_up; /* there is something to put back */
};

#define NODE_NONE ((struct node){.fd = -1})

/* A regular file or a directory; st says which, and has to be what is there still (-ESTALE).  0 or -errno. */
CORDON_MUST_CHECK int node_open(int dir, const char *name, const struct stat *st, struct node *ret);
void node_close(struct node *n);

/* What belongs to a file beside its content: attributes of the user's and access lists, by name.  Those of overlayfs
 * are not told.  0 or -errno. */
CORDON_MUST_CHECK int node_xattrs(int fd, struct buf *out);
/* Makes those of `to` the same as those of `from`.  0 or -errno; what the file system does not have is no error. */
CORDON_MUST_CHECK int node_copy_xattrs(int from, int to);
/* Was the file copied up from a lower layer? */
bool node_has_origin(int fd);
/* Does the directory hide what is below it in the lower layers? */
bool node_is_opaque(int fd);

/* Same bytes?  1, 0 or -errno. */
CORDON_MUST_CHECK int node_same_content(int a, int b);
/* All bytes of from, at the beginning of to, which is empty: shared where the file system can, else copied with
 * their holes.  0 or -errno. */
CORDON_MUST_CHECK int node_copy_content(int from, int to);
/* Same target?  1, 0 or -errno. */
CORDON_MUST_CHECK int node_same_link(int dir_a, const char *a, int dir_b, const char *b);
static inline int64_t node_ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}
