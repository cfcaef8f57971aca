/* SPDX-License-Identifier: Apache-2.0 */
/* See pty.h: the far end comes from the near one, and not by its name, which can mean another one in a container. */
#include "run/pty.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

int pty_open(int *ret_master, int *ret_slave)
{
	AUTO_CLOSE int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int zero = 0;
	int slave;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &zero) < 0)
		return -errno;
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return -errno;
	*ret_master = TAKE_FD(master);
	*ret_slave = slave;
	return 0;
}
