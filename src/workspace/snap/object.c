/* SPDX-License-Identifier: Apache-2.0 */
/* See object.h. */
#include "workspace/snap/object.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "workspace/snap/step.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define ZIP_LEVEL 1       /* a tree is read once and mostly never restored: speed before size */
#define ZIP_WORTH 256     /* bytes below which compression is not tried */
#define OBJECT_NAME 72    /* hash, ".z" */
#define OBJECT_PLACE 80   /* "ab/" before it */
#define STAGE_FEW 16      /* objects that are synced one by one */
#define OBJECT_SLACK 4096 /* of a chunk that compression made longer; never written by us */
#define LISTING_MARK 'l'  /* in staging, before the name of a listing */

struct snap_zip {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
	char *out;
	size_t cap;
};

int snap_zip_new(struct snap_zip **ret)
{
	struct snap_zip *z = calloc(1, sizeof(*z));

	if (!z)
		return -ENOMEM;
	z->cap = ZSTD_compressBound(SNAP_CHUNK);
	z->out = malloc(z->cap);
	z->pack = ZSTD_createCCtx();
	z->unpack = ZSTD_createDCtx();
	if (!z->out || !z->pack || !z->unpack) {
		snap_zip_free(z);
		return -ENOMEM;
	}
	*ret = z;
	return 0;
}

void snap_zip_free(struct snap_zip *z)
{
	if (!z)
		return;
	ZSTD_freeCCtx(z->pack);
	ZSTD_freeDCtx(z->unpack);
	free(z->out);
	free(z);
}

/* The frame says how much it holds, and it is one frame: a bomb is known before it goes off. */
static int zip_size(const void *data, size_t len, size_t max, size_t *ret)
{
	unsigned long long size = ZSTD_getFrameContentSize(data, len);

	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > max ||
	    ZSTD_findFrameCompressedSize(data, len) != len)
		return -EBADMSG;
	*ret = (size_t)size;
	return 0;
}

int snap_zip_unpack_into(struct snap_zip *z, const void *data, size_t len, void *to, size_t max,
			 size_t *ret_len)
{
	size_t size, n;
	int r = zip_size(data, len, max, &size);

	if (r < 0)
		return r;
	n = ZSTD_decompressDCtx(z->unpack, to, size, data, len);
	if (ZSTD_isError(n) || n != size)
		return -EBADMSG;
	*ret_len = n;
	return 0;
}

int snap_zip_unpack(struct snap_zip *z, const void *data, size_t len, size_t max, char **ret,
		    size_t *ret_len)
{
	AUTO_FREE char *to = NULL;
	size_t size;
	int r = zip_size(data, len, max, &size);

	if (r < 0)
		return r;
	to = malloc(size + 1);
	if (!to)
		return -ENOMEM;
	r = snap_zip_unpack_into(z, data, len, to, size, ret_len);
	if (r == 0)
		*ret = TAKE_PTR(to);
	return r;
}

static void object_place(const uint8_t digest[static SNAP_DIGEST], bool is_packed,
			 char ret[static OBJECT_PLACE])
{
	char hex[SNAP_HEX];

	snap_hex(digest, hex);
	(void)snprintf(ret, OBJECT_PLACE, "%.2s/%s%s", hex, hex + 2, is_packed ? ".z" : "");
}

