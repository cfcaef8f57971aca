/* SPDX-License-Identifier: Apache-2.0 */
/* See place.h.  No allocation: the broker was forked from a process that may have had threads. */
#include "backend/landlock/place.h"

#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PLACE_FD_PATH_MAX 32 /* "/proc/self/fd/N" */
#define PLACE_PID_MAX 48     /* "PID/task/TID" */
#define PLACE_PROC_ROOT 1    /* the inode of the root of each /proc */

int place_world_init(struct place_world *w, pid_t first, pid_t second)
{
	*w = (struct place_world){.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
				  .hidden = {first, second}};
	return w->root < 0 ? -errno : 0;
}

void place_done(struct place *p)
{
	p->parent = fd_close(p->parent);
	p->object = fd_close(p->object);
}

static int place_openat2(int dirfd, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {.flags = flags | O_PATH | O_CLOEXEC, .resolve = resolve};
	long fd;

	do /* EAGAIN: a rename elsewhere, while ".." was looked at */
		fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	while (fd < 0 && (errno == EAGAIN || errno == EINTR));
	return fd < 0 ? -errno : (int)fd;
}

/* Is it in a /proc, wherever that is mounted? */
static bool place_is_proc(int fd, bool *is_root)
{
	struct statfs fs;
	struct stat st;

	*is_root = false;
	/* What cannot be looked at is walked with care. */
	if (fstatfs(fd, &fs) < 0)
		return true;
	if (fs.f_type != PROC_SUPER_MAGIC)
		return false;
	*is_root = fstat(fd, &st) == 0 && st.st_ino == PLACE_PROC_ROOT;
	return true;
}

/* A number that stands for a process that is hidden. */
static bool place_is_hidden(const struct place_world *w, const char *name)
{
	int64_t n = 0;

	for (const char *p = name; *p; p++) {
		if (*p < '0' || *p > '9' || n > INT32_MAX)
			return false;
		n = n * 10 + (*p - '0');
	}
	return *name && (n == w->hidden[0] || n == w->hidden[1]);
}

/* What the two names of the caller in the root of /proc stand for, or NULL. */
static const char *place_self(const struct notify_call *c, const char *name,
			      char buffer[static PLACE_PID_MAX])
{
	bool is_thread = strcmp(name, "thread-self") == 0;
	pid_t process;

	if (!is_thread && strcmp(name, "self") != 0)
		return NULL;
	process = notify_process(c);
	if (process < 0)
		process = c->tid; /* gone: nothing is found */
	(void)snprintf(buffer, PLACE_PID_MAX, is_thread ? "%d/task/%d" : "%d", (int)process,
		       (int)c->tid);
	return buffer;
}

struct walk {
	const struct place_world *world;
	const struct notify_call *call;
	int at;                      /* owned */
	char rest[LIMIT_PATH_BYTES]; /* what is still to be walked */
	unsigned links;
};

/* Puts a text in front of what is left. */
static int walk_prepend(struct walk *w, const char *text, const char *behind)
{
	size_t len = strlen(text);
	size_t tail = strlen(behind);

	if (++w->links > PLACE_LINKS_MAX)
		return -ELOOP;
	if (len + 1 + tail + 1 > sizeof(w->rest))
		return -ENAMETOOLONG;
	memmove(w->rest + len + 1, behind, tail + 1);
	memcpy(w->rest, text, len);
	w->rest[len] = '/';
	return 0;
}

static int walk_to(struct walk *w, int fd)
{
	if (fd < 0)
		return fd;
	(void)fd_close(w->at);
	w->at = fd;
	return 0;
}

static int walk_to_root(struct walk *w)
{
	return walk_to(w, fd_dup(w->world->root, 3));
}

