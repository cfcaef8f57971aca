/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: "none" is -1, 0 is legal, close never retries and never changes errno. */
#pragma once

#include "base/error.h"
#include "base/mem.h"

#include <stdint.h>

/* Closes fd if it is >= 0, keeps errno, returns -1 so that fd = fd_close(fd) reads well. */
int fd_close(int fd);

static inline void fd_closep(int *fd)
{
	(void)fd_close(*fd);
}

#define AUTO_CLOSE AUTO(fd_closep)

#define TAKE_FD(fd)                                                                                \
	__extension__({                                                                            \
		int take_fd_ = (fd);                                                               \
		(fd) = -1;                                                                         \
		take_fd_;                                                                          \
	})

/* Duplicates fd with CLOEXEC to a number >= min_fd.  Returns it or -errno. */
int fd_dup(int fd, int min_fd);
/* Two connected stream sockets with CLOEXEC; what is sent over them with MSG_NOSIGNAL raises no SIGPIPE.  0 or -errno. */
CORDON_MUST_CHECK int fd_pair(int ret[static 2]);
/* What fd is open for, opened once more, with CLOEXEC and flags of its own: others who hold fd do not see what is set
 * there.  The descriptor or -errno. */
CORDON_MUST_CHECK int fd_reopen(int fd, int flags);
/* chmod() of what the handle (O_PATH) is of.  0 or -errno. */
CORDON_MUST_CHECK int fd_chmod(int handle, unsigned mode);
/* Closes every descriptor from first to last.  A system call or several, nothing else: for a child.  0 or -errno. */
CORDON_MUST_CHECK int fd_close_between(unsigned first, unsigned last);
/* The same at the next execve(). */
CORDON_MUST_CHECK int fd_cloexec_between(unsigned first, unsigned last);
/* flock(fd, operation), waiting no longer than until the deadline of clock_ms().  0, -ETIMEDOUT, -errno. */
CORDON_MUST_CHECK int fd_flock(int fd, int operation, int64_t deadline_ms);
/* Sets or clears O_NONBLOCK.  0 or -errno. */
int fd_nonblock(int fd, bool on);
/* Makes /dev/null stand for each of 0, 1, 2 that is closed, so that no file of ours lands there. */
int fd_fill_stdio(void);
