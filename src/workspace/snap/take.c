/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking a snapshot.  The trees are walked in the order of a listing, beside the listing of the last snapshot: what
 * is as it was then is copied from there, the rest is read, hashed and stored.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "workspace/snap/index.h"
#include "workspace/snap/journal.h"
#include "workspace/snap/map.h"
#include "workspace/snap/meta.h"
#include "workspace/snap/object.h"
#include "workspace/snap/place.h"
#include "workspace/snap/record.h"
#include "workspace/snap/step.h"
#include "workspace/snap/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TAKE_TRIES 3 /* to read a file that changes meanwhile */
#define TAKE_SWEEP 8 /* one of so many prunings is followed by a sweep */

struct taking {
	struct snap_store *store;
	const struct snap_take_options *options;
	const struct snap_trees *trees;
	struct snap_stage stage;
	struct snap_index last;
	struct snap_map links; /* inode to where in out its first entry is */
	struct buf out;        /* entries */
	struct buf xattrs;
	struct buf extents;
	struct buf chunks;
	struct buf path; /* of what is looked at */
	struct snap_seen *seen;
	size_t seen_cap;
	size_t n;
	size_t root;
	bool is_trusted; /* change times of this tree */
	int64_t started_ns;
	int64_t deadline_ms;
	struct snap_info info;
	struct cordon_error *err;
};

static int take_fail(struct taking *t, int r, const char *what)
{
	struct buf shown = BUF_INIT(512);

	str_escape(&shown, buf_cstr(&t->path), t->path.len);
	r = cordon_fail_leaf(t->err, r, "%s '%s/%s'", what, t->trees->v[t->root].path,
			     buf_cstr(&shown));
	buf_done(&shown);
	return r;
}

/* What cannot be read: an error, or counted. */
static int take_unreadable(struct taking *t, int r, const char *what)
{
	if (r == -ENOENT || r == -ELOOP || r == -ENOTDIR ||
	    r == -ESTALE) /* it went or changed meanwhile */
		return 0;
	if ((r == -EACCES || r == -EPERM) && t->options->skips_unreadable) {
		t->info.skipped++;
		return 0;
	}
	r = take_fail(t, r, what);
	return r == CORDON_E_SYSTEM ? cordon_hint(t->err, r, "a snapshot holds everything or fails")
				    : r;
}

static int take_note(struct taking *t, const struct snap_seen *seen)
{
	int r;

	if (t->n >= t->store->ceilings.files)
		return cordon_fail(t->err, CORDON_E_LIMIT,
				   "there are more than %zu files in what is to be saved",
				   t->store->ceilings.files);
	r = mem_grow((void **)&t->seen, &t->seen_cap, t->n + 1, sizeof(*t->seen),
		     LIMIT_SNAPSHOT_FILES + 1);
	if (r < 0)
		return cordon_nomem(t->err);
	t->seen[t->n++] = *seen;
	if (buf_error(&t->out) < 0)
		return cordon_fail_leaf(t->err, buf_error(&t->out), "the listing of the snapshot");
	return 0;
}

static int take_put(struct taking *t, const struct snap_entry *e, const struct snap_seen *seen)
{
	uint8_t key[SNAP_DIGEST];
	int r = 0;

	if (e->link) {
		snap_map_key(e->link, t->root, key);
		r = snap_map_put(&t->links, key, t->out.len);
	}
	if (r < 0)
		return cordon_nomem(t->err);
	t->info.bytes += e->size;
	snap_entry_encode(&t->out, e);
	return take_note(t, seen);
}

