/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the command in the *command's* PATH, before any process exists. */
#pragma once

#include "base/error.h"
#include "base/limits.h"

/* Where the command name is, seen from cwd (NULL: the current directory): itself when it has a slash,
 * else the first executable file of that name in the PATH of envp (/usr/local/bin:/usr/bin:/bin when
 * that has none).  An empty or relative entry of PATH counts from cwd.
 * Return: 0; -ENOENT nowhere; -EACCES only where it is not executable; -ENAMETOOLONG. */
CORDON_MUST_CHECK int lookup_command(const char *name, char *const *envp, const char *cwd,
				     char ret_path[static LIMIT_PATH_BYTES]);
