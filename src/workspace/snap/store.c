/* SPDX-License-Identifier: Apache-2.0 */
/* See store.h. */
#include "workspace/snap/store.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/parse.h"
#include "base/path.h"
#include "workspace/snap/object.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const store_dir_names[] = {
	[STORE_OBJECTS] = "objects", [STORE_LISTINGS] = "listings", [STORE_NAMES] = "names",
	[STORE_INDEX] = "index",     [STORE_STAGING] = "staging",   [STORE_JOURNAL] = "journal",
};
static_assert(ARRAY_LEN(store_dir_names) == STORE_DIR_COUNT, "a name for each");

#define STORE_OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

void snap_close(struct snap_store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < STORE_DIR_COUNT; i++)
		(void)fd_close(s->dirs[i]);
	(void)fd_close(s->lock);
	(void)fd_close(s->fd);
	snap_zip_free(s->zip);
	free(s->chunk);
	free(s->path);
	free(s);
}

void snap_set_ceilings(struct snap_store *s, const struct snap_ceilings *c)
{
	if (c->store_bytes)
		s->ceilings.store_bytes = c->store_bytes;
	if (c->snapshots)
		s->ceilings.snapshots = c->snapshots;
	if (c->files)
		s->ceilings.files = c->files;
}

static int store_open_dirs(struct snap_store *s)
{
	for (size_t i = 0; i < STORE_DIR_COUNT; i++) {
		if (mkdirat(s->fd, store_dir_names[i], 0700) < 0 && errno != EEXIST &&
		    errno != EROFS && errno != EACCES)
			return -errno;
		s->dirs[i] = openat(s->fd, store_dir_names[i], STORE_OPEN_DIR);
		if (s->dirs[i] < 0)
			return -errno;
	}
	s->lock = openat(s->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->lock < 0 && (errno == EROFS || errno == EACCES)) {
		s->is_read_only = true;
		s->lock = openat(s->fd, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	}
	return s->lock < 0 ? -errno : 0;
}

static int store_setup(struct snap_store *s)
{
	struct statx home;
	struct stat st;
	int r = path_make_private_dir(s->path, 0700);

	if (r < 0 && r != -EROFS)
		return r;
	s->fd = open(s->path, STORE_OPEN_DIR);
	if (s->fd < 0)
		return -errno;
	if (fstat(s->fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid())
		return -EPERM;
	if (statx(s->fd, "..", 0, STATX_INO, &home) < 0)
		return -errno;
	s->home_dev = (uint64_t)home.stx_dev_major << 32 | home.stx_dev_minor;
	s->home_ino = home.stx_ino;
	r = store_open_dirs(s);
	if (r < 0)
		return r;
	s->chunk = malloc(SNAP_CHUNK);
	return s->chunk ? snap_zip_new(&s->zip) : -ENOMEM;
}

int snap_open(const char *state_dir, struct snap_store **ret, struct cordon_error *err)
{
	AUTO(snap_closep) struct snap_store *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return cordon_nomem(err);
	s->fd = s->lock = -1;
	for (size_t i = 0; i < STORE_DIR_COUNT; i++)
		s->dirs[i] = -1;
	s->ceilings = (struct snap_ceilings){
		.store_bytes = LIMIT_SNAPSHOT_STORE,
		.snapshots = LIMIT_SNAPSHOTS,
		.files = LIMIT_SNAPSHOT_FILES,
	};
	r = path_join(state_dir, "snapshots", &s->path);
	if (r == 0)
		r = store_setup(s);
	if (r < 0)
		return cordon_fail_leaf(err, r, "open the snapshot store '%s/snapshots'",
					state_dir);
	*ret = TAKE_PTR(s);
	return 0;
}

int snap_store_lock(struct snap_store *s, int operation, struct cordon_error *err)
{
	int r = fd_flock(s->lock, operation, clock_deadline(LIMIT_SNAPSHOT_LOCK_MS));

	if (r == -ETIMEDOUT)
		return cordon_fail(err, CORDON_E_BUSY, "the snapshot store '%s' is in use",
				   s->path);
	return r < 0 ? cordon_fail_leaf(err, r, "lock the snapshot store '%s'", s->path) : 0;
}

void snap_store_unlock(struct snap_store *s)
{
	(void)flock(s->lock, LOCK_UN); /* cannot fail on a descriptor of ours */
}

bool snap_store_is_home(const struct snap_store *s, const struct statx *st)
{
	return st->stx_ino == s->home_ino &&
	       ((uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor) == s->home_dev;
}

int snap_store_needs_writing(const struct snap_store *s, struct cordon_error *err)
{
	return s->is_read_only
		       ? cordon_fail_errno(err, EROFS, "write to the snapshot store '%s'", s->path)
		       : 0;
}

/* The number, with the file locked until fd is closed. */
static int store_open_usage(struct snap_store *s, int *ret_fd, uint64_t *ret)
{
	AUTO_CLOSE int fd = openat(s->fd, "usage", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	char text[32] = "";
	int64_t value = 0;
	ssize_t n;
	int r;

	if (fd < 0)
		return -errno;
	r = fd_flock(fd, LOCK_EX, clock_deadline(LIMIT_SNAPSHOT_LOCK_MS));
	if (r < 0)
		return r;
	n = pread(fd, text, sizeof(text) - 1, 0);
	if (n < 0)
		return -errno;
	text[strcspn(text, "\n")] = '\0';
	/* Damaged, it counts as nothing: gc counts again. */
	if (n == 0 || parse_int(text, 0, INT64_MAX, &value) < 0)
		value = 0;
	*ret = (uint64_t)value;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int store_write_usage(int fd, uint64_t bytes)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%" PRIu64 "\n", bytes);

	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
		return errno ? -errno : -EIO;
	return 0;
}

int snap_store_usage(struct snap_store *s, uint64_t *ret, struct cordon_error *err)
{
	AUTO_CLOSE int fd = -1;
	int r = store_open_usage(s, &fd, ret);

	return r < 0 ? cordon_fail_leaf(err, r, "read the size of the snapshot store") : 0;
}

int snap_store_use(struct snap_store *s, uint64_t bytes, struct cordon_error *err)
{
	AUTO_CLOSE int fd = -1;
	uint64_t used;
	int r = store_open_usage(s, &fd, &used);

	if (r == 0 &&
	    bytes > s->ceilings.store_bytes -
			    (used < s->ceilings.store_bytes ? used : s->ceilings.store_bytes))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_LIMIT,
					       "the snapshot store would grow beyond %" PRIu64
					       " bytes",
					       s->ceilings.store_bytes),
				   "remove snapshots that are not needed any more");
	if (r == 0)
		r = store_write_usage(fd, used + bytes);
	return r < 0 ? cordon_fail_leaf(err, r, "note the size of the snapshot store") : 0;
}

int snap_store_set_usage(struct snap_store *s, uint64_t bytes, struct cordon_error *err)
{
	AUTO_CLOSE int fd = -1;
	uint64_t used;
	int r = store_open_usage(s, &fd, &used);

	if (r == 0)
		r = store_write_usage(fd, bytes);
	return r < 0 ? cordon_fail_leaf(err, r, "note the size of the snapshot store") : 0;
}

int snap_store_sync_dir(const struct snap_store *s, enum store_dir which, struct cordon_error *err)
{
	return fsync(s->dirs[which]) < 0
		       ? cordon_fail_errno(err, errno, "write '%s/%s' to the disk", s->path,
					   store_dir_names[which])
		       : 0;
}

int snap_store_each(int dirfd, store_name_fn fn, void *arg)
{
	int fd = openat(dirfd, ".", STORE_OPEN_DIR);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int r = 0;

	if (!dir) {
		r = -errno;
		(void)fd_close(fd);
		return r;
	}
	while (r == 0) {
		struct dirent *d;

		errno = 0;
		d = readdir(dir);
		if (!d) {
			r = -errno;
			break;
		}
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			r = fn(arg, dirfd, d->d_name);
	}
	(void)closedir(dir);
	return r;
}

static int store_unlink(void *arg, int dirfd, const char *name)
{
	(void)arg;
	(void)unlinkat(dirfd, name, 0); /* what stays is swept again next time */
	return 0;
}

void snap_store_remove_tree(int dirfd, const char *name)
{
	AUTO_CLOSE int fd = openat(dirfd, name, STORE_OPEN_DIR);

	if (fd >= 0)
		(void)snap_store_each(fd, store_unlink, NULL);
	(void)unlinkat(dirfd, name, AT_REMOVEDIR);
}

int snap_store_read(const struct snap_store *s, enum store_dir which, const char *name, size_t max,
		    char **ret, size_t *ret_len)
{
	return io_read_file_at(s->dirs[which], name, max, ret, ret_len);
}

int64_t snap_store_deadline(int64_t deadline_ms)
{
	return deadline_ms ? deadline_ms : clock_deadline(LIMIT_SNAPSHOT_MS);
}

int snap_store_check_deadline(int64_t deadline_ms, struct cordon_error *err)
{
	return clock_ms() > deadline_ms
		       ? cordon_fail(err, CORDON_E_TIMEOUT, "the snapshot took too long")
		       : 0;
}

int64_t snap_store_wall_ns(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail */
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

int snap_store_unique(char ret[static 17])
{
	uint64_t n;

	if (getrandom(&n, sizeof(n), 0) != (ssize_t)sizeof(n))
		return -EIO;
	(void)snprintf(ret, 17, "%016" PRIx64, n);
	return 0;
}
