/* SPDX-License-Identifier: Apache-2.0 */
/* See merge.h. */
#include "policy/merge.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "policy/check.h"

#include <errno.h>
#include <string.h>

enum relation { SAME_OR_TIGHTER, WIDER };

static bool merge_is_list(const struct field *f)
{
	return f->type == FIELD_LIST || f->type == FIELD_RECORDS || f->type == FIELD_MAP ||
	       f->type == FIELD_WORDS;
}

/* Two values of a scalar row as numbers, for comparing. */
static double merge_number(const struct field *f, const void *object)
{
	const void *v = field_value_const(f, object);

	switch (f->type) {
	case FIELD_BOOL:
		return *(const bool *)v;
	case FIELD_ENUM:
		return *(const int *)v;
	case FIELD_INT:
	case FIELD_AGE:
		return (double)*(const int64_t *)v;
	case FIELD_NUMBER:
		return *(const double *)v;
	case FIELD_STRING:
	case FIELD_LIST:
	case FIELD_RECORDS:
	case FIELD_MAP:
	case FIELD_WORDS:
	case FIELD_TYPE_COUNT:
		break;
	}
	return 0;
}

/* Does what is in force already mount path with at least these permissions? */
static bool merge_mount_covered(const struct policy *p, const struct mount *m)
{
	if (p->fs_mode == FS_FULL)
		return true;
	for (size_t i = 0; i < p->mounts.n; i++) {
		const struct mount *have = p->mounts.records[i];

		if (path_is_within(m->path, have->path) && m->permissions <= have->permissions)
			return true;
	}
	return false;
}

static bool merge_path_listed(const struct item_list *have, const char *path)
{
	for (size_t i = 0; i < have->n; i++)
		if (path_is_within(path, have->items[i].text))
			return true;
	return false;
}

static bool merge_host_covered(const struct policy *p, const struct policy_context *c,
			       const char *host)
{
	if (p->net_mode == NET_ALLOW_ALL)
		return true;
	for (size_t i = 0; i < p->allowed_hosts.n; i++)
		if (c->checks->host_covers(p->allowed_hosts.items[i].text, host))
			return true;
	return false;
}

static bool merge_item_covered(const struct policy *p, const struct policy_context *c, size_t row,
			       const char *text)
{
	const struct field *f = &shape_policy.fields[row];
	const struct item_list *have = field_value_const(f, p);

	if (row == POLICY_ALLOWED_HOSTS)
		return merge_host_covered(p, c, text);
	/* Sockets are granted by exact path. */
	if (f->check == CHECK_PATH && row != POLICY_SOCKETS)
		return merge_path_listed(have, text);
	for (size_t i = 0; i < have->n; i++) {
		if (f->check == CHECK_CIDR && c->checks->cidr_covers(have->items[i].text, text))
			return true;
		if (strcmp(have->items[i].text, text) == 0)
			return true;
	}
	return false;
}

/*
 * The first egress rule that matches decides, so rules of a layer that tightens stand before those in
 * force: a refusal there can only refuse more.  A grant there could jump over a refusal in force; it
 * passes only where no rules are in force yet, for a host that is reachable anyway.
 */
static bool merge_egress_covered(const struct policy *p, const struct policy_context *c,
				 const struct egress *e)
{
	bool acts = origin_is_set(&e->origin[EGRESS_ACTION_ROW]);

	return (acts && e->action == EGRESS_DENY) ||
	       (p->egress.n == 0 && merge_host_covered(p, c, e->host));
}

static bool merge_grant_covered(const struct policy *p, const struct policy_context *c,
				const struct grant *g)
{
	for (size_t i = 0; i < p->secret_grants.n; i++) {
		const struct grant *have = p->secret_grants.records[i];
		bool all = true;

		if (strcmp(have->name, g->name) != 0)
			continue;
		for (size_t h = 0; h < g->hosts.n && all; h++) {
			bool one = false;

			for (size_t k = 0; k < have->hosts.n && !one; k++)
				one = c->checks->host_covers(have->hosts.items[k].text,
							     g->hosts.items[h].text);
			all = one;
		}
		if (all && (g->hosts.n > 0 || have->hosts.n == 0))
			return true;
	}
	return false;
}

/* The first entry of a list of grants, from *ret_at on, that is not granted yet: its origin, index and
 * text; NULL when all are. */