/* Where a sparse file holds data; nothing noted for one that is not. */
static int take_extents(struct taking *t, int fd, uint64_t size)
{
	size_t n = 0;
	off_t at = 0;

	buf_clear(&t->extents);
	while ((uint64_t)at < size && n < LIMIT_SNAPSHOT_EXTENTS - 1) {
		off_t from = lseek(fd, at, SEEK_DATA);
		off_t to = from < 0 ? from : lseek(fd, from, SEEK_HOLE);

		if (from < 0 && errno == ENXIO)
			break;
		if (to < 0) { /* the file system does not know: everything is data */
			buf_clear(&t->extents);
			return 0;
		}
		if ((uint64_t)to > size)
			to = (off_t)size;
		if (from >= to)
			break;
		snap_extent_put(&t->extents, (uint64_t)from, (uint64_t)(to - from));
		at = to;
		n++;
	}
	if (n == LIMIT_SNAPSHOT_EXTENTS - 1)
		snap_extent_put(&t->extents, (uint64_t)at, size - (uint64_t)at);
	else if (n == 0)
		snap_extent_put(&t->extents, 0, 0);
	return buf_error(&t->extents);
}

/* Up to len bytes at offset; less only at the end. */
static ssize_t take_pread(int fd, char *to, size_t len, uint64_t offset)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(fd, to + got, len - got, (off_t)(offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

/* The chunks of a file, once.  e->size becomes what was found. */
static int take_chunks(struct taking *t, int fd, struct snap_entry *e)
{
	static const uint8_t hole[SNAP_DIGEST];
	size_t n = snap_chunk_count(e->size);
	int r = 0;

	buf_clear(&t->chunks);
	for (size_t i = 0; r == 0 && i < n; i++) {
		uint64_t offset = (uint64_t)i * SNAP_CHUNK;
		size_t len = snap_chunk_len(e, i);
		uint8_t digest[SNAP_DIGEST];
		ssize_t got;

		if (!snap_extent_touches(e, offset, len)) {
			buf_add(&t->chunks, hole, SNAP_DIGEST);
			continue;
		}
		got = take_pread(fd, t->store->chunk, len, offset);
		if (got < 0)
			return take_fail(t, (int)got, "read");
		if (got > 0) {
			r = snap_stage_chunk(&t->stage, t->store->chunk, (size_t)got, digest,
					     t->err);
			buf_add(&t->chunks, digest, SNAP_DIGEST);
		}
		if ((size_t)got < len) { /* cut off meanwhile */
			e->size = offset + (size_t)got;
			e->n_extents = 0;
			break;
		}
		if (r == 0)
			r = snap_store_check_deadline(t->deadline_ms, t->err);
	}
	e->chunks = (const uint8_t *)t->chunks.data;
	e->n_chunks = t->chunks.len / SNAP_DIGEST;
	if (r == 0 && buf_error(&t->chunks) < 0)
		r = cordon_nomem(t->err);
	return r;
}

static bool take_is_settled(const struct statx *a, const struct statx *b)
{
	return a->stx_size == b->stx_size && a->stx_mtime.tv_sec == b->stx_mtime.tv_sec &&
	       a->stx_mtime.tv_nsec == b->stx_mtime.tv_nsec &&
	       a->stx_ctime.tv_sec == b->stx_ctime.tv_sec &&
	       a->stx_ctime.tv_nsec == b->stx_ctime.tv_nsec;
}

/*
 * Can the file be written only by opening it anew, which would change its times?  Pages that somebody has mapped can be
 * written again and again, and only the first time in a while is noted.  The kernel grants a lease for reading when
 * nobody has the file open for writing, which a mapping counts as.  Somebody who opens it while we have the lease waits,
 * and we get a signal that does nothing.
 */
static bool take_has_no_writer(int fd)
{
	bool is_granted = fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;

	if (is_granted)
		(void)fcntl(fd, F_SETLEASE, F_UNLCK); /* or it ends with the descriptor */
	return is_granted;
}

/* Reads a file until it holds still.  Is its time worth believing, the next time? */
static int take_content(struct taking *t, int fd, struct statx *st, struct snap_entry *e,
			bool *ret_is_settled)
{
	for (int try = 0;; try++) {
		bool has_no_writer = take_has_no_writer(fd); /* after its times were looked at */
		bool is_settled;
		struct statx after;
		int r;

		snap_meta_of(st, e);
		if (e->size > LIMIT_SNAPSHOT_FILE)
			return take_fail(t, -EFBIG, "save");
		e->n_extents = 0;
		if ((uint64_t)st->stx_blocks * 512 < e->size) {
			r = take_extents(t, fd, e->size);
			if (r < 0)
				return cordon_nomem(t->err);
			e->extents = (const uint8_t *)t->extents.data;
			e->n_extents = t->extents.len / 16;
		}
		r = take_chunks(t, fd, e);
		if (r < 0)
			return r;
		if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &after) < 0)
			return take_fail(t, -errno, "look at");
		is_settled = take_is_settled(st, &after);
		*ret_is_settled = is_settled && has_no_writer;
		if (is_settled || try == TAKE_TRIES - 1)
			return 0;
		*st = after;
	}
}

