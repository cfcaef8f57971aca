/* SPDX-License-Identifier: Apache-2.0 */
/* See locked.h: macOS can leave no part of a process out of its dump, so there is none at all from here on. */
#include "secrets/locked.h"

#include <errno.h>
#include <mach/vm_inherit.h>
#include <sys/mman.h>
#include <sys/resource.h>

int locked_hide(void *data, size_t size, enum locked_fork fork)
{
	const struct rlimit none = {0, 0};

	if (setrlimit(RLIMIT_CORE, &none) < 0 ||
	    (fork == LOCKED_STAYS && minherit(data, size, VM_INHERIT_NONE) < 0))
		return -errno;
	return 0;
}