static const struct origin *merge_uncovered(const struct policy *p, const struct policy *layer,
					    const struct policy_context *c, size_t row,
					    size_t *ret_at, const char **ret_text)
{
	const struct field *f = &shape_policy.fields[row];
	const void *v = field_value_const(f, layer);

	if (f->type == FIELD_LIST) {
		const struct item_list *l = v;

		for (; *ret_at < l->n; ++*ret_at) {
			*ret_text = l->items[*ret_at].raw;
			if (!merge_item_covered(p, c, row, l->items[*ret_at].text))
				return &l->items[*ret_at].origin;
		}
		return NULL;
	}
	for (; *ret_at < ((const struct record_list *)v)->n; ++*ret_at) {
		const void *record = ((const struct record_list *)v)->records[*ret_at];
		bool covered = false;

		*ret_text = *(char *const *)field_value_const(&f->shape->fields[0], record);
		if (row == POLICY_MOUNTS)
			covered = merge_mount_covered(p, record);
		else if (row == POLICY_EGRESS)
			covered = merge_egress_covered(p, c, record);
		else if (row == POLICY_SECRET_GRANTS)
			covered = merge_grant_covered(p, c, record);
		if (!covered)
			return shape_origin_const(f->shape, record, 0);
	}
	return NULL;
}

/* Is the value `inner` of a scalar row within `outer`? */
static enum relation merge_compare(size_t row, const struct policy *outer,
				   const struct policy *inner)
{
	const struct field *f = &shape_policy.fields[row];
	bool outer_set = policy_has(outer, (enum policy_row)row);
	double a = merge_number(f, outer), b = merge_number(f, inner);

	switch (f->tighten) {
	case TIGHTEN_LOWER:
		/* A number that nothing sets is no limit; a mode that nothing sets is the tightest. */
		if (!outer_set && f->type == FIELD_ENUM)
			return b > 0 ? WIDER : SAME_OR_TIGHTER;
		return !outer_set || b <= a ? SAME_OR_TIGHTER : WIDER;
	case TIGHTEN_HIGHER:
		return !outer_set || b >= a ? SAME_OR_TIGHTER : WIDER;
	case TIGHTEN_TRUE:
		return b > 0 || (outer_set && a == 0) ? SAME_OR_TIGHTER : WIDER;
	case TIGHTEN_FALSE:
		return b == 0 || (outer_set && a > 0) ? SAME_OR_TIGHTER : WIDER;
	case TIGHTEN_NEVER:
		return outer_set && field_same(&shape_policy, row, outer, inner) ? SAME_OR_TIGHTER
										 : WIDER;
	case TIGHTEN_UNION:
	case TIGHTEN_SUBSET:
	case TIGHTEN_RULES:
	case TIGHTEN_COUNT:
		break;
	}
	return SAME_OR_TIGHTER;
}

static int merge_refuse(const struct policy *p, const struct policy *layer, size_t row,
			const struct origin *where, const char *entry, struct cordon_error *err)
{
	const struct field *f = &shape_policy.fields[row];
	struct buf now = BUF_INIT(512), want = BUF_INIT(512);
	/* layer, file and place: never cut */
	struct buf origin = BUF_INIT(2 * LIMIT_PATH_BYTES), place = BUF_INIT(2 * LIMIT_PATH_BYTES);
	int code;

	policy_origin_text(p, where, &place);
	policy_origin_text(p, &p->origin[row], &origin);
	policy_value_text(&shape_policy, row, p, &now);
	policy_value_text(&shape_policy, row, layer, &want);
	if (entry)
		code = cordon_fail(err, CORDON_E_WIDENS,
				   "%s: '%s' would grant '%.200s', which nothing above grants",
				   buf_cstr(&place), f->path, entry);
	else if (f->tighten == TIGHTEN_NEVER)
		code = cordon_fail(err, CORDON_E_WIDENS, "%s: '%s' may not be set here",
				   buf_cstr(&place), f->path);
	else
		code = cordon_fail(err, CORDON_E_WIDENS, "%s: '%s: %.100s' would widen '%.100s'",
				   buf_cstr(&place), f->path, buf_cstr(&want), buf_cstr(&now));
	code = cordon_hint(err, code,
			   "in force: %s, from %s; a layer that may only tighten cannot "
			   "loosen it: use the user's policy.yaml or an option",
			   now.len ? buf_cstr(&now) : "nothing", buf_cstr(&origin));
	buf_done(&now);
	buf_done(&origin);
	buf_done(&want);
	buf_done(&place);
	return code;
}

/* Appends to lists that are not empty. */
static int merge_copy(struct policy *p, const struct policy *layer, size_t row,
		      struct cordon_error *err)
{
	int e = field_copy(&shape_policy, row, p, layer);

