/* SPDX-License-Identifier: Apache-2.0 */
/* Policies: loading, and asking what is in force. */
#include "lib/lib.h"

#include "base/limits.h"
#include "policy/explain.h"
#include "policy/rules.h"
#include "policy/schema.h"

#include <string.h>

DEFINE_FREEP(struct cordon_policy, cordon_policy_free)

static int policy_options_check(const struct cordon_policy_options *o, struct cordon_error *err)
{
	if (o->spoilt.code) {
		if (err)
			*err = o->spoilt;
		return cordon_wrap(err, o->spoilt.code, "an option was refused before");
	}
	if (o->layer->allowed_hosts.n > 0 && policy_has(o->layer, POLICY_NET_MODE) &&
	    o->layer->net_mode != NET_ALLOWLIST)
		return cordon_fail(err, CORDON_E_INVALID, "allow-host contradicts net '%s'",
				   names_word(&names_net_mode, o->layer->net_mode));
	return 0;
}

static int policy_make(const struct cordon_policy_options *o, struct cordon_policy **ret,
		       struct cordon_error *err)
{
	AUTO(cordon_policy_freep) struct cordon_policy *p = calloc(1, sizeof(*p));
	struct effective places = o->places; /* a view: only the policy in it is ours */
	int r;

	if (!p)
		return cordon_nomem(err);
	p->workspace = strdup(places.workspace);
	p->state_dir = strdup(places.state_dir);
	p->backend = o->backend ? strdup(o->backend) : NULL;
	if (!p->workspace || !p->state_dir || (o->backend && !p->backend))
		return cordon_nomem(err);
	r = effective_load_texts(&places, &o->files, o->texts, o->n_texts, o->layer, err);
	if (r < 0)
		return r;
	p->policy = places.policy;
	*ret = TAKE_PTR(p);
	return 0;
}

int cordon_policy_load(const struct cordon_policy_options *o, struct cordon_policy **ret,
		       struct cordon_error *err)
{
	int r;

	lib_enter(err);
	if (!o || !ret)
		return lib_leave(lib_missing(err, o ? "place for the policy" : "options"), err);
	r = policy_options_check(o, err);
	return lib_leave(r < 0 ? r : policy_make(o, ret, err), err);
}

int cordon_policy_parse(const char *text, size_t len, const char *name, const char *workspace,
			struct cordon_policy **ret, struct cordon_error *err)
{
	AUTO(cordon_policy_options_freep) struct cordon_policy_options *o = NULL;
	int r = cordon_policy_options_new(workspace, &o, err);

	if (r == 0)
		r = cordon_policy_options_flags(o, CORDON_POLICY_NO_USER | CORDON_POLICY_NO_PROJECT,
						err);
	if (r == 0)
		r = cordon_policy_options_text(o, text, len, name, err);
	return r == 0 ? cordon_policy_load(o, ret, err) : r;
}

void cordon_policy_free(struct cordon_policy *p)
{
	if (!p)
		return;
	policy_free(p->policy);
	free(p->workspace);
	free(p->state_dir);
	free(p->backend);
	free(p);
}

const char *cordon_policy_workspace(const struct cordon_policy *p)
{
	return p ? p->workspace : NULL;
}

static int policy_get(const struct policy *p, const char *field, char **ret,
		      struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	int row = shape_find(&shape_policy, field);
	int r;

	if (row < 0)
		return cordon_fail(err, CORDON_E_INVALID, "there is no field '%.200s'", field);
	if (!policy_has(p, (enum policy_row)row))
		return cordon_fail(err, CORDON_E_NOT_FOUND, "nothing sets '%s'", field);
	policy_value_text(&shape_policy, (size_t)row, p, &b);
	r = lib_give(&b, field, ret, NULL, err);
	buf_done(&b);
	return r;
}

int cordon_policy_get(const struct cordon_policy *p, const char *field, char **ret_value,
		      struct cordon_error *err)
{
	lib_enter(err);
	if (!p || !field || !ret_value)
		return lib_leave(lib_missing(err, !p       ? "policy"
						  : !field ? "field"
							   : "place for the value"),
				 err);
	return lib_leave(policy_get(p->policy, field, ret_value, err), err);
}

struct policy_walk {
	const struct policy *policy;
	cordon_policy_value_fn *fn;
	void *data;
	bool is_ended;
};

static int policy_walk_row(void *data, const struct explain_row *row)
{
	struct policy_walk *w = data;
	const struct origin *o = row->origin;
	const struct cordon_policy_value value = {
		.struct_size = sizeof(value),
		.field = row->field->path,
		.value = row->value,
		.layer = layer_name((enum layer)o->layer),
		.from = row->from,
		.file = o->line && o->file < w->policy->files.n ? w->policy->files.v[o->file]
								: NULL,
		.line = o->line,
		.column = o->column,
		.entry = row->entry,
		.implied = o->implied,
	};

	w->is_ended = w->fn(w->data, &value) != 0;
	return w->is_ended ? CORDON_E_REFUSED : 0; /* any code: it only ends the walk */
}

int cordon_policy_explain(const struct cordon_policy *p, cordon_policy_value_fn *fn, void *data,
			  struct cordon_error *err)
{
	struct policy_walk w = {.fn = fn, .data = data};
	int r;

	lib_enter(err);
	if (!p || !fn)
		return lib_leave(lib_missing(err, p ? "callback" : "policy"), err);
	w.policy = p->policy;
	r = policy_explain(p->policy, policy_walk_row, &w, err);
	return lib_leave(w.is_ended ? 1 : r, err);
}

int cordon_policy_show_json(const struct cordon_policy *p, char **ret_json, size_t *ret_len,
			    struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	int r;

	lib_enter(err);
	if (!p || !ret_json)
		return lib_leave(lib_missing(err, p ? "place for the JSON" : "policy"), err);
	policy_show_json(p->policy, /* written_only= */ false, &j);
	r = lib_give(&b, "policy", ret_json, ret_len, err);
	buf_done(&b);
	return lib_leave(r, err);
}

const char *cordon_policy_warning(const struct cordon_policy *p, size_t index)
{
	return p && index < p->policy->warnings.n ? p->policy->warnings.v[index] : NULL;
}

int cordon_policy_thresholds(const struct cordon_policy *p, const char *tool, const char *agent,
			     struct cordon_thresholds *ret, struct cordon_error *err)
{
	struct cordon_thresholds t = {.struct_size = sizeof(t)};
	int r;

	lib_enter(err);
	if (!p)
		return lib_leave(lib_missing(err, "policy"), err);
	r = lib_struct_check(ret, "struct cordon_thresholds", err);
	if (r == 0) {
		policy_thresholds(p->policy, tool, agent, &t.suspicious, &t.malicious);
		lib_struct_out(ret, &t, sizeof(t));
	}
	return lib_leave(r, err);
}

int cordon_policy_schema(char **ret_json, size_t *ret_len, struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	int r;

	lib_enter(err);
	if (!ret_json)
		return lib_leave(lib_missing(err, "place for the schema"), err);
	policy_schema_json(&b);
	r = lib_give(&b, "schema", ret_json, ret_len, err);
	buf_done(&b);
	return lib_leave(r, err);
}
