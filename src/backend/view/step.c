/* SPDX-License-Identifier: Apache-2.0 */
/* See step.h.  Raw system calls wherever a base program may come: who carries it out may share its memory. */
#include "backend/view/step_tree.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/raw.h"
#include "base/shield.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define STEP_OPTION_MAX 16 /* an octal mode */

void step_close(int fd)
{
	if (fd >= 0)
		(void)raw_call(SYS_close, fd);
}

/* Is fd what was seen when the plan was compiled? */
static bool step_is_same(int fd, const struct view_step *step)
{
	struct stat st;

	return raw_call(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) == 0 &&
	       st.st_dev == step->dev && st.st_ino == step->ino;
}

int step_open(int at, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)raw_call(SYS_openat2, at, path, &how, sizeof(how));
}

int step_source(const struct view_step *step)
{
	int fd = step_open(AT_FDCWD, step->source);

	if (fd < 0)
		return fd;
	if (!step_is_same(fd, step)) {
		step_close(fd);
		return -ESTALE;
	}
	return fd;
}

/* All of them but what a test leaves out. */
static uint64_t step_wanted(uint64_t attrs)
{
	if (shield_is_off(SHIELD_READ_ONLY))
		attrs &= ~(uint64_t)MOUNT_ATTR_RDONLY;
	if (shield_is_off(SHIELD_NO_SUID))
		attrs &= ~(uint64_t)MOUNT_ATTR_NOSUID;
	if (shield_is_off(SHIELD_NO_DEV))
		attrs &= ~(uint64_t)MOUNT_ATTR_NODEV;
	return attrs;
}

static int step_attrs(int tree, uint64_t attrs)
{
	/* Private: what is mounted on the host later does not come in. */
	struct mount_attr attr = {.attr_set = step_wanted(attrs), .propagation = MS_PRIVATE};

	return (int)raw_call(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
			     sizeof(attr));
}

