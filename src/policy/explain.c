/* SPDX-License-Identifier: Apache-2.0 */
/* See explain.h. */
#include "policy/explain.h"

#include "base/limits.h"

#include <string.h>

enum { EXPLAIN_TEXT_MAX = 1 << 20 };

struct explain_call {
	const struct policy *p;
	int (*fn)(void *data, const struct explain_row *row);
	void *data;
	struct buf value;
	struct buf from;
	struct cordon_error *err;
};

static int explain_one(struct explain_call *c, const struct field *f, int entry,
		       const struct origin *origin)
{
	struct explain_row row = {.field = f, .entry = entry, .origin = origin};

	buf_clear(&c->from);
	policy_origin_text(c->p, origin, &c->from);
	if (buf_error(&c->value) < 0 || buf_error(&c->from) < 0)
		return cordon_fail(c->err, CORDON_E_LIMIT, "'%s' is too long to show", f->path);
	row.value = buf_cstr(&c->value);
	row.from = buf_cstr(&c->from);
	return c->fn(c->data, &row);
}

static void explain_record(struct explain_call *c, const struct shape *s, const void *record)
{
	bool any = false;

	for (size_t row = 0; row < s->n_fields; row++) {
		if (!origin_is_set(shape_origin_const(s, record, row)))
			continue;
		buf_printf(&c->value, "%s%s: ", any ? ", " : "", s->fields[row].path);
		policy_value_text(s, row, record, &c->value);
		any = true;
	}
}

static int explain_row(struct explain_call *c, size_t row)
{
	const struct field *f = &shape_policy.fields[row];
	const void *v = field_value_const(f, c->p);
	const struct item_list *items = f->type == FIELD_LIST ? v : NULL;
	const struct record_list *records =
		f->type == FIELD_RECORDS || f->type == FIELD_MAP || f->type == FIELD_WORDS ? v
											   : NULL;
	size_t n = items ? items->n : records ? records->n : 0;
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		buf_clear(&c->value);
		if (items)
			buf_str(&c->value, items->items[i].text);
		else
			explain_record(c, f->shape, records->records[i]);
		r = explain_one(c, f, (int)i,
				items ? &items->items[i].origin
				      : shape_origin_const(f->shape, records->records[i], 0));
	}
	if (n > 0)
		return r;
	buf_clear(&c->value);
	if (items || records)
		buf_str(&c->value, "[]");
	else
		policy_value_text(&shape_policy, row, c->p, &c->value);
	return explain_one(c, f, -1, &c->p->origin[row]);
}

int policy_explain(const struct policy *p, int (*fn)(void *data, const struct explain_row *row),
		   void *data, struct cordon_error *err)
{
	struct explain_call c = {
		.p = p,
		.fn = fn,
		.data = data,
		.value = BUF_INIT(EXPLAIN_TEXT_MAX),
		.from = BUF_INIT(LIMIT_PATH_BYTES * 2),
		.err = err,
	};
	int r = 0;

	for (size_t row = 0; row < POLICY_ROWS && r >= 0; row++)
		if (policy_has(p, (enum policy_row)row))
			r = explain_row(&c, row);
	buf_done(&c.value);
	buf_done(&c.from);
	return r < 0 ? r : 0;
}

static void show_record(const struct shape *s, const void *record, const char *name,
			struct json *out);

static void show_records(const struct field *f, const struct record_list *l, const char *name,
			 struct json *out)
{
	bool as_list = f->type == FIELD_RECORDS;

	if (as_list)
		json_array(out, name);
	else
		json_object(out, name);
	for (size_t i = 0; i < l->n; i++) {
		const char *key =
			*(char *const *)field_value_const(&f->shape->fields[0], l->records[i]);

		if (f->type == FIELD_WORDS)
			json_str(out, key,
				 *(char *const *)field_value_const(&f->shape->fields[1],
								   l->records[i]));
		else
			show_record(f->shape, l->records[i], as_list ? NULL : key, out);
	}
	if (as_list)
		json_end_array(out);
	else
		json_end_object(out);
}

static void show_value(const struct shape *s, size_t row, const void *object, const char *name,
		       struct json *out)
{
	const struct field *f = &s->fields[row];
	const void *v = field_value_const(f, object);