/* A further name of a file that is in the listing already.  1 when it was that. */
static int take_known_link(struct taking *t, int fd, const struct statx *st, const char *path)
{
	uint8_t key[SNAP_DIGEST];
	struct snap_entry e;
	struct snap_reader r;
	struct buf copy = BUF_INIT(LIMIT_SNAPSHOT_MANIFEST);
	uint64_t *at;
	int x = 0;

	if (st->stx_nlink < 2)
		return 0;
	snap_map_key(st->stx_ino, t->root, key);
	at = snap_map_get(&t->links, key);
	if (!at)
		return 0;
	r = SNAP_READER(t->out.data + *at, t->out.len - *at);
	if (!snap_entry_decode(&r, &e))
		return cordon_fail(t->err, CORDON_E_INTERNAL, "read the listing being written");
	buf_add(&copy, e.raw, e.raw_len); /* the listing moves when it grows */
	if (buf_error(&copy) < 0)
		return cordon_nomem(t->err);
	r = SNAP_READER(copy.data, copy.len);
	if (snap_entry_decode(&r, &e)) {
		struct snap_seen seen =
			snap_index_see(st, t->started_ns, t->is_trusted && take_has_no_writer(fd));

		e.path = path;
		x = take_put(t, &e, &seen);
	}
	buf_done(&copy);
	return x < 0 ? x : 1;
}

static int take_file(struct taking *t, int dir, const char *name, struct snap_entry *e)
{
	AUTO_CLOSE int fd = -1;
	bool is_settled = false;
	struct snap_seen seen;
	struct statx st;
	int r;

	fd = path_open_beneath(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0,
			       PLACE_RESOLVE);
	if (fd < 0)
		return take_unreadable(t, fd, "read");
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) < 0)
		return take_fail(t, -errno, "look at");
	if (!S_ISREG(st.stx_mode)) /* exchanged since the last look */
		return 0;
	r = take_known_link(t, fd, &st, e->path);
	if (r != 0)
		return r < 0 ? r : 0;
	t->info.read_files++;
	r = take_content(t, fd, &st, e, &is_settled);
	if (r < 0)
		return r;
	buf_clear(&t->xattrs);
	r = snap_meta_read_xattrs(fd, &t->xattrs);
	if (r < 0)
		return take_fail(t, r, "read the attributes of");
	e->xattrs = (const uint8_t *)t->xattrs.data;
	e->xattrs_len = t->xattrs.len;
	seen = snap_index_see(&st, t->started_ns, t->is_trusted && is_settled);
	return take_put(t, e, &seen);
}

/* A directory, link, FIFO or whiteout. */
static int take_other(struct taking *t, int dir, const char *name, struct snap_entry *e)
{
	AUTO_CLOSE int fd = -1;
	char target[LIMIT_PATH_BYTES];
	struct snap_seen seen;
	struct statx st;
	ssize_t n;
	int r;

	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return take_unreadable(t, -errno, "look at");
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) < 0)
		return take_fail(t, -errno, "look at");
	if (snap_meta_kind(&st) != e->kind)
		return 0;
	snap_meta_of(&st, e);
	if (e->kind == SNAP_LINK) {
		n = readlinkat(fd, "", target, sizeof(target));
		if (n < 0 || n == (ssize_t)sizeof(target))
			return take_fail(t, n < 0 ? -errno : -ENAMETOOLONG, "read");
		target[n] = '\0';
		e->target = target;
	}
	buf_clear(&t->xattrs);
	r = snap_meta_read_xattrs(fd, &t->xattrs);
	if (r < 0)
		return take_fail(t, r, "read the attributes of");
	e->xattrs = (const uint8_t *)t->xattrs.data;
	e->xattrs_len = t->xattrs.len;
	seen = snap_index_see(&st, t->started_ns, t->is_trusted);
	return take_put(t, e, &seen);
}

