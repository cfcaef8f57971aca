/* SPDX-License-Identifier: Apache-2.0 */
/* See path.h. */
#include "base/path.h"

#include "base/fd.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int path_normalise(const char *path, char **ret)
{
	size_t len = strlen(path), used = 0;
	char *out;

	if (path[0] != '/')
		return -EINVAL;
	if (len >= LIMIT_PATH_BYTES)
		return -ENAMETOOLONG;
	out = malloc(len + 2);
	if (!out)
		return -ENOMEM;
	for (const char *p = path; *p;) {
		const char *end;
		size_t n;

		while (*p == '/')
			p++;
		end = strchrnul(p, '/');
		n = (size_t)(end - p);
		if (n == 0 || (n == 1 && p[0] == '.')) {
			p = end;
			continue;
		}
		if (n == 2 && p[0] == '.' && p[1] == '.') {
			while (used > 0 && out[--used] != '/')
				;
		} else {
			out[used++] = '/';
			memcpy(out + used, p, n);
			used += n;
		}
		p = end;
	}
	if (used == 0)
		out[used++] = '/';
	out[used] = '\0';
	*ret = out;
	return 0;
}

int path_join(const char *dir, const char *name, char **ret)
{
	AUTO_FREE char *joined = NULL;

	if (name[0] == '/')
		return path_normalise(name, ret);
	if (asprintf(&joined, "%s/%s", dir, name) < 0) {
		joined = NULL;
		return -ENOMEM;
	}
	return path_normalise(joined, ret);
}

bool path_is_within(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1 && dir[0] == '/')
		return path[0] == '/';
	return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int path_resolve(const char *path, char **ret)
{
	AUTO_FREE char *head = NULL;
	AUTO_FREE char *real = NULL;
	size_t cut;
	int r;

	r = path_normalise(path, &head);
	if (r < 0)
		return r;
	cut = strlen(head);
	for (;;) {
		char saved = head[cut];

		head[cut] = '\0';
		real = realpath(cut ? head : "/", NULL);
		head[cut] = saved;
		if (real)
			break;
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			return -errno;
		if (cut == 0)
			return -errno;
		while (cut > 0 && head[--cut] != '/')
			;
	}
	return path_join(real, head + cut + (head[cut] == '/'), ret);
}

int path_open_beneath(int dirfd, const char *path, int flags, unsigned mode, uint64_t resolve_more)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve_more,
	};

	/* EAGAIN: a rename raced with the resolution; the kernel asks to try again. */
	for (int tries = 0; tries < 32; tries++) {
		long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -EAGAIN;
}

int path_make_private_dir(const char *path, unsigned mode)
{
	AUTO_FREE char *copy = NULL;
	struct stat st;
	int r;

	r = path_normalise(path, &copy);
	if (r < 0)
		return r;
	for (char *p = copy + 1;; p++) {
		char saved = *p;

		if (saved != '/' && saved != '\0')
			continue;
		*p = '\0';
		if (mkdir(copy, saved ? 0755 : mode) < 0 && errno != EEXIST)
			return -errno;
		*p = saved;
		if (!saved)
			break;
	}
	if (lstat(copy, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return st.st_uid == geteuid() ? 0 : -EPERM;
}
