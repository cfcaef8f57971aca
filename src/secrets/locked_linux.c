/* SPDX-License-Identifier: Apache-2.0 */
/* See locked.h. */
#include "secrets/locked.h"

#include <errno.h>
#include <sys/mman.h>

int locked_hide(void *data, size_t size, enum locked_fork fork)
{
	/* DONTDUMP and DONTFORK are ours to ask for on any kernel that we run on: without them no value. */
	if (madvise(data, size, MADV_DONTDUMP) < 0 ||
	    (fork == LOCKED_STAYS && madvise(data, size, MADV_DONTFORK) < 0))
		return -errno;
	return 0;
}
