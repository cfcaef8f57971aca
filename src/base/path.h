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
/* Is path (normalised) dir itself or below it?  Compares components: /work2 is not within /work. */
bool path_is_within(const char *path, const char *dir);
/* The part after the last slash; borrows. */
const char *path_base(const char *path);
/* Gives the real path of the nearest existing ancestor with the missing rest appended. */
CORDON_MUST_CHECK int path_resolve(const char *path, char **ret);

/* openat2() beneath dirfd: no "..", absolute or magic link leaves it.  resolve_more: further
 * RESOLVE_* flags, e.g. RESOLVE_NO_SYMLINKS.  Returns the fd or -errno. */
CORDON_MUST_CHECK int path_open_beneath(int dirfd, const char *path, int flags, unsigned mode,
					uint64_t resolve_more);
/* mkdir -p of an absolute path with mode for what it creates; refuses to follow a symlink in the
 * last component and a last component that is not a directory of ours. */
CORDON_MUST_CHECK int path_make_private_dir(const char *path, unsigned mode);