	switch (f->type) {
	case FIELD_BOOL:
		json_bool(out, name, *(const bool *)v);
		return;
	case FIELD_INT:
		json_int(out, name, *(const int64_t *)v / (f->scale ? f->scale : 1));
		return;
	case FIELD_NUMBER:
		json_double(out, name, *(const double *)v, 6);
		return;
	case FIELD_LIST: {
		const struct item_list *l = v;

		json_array(out, name);
		for (size_t i = 0; i < l->n; i++)
			json_str(out, NULL, l->items[i].text);
		json_end_array(out);
		return;
	}
	case FIELD_RECORDS:
	case FIELD_MAP:
	case FIELD_WORDS:
		show_records(f, v, name, out);
		return;
	case FIELD_ENUM:
	case FIELD_STRING:
	case FIELD_AGE:
	case FIELD_TYPE_COUNT: {
		struct buf text = BUF_INIT(LIMIT_YAML_SCALAR);

		policy_value_text(s, row, object, &text);
		json_str(out, name, buf_cstr(&text));
		/* A value that is not all there must not look like one. */
		if (buf_error(&text) < 0 && buf_error(out->out) == 0)
			out->out->error = buf_error(&text);
		buf_done(&text);
		return;
	}
	}
}

/* Writes rows as nested objects.  The table keeps rows of one block together, so that opening and
 * closing along the common prefix is enough. */
struct show_nest {
	char open[8][64];
	size_t depth;
};

static void show_close_to(struct show_nest *n, size_t depth, struct json *out)
{
	while (n->depth > depth) {
		json_end_object(out);
		n->depth--;
	}
}

/* Opens the blocks of path and returns its last word. */
static const char *show_descend(struct show_nest *n, const char *path, struct json *out)
{
	size_t depth = 0;
	bool same = true;

	for (const char *dot; (dot = strchr(path, '.')); path = dot + 1, depth++) {
		size_t len = (size_t)(dot - path);

		if (depth >= ARRAY_LEN(n->open) || len >= sizeof(n->open[0]))
			break; /* the table has no such path */
		same = same && depth < n->depth && strlen(n->open[depth]) == len &&
		       memcmp(n->open[depth], path, len) == 0;
		if (same)
			continue;
		show_close_to(n, depth, out);
		memcpy(n->open[depth], path, len);
		n->open[depth][len] = '\0';
		json_object(out, n->open[depth]);
		n->depth++;
	}
	show_close_to(n, depth, out);
	return path;
}

/* The entries of a row such as "conditions.*", as members of the object that is open. */
static void show_open_row(const struct field *f, const void *object, struct json *out)
{
	const struct record_list *l = field_value_const(f, object);

	for (size_t i = 0; i < l->n; i++) {
		const struct word *w = l->records[i];

		json_str(out, w->name, w->value);
	}
}

static void show_rows(const struct shape *s, const void *object, size_t skip, bool written_only,
		      struct json *out)
{
	struct show_nest nest = {0};

	for (size_t row = skip; row < s->n_fields; row++) {
		const struct origin *o = shape_origin_const(s, object, row);
		const char *name;

		if (!origin_is_set(o) || (written_only && o->layer == LAYER_BUILTIN))
			continue;
		name = show_descend(&nest, s->fields[row].path, out);
		if (name[0] == '*')
			show_open_row(&s->fields[row], object, out);
		else
			show_value(s, row, object, name, out);
	}
	show_close_to(&nest, 0, out);
}

static void show_record(const struct shape *s, const void *record, const char *name,
			struct json *out)
{
	json_object(out, name);
	/* In a map the first field is the key. */
	show_rows(s, record, name ? 1 : 0, false, out);
	json_end_object(out);
}

void policy_show_json(const struct policy *p, bool written_only, struct json *out)
{
	json_object(out, NULL);
	json_int(out, "cordon", 1);
	show_rows(&shape_policy, p, 0, written_only, out);
	json_end_object(out);
}

int policy_show_yaml(const struct policy *p, bool written_only, struct buf *out,
		     struct cordon_error *err)
{
	struct json j = JSON_INIT(out);

	/* JSON is YAML; the pretty form reads well and needs no second writer. */
	j.pretty = true;
	policy_show_json(p, written_only, &j);
	buf_char(out, '\n');
	return buf_error(out) < 0
		       ? cordon_fail(err, CORDON_E_LIMIT, "the policy is too long to show")
		       : 0;
}
