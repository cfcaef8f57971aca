/* SPDX-License-Identifier: Apache-2.0 */
/* See pty.h: macOS's half. */
#include "run/pty.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

int pty_open(int *ret_master, int *ret_slave)
{
	AUTO_CLOSE int master = posix_openpt(O_RDWR | O_NOCTTY);
	const char *name;
	int slave;

	/* Not from birth: no process that clones has threads. */
	if (master < 0 || fcntl(master, F_SETFD, FD_CLOEXEC) < 0 || grantpt(master) < 0 ||
	    unlockpt(master) < 0)
		return -errno;
	name = ptsname(master);
	slave = name ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
	if (slave < 0)
		return -errno;
	*ret_master = TAKE_FD(master);
	*ret_slave = slave;
	return 0;
}