	if (e == -E2BIG)
		return cordon_fail(err, CORDON_E_LIMIT, "'%s' has too many entries in all layers",
				   shape_policy.fields[row].path);
	return e < 0 ? cordon_nomem(err) : 0;
}

static int merge_set(struct policy *p, const struct policy *layer, size_t row,
		     struct cordon_error *err)
{
	field_clear(&shape_policy, row, p);
	return merge_copy(p, layer, row, err);
}

/* Appends the entries of the layer's list. */
static int merge_append(struct policy *p, const struct policy *layer, size_t row,
			struct cordon_error *err)
{
	struct origin o = p->origin[row];
	int e;

	if (!merge_is_list(&shape_policy.fields[row]))
		return merge_set(p, layer, row, err);
	e = merge_copy(p, layer, row, err);
	if (e < 0)
		return e;
	if (origin_is_set(&o) && layer->origin[row].implied)
		p->origin[row] = o;
	return 0;
}

/* Takes an entry out of a list of records or strings. */
static void merge_drop(struct policy *p, size_t row, size_t index)
{
	const struct field *f = &shape_policy.fields[row];

	if (f->type == FIELD_LIST) {
		struct item_list *l = field_value(f, p);

		free(l->items[index].text);
		free(l->items[index].raw);
		l->n--;
		memmove(&l->items[index], &l->items[index + 1],
			(l->n - index) * sizeof(l->items[0]));
	} else {
		struct record_list *l = field_value(f, p);

		shape_done(f->shape, l->records[index]);
		free(l->records[index]);
		l->n--;
		memmove(&l->records[index], &l->records[index + 1],
			(l->n - index) * sizeof(l->records[0]));
	}
}

/* Puts the layer's rules before those in force. */
static int merge_prepend(struct policy *p, const struct policy *layer, size_t row,
			 struct cordon_error *err)
{
	struct record_list *l = field_value(&shape_policy.fields[row], p);
	struct record_list before = *l;
	int e;

	*l = (struct record_list){0};
	e = merge_copy(p, layer, row, err);
	for (size_t i = 0; i < before.n; i++) {
		void **slot = NULL;

		if (e == 0 && l->n < LIMIT_POLICY_ITEMS) {
			void *grown = l->records;

			e = mem_grow(&grown, &l->cap, l->n + 1, sizeof(void *), LIMIT_POLICY_ITEMS);
			l->records = grown;
			slot = e < 0 ? NULL : &l->records[l->n++];
			e = e < 0 ? cordon_nomem(err) : 0;
		} else if (e == 0) {
			e = cordon_fail(err, CORDON_E_LIMIT,
					"'%s' has too many entries in all layers",
					shape_policy.fields[row].path);
		}
		if (slot) {
			*slot = before.records[i];
		} else {
			shape_done(shape_policy.fields[row].shape, before.records[i]);
			free(before.records[i]);
		}
	}
	free(before.records);
	return e;
}

static int merge_tighten_row(struct policy *p, const struct policy *layer, size_t row,
			     const struct policy_context *c, struct cordon_error *err)
{
	const struct field *f = &shape_policy.fields[row];

	switch (f->tighten) {
	case TIGHTEN_UNION:
	case TIGHTEN_RULES:
		return merge_append(p, layer, row, err);
	case TIGHTEN_SUBSET: {
		const char *entry = NULL;
		size_t at = 0;
		const struct origin *bad = merge_uncovered(p, layer, c, row, &at, &entry);

		if (bad)
			return merge_refuse(p, layer, row, bad, entry, err);
		return row == POLICY_EGRESS ? merge_prepend(p, layer, row, err)
					    : merge_set(p, layer, row, err);
	}
	case TIGHTEN_LOWER:
	case TIGHTEN_HIGHER:
	case TIGHTEN_TRUE:
	case TIGHTEN_FALSE:
	case TIGHTEN_NEVER:
	case TIGHTEN_COUNT:
		break;
	}
	if (merge_compare(row, p, layer) == WIDER) {
		/* What a manifest leaves out asks for nothing. */
		if (layer->origin[row].implied)
			return 0;
		return merge_refuse(p, layer, row, &layer->origin[row], NULL, err);
	}
	return merge_set(p, layer, row, err);
}

