/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See prune.h.  Depth costs descriptors: what is deeper than a few dozen directories is moved up to the top first
 * and removed in the next round, so that no tree is too deep.
 */
#include "base/prune.h"

#include "base/darwin.h"
#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PRUNE_DEPTH 32 /* at one time; what is deeper is moved up first */
#define PRUNE_NAME_MAX 48

struct prune {
	int top;
	size_t left;    /* names that may still be looked at */
	unsigned moved; /* directories that were too deep and stand at the top now */
};

static void prune_empty(struct prune *p, int dir, int depth);

/* A call can have made directories deeper than anybody can follow with open descriptors. */
static void prune_move_up(struct prune *p, int dir, const char *name)
{
	char up[PRUNE_NAME_MAX];
	uint64_t salt = 0;

	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		return;
	(void)snprintf(up, sizeof(up), ".cordon-deep-%016llx", (unsigned long long)salt);
	if (renameat(dir, name, p->top, up) == 0)
		p->moved++;
}

void prune_open_up(int handle)
{
	(void)!fd_chmod(handle, 0700); /* or what is in it stays */
}

static void prune_below(struct prune *p, int dir, const char *name, int depth)
{
	AUTO_CLOSE int handle = -1;
	AUTO_CLOSE int fd = -1;

	if (unlinkat(dir, name, 0) == 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return;
	handle = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (handle < 0)
		return;
	prune_open_up(handle);
	if (depth >= PRUNE_DEPTH) {
		prune_move_up(p, dir, name);
		return;
	}
	fd = openat(handle, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		prune_empty(p, fd, depth + 1);
	(void)unlinkat(dir, name, AT_REMOVEDIR); /* what cannot be removed stays: it is no harm */
}

static void prune_empty(struct prune *p, int dir, int depth)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;

	if (!d) {
		(void)fd_close(copy);
		return;
	}
	while (p->left > 0 && (e = readdir(d))) {
		p->left--;
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			prune_below(p, dir, e->d_name, depth);
	}
	(void)closedir(d);
}

void prune_contents(int fd, size_t most)
{
	struct prune p = {.top = fd, .left = most};

	do {
		p.moved = 0;
		prune_empty(&p, fd, 0);
	} while (p.moved > 0 && p.left > 0);
}

int prune_tree(int dir, const char *name)
{
	AUTO_CLOSE int handle = -1;
	AUTO_CLOSE int fd = -1;

	if (unlinkat(dir, name, 0) == 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0 ||
	    errno == ENOENT)
		return 0;
	handle = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (handle < 0)
		return -errno;
	prune_open_up(handle);
	fd = openat(handle, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	prune_contents(fd, SIZE_MAX);
	return unlinkat(dir, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}