static bool object_exists(const struct snap_store *s, const uint8_t digest[static SNAP_DIGEST])
{
	char place[OBJECT_PLACE];

	for (int packed = 1; packed >= 0; packed--) {
		object_place(digest, packed, place);
		if (faccessat(s->dirs[STORE_OBJECTS], place, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	}
	return false;
}

static void listing_place(const uint8_t digest[static SNAP_DIGEST], char ret[static OBJECT_NAME])
{
	char hex[SNAP_HEX];

	snap_hex(digest, hex);
	(void)snprintf(ret, OBJECT_NAME, "%s.z", hex);
}

bool snap_listing_exists(struct snap_store *s, const uint8_t digest[static SNAP_DIGEST])
{
	char place[OBJECT_NAME];

	listing_place(digest, place);
	return faccessat(s->dirs[STORE_LISTINGS], place, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int snap_stage_begin(struct snap_store *s, struct snap_stage *ret, struct cordon_error *err)
{
	struct snap_stage g = {.store = s, .fd = -1};
	int r = snap_store_needs_writing(s, err);

	if (r < 0)
		return r;
	r = snap_store_usage(s, &g.used, err);
	if (r < 0)
		return r;
	r = snap_store_unique(g.name);
	if (r == 0 && mkdirat(s->dirs[STORE_STAGING], g.name, 0700) < 0)
		r = -errno;
	if (r == 0) {
		g.fd = openat(s->dirs[STORE_STAGING], g.name,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = g.fd < 0 ? -errno : 0;
	}
	if (r < 0)
		return cordon_fail_leaf(err, r, "write to the snapshot store '%s'", s->path);
	snap_step();
	*ret = g;
	return 0;
}

void snap_stage_done(struct snap_stage *g)
{
	if (!g->store)
		return;
	g->fd = fd_close(g->fd);
	snap_store_remove_tree(g->store->dirs[STORE_STAGING], g->name);
	*g = (struct snap_stage){.fd = -1};
}

static int stage_write(struct snap_stage *g, const char *name, const void *data, size_t len)
{
	AUTO_CLOSE int fd = -1;
	int r;

	fd = openat(g->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	r = io_write(fd, data, len, CLOCK_NEVER);
	if (r < 0) {
		(void)unlinkat(g->fd, name, 0); /* half a file must not be published */
		return r;
	}
	g->bytes += len;
	g->n++;
	snap_step();
	return 0;
}

int snap_stage_object(struct snap_stage *g, const uint8_t digest[static SNAP_DIGEST],
		      const void *data, size_t len, bool is_packed, bool is_listing,
		      struct cordon_error *err)
{
	char name[OBJECT_NAME + 1], hex[SNAP_HEX];
	int r;

	if (g->used + g->bytes + len > g->store->ceilings.store_bytes)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_LIMIT,
					       "the snapshot store would grow beyond %" PRIu64
					       " bytes",
					       g->store->ceilings.store_bytes),
				   "remove snapshots that are not needed any more");
	snap_hex(digest, hex);
	if (is_listing)
		(void)snprintf(name, sizeof(name), "%c%s.z", LISTING_MARK, hex);
	else
		(void)snprintf(name, sizeof(name), "%s%s", hex, is_packed ? ".z" : "");
	r = stage_write(g, name, data, len);
	return r < 0 ? cordon_fail_leaf(err, r, "write to the snapshot store '%s'", g->store->path)
		     : 0;
}

int snap_stage_chunk(struct snap_stage *g, const void *data, size_t len,
		     uint8_t ret[static SNAP_DIGEST], struct cordon_error *err)
{
	struct snap_zip *z = g->store->zip;
	size_t n = 0;

	snap_digest(data, len, ret);
	if (object_exists(g->store, ret))
		return 0;
	if (len >= ZIP_WORTH) {
		n = ZSTD_compressCCtx(z->pack, z->out, z->cap, data, len, ZIP_LEVEL);
		if (ZSTD_isError(n) || n >= len - len / 8)
			n = 0;
	}
	return snap_stage_object(g, ret, n ? z->out : data, n ? n : len, n != 0,
				 /* is_listing= */ false, err);
}

int snap_stage_listing(struct snap_stage *g, const void *data, size_t len,
		       uint8_t ret[static SNAP_DIGEST], struct cordon_error *err)
{
	AUTO_FREE char *out = NULL;
	size_t cap, n;

	snap_digest(data, len, ret);
	if (snap_listing_exists(g->store, ret))
		return 0;
	cap = ZSTD_compressBound(len);
	out = malloc(cap);
	if (!out)
		return cordon_nomem(err);
	n = ZSTD_compressCCtx(g->store->zip->pack, out, cap, data, len, ZIP_LEVEL);
	if (ZSTD_isError(n))
		return cordon_fail(err, CORDON_E_INTERNAL, "compress a listing");
	return snap_stage_object(g, ret, out, n, /* is_packed= */ true, /* is_listing= */ true,
				 err);
}

static int stage_sync_one(void *arg, int dirfd, const char *name)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	(void)arg;
	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

struct stage_move {
	struct snap_store *store;
	bool has_dir[256]; /* of objects/, that were written to */
};

static int stage_move_one(void *arg, int dirfd, const char *name)
{
	struct stage_move *m = arg;
	uint8_t first;
	char place[OBJECT_PLACE];
	int objects = m->store->dirs[STORE_OBJECTS];

	snap_step();
	if (name[0] == LISTING_MARK)
		return renameat(dirfd, name, m->store->dirs[STORE_LISTINGS], name + 1) < 0 ? -errno
											   : 0;
	(void)snprintf(place, sizeof(place), "%.2s/%s", name, name + 2);
	if (renameat(dirfd, name, objects, place) < 0) {
		char dir[3] = {name[0], name[1], '\0'};

		if (errno != ENOENT || (mkdirat(objects, dir, 0700) < 0 && errno != EEXIST) ||
		    renameat(dirfd, name, objects, place) < 0)
			return -errno;
	}
	first = (uint8_t)((name[0] <= '9' ? name[0] - '0' : name[0] - 'a' + 10) * 16 +
			  (name[1] <= '9' ? name[1] - '0' : name[1] - 'a' + 10));
	m->has_dir[first] = true;
	return 0;
}

static int stage_sync_places(const struct stage_move *m)
{
	int objects = m->store->dirs[STORE_OBJECTS];

	for (unsigned i = 0; i < 256; i++) {
		AUTO_CLOSE int fd = -1;
		char dir[3];

		if (!m->has_dir[i])
			continue;
		(void)snprintf(dir, sizeof(dir), "%02x", i);
		fd = openat(objects, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || fsync(fd) < 0)
			return -errno;
	}
	return fsync(objects) < 0 || fsync(m->store->dirs[STORE_LISTINGS]) < 0 ? -errno : 0;
}

int snap_stage_publish(struct snap_stage *g, struct cordon_error *err)
{
	struct stage_move move = {.store = g->store};
	bool is_many = g->n > STAGE_FEW;
	int r = g->n ? snap_store_use(g->store, g->bytes, err) : 0;

	if (r < 0 || g->n == 0)
		return r;
	snap_step();
	if (!is_many)
		r = snap_store_each(g->fd, stage_sync_one, NULL);
	else if (syncfs(g->fd) < 0)
		r = -errno;
	if (r == 0)
		r = snap_store_each(g->fd, stage_move_one, &move);
	snap_step();
	if (r == 0 && is_many)
		r = syncfs(g->fd) < 0 ? -errno : 0;
	else if (r == 0)
		r = stage_sync_places(&move);
	return r < 0 ? cordon_fail_leaf(err, r, "write to the snapshot store '%s'", g->store->path)
		     : 0;
}

static int object_damaged(struct cordon_error *err, const uint8_t digest[static SNAP_DIGEST],
			  const char *how)
{
	char hex[SNAP_HEX];

	snap_hex(digest, hex);
	return cordon_fail(err, CORDON_E_CORRUPT, "object %s of the snapshot store %s", hex, how);
}

/* Opens the form that is there. */
static int object_open(struct snap_store *s, const uint8_t digest[static SNAP_DIGEST],
		       bool *ret_is_packed)
{
	for (int packed = 1; packed >= 0; packed--) {
		char place[OBJECT_PLACE];
		int fd;

		object_place(digest, packed, place);
		fd = openat(s->dirs[STORE_OBJECTS], place,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 || errno != ENOENT) {
			*ret_is_packed = packed;
			return fd < 0 ? -errno : fd;
		}
	}
	return -ENOENT;
}

int snap_object_read(struct snap_store *s, const uint8_t digest[static SNAP_DIGEST], size_t len,
		     void *to, struct cordon_error *err)
{
	AUTO_CLOSE int fd = -1;
	uint8_t have[SNAP_DIGEST];
	bool is_packed = false;
	size_t got = 0;
	ssize_t n;
	int r = 0;

	fd = object_open(s, digest, &is_packed);
	if (fd == -ENOENT)
		return object_damaged(err, digest, "is missing");
	if (fd < 0)
		return cordon_fail_leaf(err, fd, "read from the snapshot store '%s'", s->path);
	n = io_read(fd, is_packed ? s->zip->out : to, is_packed ? s->zip->cap : SNAP_CHUNK,
		    CLOCK_NEVER);
	if (n < 0)
		return cordon_fail_leaf(err, (int)n, "read from the snapshot store '%s'", s->path);
	got = (size_t)n;
	if (is_packed)
		r = snap_zip_unpack_into(s->zip, s->zip->out, (size_t)n, to, SNAP_CHUNK, &got);
	if (r == 0 && got == len) {
		snap_digest(to, got, have);
		if (memcmp(have, digest, SNAP_DIGEST) == 0)
			return 0;
	}
	return object_damaged(err, digest, "is damaged");
}

int snap_object_read_file(struct snap_store *s, const uint8_t digest[static SNAP_DIGEST],
			  bool is_listing, char **ret, size_t *ret_len, bool *ret_is_packed,
			  struct cordon_error *err)
{
	AUTO_CLOSE int fd = -1;
	int r;

	if (is_listing) {
		char place[OBJECT_NAME];

		listing_place(digest, place);
		*ret_is_packed = true;
		r = snap_store_read(s, STORE_LISTINGS, place, LIMIT_SNAPSHOT_MANIFEST, ret,
				    ret_len);
	} else {
		fd = object_open(s, digest, ret_is_packed);
		r = fd < 0 ? fd
			   : io_read_all(fd, SNAP_CHUNK + OBJECT_SLACK, CLOCK_NEVER, ret, ret_len);
	}
	if (r == -ENOENT)
		return object_damaged(err, digest, "is missing");
	if (r == -EFBIG)
		return object_damaged(err, digest, "is damaged");
	return r < 0 ? cordon_fail_leaf(err, r, "read from the snapshot store '%s'", s->path) : 0;
}

int snap_listing_read(struct snap_store *s, const uint8_t digest[static SNAP_DIGEST],
		      struct snap_manifest *ret, struct cordon_error *err)
{
	AUTO_FREE char *packed = NULL, *data = NULL;
	uint8_t have[SNAP_DIGEST];
	size_t packed_len = 0, len = 0;
	bool is_packed;
	int r = snap_object_read_file(s, digest, /* is_listing= */ true, &packed, &packed_len,
				      &is_packed, err);

	if (r < 0)
		return r;
	r = snap_zip_unpack(s->zip, packed, packed_len, LIMIT_SNAPSHOT_MANIFEST, &data, &len);
	if (r == -ENOMEM)
		return cordon_nomem(err);
	if (r == 0)
		snap_digest(data, len, have);
	if (r < 0 || memcmp(have, digest, SNAP_DIGEST) != 0)
		return object_damaged(err, digest, "is damaged");
	return snap_manifest_decode(TAKE_PTR(data), len, ret, err);
}

int snap_object_set_aside(struct snap_store *s, const uint8_t digest[static SNAP_DIGEST],
			  bool is_listing, struct cordon_error *err)
{
	char place[OBJECT_PLACE], to[OBJECT_PLACE + 16];
	int moved = 0;

	if (mkdirat(s->fd, STORE_DAMAGED, 0700) < 0 && errno != EEXIST)
		return cordon_fail_errno(err, errno, "write to the snapshot store '%s'", s->path);
	for (int packed = 1; packed >= (is_listing ? 1 : 0); packed--) {
		if (is_listing)
			listing_place(digest, place);
		else
			object_place(digest, packed, place);
		(void)snprintf(to, sizeof(to), STORE_DAMAGED "/%.2s%s", place,
			       place + (is_listing ? 2 : 3));
		if (renameat(s->dirs[is_listing ? STORE_LISTINGS : STORE_OBJECTS], place, s->fd,
			     to) == 0)
			moved = 1;
		else if (errno != ENOENT)
			return cordon_fail_errno(err, errno, "set '%s' of the snapshot store aside",
						 place);
	}
	return moved;
}
