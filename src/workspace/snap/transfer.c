/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot as one stream: a head, its record, its listing, its objects, and at the end the hash of all that.
 *
 *	"cordon-export-1\n"
 *	4 bytes of length, the record
 *	8 bytes of length, the listing as it is stored
 *	8 bytes: how many objects
 *	each: 32 bytes of hash, 1 byte: compressed?, 4 bytes of length, the bytes
 *	32 bytes: SHA-256 of everything before
 *
 * Whoever reads it believes nothing: every length has a ceiling, every object must be one that the listing needs, come
 * once, and have its hash; nothing is in the store before the last byte was right.
 */
#include "base/clock.h"
#include "base/io.h"
#include "base/limits.h"
#include "workspace/snap/map.h"
#include "workspace/snap/object.h"
#include "workspace/snap/record.h"
#include "workspace/snap/step.h"
#include "workspace/snap/transfer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char transfer_magic[16] = "cordon-export-1\n";

#define TRANSFER_OBJECT (SNAP_CHUNK + 4096) /* bytes of one object as it is stored */

/* ---- writing ---- */

struct exporting {
	struct snap_store *store;
	int fd;
	struct snap_hash *hash;
	struct cordon_error *err;
};

static int export_put(struct exporting *x, const void *data, size_t len)
{
	int r = io_write(x->fd, data, len, CLOCK_NEVER);

	snap_hash_add(x->hash, data, len);
	return r < 0 ? cordon_fail_leaf(x->err, r, "write the export") : 0;
}

static int export_number(struct exporting *x, uint64_t n, size_t width)
{
	struct buf b = BUF_INIT(16);
	int r;

	snap_put(&b, n, width);
	r = buf_error(&b) < 0 ? cordon_nomem(x->err) : export_put(x, b.data, b.len);
	buf_done(&b);
	return r;
}

static int export_object(struct exporting *x, const uint8_t *digest)
{
	AUTO_FREE char *data = NULL;
	bool is_packed = false;
	size_t len = 0;
	int r = snap_object_read_file(x->store, digest, /* is_listing= */ false, &data, &len,
				      &is_packed, x->err);

	if (r == 0)
		r = export_put(x, digest, SNAP_DIGEST);
	if (r == 0)
		r = export_number(x, is_packed, 1);
	if (r == 0)
		r = export_number(x, len, 4);
	return r < 0 ? r : export_put(x, data, len);
}

/* Every object that is needed, once.  With a NULL export they are only counted. */
static int export_objects(struct exporting *x, const struct snap_manifest *m, struct snap_map *seen)
{
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->entries[i].n_chunks; k++) {
			const uint8_t *digest = m->entries[i].chunks + SNAP_DIGEST * k;
			uint64_t *sent;
			int r;

			if (snap_digest_is_hole(digest))
				continue;
			if (snap_map_put(seen, digest, 0) < 0)
				return cordon_nomem(x->err);
			sent = snap_map_get(seen, digest);
			if (x->fd < 0 || *sent)
				continue;
			*sent = 1;
			/* What is damaged is said here, not by whoever imports it. */
			r = snap_object_read(x->store, digest, snap_chunk_len(&m->entries[i], k),
					     x->store->chunk, x->err);
			if (r == 0)
				r = export_object(x, digest);
			if (r < 0)
				return r;
		}
	return 0;
}

static int export_head(struct exporting *x, const struct snap_info *info)
{
	struct buf record = BUF_INIT(RECORD_BYTES);
	AUTO_FREE char *listing = NULL;
	bool is_packed;
	size_t len = 0;
	int r;

	snap_record_encode(&record, info);
	r = buf_error(&record) < 0 ? cordon_nomem(x->err)
				   : export_put(x, transfer_magic, sizeof(transfer_magic));
	if (r == 0)
		r = export_number(x, record.len, 4);
	if (r == 0)
		r = export_put(x, record.data, record.len);
	buf_done(&record);
	if (r == 0)
		r = snap_object_read_file(x->store, info->manifest, /* is_listing= */ true,
					  &listing, &len, &is_packed, x->err);
	if (r == 0)
		r = export_number(x, len, 8);
	return r < 0 ? r : export_put(x, listing, len);
}

