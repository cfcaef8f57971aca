/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of ours that the command starts: in the place that was fixed when we were built or, only where there is none, beside the
 * command (as in a build directory).  PATH is never asked, and one that somebody else could have changed is not used.
 */
#pragma once

#include "base/error.h"

/* That place. */
extern const char libexec_dir[];

/* Opens the program; not one within the writable directories (NULL-terminated; NULL: none) beside the command.  A
 * descriptor, -ENOENT, -EPERM (others could change it) or another -errno. */
CORDON_MUST_CHECK int libexec_open(const char *name, const char *const *writable);
/* The same with the places given: a directory, and the path of the command. */
CORDON_MUST_CHECK int libexec_open_in(const char *name, const char *dir, const char *self,
				      const char *const *writable);
