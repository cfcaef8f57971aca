/* SPDX-License-Identifier: Apache-2.0 */
/* See path.h. */
#include "base/path.h"

#include "base/buf.h"
#include "base/darwin.h"
#include "base/mem.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PATH_LINKS_MAX = 40 }; /* as the kernel's MAXSYMLINKS */

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
	struct buf b = BUF_INIT(LIMIT_PATH_BYTES);
	int r;

	if (name[0] == '/')
		return path_normalise(name, ret);
	buf_str(&b, dir);
	buf_char(&b, '/');
	buf_str(&b, name);
	r = buf_error(&b);
	if (r == 0)
		r = path_normalise(buf_cstr(&b), ret);
	buf_done(&b);
	return r == -E2BIG ? -ENAMETOOLONG : r;
}

bool path_is_within(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (n == 0)
		return false;
	if (n == 1 && dir[0] == '/')
		return path[0] == '/';
	return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The walk of path_resolve(): done is real, todo is still to be looked at. */
struct path_walk {
	char done[LIMIT_PATH_BYTES]; /* "" is the root */
	char todo[LIMIT_PATH_BYTES];
	size_t done_len;
	int links;
	bool is_missing; /* from here on nothing can be looked up */
};

static int path_walk_push(struct path_walk *w, const char *name, size_t len)
{
	if (w->done_len + 1 + len >= sizeof(w->done))
		return -ENAMETOOLONG;
	w->done[w->done_len++] = '/';
	memcpy(w->done + w->done_len, name, len);
	w->done_len += len;
	w->done[w->done_len] = '\0';
	return 0;
}

static void path_walk_pop(struct path_walk *w)
{
	w->is_missing = false; /* what stands above may be there */
	while (w->done_len > 0 && w->done[--w->done_len] != '/')
		;
	w->done[w->done_len] = '\0';
}

/* If the last component of done is a link, puts its target before rest.  0 or -errno. */
static int path_walk_link(struct path_walk *w, const char *rest)
{
	char target[LIMIT_PATH_BYTES] __attribute__((uninitialized));
	size_t rest_len = strlen(rest);
	ssize_t n = readlink(w->done, target, sizeof(target));

	if (n < 0) {
		w->is_missing = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
		if (!w->is_missing && errno != EINVAL) /* EINVAL: there, and not a link */
			return -errno;
		memmove(w->todo, rest, rest_len + 1);
		return 0;
	}
	if (++w->links > PATH_LINKS_MAX)
		return -ELOOP;
	if ((size_t)n + rest_len + 1 >= sizeof(w->todo))
		return -ENAMETOOLONG;
	path_walk_pop(w);
	if (n > 0 && target[0] == '/') {
		w->done_len = 0;
		w->done[0] = '\0';
	}
	memmove(w->todo + n + 1, rest, rest_len + 1);
	memcpy(w->todo, target, (size_t)n);
	w->todo[n] = '/';
	return 0;
}

int path_resolve(const char *path, char **ret)
{
	struct path_walk w __attribute__((uninitialized));
	size_t len = strlen(path);

	if (path[0] != '/')
		return -EINVAL;
	if (len >= sizeof(w.todo))
		return -ENAMETOOLONG;
	/* Each but what texts leave over: it is called for many paths, and has two long ones. */
	w.done[0] = '\0';
	w.done_len = 0;
	w.links = 0;
	w.is_missing = false;
	memcpy(w.todo, path, len + 1);
	for (;;) {
		const char *name = w.todo + strspn(w.todo, "/");
		const char *rest = strchrnul(name, '/');
		size_t n = (size_t)(rest - name);
		bool is_dot, is_up;
		int r = 0;

		if (n == 0)
			return path_normalise(w.done_len ? w.done : "/", ret);
		is_dot = n == 1 && name[0] == '.';
		is_up = n == 2 && name[0] == '.' && name[1] == '.';
		if (is_up)
			path_walk_pop(&w);
		else if (!is_dot)
			r = path_walk_push(&w, name, n);
		if (r == 0 && !is_up && !is_dot && !w.is_missing)
			r = path_walk_link(&w, rest);
		else
			memmove(w.todo, rest, strlen(rest) + 1);
		if (r < 0)
			return r;
	}
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
		if (mkdir(copy, (mode_t)mode) < 0 && errno != EEXIST)
			return -errno;
		*p = saved;
		if (!saved)
			break;
	}
	if (lstat(copy, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (st.st_uid != geteuid())
		return -EPERM;
	/* Others who may write here could plant files under our names.  Not repaired: it may be /tmp. */
	return st.st_mode & 022 & ~mode ? -EPERM : 0;
}

bool path_has_link(const char *path, size_t len)
{
	char prefix[LIMIT_PATH_BYTES] __attribute__((uninitialized));
	struct stat st;

	if (strlen(path) >= sizeof(prefix))
		return true; /* let the thorough way decide */
	for (const char *end = path + len;;) {
		end = strchr(end + 1, '/');
		if (!end)
			return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
		memcpy(prefix, path, (size_t)(end - path));
		prefix[end - path] = '\0';
		if (lstat(prefix, &st) < 0)
			return false;
		if (S_ISLNK(st.st_mode))
			return true;
	}
}

bool path_is_read_only(const char *path)
{
	struct statvfs fs;

	return statvfs(path, &fs) == 0 && (fs.f_flag & ST_RDONLY);
}

int path_unescape(char *s)
{
	char *to = s;

	for (const char *p = s; *p; p++) {
		unsigned value = 0;

		if (*p != '\\') {
			*to++ = *p;
			continue;
		}
		for (int i = 1; i <= 3; i++) {
			if (p[i] < '0' || p[i] > '7')
				return -EINVAL;
			value = value * 8 + (unsigned)(p[i] - '0');
		}
		if (value == 0 || value > 255)
			return -EINVAL;
		*to++ = (char)value;
		p += 3;
	}
	*to = '\0';
	return 0;
}
