/* SPDX-License-Identifier: Apache-2.0 */
/* See policy.h: making, freeing, the built-in default, and values as text. */
#include "policy/policy.h"

#include "base/limits.h"
#include "base/parse.h"

#include <errno.h>
#include <string.h>

static const char *const layer_words[LAYER_COUNT] = {
	[LAYER_UNSET] = "unset",
	[LAYER_BUILTIN] = "built-in",
	[LAYER_SYSTEM] = "system",
	[LAYER_USER] = "user",
	[LAYER_PROJECT] = "project",
	[LAYER_FILE] = "--policy",
	[LAYER_FILE_NEXT] = "further --policy",
	[LAYER_OPTION] = "option",
	[LAYER_CEILING] = "ceiling",
};

const char *layer_name(enum layer layer)
{
	return layer < LAYER_COUNT ? layer_words[layer] : "?";
}

struct policy *policy_new(void)
{
	return calloc(1, sizeof(struct policy));
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	shape_done(&shape_policy, p);
	strv_done(&p->files);
	strv_done(&p->warnings);
	free(p);
}

/* Sets a scalar row from the text of the table.  The table is ours: a failure is a bug. */
static int policy_set_default(struct policy *p, size_t row)
{
	const struct field *f = &shape_policy.fields[row];
	void *v = field_value(f, p);
	int r = 0;

	switch (f->type) {
	case FIELD_BOOL:
		r = parse_bool(f->fallback, v);
		break;
	case FIELD_ENUM:
		*(int *)v = names_find(f->names, f->fallback);
		break;
	case FIELD_INT:
		r = parse_int(f->fallback, f->min, f->max, v);
		break;
	case FIELD_NUMBER:
		r = parse_double(f->fallback, 0, f->number_max, v);
		break;
	case FIELD_STRING:
		*(char **)v = strdup(f->fallback);
		r = *(char **)v ? 0 : -ENOMEM;
		break;
	case FIELD_AGE:
	case FIELD_LIST:
	case FIELD_RECORDS:
	case FIELD_MAP:
	case FIELD_WORDS:
	case FIELD_TYPE_COUNT:
		return -EINVAL;
	}
	p->origin[row] = (struct origin){.layer = LAYER_BUILTIN};
	return r;
}

int policy_default(struct policy *p, const char *workspace, struct cordon_error *err)
{
	struct mount *m;

	for (size_t row = 0; row < POLICY_ROWS; row++) {
		if (shape_policy.fields[row].fallback && policy_set_default(p, row) < 0)
			return cordon_nomem(err);
	}
	m = record_list_add(&p->mounts, shape_policy.fields[POLICY_MOUNTS].shape);
	if (m)
		m->path = strdup(workspace);
	if (!m || !m->path)
		return cordon_nomem(err);
	m->permissions = PERMISSION_RW;
	m->origin[MOUNT_PATH] = m->origin[MOUNT_PERMISSIONS] = p->origin[POLICY_MOUNTS] =
		(struct origin){.layer = LAYER_BUILTIN};
	return 0;
}

bool policy_is_enforcing(const struct policy *p)
{
	if (policy_has(p, POLICY_ENABLED))
		return p->enabled && !(policy_has(p, POLICY_DRY_RUN) && p->dry_run);
	return policy_has(p, POLICY_DRY_RUN) && !p->dry_run;
}

int policy_add_file(struct policy *p, const char *name)
{
	int r;

	if (p->files.n >= LIMIT_POLICY_FILES)
		return -E2BIG;
	r = strv_add(&p->files, name);
	return r < 0 ? r : (int)p->files.n - 1;
}

void policy_origin_text(const struct policy *p, const struct origin *o, struct buf *b)
{
	buf_str(b, layer_name((enum layer)o->layer));
	if (o->line && o->file < p->files.n)
		buf_printf(b, " %s:%u:%u", p->files.v[o->file], o->line, o->column);
	if (o->implied)
		buf_str(b, " (left out there)");
}

static void value_records(const struct field *f, const struct record_list *l, struct buf *b)
{
	buf_char(b, '[');
	for (size_t i = 0; i < l->n; i++) {
		bool any = false;

		buf_str(b, i ? ", {" : "{");
		for (size_t row = 0; row < f->shape->n_fields; row++) {
			if (!origin_is_set(shape_origin_const(f->shape, l->records[i], row)))
				continue;
			buf_printf(b, "%s%s: ", any ? ", " : "", f->shape->fields[row].path);
			policy_value_text(f->shape, row, l->records[i], b);
			any = true;
		}
		buf_char(b, '}');
	}
	buf_char(b, ']');
}

static void value_list(const struct item_list *l, struct buf *b)
{
	buf_char(b, '[');
	for (size_t i = 0; i < l->n; i++)
		buf_printf(b, "%s%s", i ? ", " : "", l->items[i].text);
	buf_char(b, ']');
}

void policy_value_text(const struct shape *s, size_t row, const void *object, struct buf *b)
{
	const struct field *f = &s->fields[row];
	const void *v = field_value_const(f, object);

	if (!origin_is_set(shape_origin_const(s, object, row)))
		return;
	switch (f->type) {
	case FIELD_BOOL:
		buf_str(b, *(const bool *)v ? "true" : "false");
		break;
	case FIELD_ENUM:
		buf_str(b, names_word(f->names, *(const int *)v));
		break;
	case FIELD_INT:
		buf_printf(b, "%lld", (long long)(*(const int64_t *)v / (f->scale ? f->scale : 1)));
		break;
	case FIELD_NUMBER:
		buf_printf(b, "%g", *(const double *)v);
		break;
	case FIELD_STRING:
		buf_str(b, *(char *const *)v);
		break;
	case FIELD_AGE:
		buf_printf(b, "%llds", (long long)(*(const int64_t *)v / 1000));
		break;
	case FIELD_LIST:
		value_list(v, b);
		break;
	case FIELD_RECORDS:
	case FIELD_MAP:
	case FIELD_WORDS:
		value_records(f, v, b);
		break;
	case FIELD_TYPE_COUNT:
		break;
	}
}
