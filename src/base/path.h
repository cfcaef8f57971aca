/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths.  The lexical functions are pure; the opening ones resolve in the kernel (openat2) so that
 * what was checked is what is opened.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Removes ".", "..", doubled and trailing slashes from an absolute path, without looking at the
 * disk.  Gives a new string.  -EINVAL when not absolute, -ENAMETOOLONG. */
CORDON_MUST_CHECK int path_normalise(const char *path, char **ret);
/* dir + "/" + name normalised; name alone when it is absolute. */
CORDON_MUST_CHECK int path_join(const char *dir, const char *name, char **ret);
/* Is path dir itself or below it?  Both are normalised: a ".." in path would lie.  Compares components:
 * /work2 is not within /work.  Nothing is within "". */
bool path_is_within(const char *path, const char *dir);
/* The part after the last slash; borrows. */
const char *path_base(const char *path);
/* Gives the path that the kernel would reach: links are followed where they stand (so that link/.. is the
 * parent of the target), the last component and dangling ones included.  What does not exist, or cannot
 * be searched, is appended without looking.  -EINVAL when not absolute, -ELOOP, -ENAMETOOLONG.  The disk
 * may change afterwards: to open safely use path_open_beneath(). */
CORDON_MUST_CHECK int path_resolve(const char *path, char **ret);

#define PATH_NO_SYMLINKS 0x04 /* RESOLVE_NO_SYMLINKS */
/* openat2() beneath dirfd: no "..", absolute path, symbolic or magic link leaves it.  resolve_more: further
 * flags of openat2(), or PATH_NO_SYMLINKS.  Returns the fd or -errno. */
CORDON_MUST_CHECK int path_open_beneath(int dirfd, const char *path, int flags, unsigned mode,
					uint64_t resolve_more);
/* mkdir -p of an absolute path with mode for all that it creates.  Refuses a last component that is a
 * symlink or no directory (-ENOTDIR), that is not ours, or that group or others may write to although
 * mode does not say so (-EPERM). */
CORDON_MUST_CHECK int path_make_private_dir(const char *path, unsigned mode);
/* Is any component of path, after the first len bytes, a symbolic link?  One that is too long counts as having
 * one: the thorough way decides. */
bool path_has_link(const char *path, size_t len);
/* Is path on a file system that is mounted read-only? */
bool path_is_read_only(const char *path);
/* In place: /proc/self/mountinfo writes blank, tab, newline and backslash as \ooo.  0 or -EINVAL. */
CORDON_MUST_CHECK int path_unescape(char *s);
