/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam to macOS: what Linux's C library has of what the macOS build calls, and macOS has under another name or not at
 * all.  There it is included before every file (tests/macos/run); what is made of other calls altogether is a file of its
 * own (*_darwin.c).  On Linux this only includes the headers.
 *
 * tests/macos compiles and links all of it; nobody has run it on a Mac.
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
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xlocale.h>

extern char **environ;

#define DARWIN_MAXRSS_PER_KB 1024

/* A handle of a directory is a descriptor there, which takes the right to read it. */
#define O_PATH O_RDONLY

/* For writing that is EISDIR, as from a file system that has none of these. */
#define O_TMPFILE O_DIRECTORY
/* Nothing is mounted by a look at it. */
#define AT_NO_AUTOMOUNT 0

#define st_atim st_atimespec
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec

/* Its monotonic clock goes on while the machine sleeps. */
#define CLOCK_BOOTTIME CLOCK_MONOTONIC
#define CLOCK_REALTIME_COARSE CLOCK_REALTIME

/* There are none of these signals: no kill() takes it. */
#define SIGRTMIN NSIG

/* A program of another system's or processor's. */
#define ELIBBAD EBADMACHO
/* Of a keyring that is not there (secrets/keyring_darwin.c). */
#define ENOKEY 20001
#define EKEYEXPIRED 20002
#define EKEYREVOKED 20003

#define GRND_NONBLOCK 1U
#define RENAME_NOREPLACE 1U

typedef int __rlimit_resource_t;

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

/* At most 256 bytes at once, which is more than anybody asks for; it never waits. */
static inline ssize_t getrandom(void *data, size_t len, unsigned flags)
{
	if (flags & ~GRND_NONBLOCK) {
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

/* For two numbers that are not the same; flags: none. */
static inline int dup3(int from, int to, int flags)
{
	if (flags != 0 || from == to) {
		errno = EINVAL;
		return -1;
	}
	return dup2(from, to);
}

static inline void *memrchr(const void *data, int c, size_t len)
{
	const unsigned char *p = data;

	while (len > 0)
		if (p[--len] == (unsigned char)c)
			return (void *)(uintptr_t)(p + len);
	return NULL;
}

static inline void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

/* flags: RENAME_NOREPLACE and no other. */
static inline int renameat2(int from_dir, const char *from, int to_dir, const char *to,
			    unsigned flags)
{
	if (flags != RENAME_NOREPLACE) {
		errno = EINVAL;
		return -1;
	}
	return renameatx_np(from_dir, from, to_dir, to, RENAME_EXCL);
}

/* fsync() alone leaves it in the disk's own memory there. */
static inline int darwin_sync(int fd)
{
	return fcntl(fd, F_FULLFSYNC) == 0 ? 0 : fsync(fd);
}
#define fdatasync(fd) darwin_sync(fd)

#endif
