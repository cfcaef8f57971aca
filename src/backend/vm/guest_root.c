/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root of a call inside a virtual machine.  What the plan grants of the host comes over the share, where the
 * host has built the view as for every other backend: denied and protected paths are held there, out of reach of
 * this kernel.  What is private is made here: it is faster, and counts as the call's own memory.
 */
#include "backend/vm/guest.h"

#include "backend/stage.h"
#include "base/fd.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define ROOT_DIR "/share"     /* where the share is mounted */
#define ROOT_CLOSED "/closed" /* placeholders: a file and a directory that nobody may open */
#define ROOT_OPTIONS "version=9p2000.L,access=any,msize=262144"
#define ROOT_SIZE "25%%"
#define ROOT_COPY_MAX (16 * 1024 * 1024)

static const struct {
	const char *name;
	unsigned major, minor;
} root_devices[] = {
	{"null", 1, 3},   {"zero", 1, 5},    {"full", 1, 7},
	{"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0},
};

static const char *const root_dev_links[][2] = {
	{"fd", "/proc/self/fd"},       {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"},
	{"stderr", "/proc/self/fd/2"}, {"ptmx", "pts/ptmx"},
};

static int root_path(const char *path, const char *name, char ret[static LIMIT_PATH_BYTES])
{
	int n = snprintf(ret, LIMIT_PATH_BYTES, "%s%s%s%s", ROOT_DIR, path, name ? "/" : "",
			 name ? name : "");

	return n < 0 || n >= LIMIT_PATH_BYTES ? -ENAMETOOLONG : 0;
}

/* A directory that belongs to the command, unless it is there. */
static int root_mkdir(const struct vm_call *c, const char *path)
{
	if (mkdir(path, 0755) < 0)
		return errno == EEXIST ? 0 : -errno;
	return lchown(path, c->head.uid, c->head.gid) < 0 ? -errno : 0;
}

/* Makes the directories on the way to a place in one that was made here. */
static int root_parents(const struct vm_call *c, char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int r;

		*slash = '\0';
		r = root_mkdir(c, path);
		*slash = '/';
		/* Above it all is the share's, and there. */
		if (r < 0 && r != -EROFS && r != -EACCES && r != -EPERM)
			return r;
	}
	return 0;
}

static int root_tmpfs(const struct vm_call *c, const char *path, const struct vm_place *p,
		      bool is_noexec)
{
	char target[LIMIT_PATH_BYTES];
	char options[128];
	unsigned long flags = MS_NOSUID | MS_NODEV | (is_noexec ? MS_NOEXEC : 0);
	int r = root_path(path, NULL, target);
	int n;

	if (r < 0)
		return r;
	n = snprintf(options, sizeof(options), "mode=%o,uid=%u,gid=%u", p->mode, c->head.uid,
		     c->head.gid);
	/* The kernel's default is half of the memory, for each. */
	if (p->size_bytes)
		(void)snprintf(options + n, sizeof(options) - (size_t)n, ",size=%llu",
			       (unsigned long long)p->size_bytes);
	else
		(void)snprintf(options + n, sizeof(options) - (size_t)n, ",size=" ROOT_SIZE);
	r = root_parents(c, target);
	if (r < 0)
		return r;
	if (mkdir(target, 0755) < 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
		return -errno;
	return mount("tmpfs", target, "tmpfs", flags, options) < 0 ? -errno : 0;
}

static int root_dev(const struct vm_call *c, const char *path, bool is_noexec)
{
	const struct vm_place shm = {.mode = 01777};
	char target[LIMIT_PATH_BYTES];
	int r = root_path(path, NULL, target);

	if (r == 0 && mount("dev", target, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755") < 0)
		r = -errno;
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(root_devices); i++) {
		r = root_path(path, root_devices[i].name, target);
		if (r == 0 && mknod(target, S_IFCHR | 0666,
				    makedev(root_devices[i].major, root_devices[i].minor)) < 0)
			r = -errno;
	}
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(root_dev_links); i++) {
		r = root_path(path, root_dev_links[i][0], target);
		if (r == 0 && symlink(root_dev_links[i][1], target) < 0)
			r = -errno;
	}
	if (r == 0)
		r = root_path(path, "pts", target);
	if (r == 0 &&
	    (mkdir(target, 0755) < 0 || mount("pts", target, "devpts", MS_NOSUID | MS_NOEXEC,
					      "newinstance,ptmxmode=0666,mode=0600") < 0))
		r = -errno;
	if (r == 0)
		r = root_path(path, "shm", target);
	if (r == 0 && mkdir(target, 0755) < 0)
		r = -errno;
	return r < 0 ? r : root_tmpfs(c, "/dev/shm", &shm, is_noexec);
}

/* As root, files of /proc belong to the command: it gets them read-only. */
static int root_proc(const char *path, bool is_root)
{
	char target[LIMIT_PATH_BYTES];
	int r = root_path(path, NULL, target);

	if (r < 0)
		return r;
	return mount("proc", target, "proc",
		     MS_NOSUID | MS_NODEV | MS_NOEXEC | (is_root ? MS_RDONLY : 0), NULL) < 0
		       ? -errno
		       : 0;
}

static int root_closed(const char *path)
{
	char target[LIMIT_PATH_BYTES];
	struct stat st;
	int r = root_path(path, NULL, target);

	if (r < 0)
		return r;
	if (lstat(target, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	return mount(S_ISDIR(st.st_mode) ? ROOT_CLOSED "/dir" : ROOT_CLOSED "/file", target, NULL,
		     MS_BIND, NULL) < 0
		       ? -errno
		       : 0;
}

/* Mounts a share: by its tag, or by a stream to the port. */
static int root_share(const char *target, const char *tag, unsigned port, unsigned long flags,
		      const char *cache)
{
	AUTO_CLOSE int fd = port ? guest_vsock(port) : -1;
	char options[160];

	if (port && fd < 0)
		return fd;
	if (port)
		(void)snprintf(options, sizeof(options),
			       "trans=fd,rfdno=%d,wfdno=%d," ROOT_OPTIONS ",cache=%s", fd, fd,
			       cache);
	else
		(void)snprintf(options, sizeof(options), "trans=virtio," ROOT_OPTIONS ",cache=%s",
			       cache);
	return mount(tag, target, "9p", MS_NOSUID | MS_NODEV | flags, options) < 0 ? -errno : 0;
}

/* Read-only here and outside: what was looked up once is not asked for again. */
static int root_system(const char *path, bool is_vsock)
{
	char target[LIMIT_PATH_BYTES];
	int r = root_path(path, NULL, target);

	return r < 0 ? r
		     : root_share(target, GUEST_SYSTEM_TAG, is_vsock ? GUEST_VSOCK_SYSTEM : 0,
				  MS_RDONLY, "loose");
}

static int root_placeholders(void)
{
	int fd;

	if (mkdir(ROOT_CLOSED, 0755) < 0 ||
	    mount("closed", ROOT_CLOSED, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755") <
		    0 ||
	    mkdir(ROOT_CLOSED "/dir", 0) < 0)
		return -errno;
	fd = open(ROOT_CLOSED "/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	(void)close(fd);
	return mount(NULL, ROOT_CLOSED, NULL, MS_REMOUNT | MS_RDONLY, NULL) < 0 ? -errno : 0;
}

/* A file or link of the share, kept in memory until the directory over it is made. */
struct root_kept {
	int tree; /* SHARED: a detached mount, or -1 */
	char *data;
	size_t len;
	struct stat st;
};

static int root_read(const char *path, struct root_kept *k)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	if (k->st.st_size > ROOT_COPY_MAX)
		return -EFBIG;
	k->data = malloc((size_t)k->st.st_size + 1);
	if (!k->data)
		return -ENOMEM;
	while (k->len < (size_t)k->st.st_size) {
		ssize_t n = read(fd, k->data + k->len, (size_t)k->st.st_size - k->len);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		k->len += (size_t)n;
	}
	return 0;
}

static int root_keep(const struct vm_call_place *p, struct root_kept *k)
{
	char path[LIMIT_PATH_BYTES];
	int r = root_path(p->path, NULL, path);

	k->tree = -1;
	if (r < 0 || (p->place.kind != VM_PLACE_COPY && p->place.kind != VM_PLACE_SHARED))
		return r;
	if (lstat(path, &k->st) < 0)
		return errno == ENOENT ? 0 : -errno; /* and it will not be there */
	if (p->place.kind == VM_PLACE_SHARED) {
		k->tree = (int)syscall(SYS_open_tree, AT_FDCWD, path,
				       OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
					       AT_SYMLINK_NOFOLLOW);
		return k->tree < 0 ? -errno : 0;
	}
	if (S_ISREG(k->st.st_mode))
		return root_read(path, k);
	k->data = calloc(1, LIMIT_PATH_BYTES);
	if (!k->data)
		return -ENOMEM;
	return readlink(path, k->data, LIMIT_PATH_BYTES - 1) < 0 ? -errno : 0;
}

static int root_copy(const char *path, const struct root_kept *k)
{
	AUTO_CLOSE int fd = -1;

	if (S_ISLNK(k->st.st_mode))
		return symlink(k->data, path) < 0 && errno != EEXIST ? -errno : 0;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || write(fd, k->data, k->len) != (ssize_t)k->len ||
	    fchown(fd, k->st.st_uid, k->st.st_gid) < 0 || fchmod(fd, k->st.st_mode & 0777) < 0)
		return -errno;
	return 0;
}

static int root_put(const struct vm_call *c, const struct vm_call_place *p,
		    const struct root_kept *k)
{
	char path[LIMIT_PATH_BYTES];
	int r = root_path(p->path, NULL, path);
	int fd;

	if (r == 0 && (k->tree >= 0 || k->data))
		r = root_parents(c, path);
	if (r < 0 || (k->tree < 0 && !k->data))
		return r;
	if (k->data)
		return root_copy(path, k);
	if (S_ISDIR(k->st.st_mode)) {
		r = root_mkdir(c, path);
		if (r < 0)
			return r;
	} else if (access(path, F_OK) < 0) {
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return -errno;
		(void)close(fd);
	}
	return syscall(SYS_move_mount, k->tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0
		       ? -errno
		       : 0;
}

static int root_make(const struct vm_call *c, const struct vm_call_place *p,
		     const struct root_kept *k, bool is_vsock)
{
	bool is_noexec = c->head.is_exec_separate;

	switch ((enum vm_place_kind)p->place.kind) {
	case VM_PLACE_TMPFS:
		return root_tmpfs(c, p->path, &p->place, p->place.is_noexec);
	case VM_PLACE_DEV:
		return root_dev(c, p->path, is_noexec);
	case VM_PLACE_PROC:
		return root_proc(p->path, c->head.uid == 0);
	case VM_PLACE_CLOSED:
		return root_closed(p->path);
	case VM_PLACE_SYSTEM:
		return root_system(p->path, is_vsock);
	case VM_PLACE_COPY:
	case VM_PLACE_SHARED:
		return root_put(c, p, k);
	case VM_PLACE_COUNT:
		break;
	}
	return -EINVAL;
}

static int root_places(const struct vm_call *c, bool is_vsock)
{
	struct root_kept *kept = calloc(c->head.n_places + 1, sizeof(*kept));
	struct vm_call_place p;
	size_t at = 0;
	int r = kept ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < c->head.n_places && vm_call_next(c, &at, &p); i++)
		r = root_keep(&p, &kept[i]);
	at = 0;
	for (uint32_t i = 0; r == 0 && i < c->head.n_places && vm_call_next(c, &at, &p); i++) {
		r = root_make(c, &p, &kept[i], is_vsock);
		if (r < 0)
			(void)dprintf(STDERR_FILENO, "cordon: %s: %s\n", p.path, strerror(-r));
	}
	return r;
}

int guest_root(const struct vm_call *c, bool is_vsock, int *ret_stage)
{
	int r;

	*ret_stage = STAGE_ROOT;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mkdir(ROOT_DIR, 0755) < 0)
		return -errno;
	r = root_share(ROOT_DIR, GUEST_TAG, is_vsock ? GUEST_VSOCK_VIEW : 0, 0, "mmap");
	if (r == 0)
		r = root_placeholders();
	if (r < 0)
		return r;
	*ret_stage = STAGE_STEP;
	r = root_places(c, is_vsock);
	if (r < 0)
		return r;
	*ret_stage = STAGE_ENTER;
	if (chdir(ROOT_DIR) < 0 || mount(ROOT_DIR, "/", NULL, MS_MOVE, NULL) < 0 ||
	    chroot(".") < 0 || chdir("/") < 0)
		return -errno;
	return 0;
}