static int merge_exceeds(const struct policy *p, const struct policy *ceiling, size_t row,
			 const struct origin *bad, const char *entry, struct cordon_error *err)
{
	struct buf place = BUF_INIT(2 * LIMIT_PATH_BYTES), from = BUF_INIT(2 * LIMIT_PATH_BYTES);
	struct buf limit = BUF_INIT(512);
	int code;

	policy_origin_text(p, bad, &place);
	policy_value_text(&shape_policy, row, ceiling, &limit);
	policy_origin_text(p, &ceiling->origin[row], &from);
	code = cordon_fail(err, CORDON_E_WIDENS, "%s: '%s'%s%.200s exceeds the ceiling",
			   buf_cstr(&place), shape_policy.fields[row].path, entry ? " entry " : "",
			   entry ? entry : "");
	code = cordon_hint(err, code, "the ceiling is %.200s (%s); no layer or option passes it",
			   buf_cstr(&limit), buf_cstr(&from));
	buf_done(&place);
	buf_done(&limit);
	buf_done(&from);
	return code;
}

/* The origin of an entry of a list of grants. */
static const struct origin *merge_entry_origin(const struct policy *p, size_t row, size_t index)
{
	const struct field *f = &shape_policy.fields[row];
	const void *v = field_value_const(f, p);

	if (f->type == FIELD_LIST)
		return &((const struct item_list *)v)->items[index].origin;
	return shape_origin_const(f->shape, ((const struct record_list *)v)->records[index], 0);
}

/* A list of grants against a ceiling: what somebody wrote must be covered, the rest is lowered or goes.
 * Nothing is added: a ceiling grants nothing. */
static int merge_ceiling_grants(struct policy *p, const struct policy *ceiling, size_t row,
				const struct policy_context *c, struct cordon_error *err)
{
	const char *entry = NULL;
	size_t at = 0;
	const struct origin *bad;

	while ((bad = merge_uncovered(ceiling, p, c, row, &at, &entry))) {
		if (origin_is_written(bad))
			return merge_exceeds(p, ceiling, row, bad, entry, err);
		if (row == POLICY_MOUNTS) {
			struct mount *m = p->mounts.records[at];

			if (m->permissions == PERMISSION_RW) {
				m->permissions = PERMISSION_RO;
				continue;
			}
		}
		merge_drop(p, row, at);
	}
	return 0;
}

/* Rules of a ceiling come first; see merge_egress_covered(). */
static int merge_ceiling_egress(struct policy *p, const struct policy *ceiling,
				const struct policy_context *c, struct cordon_error *err)
{
	const char *entry = NULL;
	size_t at = 0;
	int e;

	if (p->egress.n > 0 && merge_uncovered(p, ceiling, c, POLICY_EGRESS, &at, &entry))
		return merge_exceeds(p, ceiling, POLICY_EGRESS,
				     merge_entry_origin(p, POLICY_EGRESS, 0), "list", err);
	e = merge_prepend(p, ceiling, POLICY_EGRESS, err);
	/* The ceiling grants nothing: its grants for hosts that are not reachable anyway go. */
	for (size_t i = p->egress.n; e == 0 && i-- > 0;) {
		const struct egress *rule = p->egress.records[i];

		if (rule->action == EGRESS_ALLOW && !merge_host_covered(p, c, rule->host))
			merge_drop(p, POLICY_EGRESS, i);
	}
	return e;
}

/* What is in force (p) against a ceiling row. */
static int merge_ceiling_row(struct policy *p, const struct policy *ceiling, size_t row,
			     const struct policy_context *c, struct cordon_error *err)
{
	const struct field *f = &shape_policy.fields[row];
	if (f->tighten == TIGHTEN_UNION || f->tighten == TIGHTEN_RULES)
		return merge_append(p, ceiling, row, err);
	if (row == POLICY_EGRESS)
		return merge_ceiling_egress(p, ceiling, c, err);
	if (f->tighten == TIGHTEN_SUBSET)
		return merge_ceiling_grants(p, ceiling, row, c, err);
	if (!policy_has(p, (enum policy_row)row))
		return merge_set(p, ceiling, row, err);
	if (merge_compare(row, ceiling, p) == SAME_OR_TIGHTER)
		return 0;
	if (!origin_is_written(&p->origin[row]))
		return merge_set(p, ceiling, row, err);
	return merge_exceeds(p, ceiling, row, &p->origin[row], NULL, err);
}

/*
 * The order in which rows are judged matters in one place: lists of grants are judged against the mode
 * that was in force before (an upper `full` or `allow-all` covers every entry), so modes are applied
 * after lists.
 */
static bool merge_is_mode(size_t row)
{
	return row == POLICY_NET_MODE || row == POLICY_FS_MODE;
}