static int take_copy(struct taking *t, const struct snap_entry *known, const struct statx *st)
{
	struct snap_seen seen = snap_index_see(st, t->started_ns, t->is_trusted);
	uint8_t key[SNAP_DIGEST];

	/* It may have become or ceased to be one of several names: then the change time changed too. */
	if (known->link) {
		snap_map_key(known->link, t->root, key);
		if (snap_map_put(&t->links, key, t->out.len) < 0)
			return cordon_nomem(t->err);
	}
	t->info.bytes += known->size;
	buf_add(&t->out, known->raw, known->raw_len);
	return take_note(t, &seen);
}

static int take_dir(struct taking *t, int fd, size_t depth);

/* Into a directory that was noted. */
static int take_below(struct taking *t, int dir, const char *name, size_t depth)
{
	AUTO_CLOSE int fd = -1;

	if (depth >= LIMIT_SNAPSHOT_DEPTH - 1)
		return take_fail(t, -E2BIG, "too many directories inside one another:");
	fd = path_open_beneath(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, PLACE_RESOLVE);
	if (fd == -EXDEV) {
		t->info.skipped++;
		return 0;
	}
	if (fd < 0)
		return take_unreadable(t, fd, "read the directory");
	return take_dir(t, fd, depth + 1);
}

static int take_name(struct taking *t, int dir, const char *name, size_t depth)
{
	struct snap_entry e = {.root = t->root, .path = buf_cstr(&t->path)};
	const struct snap_entry *known;
	struct statx st;
	size_t n = t->n;
	int r;

	if (statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &st) < 0)
		return take_unreadable(t, -errno, "look at");
	e.kind = snap_meta_kind(&st);
	if (e.kind == SNAP_DIR && snap_store_is_home(t->store, &st))
		return 0;
	if (!e.kind) {
		t->info.skipped++;
		return 0;
	}
	e.path_len = strlen(e.path);
	known = snap_index_find(&t->last, t->root, e.path, &st);
	if (known)
		r = take_copy(t, known, &st);
	else if (e.kind == SNAP_FILE)
		r = take_file(t, dir, name, &e);
	else
		r = take_other(t, dir, name, &e);
	if (r == 0 && e.kind == SNAP_DIR && t->n > n)
		r = take_below(t, dir, name, depth);
	return r;
}

static int take_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a directory, sorted; ret_names holds them. */
static int take_list(struct taking *t, int fd, struct buf *text, char ***ret, size_t *ret_n)
{
	DIR *dir = fdopendir(fcntl(fd, F_DUPFD_CLOEXEC, 3));
	size_t n = 0, at = 0;
	char **names;
	int r;

	if (!dir)
		return take_fail(t, -errno, "read the directory");
	for (;;) {
		struct dirent *d;

		errno = 0;
		d = readdir(dir);
		if (!d)
			break;
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		buf_add(text, d->d_name, strlen(d->d_name) + 1);
		n++;
	}
	r = -errno;
	(void)closedir(dir);
	if (r == 0)
		r = buf_error(text);
	if (r < 0)
		return take_fail(t, r, "read the directory");
	names = calloc(n + 1, sizeof(*names));
	if (!names)
		return cordon_nomem(t->err);
	for (size_t i = 0; i < n; i++) {
		names[i] = text->data + at;
		at += strlen(names[i]) + 1;
	}
	qsort(names, n, sizeof(*names), take_compare);
	*ret = names;
	*ret_n = n;
	return 0;
}