int step_attach(int root, int tree, const char *path)
{
	int at = step_open(root, path);
	int r;

	if (at < 0)
		return at;
	r = (int)raw_call(SYS_move_mount, tree, "", at, "",
			  MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
	step_close(at);
	return r;
}

/* A clone of what fd stands for, with the attributes, detached. */
static int step_clone(int fd, const struct view_step *step)
{
	int tree =
		(int)raw_call(SYS_open_tree, fd, "",
			      AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	int r;

	/* Without attributes: a clone of our own root, which is private and has what it needs. */
	if (tree < 0 || !step->attrs)
		return tree;
	r = step_attrs(tree, step->attrs);
	if (r == 0)
		return tree;
	step_close(tree);
	return r;
}

/* A node of /dev, where links and names are the system's, onto a name that we just made ourselves.  All
 * mounts here are private by now, and neither set-user-id bits nor the right to execute count on a device. */
static int step_device(int root, const struct view_step *step)
{
	int tree = (int)raw_call(SYS_open_tree, AT_FDCWD, step->source,
				 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
	int r;

	if (tree < 0)
		return tree;
	if (!step_is_same(tree, step))
		r = -ESTALE;
	else
		r = (int)raw_call(SYS_move_mount, tree, "", root, step->path,
				  MOVE_MOUNT_F_EMPTY_PATH);
	step_close(tree);
	return r;
}

static int step_bind_tree(int root, const struct view_step *step)
{
	int fd = step->kind == VIEW_BIND ? step_source(step) : step_open(root, step->source);
	int tree = fd < 0 ? fd : step_clone(fd, step);

	step_close(fd);
	return tree;
}

/* What view_fetch() has made of the step, or what is made of it now. */
static int step_bind(int root, const struct view_step *step)
{
	int tree = step->fd >= 0 ? step->fd : step_bind_tree(root, step);
	int r;

	if (tree < 0)
		return step->may_be_missing &&
				       (tree == -ENOENT || tree == -ENOTDIR || tree == -ELOOP)
			       ? 0
			       : tree;
	r = step_attach(root, tree, step->path);
	step_close(tree);
	return r == -ENOENT && step->may_be_missing ? 0 : r;
}

/* Opens path unless it is what was opened last. */
static int step_cached(int root, const char *path, const char **last, int *fd)
{
	if (*last == path)
		return *fd;
	step_close(*fd);
	*fd = -1;
	*last = NULL;
	*fd = step_open(root, path);
	if (*fd >= 0)
		*last = path;
	return *fd;
}

/* A name in a directory that was opened without following links: move_mount() follows none at the end. */
static int step_cover_name(int dir, int tree, const char *name)
{
	return (int)raw_call(SYS_move_mount, tree, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH);
}

/* A mount of the placeholder.  One that is over is kept for the next name: to look first whether there is
 * something costs as much as the mount, and to let go of it waits for all processors. */
static int step_cover_tree(int root, const struct view_step *step, struct view_cache *cache)
{
	const char *last = cache->source;
	int source = step_cached(root, step->source, &cache->source, &cache->source_fd);

	if (source < 0)
		return source;
	if (last != cache->source) {
		step_close(cache->spare);
		cache->spare = -1;
	}
	if (cache->spare >= 0)
		return TAKE_FD(cache->spare);
	return (int)raw_call(SYS_open_tree, source, "",
			     AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

static int step_cover(int root, const struct view_step *step, struct view_cache *cache)
{
	int dir = step->dir ? step_cached(root, step->dir, &cache->dir, &cache->dir_fd) : 0;
	int tree = dir < 0 ? dir : step_cover_tree(root, step, cache);
	int r;

	if (tree < 0)
		return tree;
	r = step->dir ? step_cover_name(dir, tree, step->name)
		      : step_attach(root, tree, step->path);
	if (r != -ENOENT || !step->may_be_missing) {
		step_close(tree);
		return r;
	}
	cache->spare = tree;
	return 0;
}

void view_cache_done(struct view_cache *cache)
{
	step_close(cache->dir_fd);
	step_close(cache->source_fd);
	step_close(cache->spare);
	step_close(cache->nobody_ns);
	cache->dir_fd = cache->source_fd = cache->spare = cache->nobody_ns = -1;
	cache->dir = cache->source = NULL;
}

int step_option(int fs, const char *key, const char *value)
{
	return (int)raw_call(SYS_fsconfig, fs, value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, key,
			     value, 0);
}

static void step_octal(unsigned mode, char ret[static STEP_OPTION_MAX])
{
	char *p = ret + STEP_OPTION_MAX - 1;

	*p = '\0';
	do
		*--p = (char)('0' + (mode & 7));
	while ((mode >>= 3));
	memmove(ret, p, strlen(p) + 1);
}

int step_create(int fs, uint64_t attrs)
{
	int r = (int)raw_call(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);

	return r < 0 ? r : (int)raw_call(SYS_fsmount, fs, FSMOUNT_CLOEXEC, step_wanted(attrs));
}

int step_fsopen(const char *type)
{
	return (int)raw_call(SYS_fsopen, type, FSOPEN_CLOEXEC);
}

/* A detached tmpfs. */
static int step_tmpfs(unsigned mode, const char *size, uint64_t attrs)
{
	char octal[STEP_OPTION_MAX];
	int fs = step_fsopen("tmpfs");
	int r;

	if (fs < 0)
		return fs;
	step_octal(mode, octal);
	r = step_option(fs, "mode", octal);
	if (r == 0 && size)
		r = step_option(fs, "size", size);
	if (r == 0)
		r = step_create(fs, attrs);
	step_close(fs);
	return r;
}

static int step_simple(const char *type, uint64_t attrs, const char *const (*options)[2], size_t n)
{
	int fs = step_fsopen(type);
	int r = fs;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = step_option(fs, options[i][0], options[i][1]);
	if (r >= 0)
		r = step_create(fs, attrs);
	step_close(fs);
	return r;
}

static int step_new_tree(const struct view_step *step)
{
	static const char *const pts[][2] = {{"mode", "0620"}, {"ptmxmode", "0666"}};
	const char *const hidden[] = {"hidepid", step->source};
	const uint64_t attrs = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;

	if (step->kind == VIEW_TMPFS)
		return step_tmpfs(step->mode, step->source, step->attrs);
	if (step->kind == VIEW_PROC)
		return step_simple("proc", attrs | MOUNT_ATTR_NODEV | step->attrs, &hidden,
				   step->source ? 1 : 0);
	return step_simple("devpts", attrs, pts, ARRAY_LEN(pts));
}

static int step_mount_new(int root, const struct view_step *step)
{
	int tree = step->fd >= 0 ? step->fd : step_new_tree(step);
	int r;

	if (tree < 0)
		return tree;
	r = step_attach(root, tree, step->path);
	step_close(tree);
	return r;
}

void step_fd_path(int fd, char ret[static STEP_FD_PATH_MAX])
{
	char digits[STEP_OPTION_MAX];
	char *p = digits + sizeof(digits) - 1;

	*p = '\0';
	do
		*--p = (char)('0' + fd % 10);
	while ((fd /= 10));
	memcpy(ret, "/proc/self/fd/", sizeof("/proc/self/fd/"));
	memcpy(ret + strlen(ret), p, strlen(p) + 1);
}

/* Can the old root be left before the steps from here on are carried out, when view_fetch() has done its part? */
static bool step_is_fetchable(const struct view_step *step)
{
	switch (step->kind) {
	case VIEW_DIRECTORY:
	case VIEW_EMPTY:
	case VIEW_SOCKET:
	case VIEW_LINK:
	case VIEW_SYMLINK:
	case VIEW_FILE:
	case VIEW_TREE:
	case VIEW_SEAL:
	case VIEW_COVER:
	case VIEW_PRIVATE:
	case VIEW_TMPFS:
	case VIEW_PTS:
	case VIEW_BIND:
	case VIEW_PROC:
		return true;
	case VIEW_OVERLAY: /* else it takes paths of /proc and of the host */
		return step->fd >= 0;
	case VIEW_DEVICE: /* of the host, like binds, but never here: /dev is in the base */
	case VIEW_LISTEN: /* takes a path of /proc */
	case VIEW_STEP_COUNT:
		break;
	}
	return false;
}

int view_fetch(const struct view_program *p)
{
	size_t n_binds = 0;
	bool has_proc = false;

	for (size_t i = p->n_lower; i < p->n; i++) {
		if (!step_is_fetchable(&p->steps[i]))
			return 0;
		n_binds += p->steps[i].kind == VIEW_BIND;
		has_proc |= p->steps[i].kind == VIEW_PROC;
	}
	if (n_binds > VIEW_FETCH_MAX || !has_proc)
		return 0;
	for (size_t i = p->n_lower; i < p->n; i++) {
		struct view_step *s = &p->steps[i];

		if (s->kind == VIEW_BIND)
			s->fd = step_bind_tree(-1, s);
		else if (s->kind == VIEW_PROC)
			s->fd = step_new_tree(s);
		else
			continue;
		/* What is wrong comes up again when it is the step's turn, and is told as its fault. */
		if (s->fd < 0)
			return 0;
	}
	return 1;
}

static int step_make(int root, const struct view_step *step)
{
	mode_t type = step->kind == VIEW_SOCKET ? S_IFSOCK : S_IFREG;
	int r;

	if (step->kind == VIEW_SYMLINK)
		return (int)raw_call(SYS_symlinkat, step->source, root, step->path);
	if (step->kind == VIEW_LINK)
		r = (int)raw_call(SYS_linkat, root, step->source, root, step->path, 0);
	else if (step->kind == VIEW_DIRECTORY)
		r = (int)raw_call(SYS_mkdirat, root, step->path, step->mode);
	else
		r = (int)raw_call(SYS_mknodat, root, step->path, type | step->mode, 0);
	return r == -EEXIST ? 0 : r;
}

static int step_file(int root, const struct view_step *step)
{
	size_t len = step->len ? step->len : strlen(step->source);
	int fd = openat(root, step->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			step->mode);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, step->source, len) != (ssize_t)len)
		r = errno ? -errno : -EIO;
	step_close(fd);
	return r;
}

static int step_tree(int root, const struct view_step *step)
{
	int r = step_attrs(step->fd, step->attrs);

	return r < 0 ? r : step_attach(root, step->fd, step->path);
}

/* A socket in the new root: its inode is ours, whatever the host has at the path where it will be seen. */
static int step_listen(int root, const struct view_step *step, struct view_cache *cache)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	size_t n;

	if (fd < 0)
		return -errno;
	if (cache->n_listeners == ARRAY_LEN(cache->listeners))
		return -E2BIG;
	step_fd_path(root, address.sun_path);
	n = strlen(address.sun_path);
	if (n + 1 + strlen(step->path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	address.sun_path[n] = '/';
	memcpy(address.sun_path + n + 1, step->path, strlen(step->path) + 1);
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, LIMIT_SOCKET_LINKS) < 0)
		return -errno;
	cache->listeners[cache->n_listeners++] = TAKE_FD(fd);
	return 0;
}

int view_step_run(int root, const struct view_step *step, struct view_cache *cache)
{
	if (shield_is_off(SHIELD_VIEW) || step->is_spare ||
	    (step->is_for_owned && cache->is_disowned))
		return 0;
	switch (step->kind) {
	case VIEW_DIRECTORY:
	case VIEW_EMPTY:
	case VIEW_SOCKET:
	case VIEW_LINK:
	case VIEW_SYMLINK:
		return step_make(root, step);
	case VIEW_FILE:
		return step_file(root, step);
	case VIEW_DEVICE:
		return step_device(root, step);
	case VIEW_BIND:
	case VIEW_PRIVATE:
	case VIEW_SEAL:
		return step_bind(root, step);
	case VIEW_COVER:
		return step_cover(root, step, cache);
	case VIEW_TREE:
		return step_tree(root, step);
	case VIEW_TMPFS:
	case VIEW_PROC:
	case VIEW_PTS:
		return step_mount_new(root, step);
	case VIEW_OVERLAY:
		return step_overlay(root, step, cache);
	case VIEW_LISTEN:
		return step_listen(root, step, cache);
	case VIEW_STEP_COUNT:
		break;
	}
	return -EINVAL;
}

int view_root_make(void)
{
	int tree;
	int r = 0;

	/* From here on nothing that we mount shows anywhere else. */
	r = (int)raw_call(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	if (r < 0)
		return r;
	if (shield_is_off(SHIELD_VIEW))
		return 0;
	tree = step_tmpfs(0755, VIEW_ROOT_SIZE, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (tree < 0)
		return tree;
	/* Over the old root: our own root directory stays below it, so that host paths keep working. */
	r = (int)raw_call(SYS_move_mount, tree, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH);
	if (r < 0) {
		step_close(tree);
		return r;
	}
	return tree;
}

/* What the host has under such a name by now belongs to somebody, who could write it. */
static int step_hold(int overlay, const char *name, uid_t nobody)
{
	AUTO_CLOSE int fd = step_open(overlay, name);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_uid == nobody && !(st.st_mode & 0222) ? TAKE_FD(fd) : -ESTALE;
}

/* The placeholder of a step, in the innermost overlay around it. */
static int step_hold_in(const struct view_program *p, const char *path, const int *overlays,
			uid_t nobody)
{
	const char *name = NULL;
	int overlay = -1;

	for (size_t i = p->n_lower; i < p->n; i++) {
		const char *top = p->steps[i].path;
		size_t len = strlen(top);

		if (!step_is_held_overlay(&p->steps[i]))
			continue;
		if (strncmp(path, top, len) == 0 && path[len] == '/') {
			name = path + len + 1;
			overlay = *overlays;
		}
		overlays++;
	}
	return name ? step_hold(overlay, name, nobody) : -ENOTRECOVERABLE;
}

int view_hold(const struct view_program *p, const int *overlays, uid_t nobody, int **ret, size_t *n)
{
	AUTO_FREE int *fds = calloc(p->n + 1, sizeof(*fds));
	size_t used = 0;
	int r = fds ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < p->n; i++) {
		const struct view_step *s = &p->steps[i];

		if (s->kind != VIEW_COVER || !s->is_for_owned)
			continue;
		fds[used] = step_hold_in(p, s->path, overlays, nobody);
		/* Where we may not look the command may not either. */
		if (fds[used] >= 0)
			used++;
		else if (fds[used] != -EACCES)
			r = fds[used];
	}
	while (r < 0 && used > 0)
		(void)fd_close(fds[--used]);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(fds);
	*n = used;
	return 0;
}

int view_landlock(const struct view_program *p, int abi)
{
	struct landlock_policy policy = {
		.abi = abi,
		.rules = p->open_rules,
		.scopes_signals = abi >= LANDLOCK_ABI_SCOPES,
		.scopes_abstract_unix = abi >= LANDLOCK_ABI_SCOPES,
	};
	int r = 0;

	/* Below that ABI it forbids what the plan allows (moving files between directories). */
	if (abi < LANDLOCK_ABI_REFER)
		return 0;
	for (size_t i = 0; i <= p->n_rules && r == 0; i++) {
		const char *path = i < p->n_rules ? p->rules[i].path : "/";
		int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		struct stat st;

		if (fd < 0 || fstat(fd, &st) < 0)
			return -errno;
		p->open_rules[i] = (struct landlock_rule){
			.fd = fd,
			.is_dir = S_ISDIR(st.st_mode),
			.access = i < p->n_rules            ? p->rules[i].access
				  : p->plan->separates_exec ? LANDLOCK_READ_NOEXEC
							    : LANDLOCK_READ,
		};
	}
	policy.n = p->n_rules + 1;
	r = landlock_apply(&policy);
	for (size_t i = 0; i < policy.n; i++)
		step_close(p->open_rules[i].fd);
	return r;
}
