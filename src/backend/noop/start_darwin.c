/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See start.h: macOS's half.  The child is a copy of us; what it tells comes through a shared page.  A pipe that the
 * command's execution closes says when.  All signals are blocked until the child has put every handler of ours back.
 */
#include "backend/noop/start.h"

#include "base/clock.h"
#include "base/darwin.h"
#include "base/fd.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static int start_fork(struct noop_child *shared, struct proc *ret)
{
	sigset_t all;
	sigset_t old;
	char none;
	int ends[2];
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	r = -pthread_sigmask(SIG_SETMASK, &all, &old);
	if (r == 0) {
		r = proc_clone(/* flags= */ 0, ret);
		if (r == 0)
			_exit(noop_child_main(shared));
	}
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL); /* one that was in force is valid */
	(void)fd_close(ends[1]);
	/* Its end: the command was executed, or the child is gone. */
	if (r > 0)
		(void)!io_read(ends[0], &none, sizeof(none), CLOCK_NEVER);
	(void)fd_close(ends[0]);
	return r < 0 ? r : 0;
}

int start_child(struct noop_child *c, struct proc *ret)
{
	struct noop_child *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r;

	if (shared == MAP_FAILED)
		return -errno;
	*shared = *c;
	*ret = PROC_NONE;
	r = start_fork(shared, ret);
	*c = *shared;
	(void)munmap(shared, sizeof(*shared));
	return r;
}