static int take_dir(struct taking *t, int fd, size_t depth)
{
	struct buf text = BUF_INIT((size_t)LIMIT_SNAPSHOT_FILES * 256);
	AUTO_FREE char **names = NULL;
	size_t n = 0, len = t->path.len;
	int r = take_list(t, fd, &text, &names, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (len > 0)
			buf_char(&t->path, '/');
		buf_str(&t->path, names[i]);
		if (buf_error(&t->path) < 0)
			r = take_fail(t, -ENAMETOOLONG, "save what is below");
		else
			r = take_name(t, fd, names[i], depth);
		if (r == 0)
			r = snap_store_check_deadline(t->deadline_ms, t->err);
		if (r == 0)
			buf_truncate(&t->path, len);
	}
	buf_done(&text);
	return r;
}

static int take_tree(struct taking *t)
{
	const struct snap_tree *tree = &t->trees->v[t->root];
	struct snap_place place = SNAP_PLACE;
	int r = snap_place_open(tree->path, &place);

	if (r < 0 && (r == -ENOENT || r == -ENOTDIR) && *tree->only)
		return 0; /* the name that is meant is not there */
	if (r < 0)
		return cordon_fail_leaf(t->err, r, "open '%s'", tree->path);
	t->is_trusted = snap_index_trusts(place.root);
	buf_clear(&t->path);
	buf_str(&t->path, tree->only);
	if (*tree->only)
		r = take_name(t, place.root, tree->only, 0);
	else
		r = take_name(t, place.root, ".", 0);
	snap_place_done(&place);
	return r;
}

/* The listing, with its head. */
static int take_listing(struct taking *t)
{
	struct buf whole = BUF_INIT(LIMIT_SNAPSHOT_MANIFEST);
	int r;

	snap_manifest_head(&whole, t->trees->v, t->trees->n, t->n);
	buf_add(&whole, t->out.data, t->out.len);
	r = buf_error(&whole);
	if (r < 0)
		r = cordon_fail_leaf(t->err, r, "the listing of the snapshot");
	else
		r = snap_stage_listing(&t->stage, whole.data, whole.len, t->info.manifest, t->err);
	buf_done(&whole);
	return r;
}

static int take_describe(struct taking *t)
{
	const struct snap_take_options *o = t->options;
	char name[LIMIT_SNAPSHOT_NAME + 1];
	int r = o->name ? 0 : snap_record_make_name(name);

	if (r < 0)
		return cordon_fail_leaf(t->err, r, "make a name");
	t->info.name = strdup(o->name ? o->name : name);
	t->info.owner = strdup(o->owner ? o->owner : "");
	t->info.created_ns = snap_store_wall_ns();
	t->info.created_ms = t->info.created_ns / 1000000;
	t->info.files = t->n;
	t->info.stored_bytes = t->stage.bytes;
	for (size_t i = 0; r == 0 && i < t->trees->n; i++) {
		AUTO_FREE char *path = NULL;

		r = snap_tree_path(t->trees->v[i].path, t->trees->v[i].only, &path);
		if (r == 0)
			r = strv_add(&t->info.roots, path);
	}
	return r < 0 || !t->info.name || !t->info.owner ? cordon_nomem(t->err) : 0;
}

static int take_all(struct taking *t)
{
	int r = snap_stage_begin(t->store, &t->stage, t->err);

	if (r == 0)
		r = snap_index_load(t->store, t->trees->v, t->trees->n, &t->last, t->err);
	for (; r == 0 && t->root < t->trees->n; t->root++)
		r = take_tree(t);
	if (r == 0)
		r = take_listing(t);
	if (r == 0)
		r = take_describe(t);
	if (r == 0)
		r = snap_stage_publish(&t->stage, t->err);
	if (r == 0)
		r = snap_record_write(t->store, &t->info, t->options->replaces, t->err);
	if (r == 0)
		/* Without the index the next snapshot takes longer, and that is all. */
		(void)snap_index_save(t->store, t->trees->v, t->trees->n, t->info.manifest, t->seen,
				      t->n, NULL);
	return r;
}

