/* SPDX-License-Identifier: Apache-2.0 */
/* See tty.h. */
#include "backend/native/tty.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

int native_tty_open(const struct plan_terminal *t, int *ret_master, int *ret_slave)
{
	AUTO_CLOSE int master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_CLOSE int slave = -1;
	int unlocked = 0;

	if (master < 0)
		return -errno;
	if (ioctl(master, TIOCSPTLCK, &unlocked) < 0)
		return -errno;
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return -errno;
	if (tcsetattr(slave, TCSANOW, &t->settings) < 0 || ioctl(slave, TIOCSWINSZ, &t->size) < 0 ||
	    ioctl(slave, TIOCSCTTY, 0) < 0)
		return -errno;
	*ret_master = TAKE_FD(master);
	*ret_slave = TAKE_FD(slave);
	return 0;
}

int native_tty_join(const struct plan_terminal *t, int slave)
{
	pid_t self = getpid();

	if (setpgid(0, 0) < 0)
		return -errno;
	/* SIGTTOU, which this would raise, is blocked. */
	return t->is_foreground && ioctl(slave, TIOCSPGRP, &self) < 0 ? -errno : 0;
}

void native_tty_give(int slave, pid_t command, bool is_foreground)
{
	pid_t group = is_foreground ? command : getpgrp();

	/* When the command has left its group for another it is on its own. */
	(void)ioctl(slave, TIOCSPGRP, &group);
	if (kill(-command, SIGCONT) < 0)
		(void)kill(command, SIGCONT);
}
