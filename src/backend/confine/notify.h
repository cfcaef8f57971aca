/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that wait for an answer from another process (seccomp user notification): the child's half
 * (install, pass the listener on) and the primitives of whoever answers.
 *
 * Rules for whoever answers.  What was read from the caller's memory is a copy: the caller, or another of its
 * threads, can change the original at once.  So a call is let go on (notify_continue()) only where something
 * below decides again (Landlock, mounts), or where its arguments are numbers.  Everything else is refused
 * or done on the caller's behalf, on descriptors of our own.  After each look at the caller (memory,
 * /proc/TID) the call must still wait, or the number may belong to somebody else by now; the functions here
 * that look do that themselves and answer -ENOENT.
 *
 * A call that has gone is never an error of ours: callers are killed at any moment.
 */
#pragma once

#include "backend/confine/seccomp.h"
#include "backend/handler.h"
#include "base/limits.h"

#include <linux/seccomp.h>
#include <sys/types.h>

/* A call that waits. */
struct notify_call {
	int listener; /* borrowed */
	uint64_t id;
	pid_t tid; /* of the thread that called */
	struct seccomp_data data;
};

/* the child's half: system calls only, no allocation */

/* Can a process of ours have a listener?  Tried in one of its own; a sandbox around us may have it already. */
bool notify_is_possible(void);
/* Puts the filter on the calling thread, as seccomp_install(), and returns its listener (CLOEXEC) or -errno.
 * -EBUSY: a filter that is on already has one (a sandbox around us).  Calls that wait can only be interrupted
 * by signals that kill, where the kernel knows that (5.19). */
CORDON_MUST_CHECK int notify_install(const struct seccomp_program *p);
/* Sends a descriptor, with one byte, over a Unix socket.  0 or -errno. */
CORDON_MUST_CHECK int notify_send_fd(int channel, int fd);

/* the other half */

/* Takes a descriptor that was sent, waiting at most until the deadline (monotonic ms).  Returns it (CLOEXEC),
 * -EPIPE when the channel was closed, -ETIMEDOUT, or -errno. */
CORDON_MUST_CHECK int notify_receive_fd(int channel, int64_t deadline_ms);
/* Once per listener: the answering process is woken on the caller's processor (6.6), four times faster; kernels
 * without it work too. */
void notify_setup(int listener);
/* Takes the next call without waiting.  1 with *ret filled; 0 when there is none, or it is gone again; -EPIPE
 * when nobody is left who could call; other -errno. */
CORDON_MUST_CHECK int notify_next(int listener, struct notify_call *ret);
/* The same when poll() has just said POLLIN, and nobody else takes calls: it would wait otherwise. */
CORDON_MUST_CHECK int notify_take(int listener, struct notify_call *ret);

/* Does the call still wait? */
bool notify_is_waiting(const struct notify_call *c);
/* Answers.  All return 0, also when the call is gone, or -errno. */
CORDON_MUST_CHECK int notify_return(const struct notify_call *c, int64_t value);
CORDON_MUST_CHECK int notify_refuse(const struct notify_call *c, int error); /* a positive errno */
CORDON_MUST_CHECK int notify_continue(const struct notify_call *c);
/* Puts a copy of fd into the caller and returns its number there from the call. */
CORDON_MUST_CHECK int notify_give_fd(const struct notify_call *c, int fd, bool is_cloexec);

/* Copies from the caller's memory: exactly len bytes, or -EFAULT, -ENOENT, -EPERM (a caller whose memory is
 * closed to us: not dumpable). */
CORDON_MUST_CHECK int notify_read(const struct notify_call *c, uint64_t address, void *dst,
				  size_t len);
/* A string with its NUL; -ENAMETOOLONG when it does not end within size. */
CORDON_MUST_CHECK int notify_read_string(const struct notify_call *c, uint64_t address, char *dst,
					 size_t size);
/* A path.  Its length, or as above. */
CORDON_MUST_CHECK int notify_read_path(const struct notify_call *c, uint64_t address,
				       char ret[static LIMIT_PATH_BYTES]);

/* O_PATH descriptors of what the caller has: its working directory (AT_FDCWD), or an open file.  -EBADF, or
 * as above. */
CORDON_MUST_CHECK int notify_open_fd(const struct notify_call *c, int fd);
/* An open file of the caller's itself, not a new one: what is done with ours is done with its own (CLOEXEC).  For
 * whoever may (takes_descriptors).  -EBADF, or as above. */
CORDON_MUST_CHECK int notify_grab_fd(const struct notify_call *c, int fd);
/* The caller's umask, or -errno. */
CORDON_MUST_CHECK int notify_umask(const struct notify_call *c);
/* The process of the thread that called, or -errno. */
CORDON_MUST_CHECK pid_t notify_process(const struct notify_call *c);
