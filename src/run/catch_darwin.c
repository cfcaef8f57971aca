/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See catch.h: macOS's half.  A kqueue tells of every signal that is sent, also of a blocked one, which stays pending: so
 * what was told of is taken away, or it would end us when the mask is put back.  A queue does not say who sent it.
 */
#include "run/catch.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>

int catch_open(struct catch *c, const sigset_t *set)
{
	int r = 0;

	c->set = *set;
	c->fd = kqueue();
	if (c->fd < 0 || fcntl(c->fd, F_SETFD, FD_CLOEXEC) < 0)
		r = -errno;
	for (int sig = 1; r == 0 && sig < NSIG; sig++) {
		struct kevent change;

		if (sigismember(set, sig) != 1)
			continue;
		EV_SET(&change, (uintptr_t)sig, EVFILT_SIGNAL, EV_ADD | EV_CLEAR, 0, 0, NULL);
		if (kevent(c->fd, &change, 1, NULL, 0, NULL) < 0)
			r = -errno;
	}
	if (r < 0)
		c->fd = fd_close(c->fd);
	return r;
}

bool catch_next(const struct catch *c, struct caught *ret)
{
	const struct timespec now = {0};
	struct kevent event;

	if (kevent(c->fd, NULL, 0, &event, 1, &now) != 1)
		return false;
	*ret = (struct caught){.sig = (int)event.ident};
	/* What a terminal's keys make goes to the whole group; the rest is taken for what a process sent. */
	ret->is_by_kernel = ret->sig == SIGINT || ret->sig == SIGQUIT;
	catch_swallow(ret->sig);
	return true;
}

void catch_done(struct catch *c)
{
	for (int sig = 1; c->fd >= 0 && sig < NSIG; sig++)
		if (sigismember(&c->set, sig) == 1)
			catch_swallow(sig);
	c->fd = fd_close(c->fd);
}

void catch_swallow(int sig)
{
	sigset_t pending;
	sigset_t one;
	int taken;

	(void)sigemptyset(&one); /* these cannot fail with valid signals */
	(void)sigaddset(&one, sig);
	if (sigpending(&pending) == 0 && sigismember(&pending, sig) == 1)
		(void)sigwait(&one, &taken);
}
