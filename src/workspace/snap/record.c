/* SPDX-License-Identifier: Apache-2.0 */
/* See record.h and snap.h. */
#include "workspace/snap/record.h"

#include "base/clock.h"
#include "base/io.h"
#include "workspace/snap/step.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static const char record_magic[16] = "cordon-snap-1\n\n\n";

void snap_info_done(struct snap_info *i)
{
	free(i->name);
	free(i->owner);
	strv_done(&i->roots);
	*i = (struct snap_info){0};
}

void snap_list_done(struct snap_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		snap_info_done(&l->v[i]);
	free(l->v);
	*l = (struct snap_list){0};
}

bool snap_record_name_is_good(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= LIMIT_SNAPSHOT_NAME && name[0] != '.' && name[0] != '-' &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
		       len;
}

int snap_record_make_name(char ret[static LIMIT_SNAPSHOT_NAME + 1])
{
	time_t now = (time_t)(clock_wall_ms() / 1000);
	uint32_t salt;
	struct tm tm;
	char stamp[32];

	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		return -EIO;
	if (!gmtime_r(&now, &tm) || strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm) == 0)
		return -EINVAL;
	(void)snprintf(ret, LIMIT_SNAPSHOT_NAME + 1, "snap-%s-%06" PRIx32, stamp, salt >> 8);
	return 0;
}

void snap_record_encode(struct buf *b, const struct snap_info *i)
{
	buf_add(b, record_magic, sizeof(record_magic));
	snap_put_str(b, i->name);
	snap_put_str(b, i->owner);
	snap_put(b, i->roots.n, 2);
	for (size_t k = 0; k < i->roots.n; k++)
		snap_put_str(b, i->roots.v[k]);
	snap_put(b, (uint64_t)i->created_ns, 8);
	snap_put(b, i->files, 8);
	snap_put(b, i->bytes, 8);
	snap_put(b, i->skipped, 8);
	snap_put(b, i->is_imported, 1);
	buf_add(b, i->manifest, SNAP_DIGEST);
	if (!b->error)
		snap_put_seal(b);
}

static int record_decode_strings(struct snap_reader *r, struct snap_info *i)
{
	const char *name = snap_get_str(r, LIMIT_SNAPSHOT_NAME, NULL);
	const char *owner = snap_get_str(r, LIMIT_NAME_BYTES, NULL);
	size_t n = (size_t)snap_get(r, 2);

	if (!name || !owner || !snap_record_name_is_good(name) || n == 0 ||
	    n > LIMIT_SNAPSHOT_ROOTS)
		return -EBADMSG;
	i->name = strdup(name);
	i->owner = strdup(owner);
	if (!i->name || !i->owner)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++) {
		const char *root = snap_get_str(r, LIMIT_PATH_BYTES, NULL);

		if (!root)
			return -EBADMSG;
		if (strv_add(&i->roots, root) < 0)
			return -ENOMEM;
	}
	return 0;
}

int snap_record_decode(const void *data, size_t len, struct snap_info *ret)
{
	struct snap_info i = {0};
	struct snap_reader r;
	const uint8_t *magic, *digest;
	int e;

	if (!snap_check_seal(data, &len))
		return -EBADMSG;
	r = SNAP_READER(data, len);
	magic = snap_get_raw(&r, sizeof(record_magic));
	if (!magic || memcmp(magic, record_magic, sizeof(record_magic)) != 0)
		return -EBADMSG;
	e = record_decode_strings(&r, &i);
	i.created_ns = (int64_t)snap_get(&r, 8);
	i.created_ms = i.created_ns / 1000000;
	i.files = snap_get(&r, 8);
	i.bytes = snap_get(&r, 8);
	i.skipped = snap_get(&r, 8);
	i.is_imported = snap_get(&r, 1) != 0;
	digest = snap_get_raw(&r, SNAP_DIGEST);
	if (e == 0 && !snap_get_end(&r))
		e = -EBADMSG;
	if (e < 0 || !digest) {
		snap_info_done(&i);
		return e < 0 ? e : -EBADMSG;
	}
	memcpy(i.manifest, digest, SNAP_DIGEST);
	*ret = i;
	return 0;
}

int snap_record_write(struct snap_store *s, const struct snap_info *i, bool replaces,
		      struct cordon_error *err)
{
	struct buf b = BUF_INIT(RECORD_BYTES);
	int names = s->dirs[STORE_NAMES];
	char temp[24] = ".";
	int r;

	snap_record_encode(&b, i);
	r = buf_error(&b);
	if (r == 0)
		r = snap_store_unique(temp + 1);
	if (r == 0)
		r = io_write_file_at(names, temp, b.data, b.len, 0600);
	buf_done(&b);
	snap_step();
	if (r == 0 && renameat2(names, temp, names, i->name, replaces ? 0 : RENAME_NOREPLACE) < 0) {
		r = -errno;
		(void)unlinkat(names, temp, 0); /* the error that matters is r */
	}
	if (r == -EEXIST)
		return cordon_fail(err, CORDON_E_INVALID, "there is a snapshot '%s' already",
				   i->name);
	if (r < 0)
		return cordon_fail_leaf(err, r, "write the record of snapshot '%s'", i->name);
	snap_step();
	return snap_store_sync_dir(s, STORE_NAMES, err);
}

