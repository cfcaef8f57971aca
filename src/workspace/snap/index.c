/* SPDX-License-Identifier: Apache-2.0 */
/* See index.h. */
#include "workspace/snap/index.h"

#include "base/io.h"
#include "base/limits.h"
#include "workspace/snap/meta.h"
#include "workspace/snap/object.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <unistd.h>
#include <sys/vfs.h>

static const char index_magic[16] = "cordon-index-1\n\n";

#define INDEX_SEEN_BYTES 28
#define INDEX_BYTES (64 + SNAP_DIGEST + (size_t)LIMIT_SNAPSHOT_FILES * INDEX_SEEN_BYTES)
#define INDEX_YOUNG_NS INT64_C(40000000) /* four ticks of the slowest clock that kernels have */
#define INDEX_YOUNG_WHOLE_NS INT64_C(2100000000) /* where times are whole (or even) seconds */

#ifndef BCACHEFS_SUPER_MAGIC
#define BCACHEFS_SUPER_MAGIC 0xca451a4e
#endif
#define ZFS_MAGIC 0x2fc12fc1

void snap_index_done(struct snap_index *ix)
{
	snap_manifest_done(&ix->manifest);
	free(ix->seen);
	*ix = (struct snap_index){0};
}

void snap_index_key(const struct snap_tree *trees, size_t n, char ret[static SNAP_HEX])
{
	struct buf b = BUF_INIT((size_t)LIMIT_SNAPSHOT_ROOTS * (LIMIT_PATH_BYTES + 300));
	uint8_t digest[SNAP_DIGEST] = {0};

	for (size_t i = 0; i < n; i++) {
		buf_add(&b, trees[i].path, strlen(trees[i].path) + 1);
		buf_add(&b, trees[i].only, strlen(trees[i].only) + 1);
	}
	if (!b.error) /* else all trees share one, which then fits none */
		snap_digest(b.data, b.len, digest);
	snap_hex(digest, ret);
	buf_done(&b);
}

static bool index_is_of(const struct snap_manifest *m, const struct snap_tree *trees, size_t n)
{
	if (m->n_trees != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strcmp(m->trees[i].path, trees[i].path) != 0 ||
		    strcmp(m->trees[i].only, trees[i].only) != 0)
			return false;
	return true;
}

/* 0, -EBADMSG, -ENOMEM */
static int index_decode(const char *data, size_t len, uint8_t ret_listing[static SNAP_DIGEST],
			struct snap_seen **ret, size_t *ret_n)
{
	struct snap_reader r;
	const uint8_t *magic, *listing;
	struct snap_seen *seen;
	uint64_t n;

	if (!snap_check_seal(data, &len))
		return -EBADMSG;
	r = SNAP_READER(data, len);
	magic = snap_get_raw(&r, sizeof(index_magic));
	listing = snap_get_raw(&r, SNAP_DIGEST);
	n = snap_get(&r, 8);
	if (r.is_bad || memcmp(magic, index_magic, sizeof(index_magic)) != 0 ||
	    n != (uint64_t)(r.end - r.p) / INDEX_SEEN_BYTES)
		return -EBADMSG;
	memcpy(ret_listing, listing, SNAP_DIGEST);
	seen = calloc(n ? (size_t)n : 1, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		seen[i].ino = snap_get(&r, 8);
		seen[i].dev = snap_get(&r, 8);
		seen[i].ctime_s = (int64_t)snap_get(&r, 8);
		seen[i].ctime_ns = (uint32_t)snap_get(&r, 4);
	}
	*ret = seen;
	*ret_n = (size_t)n;
	return 0;
}

int snap_index_load(struct snap_store *s, const struct snap_tree *trees, size_t n,
		    struct snap_index *ret, struct cordon_error *err)
{
	AUTO_FREE char *data = NULL;
	uint8_t listing[SNAP_DIGEST];
	struct snap_index ix = {0};
	char key[SNAP_HEX];
	size_t len = 0, n_seen = 0;
	int r;