/* One component; behind is what follows it. */
static int walk_step(struct walk *w, const char *name, const char *behind)
{
	char target[LIMIT_PATH_BYTES];
	char self[PLACE_PID_MAX];
	bool is_proc_root = false;
	bool is_proc = place_is_proc(w->at, &is_proc_root);
	const char *caller = is_proc_root ? place_self(w->call, name, self) : NULL;
	ssize_t n;
	int r;

	if (caller)
		return walk_prepend(w, caller, behind);
	if (is_proc_root && place_is_hidden(w->world, name))
		return -EACCES;
	n = readlinkat(w->at, name, target, sizeof(target));
	if (n >= (ssize_t)sizeof(target))
		return -ENAMETOOLONG;
	if (n < 0 || (is_proc && !is_proc_root)) {
		/* No link; or one of a process, which has no text that could be followed. */
		r = walk_to(w, place_openat2(w->at, name, n < 0 ? O_NOFOLLOW : 0, 0));
		if (r == 0)
			memmove(w->rest, behind, strlen(behind) + 1);
		return r;
	}
	target[n] = '\0';
	if (n == 0)
		return -ENOENT;
	r = walk_prepend(w, target, behind);
	return r == 0 && target[0] == '/' ? walk_to_root(w) : r;
}

/* Walks to a directory with care.  Returns it or -errno. */
static int place_walk(const struct place_world *world, const struct notify_call *c, int base,
		      const char *path)
{
	struct walk w = {.world = world, .call = c, .at = fd_dup(base, 3)};
	int r = w.at < 0 ? w.at : 0;

	if (strlen(path) >= sizeof(w.rest))
		r = -ENAMETOOLONG;
	else
		memcpy(w.rest, path, strlen(path) + 1);
	if (r == 0 && path[0] == '/')
		r = walk_to_root(&w);
	while (r == 0) {
		char name[PLACE_NAME_MAX];
		const char *start = w.rest + strspn(w.rest, "/");
		size_t len = strcspn(start, "/");

		if (len == 0)
			return w.at;
		if (len >= sizeof(name)) {
			r = -ENAMETOOLONG;
			break;
		}
		memcpy(name, start, len);
		name[len] = '\0';
		r = walk_step(&w, name, start + len);
	}
	(void)fd_close(w.at);
	return r;
}

/* The directory that path names.  Returns it (O_PATH) or -errno. */
static int place_directory(const struct place_world *w, const struct notify_call *c, int base,
			   const char *path)
{
	int fd = place_openat2(base, path, O_DIRECTORY, RESOLVE_NO_MAGICLINKS);
	bool is_root;

	if (fd < 0 && fd != -ELOOP)
		return fd;
	if (fd >= 0 && !place_is_proc(fd, &is_root))
		return fd;
	(void)fd_close(fd);
	fd = place_walk(w, c, base, path);
	if (fd >= 0) {
		int dir = place_openat2(fd, ".", O_DIRECTORY, 0);

		(void)fd_close(fd);
		return dir;
	}
	return fd;
}

/* Where a descriptor of ours leads. */
static int place_path_of(int fd, char ret[static LIMIT_PATH_BYTES])
{
	char link[PLACE_FD_PATH_MAX];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, ret, LIMIT_PATH_BYTES);
	if (n < 0)
		return -errno;
	if (n >= LIMIT_PATH_BYTES)
		return -ENAMETOOLONG;
	ret[n] = '\0';
	return 0;
}

/* An object without a name of its own: the end of a link in /proc, "..", an open file. */
static int place_object(int fd, struct place *ret)
{
	if (fd < 0)
		return fd;
	ret->object = fd;
	if (fstat(fd, &ret->st) < 0)
		return -errno;
	return place_path_of(fd, ret->path);
}

int place_of_fd(const struct notify_call *c, int fd, struct place *ret)
{
	*ret = PLACE_NONE;
	return place_object(notify_open_fd(c, fd), ret);
}