static int record_count_one(void *arg, int dirfd, const char *name)
{
	(void)dirfd;
	*(size_t *)arg += name[0] != '.';
	return 0;
}

int snap_record_count(struct snap_store *s, size_t *ret, struct cordon_error *err)
{
	int r;

	*ret = 0;
	r = snap_store_each(s->dirs[STORE_NAMES], record_count_one, ret);
	return r < 0 ? cordon_fail_leaf(err, r, "list the snapshots") : 0;
}

int snap_find(struct snap_store *s, const char *name, struct snap_info *ret,
	      struct cordon_error *err)
{
	AUTO_FREE char *data = NULL;
	size_t len = 0;
	int r;

	if (!snap_record_name_is_good(name))
		return cordon_fail(err, CORDON_E_INVALID, "'%s' cannot be a snapshot's name", name);
	r = snap_store_read(s, STORE_NAMES, name, RECORD_BYTES, &data, &len);
	if (r == -ENOENT)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_NOT_FOUND, "there is no snapshot '%s'",
					       name),
				   "'cordon snapshot list' lists them");
	if (r < 0)
		return cordon_fail_leaf(err, r, "read the record of snapshot '%s'", name);
	r = snap_record_decode(data, len, ret);
	if (r == 0 && strcmp(ret->name, name) != 0) {
		snap_info_done(ret);
		r = -EBADMSG;
	}
	if (r == -EBADMSG)
		return cordon_fail(err, CORDON_E_CORRUPT, "the record of snapshot '%s' is damaged",
				   name);
	return r < 0 ? cordon_nomem(err) : 0;
}

struct record_listing {
	struct snap_store *store;
	const char *owner;
	struct snap_list *list;
	size_t cap;
	struct strv *damaged;
	struct cordon_error *err;
};

static int record_list_one(void *arg, int dirfd, const char *name)
{
	struct record_listing *l = arg;
	struct snap_info i;
	int r;

	(void)dirfd;
	if (name[0] == '.')
		return 0;
	r = snap_find(l->store, name, &i, l->err);
	if (r == CORDON_E_NOT_FOUND) /* removed meanwhile */
		return 0;
	if (r < 0 && l->damaged && (r == CORDON_E_CORRUPT || r == CORDON_E_INVALID))
		return strv_add(l->damaged, name) < 0 ? cordon_nomem(l->err) : 0;
	if (r < 0)
		return r;
	if (l->owner && strcmp(i.owner, l->owner) != 0) {
		snap_info_done(&i);
		return 0;
	}
	if (mem_grow((void **)&l->list->v, &l->cap, l->list->n + 1, sizeof(i),
		     4 * (size_t)LIMIT_SNAPSHOTS) < 0) {
		snap_info_done(&i);
		return cordon_fail(l->err, CORDON_E_LIMIT, "there are too many snapshots");
	}
	l->list->v[l->list->n++] = i;
	return 0;
}

static int record_compare(const void *a, const void *b)
{
	const struct snap_info *x = a, *y = b;

	if (x->created_ns != y->created_ns)
		return x->created_ns < y->created_ns ? 1 : -1;
	return strcmp(y->name, x->name);
}

int snap_list(struct snap_store *s, const char *owner, struct snap_list *ret,
	      struct strv *ret_damaged, struct cordon_error *err)
{
	struct snap_list list = {0};
	struct record_listing l = {
		.store = s, .owner = owner, .list = &list, .damaged = ret_damaged, .err = err};
	int r = snap_store_each(s->dirs[STORE_NAMES], record_list_one, &l);

	if (r < 0) {
		snap_list_done(&list);
		return r > -1000 ? cordon_fail_leaf(err, r, "list the snapshots") : r;
	}
	if (list.n > 1)
		qsort(list.v, list.n, sizeof(*list.v), record_compare);
	*ret = list;
	return 0;
}

int snap_remove(struct snap_store *s, const char *name, struct cordon_error *err)
{
	int r = snap_store_needs_writing(s, err);

	if (r < 0)
		return r;
	if (!snap_record_name_is_good(name))
		return cordon_fail(err, CORDON_E_INVALID, "'%s' cannot be a snapshot's name", name);
	if (unlinkat(s->dirs[STORE_NAMES], name, 0) < 0)
		return errno == ENOENT
			       ? cordon_fail(err, CORDON_E_NOT_FOUND, "there is no snapshot '%s'",
					     name)
			       : cordon_fail_errno(err, errno, "remove snapshot '%s'", name);
	return snap_store_sync_dir(s, STORE_NAMES, err);
}