static void taking_done(struct taking *t)
{
	snap_stage_done(&t->stage);
	snap_index_done(&t->last);
	snap_map_done(&t->links);
	buf_done(&t->out);
	buf_done(&t->xattrs);
	buf_done(&t->extents);
	buf_done(&t->chunks);
	buf_done(&t->path);
	free(t->seen);
	snap_info_done(&t->info);
}

static int take_check(struct snap_store *s, const struct snap_take_options *o,
		      struct cordon_error *err)
{
	struct snap_info there = {0};
	size_t n;
	int r;

	if (o->name && !snap_record_name_is_good(o->name))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "'%s' cannot be a snapshot's name", o->name),
				   "letters, digits, '.', '_' and '-', at most %d of them",
				   LIMIT_SNAPSHOT_NAME);
	if (o->owner && strlen(o->owner) > LIMIT_NAME_BYTES)
		return cordon_fail(err, CORDON_E_LIMIT, "the snapshot's owner is too long");
	r = snap_store_needs_writing(s, err);
	if (r == 0)
		r = snap_record_count(s, &n, err);
	if (r < 0)
		return r;
	if (n >= s->ceilings.snapshots)
		return cordon_hint(
			err, cordon_fail(err, CORDON_E_LIMIT, "there are %zu snapshots already", n),
			"remove some that are not needed any more");
	if (!o->name || o->replaces)
		return 0;
	r = snap_find(s, o->name, &there, NULL);
	snap_info_done(&there);
	return r == CORDON_E_NOT_FOUND ? 0
				       : cordon_fail(err, CORDON_E_INVALID,
						     "there is a snapshot '%s' already", o->name);
}

/* The oldest go; their objects now and then, for that costs a look at all of them. */
static void take_prune(struct snap_store *s, const char *owner, size_t keep)
{
	struct snap_list list = {0};
	struct strv damaged = {0};
	bool has_removed = false;

	if (snap_list(s, owner ? owner : "", &list, &damaged, NULL) < 0)
		return; /* the next time */
	for (size_t i = keep; i < list.n; i++)
		has_removed |= snap_remove(s, list.v[i].name, NULL) == 0;
	if (has_removed && clock_ns() / 1000 % TAKE_SWEEP == 0 && snap_gc(s, NULL, NULL) < 0)
		has_removed = false; /* the next time */
	snap_list_done(&list);
	strv_done(&damaged);
}

int snap_take(struct snap_store *s, const struct snap_take_options *o, struct snap_info *ret,
	      struct cordon_error *err)
{
	struct snap_trees trees = {0};
	struct taking t = {
		.store = s,
		.options = o,
		.trees = &trees,
		.stage = {.fd = -1},
		.out = BUF_INIT(LIMIT_SNAPSHOT_MANIFEST),
		.xattrs = BUF_INIT(2 * (size_t)LIMIT_SNAPSHOT_XATTRS),
		.extents = BUF_INIT((size_t)LIMIT_SNAPSHOT_EXTENTS * 16),
		.chunks = BUF_INIT(LIMIT_SNAPSHOT_MANIFEST),
		.path = BUF_INIT(LIMIT_PATH_BYTES - 1),
		.deadline_ms = snap_store_deadline(o->deadline_ms),
		.started_ns = snap_store_wall_ns(),
		.err = err,
	};
	char key[SNAP_HEX];
	AUTO_CLOSE int lock = -1;
	int r = take_check(s, o, err);

	if (r == 0)
		r = snap_trees_make(o->roots, o->root_count, &trees, err);
	if (r == 0)
		r = snap_recover(s, err);
	if (r == 0) {
		snap_index_key(trees.v, trees.n, key);
		r = snap_journal_lock(s, key, /* waits= */ true, &lock, err);
	}
	if (r == 0)
		r = snap_store_lock(s, LOCK_SH, err);
	if (r == 0) {
		r = take_all(&t);
		snap_stage_done(&t.stage);
		snap_store_unlock(s);
	}
	if (r == 0) {
		*ret = t.info;
		t.info = (struct snap_info){0};
		if (o->keep)
			take_prune(s, o->owner, o->keep);
	}
	taking_done(&t);
	snap_trees_done(&trees);
	return r;
}
