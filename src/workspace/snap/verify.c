/* SPDX-License-Identifier: Apache-2.0 */
/* Reading everything that a snapshot needs, as a restore would. */
#include "workspace/snap/map.h"
#include "workspace/snap/object.h"

#include <string.h>

struct verifying {
	struct snap_store *store;
	struct snap_map objects; /* that were looked at; the value: was it good? */
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

static int verify_object(struct verifying *v, const char *name, const uint8_t *digest, size_t len)
{
	struct cordon_error own = {0};
	int r;

	if (snap_digest_is_hole(digest))
		return 0;
	r = snap_map_put(&v->objects, digest, 0);
	if (r <= 0)
		return r < 0 ? cordon_nomem(v->err) : 0;
	v->result->objects++;
	v->result->bytes += len;
	r = snap_object_read(v->store, digest, len, v->store->chunk, &own);
	return verify_outcome(v, name, r, &own);
}

static int verify_one(struct verifying *v, const char *name)
{
	struct cordon_error own = {0};
	struct snap_manifest m = {0};
	struct snap_info info = {0};
	int r = snap_find(v->store, name, &info, &own);

	if (r == 0)
		r = snap_listing_read(v->store, info.manifest, &m, &own);
	if (r == 0)
		v->result->snapshots++;
	r = verify_outcome(v, name, r, &own);
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
	if (r == 0 && ret->problems.n > 0)
		r = cordon_fail(err, CORDON_E_CORRUPT, "%s", ret->problems.v[0]);
	return r;
}
