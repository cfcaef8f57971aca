/* SPDX-License-Identifier: Apache-2.0 */
/* See catch.h: Linux's half. */
#include "run/catch.h"

#include "base/fd.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

int catch_open(struct catch *c, const sigset_t *set)
{
	c->set = *set;
	c->fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	return c->fd < 0 ? -errno : 0;
}

bool catch_next(const struct catch *c, struct caught *ret)
{
	struct signalfd_siginfo info;

	if (read(c->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return false;
	*ret = (struct caught){.sig = (int)info.ssi_signo, .is_by_kernel = info.ssi_code > 0};
	return true;
}

void catch_done(struct catch *c)
{
	c->fd = fd_close(c->fd);
}

void catch_swallow(int sig)
{
	const struct timespec now = {0};
	sigset_t one;

	(void)sigemptyset(&one); /* these cannot fail with valid signals */
	(void)sigaddset(&one, sig);
	(void)sigtimedwait(&one, NULL, &now); /* EAGAIN: there was none */
}
