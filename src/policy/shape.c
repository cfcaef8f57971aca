/* SPDX-License-Identifier: Apache-2.0 */
/* Generic operations on objects that a shape describes: add, copy, clear, free. */
#include "policy/field.h"

#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

void item_list_done(struct item_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->items[i].text);
		free(l->items[i].raw);
	}
	free(l->items);
	*l = (struct item_list){0};
}

int item_list_add(struct item_list *l, const char *text, const char *raw, struct origin origin)
{
	struct item item = {.origin = origin};
	void *p = l->items;
	int r = mem_grow(&p, &l->cap, l->n + 1, sizeof(item), LIMIT_POLICY_ITEMS);

	l->items = p;
	if (r < 0)
		return r;
	item.text = strdup(text);
	item.raw = strdup(raw);
	if (!item.text || !item.raw) {
		free(item.text);
		free(item.raw);
		return -ENOMEM;
	}
	l->items[l->n++] = item;
	return 0;
}

void *record_list_add(struct record_list *l, const struct shape *s)
{
	void *p = l->records, *record;

	if (mem_grow(&p, &l->cap, l->n + 1, sizeof(void *), LIMIT_POLICY_ITEMS) < 0)
		return NULL;
	l->records = p;
	record = calloc(1, s->size);
	if (record)
		l->records[l->n++] = record;
	return record;
}

static void record_list_done(struct record_list *l, const struct shape *s)
{
	for (size_t i = 0; i < l->n; i++) {
		shape_done(s, l->records[i]);
		free(l->records[i]);
	}
	free(l->records);
	*l = (struct record_list){0};
}

void field_clear(const struct shape *s, size_t row, void *object)
{
	const struct field *f = &s->fields[row];
	void *v = field_value(f, object);

	switch (f->type) {
	case FIELD_BOOL:
		*(bool *)v = false;
		break;
	case FIELD_ENUM:
		*(int *)v = 0;
		break;
	case FIELD_INT:
	case FIELD_AGE:
		*(int64_t *)v = 0;
		break;
	case FIELD_NUMBER:
		*(double *)v = 0;
		break;
	case FIELD_STRING:
		free(*(char **)v);
		*(char **)v = NULL;
		break;
	case FIELD_LIST:
		item_list_done(v);
		break;
	case FIELD_RECORDS:
	case FIELD_MAP:
	case FIELD_WORDS:
		record_list_done(v, f->shape);
		break;
	case FIELD_TYPE_COUNT:
		break;
	}
	*shape_origin(s, object, row) = (struct origin){0};
}

void shape_done(const struct shape *s, void *object)
{
	for (size_t i = 0; i < s->n_fields; i++)
		field_clear(s, i, object);
}

static int shape_copy(const struct shape *s, void *dst, const void *src)
{
	for (size_t i = 0; i < s->n_fields; i++) {
		int r = field_copy(s, i, dst, src);

		if (r < 0)
			return r;
	}
	return 0;
}

static int list_copy(struct item_list *dst, const struct item_list *src)
{
	for (size_t i = 0; i < src->n; i++) {
		int r = item_list_add(dst, src->items[i].text, src->items[i].raw,
				      src->items[i].origin);

		if (r < 0)
			return r;
	}
	return 0;
}

static int records_copy(const struct shape *s, struct record_list *dst,
			const struct record_list *src)
{
	for (size_t i = 0; i < src->n; i++) {
		void *record = record_list_add(dst, s);
		int r = -ENOMEM;

		if (record)
			r = shape_copy(s, record, src->records[i]);
		else if (dst->n >= LIMIT_POLICY_ITEMS)
			r = -E2BIG;

		if (r < 0)
			return r;
	}
	return 0;
}

int field_copy(const struct shape *s, size_t row, void *dst, const void *src)
{
	const struct field *f = &s->fields[row];
	const void *from = field_value_const(f, src);
	void *to = field_value(f, dst);
	int r = 0;

	switch (f->type) {
	case FIELD_BOOL:
		*(bool *)to = *(const bool *)from;
		break;
	case FIELD_ENUM:
		*(int *)to = *(const int *)from;
		break;
	case FIELD_INT:
	case FIELD_AGE:
		*(int64_t *)to = *(const int64_t *)from;
		break;
	case FIELD_NUMBER:
		*(double *)to = *(const double *)from;
		break;
	case FIELD_STRING: {
		const char *text = *(char *const *)from;

		*(char **)to = text ? strdup(text) : NULL;
		if (text && !*(char **)to)
			r = -ENOMEM;
		break;
	}
	case FIELD_LIST:
		r = list_copy(to, from);
		break;
	case FIELD_RECORDS:
	case FIELD_MAP:
	case FIELD_WORDS:
		r = records_copy(f->shape, to, from);
		break;
	case FIELD_TYPE_COUNT:
		return -EINVAL;
	}
	if (r == 0)
		*shape_origin(s, dst, row) = *shape_origin_const(s, src, row);
	return r;
}

static bool list_same(const struct item_list *a, const struct item_list *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->items[i].text, b->items[i].text) != 0)
			return false;
	return true;
}

static bool records_same(const struct shape *s, const struct record_list *a,
			 const struct record_list *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		for (size_t row = 0; row < s->n_fields; row++)
			if (!field_same(s, row, a->records[i], b->records[i]))
				return false;
	return true;
}

bool field_same(const struct shape *s, size_t row, const void *a, const void *b)
{
	const struct field *f = &s->fields[row];
	const void *x = field_value_const(f, a), *y = field_value_const(f, b);

	if (origin_is_set(shape_origin_const(s, a, row)) !=
	    origin_is_set(shape_origin_const(s, b, row)))
		return false;
	switch (f->type) {
	case FIELD_BOOL:
		return *(const bool *)x == *(const bool *)y;
	case FIELD_ENUM:
		return *(const int *)x == *(const int *)y;
	case FIELD_INT:
	case FIELD_AGE:
		return *(const int64_t *)x == *(const int64_t *)y;
	case FIELD_NUMBER:
		return !(*(const double *)x < *(const double *)y) &&
		       !(*(const double *)x > *(const double *)y);
	case FIELD_STRING: {
		const char *s1 = *(char *const *)x, *s2 = *(char *const *)y;

		return s1 == s2 || (s1 && s2 && strcmp(s1, s2) == 0);
	}
	case FIELD_LIST:
		return list_same(x, y);
	case FIELD_RECORDS:
	case FIELD_MAP:
	case FIELD_WORDS:
		return records_same(f->shape, x, y);
	case FIELD_TYPE_COUNT:
		break;
	}
	return false;
}