static int export_run(struct exporting *x, const char *name)
{
	struct exporting counting = {.store = x->store, .fd = -1, .err = x->err};
	struct snap_info info = {0};
	struct snap_manifest m = {0};
	struct snap_map seen = {0};
	uint8_t digest[SNAP_DIGEST];
	int r = snap_find(x->store, name, &info, x->err);

	if (r == 0)
		r = snap_listing_read(x->store, info.manifest, &m, x->err);
	if (r == 0)
		r = export_head(x, &info);
	if (r == 0)
		r = export_objects(&counting, &m, &seen);
	if (r == 0)
		r = export_number(x, seen.n, 8);
	if (r == 0)
		r = export_objects(x, &m, &seen);
	if (r == 0) {
		snap_hash_finish(x->hash, digest);
		r = io_write(x->fd, digest, sizeof(digest), CLOCK_NEVER);
		if (r < 0)
			r = cordon_fail_leaf(x->err, r, "write the export");
	}
	snap_map_done(&seen);
	snap_manifest_done(&m);
	snap_info_done(&info);
	return r;
}

int snap_export(struct snap_store *s, const char *name, int fd, struct cordon_error *err)
{
	AUTO(snap_hash_freep) struct snap_hash *hash = NULL;
	struct exporting x = {.store = s, .fd = fd, .err = err};
	int r;

	if (snap_hash_new(&hash) < 0)
		return cordon_nomem(err);
	x.hash = hash;
	r = snap_store_lock(s, LOCK_SH, err);
	if (r < 0)
		return r;
	r = export_run(&x, name);
	snap_store_unlock(s);
	return r;
}

/* ---- reading ---- */

static int import_bad(struct snap_import *x, const char *what)
{
	return cordon_fail(x->err, CORDON_E_CORRUPT,
			   "the export is no good: %s (at byte %" PRIu64 ")", what, x->at);
}

static int import_get(struct snap_import *x, void *to, size_t len)
{
	ssize_t n = x->read(x->arg, to, len);

	if (n < 0)
		return cordon_fail_leaf(x->err, (int)n, "read the export");
	x->at += (uint64_t)n;
	snap_hash_add(x->hash, to, (size_t)n);
	return (size_t)n < len ? import_bad(x, "it ends too early") : 0;
}

static int import_number(struct snap_import *x, size_t width, uint64_t *ret)
{
	uint8_t bytes[8];
	int r = import_get(x, bytes, width);
	struct snap_reader reader = SNAP_READER(bytes, width);

	*ret = snap_get(&reader, width);
	return r;
}

/* A piece whose length may be a lie: memory grows with what is really there. */
static int import_piece(struct snap_import *x, uint64_t len, size_t max, struct buf *ret)
{
	if (len > max)
		return import_bad(x, "a part of it is too long");
	while (len > 0) {
		size_t n = len < SNAP_CHUNK ? (size_t)len : SNAP_CHUNK;
		int r = import_get(x, x->chunk, n);

		if (r < 0)
			return r;
		buf_add(ret, x->chunk, n);
		if (buf_error(ret) < 0)
			return cordon_nomem(x->err);
		len -= n;
	}
	return 0;
}

static int import_record(struct snap_import *x)
{
	struct buf b = BUF_INIT(RECORD_BYTES);
	char magic[sizeof(transfer_magic)];
	uint64_t len;
	int r = import_get(x, magic, sizeof(magic));

	if (r == 0 && memcmp(magic, transfer_magic, sizeof(magic)) != 0)
		r = import_bad(x, "it is no export of a snapshot");
	if (r == 0)
		r = import_number(x, 4, &len);
	if (r == 0)
		r = import_piece(x, len, RECORD_BYTES, &b);
	if (r == 0) {
		r = snap_record_decode(buf_cstr(&b), b.len, &x->info);
		if (r < 0)
			r = r == -ENOMEM ? cordon_nomem(x->err)
					 : import_bad(x, "its record is damaged");
	}
	buf_done(&b);
	return r;
}

