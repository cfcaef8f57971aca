/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's terminal inside a virtual machine: a pty of the call's own devpts.  Lines, echo and the signals of keys are
 * made here; the terminal of the host's at the other end passes bytes on as they are.
 */
#include "backend/vm/guest.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int guest_tty_open(const struct vm_call *c, int *ret_master, int *ret_slave)
{
	AUTO_CLOSE int master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	AUTO_CLOSE int slave = -1;
	int zero = 0;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &zero) < 0)
		return -errno;
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0 || tcsetattr(slave, TCSANOW, &c->head.settings) < 0 ||
	    ioctl(slave, TIOCSWINSZ, &c->head.size) < 0 ||
	    fchown(slave, c->head.uid, c->head.gid) < 0)
		return -errno;
	*ret_master = TAKE_FD(master);
	*ret_slave = TAKE_FD(slave);
	return 0;
}
