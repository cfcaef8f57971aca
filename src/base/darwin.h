/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam to macOS: what Linux's C library has of what base and the macOS backends call, and macOS has under another
 * name or not at all.  Everywhere else the same code is compiled for both; what is made of other calls altogether is a
 * file of its own (proc_darwin.c).  On Linux this only includes the headers.
 *
 * tests/macos compiles all of it; nobody has run it.
 */
#pragma once

#ifndef __APPLE__

#include <endian.h>
#include <sys/random.h>

#define DARWIN_MAXRSS_PER_KB 1 /* of ru_maxrss; macOS counts bytes */

#else

#include <errno.h>
#include <fcntl.h>
#include <libkern/OSByteOrder.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xlocale.h>

#define DARWIN_MAXRSS_PER_KB 1024

#define be32toh(x) OSSwapBigToHostInt32(x)
#define htobe32(x) OSSwapHostToBigInt32(x)
#define htobe64(x) OSSwapHostToBigInt64(x)

/* Not sent with each message there, but set on the socket: see fd_pair(). */
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* A loop that the compiler cannot leave out: memset_s() needs a macro before all headers. */
static inline void explicit_bzero(void *data, size_t len)
{
	for (volatile unsigned char *p = data; len > 0; len--)
		*p++ = 0;
}

/* One thread at a time: no process of ours that fails has others. */
static inline const char *strerrordesc_np(int error)
{
	return strerror(error);
}

static inline char *strchrnul(const char *s, int c)
{
	char *at = strchr(s, c);

	return at ? at : (char *)(uintptr_t)s + strlen(s);
}

/* At most 256 bytes at once, which is more than anybody asks for; without flags. */
static inline ssize_t getrandom(void *data, size_t len, unsigned flags)
{
	if (flags != 0) {
		errno = EINVAL;
		return -1;
	}
	return getentropy(data, len) < 0 ? -1 : (ssize_t)len;
}

/* Not from birth: there is a moment in which another thread could fork.  No process that clones has threads. */
static inline int darwin_cloexec(int fds[2])
{
	if (fcntl(fds[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(fds[1], F_SETFD, FD_CLOEXEC) == 0)
		return 0;
	(void)close(fds[0]); /* the error is the first one */
	(void)close(fds[1]);
	return -1;
}

/* flags: O_CLOEXEC and no other. */
static inline int pipe2(int fds[2], int flags)
{
	if (flags != O_CLOEXEC) {
		errno = EINVAL;
		return -1;
	}
	return pipe(fds) < 0 ? -1 : darwin_cloexec(fds);
}

#endif