static int import_listing(struct snap_import *x)
{
	struct buf b = BUF_INIT(LIMIT_SNAPSHOT_MANIFEST);
	uint8_t digest[SNAP_DIGEST];
	AUTO_FREE char *data = NULL;
	size_t n = 0;
	uint64_t len;
	int r = import_number(x, 8, &len);

	if (r == 0)
		r = import_piece(x, len, LIMIT_SNAPSHOT_MANIFEST, &b);
	if (r == 0) {
		r = snap_zip_unpack(x->zip, buf_cstr(&b), b.len, LIMIT_SNAPSHOT_MANIFEST, &data,
				    &n);
		r = r == -ENOMEM ? cordon_nomem(x->err)
		    : r < 0      ? import_bad(x, "its listing cannot be unpacked")
				 : 0;
	}
	if (r == 0) {
		snap_digest(data, n, digest);
		if (memcmp(digest, x->info.manifest, SNAP_DIGEST) != 0)
			r = import_bad(x, "its listing is not the one that the record names");
	}
	if (r == 0)
		r = snap_manifest_decode(TAKE_PTR(data), n, &x->manifest, x->err);
	if (r == 0 && x->stage)
		r = snap_stage_object(x->stage, digest, b.data, b.len, /* is_packed= */ true,
				      /* is_listing= */ true, x->err);
	buf_done(&b);
	return r;
}

/* Which objects there must be, and how long. */
static int import_needs(struct snap_import *x)
{
	const struct snap_manifest *m = &x->manifest;

	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->entries[i].n_chunks; k++) {
			const uint8_t *digest = m->entries[i].chunks + SNAP_DIGEST * k;
			size_t len = snap_chunk_len(&m->entries[i], k);
			uint64_t *need;

			if (snap_digest_is_hole(digest))
				continue;
			if (snap_map_put(&x->needs, digest, len) < 0)
				return cordon_nomem(x->err);
			need = snap_map_get(&x->needs, digest);
			if (*need != len)
				return import_bad(x, "one object has two lengths");
		}
	return 0;
}

#define IMPORT_HERE UINT64_MAX /* the object came */

static int import_object(struct snap_import *x)
{
	struct buf b = BUF_INIT(TRANSFER_OBJECT);
	uint8_t digest[SNAP_DIGEST], have[SNAP_DIGEST];
	uint64_t is_packed = 0, len = 0, *need = NULL;
	size_t n = 0;
	int r = import_get(x, digest, sizeof(digest));

	if (r == 0)
		r = import_number(x, 1, &is_packed);
	if (r == 0)
		r = import_number(x, 4, &len);
	if (r == 0) {
		need = snap_map_get(&x->needs, digest);
		r = !need ? import_bad(x, "an object that its listing does not need")
		    : *need == IMPORT_HERE ? import_bad(x, "an object is there twice")
		    : is_packed > 1        ? import_bad(x, "an object of a form that is not known")
					   : 0;
	}
	if (r == 0)
		r = import_piece(x, len, TRANSFER_OBJECT, &b);
	if (r == 0 && is_packed)
		r = snap_zip_unpack_into(x->zip, buf_cstr(&b), b.len, x->chunk, SNAP_CHUNK, &n) < 0
			    ? import_bad(x, "an object cannot be unpacked")
			    : 0;
	if (r == 0) {
		snap_digest(is_packed ? x->chunk : buf_cstr(&b), is_packed ? n : b.len, have);
		if ((is_packed ? n : b.len) != *need || memcmp(have, digest, SNAP_DIGEST) != 0)
			r = import_bad(x, "an object is not what its hash says");
	}
	if (r == 0 && x->stage)
		r = snap_stage_object(x->stage, digest, b.data, b.len, is_packed != 0,
				      /* is_listing= */ false, x->err);
	if (r == 0)
		*need = IMPORT_HERE;
	buf_done(&b);
	return r;
}