	*ret = (struct snap_index){0};
	snap_index_key(trees, n, key);
	r = snap_store_read(s, STORE_INDEX, key, INDEX_BYTES, &data, &len);
	if (r == 0)
		r = index_decode(data, len, listing, &ix.seen, &n_seen);
	if (r == -ENOMEM)
		return cordon_nomem(err);
	if (r < 0)
		return 0;
	r = snap_listing_read(s, listing, &ix.manifest, err);
	if (r == 0 && ix.manifest.n == n_seen && index_is_of(&ix.manifest, trees, n)) {
		*ret = ix;
		return 0;
	}
	snap_index_done(&ix);
	if (r == CORDON_E_NOMEM)
		return r;
	cordon_error_clear(err);
	return 0;
}

static uint64_t index_dev(const struct statx *st)
{
	return (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
}

const struct snap_entry *snap_index_find(struct snap_index *ix, size_t root, const char *path,
					 const struct statx *st)
{
	const struct snap_manifest *m = &ix->manifest;
	const struct snap_seen *seen;
	const struct snap_entry *e;
	int c = -1;

	while (ix->cursor < m->n) {
		e = &m->entries[ix->cursor];
		c = e->root != root ? (e->root < root ? -1 : 1) : snap_path_compare(e->path, path);
		if (c >= 0)
			break;
		ix->cursor++;
	}
	if (ix->cursor >= m->n || c != 0)
		return NULL;
	e = &m->entries[ix->cursor];
	seen = &ix->seen[ix->cursor];
	return seen->ino != 0 && seen->ino == st->stx_ino && seen->dev == index_dev(st) &&
			       seen->ctime_s == st->stx_ctime.tv_sec &&
			       seen->ctime_ns == st->stx_ctime.tv_nsec && snap_meta_is_equal(e, st)
		       ? e
		       : NULL;
}

struct snap_seen snap_index_see(const struct statx *st, int64_t started_ns, bool is_trusted)
{
	int64_t changed_ns = st->stx_ctime.tv_sec * 1000000000 + st->stx_ctime.tv_nsec;
	int64_t young = st->stx_ctime.tv_nsec == 0 ? INDEX_YOUNG_WHOLE_NS : INDEX_YOUNG_NS;

	if (!is_trusted || changed_ns > started_ns - young)
		return (struct snap_seen){0};
	return (struct snap_seen){
		.ino = st->stx_ino,
		.dev = index_dev(st),
		.ctime_s = st->stx_ctime.tv_sec,
		.ctime_ns = st->stx_ctime.tv_nsec,
	};
}

bool snap_index_trusts(int fd)
{
	static const uint32_t local[] = {
		EXT4_SUPER_MAGIC,     XFS_SUPER_MAGIC,  BTRFS_SUPER_MAGIC,
		TMPFS_MAGIC,          F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC,
		BCACHEFS_SUPER_MAGIC, ZFS_MAGIC,        RAMFS_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(local); i++)
		if ((uint32_t)fs.f_type == local[i])
			return true;
	return false;
}

int snap_index_save(struct snap_store *s, const struct snap_tree *trees, size_t n,
		    const uint8_t listing[static SNAP_DIGEST], const struct snap_seen *seen,
		    size_t n_seen, struct cordon_error *err)
{
	struct buf b = BUF_INIT(INDEX_BYTES);
	char key[SNAP_HEX];
	int r;

	snap_index_key(trees, n, key);
	buf_add(&b, index_magic, sizeof(index_magic));
	buf_add(&b, listing, SNAP_DIGEST);
	snap_put(&b, n_seen, 8);
	for (size_t i = 0; i < n_seen; i++) {
		snap_put(&b, seen[i].ino, 8);
		snap_put(&b, seen[i].dev, 8);
		snap_put(&b, (uint64_t)seen[i].ctime_s, 8);
		snap_put(&b, seen[i].ctime_ns, 4);
	}
	r = buf_error(&b);
	if (r == 0) {
		snap_put_seal(&b);
		r = buf_error(&b);
	}
	if (r == 0)
		r = io_write_file_at(s->dirs[STORE_INDEX], key, b.data, b.len, 0600);
	buf_done(&b);
	return r < 0 ? cordon_fail_leaf(err, r, "write to the snapshot store '%s'", s->path) : 0;
}

static int index_remove(void *arg, int dirfd, const char *name)
{
	(void)arg;
	return unlinkat(dirfd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int snap_index_forget_all(struct snap_store *s, struct cordon_error *err)
{
	int r = snap_store_each(s->dirs[STORE_INDEX], index_remove, NULL);

	return r < 0 ? cordon_fail_leaf(err, r, "write to the snapshot store '%s'", s->path) : 0;
}
