/* SPDX-License-Identifier: Apache-2.0 */
/* What every program of the table needs.  A first line of the form "run: [stdin TEXT |] [env N=V |] [args ... |] exit N" tells how it is
 * started and how it has to end; without one it has to end with 0. */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			printf("line %d: %s: errno %d (%s)\n", __LINE__, #what, errno,             \
			       strerror(errno));                                                   \
			exit(99);                                                                  \
		}                                                                                  \
	} while (0)

/* Fails with this errno. */
#define CHECK_ERRNO(what, e)                                                                       \
	do {                                                                                       \
		errno = 0;                                                                         \
		CHECK((what) < 0);                                                                 \
		CHECK(errno == (e));                                                               \
	} while (0)

static inline void put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(fd >= 0);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK(close(fd) == 0);
}

static inline void show(const char *name)
{
	char text[256];
	int fd = open(name, O_RDONLY);
	ssize_t n;

	CHECK(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	CHECK(n >= 0);
	text[n] = '\0';
	CHECK(close(fd) == 0);
	printf("%s: %s\n", name, text);
}