static int import_end(struct snap_import *x)
{
	uint8_t want[SNAP_DIGEST], have[SNAP_DIGEST];
	char more;
	int r;

	snap_hash_finish(x->hash, want);
	r = import_get(x, have, sizeof(have));
	if (r == 0 && memcmp(want, have, SNAP_DIGEST) != 0)
		r = import_bad(x, "its hash is wrong");
	if (r == 0 && x->read(x->arg, &more, 1) != 0)
		r = import_bad(x, "it goes on behind its end");
	return r;
}

int snap_import_read(struct snap_import *x)
{
	uint64_t n = 0;
	int r = import_record(x);

	if (r == 0)
		r = import_listing(x);
	if (r == 0)
		r = import_needs(x);
	if (r == 0)
		r = import_number(x, 8, &n);
	if (r == 0 && n != x->needs.n)
		r = import_bad(x, "it does not have the objects that its listing needs");
	for (; r == 0 && n > 0; n--)
		r = import_object(x);
	if (r == 0)
		r = import_end(x);
	return r;
}

void snap_import_done(struct snap_import *x)
{
	snap_info_done(&x->info);
	snap_manifest_done(&x->manifest);
	snap_map_done(&x->needs);
}

static ssize_t import_read_fd(void *arg, void *to, size_t len)
{
	return io_read(*(int *)arg, to, len, CLOCK_NEVER);
}

/* As it is to be listed here. */
static int import_describe(struct snap_import *x, const char *name)
{
	uint64_t bytes = 0;

	if (name) {
		free(x->info.name);
		x->info.name = strdup(name);
		if (!x->info.name)
			return cordon_nomem(x->err);
	}
	for (size_t i = 0; i < x->manifest.n; i++)
		bytes += x->manifest.entries[i].size;
	x->info.is_imported = true;
	x->info.files = x->manifest.n;
	x->info.bytes = bytes;
	x->info.stored_bytes = x->stage->bytes;
	return 0;
}

static int import_locked(struct snap_import *x, const char *name)
{
	size_t n = 0;
	int r = snap_record_count(x->stage->store, &n, x->err);

	if (r == 0 && n >= x->stage->store->ceilings.snapshots)
		r = cordon_fail(x->err, CORDON_E_LIMIT, "there are %zu snapshots already", n);
	if (r == 0)
		r = snap_stage_begin(x->stage->store, x->stage, x->err);
	if (r == 0)
		r = snap_import_read(x);
	if (r == 0)
		r = import_describe(x, name);
	if (r == 0)
		r = snap_stage_publish(x->stage, x->err);
	if (r == 0)
		r = snap_record_write(x->stage->store, &x->info, /* replaces= */ false, x->err);
	snap_stage_done(x->stage);
	return r;
}

int snap_import(struct snap_store *s, int fd, const char *name, struct snap_info *ret,
		struct cordon_error *err)
{
	AUTO(snap_hash_freep) struct snap_hash *hash = NULL;
	AUTO_FREE char *chunk = malloc(SNAP_CHUNK);
	struct snap_stage stage = {.store = s, .fd = -1};
	struct snap_import x = {.read = import_read_fd,
				.arg = &fd,
				.zip = s->zip,
				.chunk = chunk,
				.stage = &stage,
				.err = err};
	int r;

	if (!chunk || snap_hash_new(&hash) < 0)
		return cordon_nomem(err);
	x.hash = hash;
	if (name && !snap_record_name_is_good(name))
		return cordon_fail(err, CORDON_E_INVALID, "'%s' cannot be a snapshot's name", name);
	r = snap_recover(s, err);
	if (r == 0)
		r = snap_store_lock(s, LOCK_SH, err);
	if (r < 0)
		return r;
	r = import_locked(&x, name);
	snap_store_unlock(s);
	if (r == 0) {
		*ret = x.info;
		x.info = (struct snap_info){0};
	}
	snap_import_done(&x);
	return r;
}
