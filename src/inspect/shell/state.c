/* SPDX-License-Identifier: Apache-2.0 */
/* What the walk remembers: steps that are left, values, variables and files. */
#include "inspect/shell/run.h"

#include "base/clock.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

bool run_step(struct run *r)
{
	if (r->steps > 0 && r->m->arena.error == 0 &&
	    ((r->steps & 4095) != 0 || clock_ms() < r->deadline_ms)) {
		r->steps--;
		return true;
	}
	r->steps = 0;
	r->m->notes |= NOTE_CUT;
	return false;
}

void run_buf_done(struct run *r, struct buf *b)
{
	if (buf_error(b) == -ENOMEM)
		r->m->arena.error = -ENOMEM;
	else if (buf_error(b) < 0)
		r->m->notes |= NOTE_CUT;
	buf_done(b);
}

void run_charge(struct run *r, size_t steps)
{
	/* Not past a multiple of what run_step() looks at the clock for. */
	while (steps > 0 && run_step(r))
		steps--;
}

void *run_grow(struct run *r, void **items, size_t *n, size_t *cap, size_t size, size_t max)
{
	if (*n >= max) {
		r->m->notes |= NOTE_CUT;
		return NULL;
	}
	if (*n >= *cap) {
		size_t more = *cap ? *cap * 2 : 8;
		void *p = arena_take(&r->m->arena, more * size);

		if (!p) {
			r->m->notes |= NOTE_CUT;
			return NULL;
		}
		if (*n > 0)
			memcpy(p, *items, *n * size);
		*items = p;
		*cap = more;
	}
	(*n)++;
	return (char *)*items + (*n - 1) * size;
}

struct shell_text run_nothing(void)
{
	return (struct shell_text){.s = "", .is_known = true};
}

struct shell_text run_known(struct run *r, const char *s, size_t len, unsigned taint)
{
	struct shell_text v = {.s = arena_copy(&r->m->arena, s, len), .taint = taint};

	v.len = r->m->arena.error ? 0 : len;
	v.is_known = r->m->arena.error == 0;
	return v;
}

struct shell_text run_join(struct run *r, struct shell_text a, struct shell_text b)
{
	struct shell_text v = {.taint = a.taint | b.taint, .is_known = a.is_known && b.is_known};
	const char *x = a.s ? a.s : "\001", *y = b.s ? b.s : "\001";
	size_t n = a.s ? a.len : 1, k = b.s ? b.len : 1;
	char *p;

	if (k == 0 && a.s) {
		v.s = a.s;
		v.len = a.len;
		return v;
	}
	if (n == 0 && a.is_known && b.s) {
		v.s = b.s;
		v.len = b.len;
		return v;
	}
	if (n + k > LIMIT_SHELL_BYTES || !(p = arena_take(&r->m->arena, n + k + 1)))
		return (struct shell_text){.taint = v.taint};
	run_charge(r, (n + k) / 16);
	memcpy(p, x, n);
	memcpy(p + n, y, k);
	v.s = p;
	v.len = n + k;
	return v;
}

static struct run_variable *run_find(const struct run *r, const char *name, size_t len)
{
	for (size_t i = r->n_variables; i > 0; i--) {
		struct run_variable *v = &r->variables[i - 1];

		if (strncmp(v->name, name, len) == 0 && v->name[len] == '\0')
			return v;
	}
	return NULL;
}

struct run_variable *run_get(const struct run *r, const char *name, size_t len)
{
	struct run_variable *v = run_find(r, name, len);

	/* a name for a name, and so on: a ring has no value */
	for (unsigned i = 0; v && v->ref && i < LIMIT_SHELL_REFS; i++)
		v = run_find(r, v->ref, strlen(v->ref));
	return v && v->ref ? NULL : v;
}

/* The name that is set when this one is; gives its length. */
static size_t run_referent(const struct run *r, const char **name, size_t len)
{
	const struct run_variable *v = run_find(r, *name, len);

	for (unsigned i = 0; v && v->ref && i < LIMIT_SHELL_REFS; i++) {
		*name = v->ref;
		len = strlen(v->ref);
		v = run_find(r, v->ref, len);
	}
	return len;
}

void run_set(struct run *r, const char *name, size_t len, struct shell_text value)
{
	struct run_variable *v = run_get(r, name, len);

	if (v && v->is_readonly)
		return;
	if (v && r->conditions > 0)
		value.taint |= v->value.taint;
	/* A branch that may not run does not clear what was there. */
	if (v && r->conditions > 0 && value.is_known && value.len == 0)
		return;
	if (!v) {
		len = run_referent(r, &name, len);
		v = run_grow(r, (void **)&r->variables, &r->n_variables, &r->cap_variables,
			     sizeof(*v), LIMIT_SHELL_NAMES);
		if (!v)
			return;
		v->name = arena_copy(&r->m->arena, name, len);
	}
	v->value = value;
	v->items = NULL;
	v->n_items = 0;
}

struct run_file *run_file(const struct run *r, const char *path)
{
	while (str_starts(path, "./"))
		path += 2;
	for (size_t i = r->n_files; i > 0; i--)
		if (strcmp(r->files[i - 1].path, path) == 0)
			return &r->files[i - 1];
	return NULL;
}

void run_file_set(struct run *r, const char *path, struct shell_text value, bool is_network)
{
	struct run_file *f;

	while (str_starts(path, "./"))
		path += 2;
	f = run_file(r, path);
	if (f && f->tree) {
		const struct shell_tree *kept = r->tree;

		r->tree = f->tree;
		(void)run_children(r, f->reader, value, true);
		r->tree = kept;
		return;
	}
	if (f && r->conditions > 0) {
		value.taint |= f->value.taint;
		is_network = is_network || f->is_network;
	}
	if (!f) {
		f = run_grow(r, (void **)&r->files, &r->n_files, &r->cap_files, sizeof(*f),
			     LIMIT_SHELL_NAMES);
		if (!f)
			return;
		f->path = arena_copy(&r->m->arena, path, strlen(path));
	}
	f->value = value;
	f->is_network = is_network;
}
