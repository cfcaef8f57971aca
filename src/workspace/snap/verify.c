/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading everything that a snapshot needs, as a restore would.  What is not what its name says is set aside: as long
 * as it is in its place nobody would write it again, because it seems to be there.
 */
#include "base/mem.h"
#include "workspace/snap/index.h"
#include "workspace/snap/map.h"
#include "workspace/snap/object.h"

#include <string.h>

struct verifying {
	struct snap_store *store;
	struct snap_map objects; /* that were looked at */
	struct verify_bad {
		uint8_t digest[SNAP_DIGEST];
		size_t len;
		bool is_listing;
	} * bad; /* what is to be set aside */
	size_t n_bad;
	size_t cap_bad;
	struct snap_verified *result;
	struct cordon_error *err;
};

void snap_verified_done(struct snap_verified *v)
{
	strv_done(&v->problems);
	*v = (struct snap_verified){0};
}

static int verify_problem(struct verifying *v, const char *name, const char *text)
{
	if (v->result->problems.n >= SNAP_PROBLEMS)
		return 0;
	return strv_addf(&v->result->problems, "snapshot '%s': %s", name, text) < 0
		       ? cordon_nomem(v->err)
		       : 0;
}

/* What is a fact about the store becomes a line, trouble of our own ends the search. */
static int verify_outcome(struct verifying *v, const char *name, int r,
			  const struct cordon_error *own)
{
	if (r == CORDON_E_CORRUPT || r == CORDON_E_LIMIT || r == CORDON_E_INVALID)
		return verify_problem(v, name, own->message);
	if (r < 0 && v->err)
		*v->err = *own;
	return r;
}

static int verify_is_bad(struct verifying *v, const uint8_t *digest, size_t len, bool is_listing)
{
	void *bad = v->bad;

	if (v->n_bad >= SNAP_PROBLEMS)
		return 0; /* as many as are told; the next time it is the turn of others */
	if (mem_grow(&bad, &v->cap_bad, v->n_bad + 1, sizeof(*v->bad), SNAP_PROBLEMS) < 0)
		return cordon_nomem(v->err);
	v->bad = bad;
	v->bad[v->n_bad] = (struct verify_bad){.len = len, .is_listing = is_listing};
	memcpy(v->bad[v->n_bad++].digest, digest, SNAP_DIGEST);
	return 0;
}

static int verify_object(struct verifying *v, const char *name, const uint8_t *digest, size_t len)
{
	struct cordon_error own = {0};
	bool is_bad;
	int r;

	if (snap_digest_is_hole(digest))
		return 0;
	r = snap_map_put(&v->objects, digest, 0);
	if (r <= 0)
		return r < 0 ? cordon_nomem(v->err) : 0;
	v->result->objects++;
	v->result->bytes += len;
	r = snap_object_read(v->store, digest, len, v->store->chunk, &own);
	is_bad = r == CORDON_E_CORRUPT;
	r = verify_outcome(v, name, r, &own);
	return r == 0 && is_bad ? verify_is_bad(v, digest, len, /* is_listing= */ false) : r;
}

static int verify_one(struct verifying *v, const char *name)
{
	struct cordon_error own = {0};
	struct snap_manifest m = {0};
	struct snap_info info = {0};
	bool is_bad = false;
	int r = snap_find(v->store, name, &info, &own);

	if (r == 0) {
		r = snap_listing_read(v->store, info.manifest, &m, &own);
		is_bad = r == CORDON_E_CORRUPT;
	}
	if (r == 0)
		v->result->snapshots++;
	r = verify_outcome(v, name, r, &own);
	if (r == 0 && is_bad)
		r = verify_is_bad(v, info.manifest, 0, /* is_listing= */ true);
	for (size_t i = 0; r == 0 && i < m.n; i++)
		for (size_t k = 0; r == 0 && k < m.entries[i].n_chunks; k++)
			r = verify_object(v, name, m.entries[i].chunks + SNAP_DIGEST * k,
					  snap_chunk_len(&m.entries[i], k));
	snap_manifest_done(&m);
	snap_info_done(&info);
	return r;
}

static int verify_all(struct verifying *v)
{
	struct snap_list list = {0};
	struct strv damaged = {0};
	int r = snap_list(v->store, NULL, &list, &damaged, v->err);

	for (size_t i = 0; r == 0 && i < damaged.n; i++)
		r = verify_problem(v, damaged.v[i], "its record is damaged");
	for (size_t i = 0; r == 0 && i < list.n; i++)
		r = verify_one(v, list.v[i].name);
	snap_list_done(&list);
	strv_done(&damaged);
	return r;
}

/* Is it so still?  Meanwhile somebody may have written it anew. */
static bool verify_is_still_bad(struct verifying *v, const struct verify_bad *b)
{
	struct cordon_error own = {0};
	struct snap_manifest m = {0};
	int r;

	if (!b->is_listing)
		return snap_object_read(v->store, b->digest, b->len, v->store->chunk, &own) ==
		       CORDON_E_CORRUPT;
	r = snap_listing_read(v->store, b->digest, &m, &own);
	snap_manifest_done(&m);
	return r == CORDON_E_CORRUPT;
}

/* Nobody else is there: who takes a snapshot has looked which objects it need not write. */
static int verify_set_aside(struct verifying *v)
{
	int r = snap_store_lock(v->store, LOCK_EX, v->err);

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < v->n_bad; i++) {
		if (!verify_is_still_bad(v, &v->bad[i]))
			continue;
		r = snap_object_set_aside(v->store, v->bad[i].digest, v->bad[i].is_listing, v->err);
		v->result->set_aside += r > 0;
		r = r > 0 ? 0 : r;
	}
	/* They say of files that they need not be read again. */
	if (r == 0)
		r = snap_index_forget_all(v->store, v->err);
	snap_store_unlock(v->store);
	return r;
}

int snap_verify(struct snap_store *s, const char *name, struct snap_verified *ret,
		struct cordon_error *err)
{
	struct verifying v = {.store = s, .result = ret, .err = err};
	int r;

	*ret = (struct snap_verified){0};
	r = snap_store_lock(s, LOCK_SH, err);
	if (r < 0)
		return r;
	r = name ? verify_one(&v, name) : verify_all(&v);
	snap_store_unlock(s);
	snap_map_done(&v.objects);
	if (r == 0 && v.n_bad > 0 && !s->is_read_only)
		r = verify_set_aside(&v);
	free(v.bad);
	if (r == 0 && ret->problems.n > 0)
		r = cordon_fail(err, CORDON_E_CORRUPT, "%s", ret->problems.v[0]);
	return r;
}
