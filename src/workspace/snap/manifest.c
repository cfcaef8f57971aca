/* SPDX-License-Identifier: Apache-2.0 */
/* See manifest.h. */
#include "workspace/snap/manifest.h"

#include "base/limits.h"
#include "workspace/snap/digest.h"

#include <errno.h>
#include <string.h>

static const char manifest_magic[16] = "cordon-listing 1";

#define XATTR_NAME_BYTES 255
#define XATTR_VALUE_BYTES 65536

void snap_manifest_done(struct snap_manifest *m)
{
	free(m->data);
	free(m->trees);
	free(m->entries);
	*m = (struct snap_manifest){0};
}

/* A slash counts as less than any byte, so that a directory's names follow it before its neighbours. */
int snap_path_compare(const char *a, const char *b)
{
	size_t i = 0;
	int x, y;

	while (a[i] && a[i] == b[i])
		i++;
	x = a[i] == '/' ? 1 : a[i] ? (int)(uint8_t)a[i] + 1 : 0;
	y = b[i] == '/' ? 1 : b[i] ? (int)(uint8_t)b[i] + 1 : 0;
	return x - y;
}

bool snap_path_within(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return len == 0 ||
	       (strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/'));
}

bool snap_path_is_plain(const char *path)
{
	for (const char *p = path;; p++) {
		size_t n = strcspn(p, "/");

		if (n == 0 || n > 255 || (n == 1 && p[0] == '.') ||
		    (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += n;
		if (!*p)
			return true;
	}
}

size_t snap_chunk_len(const struct snap_entry *e, size_t i)
{
	uint64_t left = e->size - (uint64_t)i * SNAP_CHUNK;

	return left < SNAP_CHUNK ? (size_t)left : SNAP_CHUNK;
}

void snap_xattr_put(struct buf *b, const char *name, const void *value, size_t len)
{
	snap_put_str(b, name);
	snap_put(b, len, 4);
	buf_add(b, value, len);
}

bool snap_xattr_next(struct snap_reader *r, struct snap_xattr *ret)
{
	if (r->is_bad || r->p == r->end)
		return false;
	ret->name = snap_get_str(r, XATTR_NAME_BYTES, NULL);
	ret->len = (size_t)snap_get(r, 4);
	if (ret->len > XATTR_VALUE_BYTES)
		r->is_bad = true;
	ret->value = snap_get_raw(r, ret->len);
	return !r->is_bad;
}

void snap_extent_put(struct buf *b, uint64_t offset, uint64_t len)
{
	snap_put(b, offset, 8);
	snap_put(b, len, 8);
}

void snap_extent(const struct snap_entry *e, size_t i, uint64_t *ret_offset, uint64_t *ret_len)
{
	struct snap_reader r = SNAP_READER(e->extents + 16 * i, 16);

	*ret_offset = snap_get(&r, 8);
	*ret_len = snap_get(&r, 8);
}

bool snap_extent_touches(const struct snap_entry *e, uint64_t offset, uint64_t len)
{
	size_t low = 0, high = e->n_extents;
	uint64_t at, n;

	if (e->n_extents == 0)
		return true;
	/* the first that ends behind offset */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		snap_extent(e, middle, &at, &n);
		if (at + n > offset)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == e->n_extents)
		return false;
	snap_extent(e, low, &at, &n);
	return at < offset + len;
}

void snap_entry_encode(struct buf *b, const struct snap_entry *e)
{
	snap_put(b, e->root, 2);
	snap_put(b, (uint64_t)e->kind, 1);
	snap_put(b, e->mode, 2);
	snap_put(b, e->uid, 4);
	snap_put(b, e->gid, 4);
	snap_put(b, (uint64_t)e->mtime_s, 8);
	snap_put(b, e->mtime_ns, 4);
	snap_put_str(b, e->path);
	snap_put(b, e->xattrs_len, 4);
	buf_add(b, e->xattrs, e->xattrs_len);
	if (e->kind == SNAP_LINK)
		snap_put_str(b, e->target);
	if (e->kind != SNAP_FILE)
		return;
	snap_put(b, e->size, 8);
	snap_put(b, e->link, 8);
	snap_put(b, e->n_extents, 4);
	buf_add(b, e->extents, 16 * e->n_extents);
	buf_add(b, e->chunks, SNAP_DIGEST * e->n_chunks);
}

static bool entry_xattrs_are_good(const struct snap_entry *e)
{
	struct snap_reader r = SNAP_READER(e->xattrs, e->xattrs_len);
	struct snap_xattr x;

	while (snap_xattr_next(&r, &x))
		if (!*x.name)
			return false;
	return snap_get_end(&r);
}

/* In order, apart, not empty, not beyond the end. */
static bool entry_extents_are_good(const struct snap_entry *e)
{
	uint64_t end = 0;

	for (size_t i = 0; i < e->n_extents; i++) {
		uint64_t at, len;

		snap_extent(e, i, &at, &len);
		if (at < end || (len == 0 && e->n_extents > 1) || at > e->size ||
		    len > e->size - at)
			return false;
		end = at + len;
	}
	return true;
}

static void entry_decode_file(struct snap_reader *r, struct snap_entry *e)
{
	e->size = snap_get(r, 8);
	e->link = snap_get(r, 8);
	e->n_extents = (size_t)snap_get(r, 4);
	if (e->size > LIMIT_SNAPSHOT_FILE || e->n_extents > LIMIT_SNAPSHOT_EXTENTS) {
		r->is_bad = true;
		return;
	}
	e->extents = snap_get_raw(r, 16 * e->n_extents);
	e->n_chunks = snap_chunk_count(e->size);
	e->chunks = snap_get_raw(r, SNAP_DIGEST * e->n_chunks);
	if (!r->is_bad && !entry_extents_are_good(e))
		r->is_bad = true;
}

bool snap_entry_decode(struct snap_reader *r, struct snap_entry *ret)
{
	struct snap_entry e = {.raw = r->p, .target = ""};
	uint64_t kind;

	e.root = (size_t)snap_get(r, 2);
	kind = snap_get(r, 1);
	e.mode = (uint32_t)snap_get(r, 2);
	e.uid = (uint32_t)snap_get(r, 4);
	e.gid = (uint32_t)snap_get(r, 4);
	e.mtime_s = (int64_t)snap_get(r, 8);
	e.mtime_ns = (uint32_t)snap_get(r, 4);
	e.path = snap_get_str(r, LIMIT_PATH_BYTES - 1, &e.path_len);
	e.xattrs_len = (size_t)snap_get(r, 4);
	if (kind < SNAP_FILE || kind >= SNAP_KIND_COUNT || e.mode > 07777 ||
	    e.mtime_ns >= 1000000000 || e.xattrs_len > LIMIT_SNAPSHOT_XATTRS)
		r->is_bad = true;
	e.kind = (enum snap_kind)kind;
	e.xattrs = snap_get_raw(r, e.xattrs_len);
	if (!r->is_bad && e.kind == SNAP_LINK) {
		e.target = snap_get_str(r, LIMIT_PATH_BYTES - 1, NULL);
		if (e.target && !*e.target)
			r->is_bad = true;
	}
	if (!r->is_bad && e.kind == SNAP_FILE)
		entry_decode_file(r, &e);
	if (r->is_bad || !entry_xattrs_are_good(&e))
		return false;
	e.raw_len = (size_t)(r->p - e.raw);
	*ret = e;
	return true;
}

void snap_manifest_head(struct buf *b, const struct snap_tree *trees, size_t n_trees,
			uint64_t n_entries)
{
	buf_add(b, manifest_magic, sizeof(manifest_magic));
	snap_put(b, n_trees, 2);
	for (size_t i = 0; i < n_trees; i++) {
		snap_put_str(b, trees[i].path);
		snap_put_str(b, trees[i].only);
	}
	snap_put(b, n_entries, 8);
}

static bool manifest_tree_is_good(const struct snap_tree *t)
{
	if (!t->path || !t->only || t->path[0] != '/')
		return false;
	if (t->path[1] && !snap_path_is_plain(t->path + 1))
		return false;
	return !*t->only || (snap_path_is_plain(t->only) && !strchr(t->only, '/'));
}

static int manifest_read_trees(struct snap_manifest *m, struct snap_reader *r)
{
	const uint8_t *magic = snap_get_raw(r, sizeof(manifest_magic));
	size_t n = (size_t)snap_get(r, 2);

	if (!magic || memcmp(magic, manifest_magic, sizeof(manifest_magic)) != 0 || n == 0 ||
	    n > LIMIT_SNAPSHOT_ROOTS)
		return -EINVAL;
	m->trees = calloc(n, sizeof(*m->trees));
	if (!m->trees)
		return -ENOMEM;
	m->n_trees = n;
	for (size_t i = 0; i < n; i++) {
		m->trees[i].path = snap_get_str(r, LIMIT_PATH_BYTES - 1, NULL);
		m->trees[i].only = snap_get_str(r, 255, NULL);
		if (!manifest_tree_is_good(&m->trees[i]))
			return -EINVAL;
	}
	return 0;
}

/* The directories that an entry may lie in: those on the way to the one before it. */
struct manifest_way {
	const char *dirs[LIMIT_SNAPSHOT_DEPTH];
	size_t n;
};

/* Does e follow before (NULL: it is the first of its tree) as the order wants, in a directory on the way? */
static bool manifest_place_is_good(const struct snap_manifest *m, const struct snap_entry *before,
				   const struct snap_entry *e, struct manifest_way *way)
{
	const char *slash = strrchr(e->path, '/');
	size_t parent_len = slash ? (size_t)(slash - e->path) : 0;
	const char *only = m->trees[e->root].only;

	if (!before) {
		way->n = 0;
		if (strcmp(e->path, only) != 0 || (!*only && e->kind != SNAP_DIR))
			return false;
	} else {
		if (!snap_path_is_plain(e->path) || snap_path_compare(before->path, e->path) >= 0)
			return false;
		while (way->n > 0 && (strlen(way->dirs[way->n - 1]) != parent_len ||
				      memcmp(way->dirs[way->n - 1], e->path, parent_len) != 0))
			way->n--;
		if (way->n == 0)
			return false;
	}
	if (e->kind == SNAP_DIR) {
		if (way->n == LIMIT_SNAPSHOT_DEPTH)
			return false;
		way->dirs[way->n++] = e->path;
	}
	return true;
}

static int manifest_read_entries(struct snap_manifest *m, struct snap_reader *r)
{
	AUTO_FREE struct manifest_way *way = calloc(1, sizeof(*way));
	uint64_t n = snap_get(r, 8);
	size_t root = 0;

	if (!way)
		return -ENOMEM;
	if (n > LIMIT_SNAPSHOT_FILES)
		return -E2BIG;
	if (r->is_bad ||
	    n > (uint64_t)(r->end - r->p)) /* each is more than a byte: no room for lies */
		return -EINVAL;
	m->entries = calloc(n ? (size_t)n : 1, sizeof(*m->entries));
	if (!m->entries)
		return -ENOMEM;
	for (; m->n < n; m->n++) {
		struct snap_entry *e = &m->entries[m->n];
		const struct snap_entry *before = m->n ? e - 1 : NULL;

		if (!snap_entry_decode(r, e) || e->root < root || e->root >= m->n_trees)
			return -EINVAL;
		if (before && before->root != e->root)
			before = NULL;
		root = e->root;
		if (!manifest_place_is_good(m, before, e, way))
			return -EINVAL;
	}
	return snap_get_end(r) ? 0 : -EINVAL;
}

int snap_manifest_decode(char *data, size_t len, struct snap_manifest *ret,
			 struct cordon_error *err)
{
	struct snap_manifest m = {.data = data, .len = len};
	struct snap_reader r = SNAP_READER(data, len);
	size_t at;
	int e = len > LIMIT_SNAPSHOT_MANIFEST ? -E2BIG : manifest_read_trees(&m, &r);

	if (e == 0)
		e = manifest_read_entries(&m, &r);
	if (e == 0) {
		*ret = m;
		return 0;
	}
	at = (size_t)(r.p - (const uint8_t *)data);
	snap_manifest_done(&m);
	if (e == -EINVAL)
		return cordon_fail(err, CORDON_E_CORRUPT,
				   "the listing of the snapshot is damaged before byte %zu", at);
	return cordon_fail_leaf(err, e, "read the listing of the snapshot");
}

const struct snap_entry *snap_manifest_find(const struct snap_manifest *m, size_t root,
					    const char *path)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct snap_entry *e = &m->entries[middle];
		int c = e->root != root ? (e->root < root ? -1 : 1)
					: snap_path_compare(e->path, path);

		if (c == 0)
			return e;
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