/* name stands in ret->parent and is not to be followed. */
static int place_settle(const char *name, struct place *ret)
{
	size_t len;
	int r = place_path_of(ret->parent, ret->path);

	if (r < 0)
		return r;
	len = strcmp(ret->path, "/") == 0 ? 0 : strlen(ret->path);
	if (len + 1 + strlen(name) >= sizeof(ret->path))
		return -ENAMETOOLONG;
	ret->path[len] = '/';
	memcpy(ret->path + len + 1, name, strlen(name) + 1);
	memcpy(ret->name, name, strlen(name) + 1);
	ret->object = openat(ret->parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (ret->object < 0)
		return errno == ENOENT ? 0 : -errno;
	return fstat(ret->object, &ret->st) < 0 ? -errno : 0;
}

struct finder {
	const struct place_world *world;
	const struct notify_call *call;
	int base; /* owned */
	char path[LIMIT_PATH_BYTES];
	bool follows;
};

/* One link less.  1 when the place was found, 0 when there is another link to follow, or -errno. */
static int finder_round(struct finder *f, struct place *ret)
{
	char name[PLACE_NAME_MAX];
	char target[LIMIT_PATH_BYTES];
	char self[PLACE_PID_MAX];
	size_t len = strlen(f->path);
	bool is_proc_root = false;
	bool is_proc;
	const char *caller;
	ssize_t n;
	char *base;
	int r;

	while (len > 1 && f->path[len - 1] == '/') {
		f->path[--len] = '\0';
		ret->wants_dir = true;
	}
	base = strrchr(f->path, '/');
	base = base ? base + 1 : f->path;
	if (strlen(base) >= sizeof(name))
		return -ENAMETOOLONG;
	if (*base == '\0' || strcmp(base, ".") == 0 || strcmp(base, "..") == 0) {
		ret->parent = fd_close(ret->parent);
		r = place_object(place_directory(f->world, f->call, f->base, f->path), ret);
		return r < 0 ? r : 1;
	}
	memcpy(name, base, strlen(base) + 1);
	*base = '\0';
	(void)fd_close(ret->parent);
	ret->parent = *f->path ? place_directory(f->world, f->call, f->base, f->path)
			       : TAKE_FD(f->base);
	if (ret->parent < 0) {
		r = ret->parent;
		ret->parent = -1;
		return r;
	}
	is_proc = place_is_proc(ret->parent, &is_proc_root);
	if (is_proc_root && place_is_hidden(f->world, name))
		return -EACCES;
	caller = is_proc_root ? place_self(f->call, name, self) : NULL;
	n = !f->follows && !ret->wants_dir ? -1
					   : readlinkat(ret->parent, name, target, sizeof(target));
	if (n < 0) {
		r = place_settle(name, ret);
		return r < 0 ? r : 1;
	}
	if (n == 0 || n >= (ssize_t)sizeof(target))
		return n == 0 ? -ENOENT : -ENAMETOOLONG;
	target[n] = '\0';
	if (is_proc && !is_proc_root) {
		r = place_object(place_openat2(ret->parent, name, 0, 0), ret);
		ret->parent = fd_close(ret->parent);
		return r < 0 ? r : 1;
	}
	(void)fd_close(f->base);
	f->base = fd_dup(ret->parent, 3);
	if (f->base < 0)
		return f->base;
	(void)snprintf(f->path, sizeof(f->path), "%s", caller ? caller : target);
	return 0;
}

int place_find(const struct place_world *w, const struct notify_call *c, int dirfd,
	       const char *path, bool follows, struct place *ret)
{
	struct finder f = {.world = w, .call = c, .follows = follows};
	int r;

	*ret = PLACE_NONE;
	if (!*path)
		return -ENOENT;
	if (strlen(path) >= sizeof(f.path))
		return -ENAMETOOLONG;
	memcpy(f.path, path, strlen(path) + 1);
	f.base = path[0] == '/' ? fd_dup(w->root, 3) : notify_open_fd(c, dirfd);
	if (f.base < 0)
		return f.base;
	r = 0;
	for (unsigned i = 0; r == 0; i++)
		r = i > PLACE_LINKS_MAX ? -ELOOP : finder_round(&f, ret);
	(void)fd_close(f.base);
	if (r < 0)
		return r;
	if (ret->wants_dir && ret->object >= 0 && !S_ISDIR(ret->st.st_mode))
		return -ENOTDIR;
	return 0;
}
