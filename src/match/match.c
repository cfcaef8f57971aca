/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See match.h.  The engine's own errors become -errno here.
 */
#include "match/match.h"

#include "base/mem.h"
#include "match/db.h"
#include "match/engine.h"

#include <errno.h>
#include <limits.h>

struct match {
	const struct match_engine *engine;
	const hs_database_t *db;
	hs_scratch_t *scratch;
};

/* What one call of the library hands to its callback. */
struct match_call {
	match_fn *fn;
	void *data;
};

static int match_errno(hs_error_t e)
{
	switch (e) {
	case HS_SUCCESS:
		return 0;
	case HS_NOMEM:
	case HS_BAD_ALLOC:
		return -ENOMEM;
	case HS_SCAN_TERMINATED:
		return -ECANCELED;
	case HS_ARCH_ERROR:
	case HS_DB_PLATFORM_ERROR:
		return -ENOTSUP;
	case HS_SCRATCH_IN_USE:
		return -EBUSY;
	default:
		return -EINVAL;
	}
}

int match_new(const struct match_db *db, struct match **ret)
{
	const struct match_engine *engine = match_engine_get();
	struct match *m;
	int r;

	if (!engine)
		return -ENOTSUP;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->engine = engine;
	m->db = (const hs_database_t *)(const void *)db->image;
	r = match_errno(hs_alloc_scratch(m->db, &m->scratch));
	if (r < 0) {
		match_free(m);
		return r;
	}
	*ret = m;
	return 0;
}

void match_free(struct match *m)
{
	if (!m)
		return;
	(void)hs_free_scratch(m->scratch);
	free(m);
}

static int match_on_event(unsigned int id, unsigned long long from, unsigned long long to,
			  unsigned int flags, void *data)
{
	const struct match_call *call = data;

	(void)flags;
	return call->fn(call->data, id, from, to);
}

int match_scan(struct match *m, const char *text, size_t len, match_fn *fn, void *data)
{
	struct match_call call = {.fn = fn, .data = data};

	if (len > UINT_MAX)
		return -E2BIG;
	return match_errno(
		m->engine->scan(m->db, text, (unsigned)len, 0, m->scratch, match_on_event, &call));
}