/* A path that an option mounts again is mounted as the option says. */
static void merge_replaced_mounts(struct policy *p, const struct policy *layer)
{
	for (size_t i = 0; i < layer->mounts.n; i++) {
		const struct mount *m = layer->mounts.records[i];

		for (size_t k = p->mounts.n; k-- > 0;)
			if (strcmp(((const struct mount *)p->mounts.records[k])->path, m->path) ==
			    0)
				merge_drop(p, POLICY_MOUNTS, k);
	}
}

static int merge_row(struct policy *p, const struct policy *layer, size_t row, enum merge_mode mode,
		     const struct policy_context *c, struct cordon_error *err)
{
	const struct field *f = &shape_policy.fields[row];

	if (!policy_has(layer, (enum policy_row)row))
		return 0;
	switch (mode) {
	case MERGE_REPLACE:
		return f->tighten == TIGHTEN_UNION || f->tighten == TIGHTEN_RULES
			       ? merge_append(p, layer, row, err)
			       : merge_set(p, layer, row, err);
	case MERGE_EXTEND:
		if (row == POLICY_MOUNTS)
			merge_replaced_mounts(p, layer);
		return merge_append(p, layer, row, err);
	case MERGE_TIGHTEN:
		return merge_tighten_row(p, layer, row, c, err);
	case MERGE_CEILING:
		return merge_ceiling_row(p, layer, row, c, err);
	}
	return cordon_fail(err, CORDON_E_INTERNAL, "a merge of no mode");
}

/*
 * The filesystem modes are not one chain: read-only shows the workspace, scoped shows what its mounts
 * say and nothing else.  Read-only on top of scoped is tighter only where the workspace is mounted.
 */
static int merge_check_fs(const struct policy *p, const struct policy *layer,
			  const struct policy_context *c, struct cordon_error *err)
{
	const struct mount workspace = {.path = (char *)(uintptr_t)c->workspace,
					.permissions = PERMISSION_RO};

	if (!policy_has(layer, POLICY_FS_MODE) || layer->fs_mode != FS_READ_ONLY ||
	    p->fs_mode != FS_SCOPED || merge_mount_covered(p, &workspace))
		return 0;
	return merge_refuse(p, layer, POLICY_FS_MODE, &layer->origin[POLICY_FS_MODE], c->workspace,
			    err);
}

/* A ceiling that lists mounts without a mode means the mode in which they count. */
static int merge_check_ceiling_fs(const struct policy *p, const struct policy *ceiling,
				  struct cordon_error *err)
{
	if (!policy_has(ceiling, POLICY_MOUNTS) || policy_has(ceiling, POLICY_FS_MODE) ||
	    p->fs_mode != FS_FULL)
		return 0;
	return merge_exceeds(p, ceiling, POLICY_MOUNTS, &p->origin[POLICY_FS_MODE], "full", err);
}

int policy_merge(struct policy *p, const struct policy *layer, enum merge_mode mode,
		 const struct policy_context *context, struct cordon_error *err)
{
	int r = 0;

	if (mode == MERGE_TIGHTEN)
		r = merge_check_fs(p, layer, context, err);
	else if (mode == MERGE_CEILING)
		r = merge_check_ceiling_fs(p, layer, err);

	for (int pass = 0; pass < 2; pass++) {
		for (size_t row = 0; row < POLICY_ROWS && r == 0; row++)
			if (merge_is_mode(row) == (pass == 1))
				r = merge_row(p, layer, row, mode, context, err);
	}
	/* A layer that moves the level and says nothing about the runtime leaves the old one behind. */
	if (r == 0 && policy_has(layer, POLICY_LEVEL) && !policy_has(layer, POLICY_RUNTIME) &&
	    policy_has(p, POLICY_RUNTIME) &&
	    (int)runtime_level((enum runtime)p->runtime) != p->level)
		field_clear(&shape_policy, POLICY_RUNTIME, p);
	return r;
}

int policy_reset_sandbox(struct policy *p, const struct policy *builtin, struct cordon_error *err)
{
	for (size_t row = 0; row < POLICY_ROWS; row++) {
		const struct field *f = &shape_policy.fields[row];

		if (!str_starts(f->path, "sandbox.") || f->tighten == TIGHTEN_UNION)
			continue;
		field_clear(&shape_policy, row, p);
		if (row != POLICY_MOUNTS && policy_has(builtin, (enum policy_row)row) &&
		    field_copy(&shape_policy, row, p, builtin) < 0)
			return cordon_nomem(err);
	}
	return 0;
}
