/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions to values (value.h): literals, sums, formats, names through imports and assignments, and
 * the ways around names (getattr, __dict__, __import__).  Each node is evaluated once; what is nested
 * deeper than LIMIT_CODE_EVAL is unknown, which no rule takes for harmless.
 */
#include "inspect/code/scan.h"

#include "base/limits.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 240

static const struct code_value unknown_value = {.node = CODE_NO_NODE};
static const struct code_value *eval_at(struct code_scan *s, uint32_t node);

struct code_value *code_value_new(struct code_scan *s, uint32_t node)
{
	static _Thread_local struct code_value spare;
	struct code_value *v = code_arena_take(&s->arena, sizeof(*v));

	if (!v) {
		spare = unknown_value;
		v = &spare;
	}
	v->node = node;
	return v;
}

static void value_set(struct code_value *v, const char *str, size_t len, bool is_constant)
{
	v->str = str;
	v->len = (uint32_t)len;
	v->is_constant = is_constant;
}

static void value_set_text(struct code_value *v, const struct code_text *t, bool is_constant)
{
	if (t->is_broken && t->len == 0)
		return;
	value_set(v, t->data ? t->data : "", t->len, is_constant && !t->is_broken);
}

/* "a" and "b" to "a.b"; too long or unknown parts become "?". */
static const char *name_join(struct code_scan *s, const char *left, const char *glue,
			     const char *right, size_t len)
{
	size_t n = left ? strlen(left) : 0, g = strlen(glue);
	char *p;

	if (n == 0 || n + g + len > NAME_MAX_BYTES)
		left = "?", n = 1;
	if (len > NAME_MAX_BYTES)
		len = NAME_MAX_BYTES;
	p = code_arena_take(&s->arena, n + g + len + 1);
	if (!p)
		return "?";
	memcpy(p, left, n);
	memcpy(p + n, glue, g);
	memcpy(p + n + g, right, len);
	return p;
}

static const char *const builtin_roots[] = {"builtins.", "__builtins__.", "__builtin__.", "posix.",
					    "nt."};

/* Names that are one thing under several roots. */
static const char *name_canonical(struct code_scan *s, const char *name)
{
	if (s->tree->language != CODE_PYTHON)
		return name;
	name = code_reach_below(name);
	for (size_t i = 0; i < ARRAY_LEN(builtin_roots); i++) {
		size_t n = strlen(builtin_roots[i]);

		if (strncmp(name, builtin_roots[i], n) != 0)
			continue;
		if (i >= 3)
			return name_join(s, "os", ".", name + n, strlen(name + n));
		return name + n;
	}
	return name;
}

static void eval_identifier(struct code_scan *s, uint32_t node, struct code_value *v)
{
	const struct code_tree *t = s->tree;
	const char *word = t->text + t->nodes[node].start;
	size_t len = t->nodes[node].end - t->nodes[node].start;
	const struct code_value *bound;
	bool is_plain = true;

	for (size_t i = 0; i < len; i++)
		is_plain = is_plain && !(word[i] & 0x80);
	if (!is_plain) {
		struct code_text plain = {.arena = &s->arena};

		code_plain_name(&plain, word, len);
		if (!plain.is_broken)
			word = plain.data, len = plain.len;
	}
	bound = code_lookup(s, word, len);
	if (bound) {
		*v = *bound;
		if (!v->str && !v->name && v->node == CODE_NO_NODE)
			v->node = node;
		return;
	}
	v->name = code_arena_copy(&s->arena, word, len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES);
	if (v->name && strcmp(v->name, "__name__") == 0)
		value_set(v, "__main__", 8, true);
	if (v->name && strcmp(v->name, "__file__") == 0 && s->context && s->context->script)
		value_set(v, s->context->script, (uint32_t)strlen(s->context->script), true);
}

static void string_parts(struct code_scan *s, uint32_t node, struct code_text *text,
			 struct code_value *v)
{
	const struct code_tree *t = s->tree;
	bool is_raw = false, is_bytes = false, is_constant = true;

	CODE_EACH_CHILD(t, node, c)
	{
		const struct code_node *n = &t->nodes[c];
		const char *at = t->text + n->start;
		size_t len = n->end - n->start;

		if (n->kind == CODE_STRING_START) {
			is_raw = memchr(at, 'r', len) || memchr(at, 'R', len);
			is_bytes = memchr(at, 'b', len) || memchr(at, 'B', len);
		} else if (n->kind == CODE_CONTENT) {
			if (is_raw)
				code_text_add(text, at, len);
			else
				code_unescape(text, at, len, is_bytes);
		} else if (n->kind == CODE_INTERPOLATION) {
			uint32_t e = code_child(t, c, CODE_FIELD_EXPRESSION);
			const struct code_value *part =
				eval_at(s, e == CODE_NO_NODE ? code_first(t, c) : e);

			v->flags |= part->flags;
			if (part->str) {
				code_text_add(text, part->str, part->len);
			} else {
				code_text_char(text, CODE_HOLE);
				v->flags |= CODE_IS_BUILT;
			}
			is_constant = is_constant && part->is_constant;
		}
	}
	value_set_text(v, text, is_constant);
}

static void eval_string(struct code_scan *s, uint32_t node, struct code_value *v)
{
	const struct code_tree *t = s->tree;
	const struct code_node *n = &t->nodes[node];
	struct code_text text = {.arena = &s->arena};

	if (t->language == CODE_GO) {
		if (n->end - n->start < 2)
			return;
		if (n->kind == CODE_RAW_STRING ||
		    !memchr(t->text + n->start, '\\', n->end - n->start)) {
			value_set(v, t->text + n->start + 1, n->end - n->start - 2, true);
			return;
		}
		code_unescape(&text, t->text + n->start + 1, n->end - n->start - 2, false);
		value_set_text(v, &text, true);
		return;
	}
	string_parts(s, node, &text, v);
}

/* One more part of a sum or a concatenation. */
static bool sum_add(struct code_text *text, struct code_value *v, const struct code_value *part)
{
	v->flags |= part->flags & ~(unsigned)CODE_FROM_SOCKET;
	if (part->str) {
		code_text_add(text, part->str, part->len);
	} else {
		code_text_char(text, CODE_HOLE);
	}
	return part->is_constant && part->str;
}

static void eval_concatenated(struct code_scan *s, uint32_t node, struct code_value *v)
{
	struct code_text text = {.arena = &s->arena};
	bool is_constant = true;

	CODE_EACH_CHILD(s->tree, node, c)
	if (s->tree->nodes[c].kind == CODE_STRING)
		is_constant &= sum_add(&text, v, eval_at(s, c));
	value_set_text(v, &text, is_constant);
}

/* a + b + c leans to the left: the spine is walked, not recursed into. */
static void eval_sum(struct code_scan *s, uint32_t node, struct code_value *v)
{
	const struct code_tree *t = s->tree;
	struct code_text text = {.arena = &s->arena};
	bool is_constant = true, has_text = false;
	uint32_t at = node, terms = 0;
	const struct code_value *part;

	while (terms++ < LIMIT_CODE_TERMS && t->nodes[at].kind == CODE_BINARY &&
	       code_is(t, code_child(t, at, CODE_FIELD_OPERATOR), "+")) {
		uint32_t left = code_child(t, at, CODE_FIELD_LEFT);

		if (left == CODE_NO_NODE)
			break;
		at = left;
	}
	part = eval_at(s, at);
	has_text = part->str;
	v->number = part->number;
	v->is_number = part->is_number;
	is_constant = sum_add(&text, v, part);
	while (at != node) {
		uint32_t right;

		at = t->nodes[at].parent;
		right = code_child(t, at, CODE_FIELD_RIGHT);
		part = right == CODE_NO_NODE ? &unknown_value : eval_at(s, right);
		has_text = has_text || part->str;
		is_constant &= sum_add(&text, v, part);
		v->is_number = v->is_number && part->is_number &&
			       !__builtin_add_overflow(v->number, part->number, &v->number);
	}
	if (has_text) {
		value_set_text(v, &text, is_constant);
		if (!is_constant)
			v->flags |= CODE_IS_BUILT;
	}
}

/* "…%s…" % (a, b): the holes are filled in order. */
static void eval_percent(struct code_scan *s, const struct code_value *format, uint32_t right,
			 struct code_value *v)
{
	const struct code_tree *t = s->tree;
	struct code_text text = {.arena = &s->arena};
	const struct code_value *all = eval_at(s, right);
	bool is_list = t->nodes[right].kind == CODE_LIST, is_constant = true;
	uint32_t next = is_list ? right + 1 : right;

	v->flags |= all->flags;
	for (uint32_t i = 0; i < format->len; i++) {
		const struct code_value *part = &unknown_value;

		if (format->str[i] != '%' || i + 1 >= format->len) {
			code_text_char(&text, format->str[i]);
			continue;
		}
		i++;
		while (i + 1 < format->len && strchr("-+ #0123456789.(", format->str[i]) &&
		       format->str[i] != '%')
			i++;
		if (format->str[i] == '%') {
			code_text_char(&text, '%');
			continue;
		}
		if (is_list && next < t->nodes[right].skip) {
			part = eval_at(s, next);
			next = t->nodes[next].skip;
		} else if (!is_list) {
			part = all;
		}
		v->flags |= part->flags;
		is_constant &= sum_add(&text, v, part);
	}
	value_set_text(v, &text, is_constant);
	if (!is_constant)
		v->flags |= CODE_IS_BUILT;
}

static bool arithmetic(struct code_value *v, const struct code_value *a, const char *op, size_t len,
		       const struct code_value *b)
{
	if (!a->is_number || !b->is_number || len != 1)
		return false;
	switch (*op) {
	case '-':
		return !__builtin_sub_overflow(a->number, b->number, &v->number);
	case '*':
		return !__builtin_mul_overflow(a->number, b->number, &v->number);
	case '^':
		v->number = a->number ^ b->number;
		return true;
	case '|':
		v->number = a->number | b->number;
		return true;
	case '&':
		v->number = a->number & b->number;
		return true;
	default:
		return false;
	}
}

static void eval_path(struct code_scan *s, const struct code_value *a, const struct code_value *b,
		      struct code_value *v)
{
	struct code_text text = {.arena = &s->arena};
	bool is_constant = sum_add(&text, v, a);

	code_text_char(&text, '/');
	is_constant &= sum_add(&text, v, b);
	value_set_text(v, &text, is_constant);
}

static void eval_binary(struct code_scan *s, uint32_t node, struct code_value *v)
{
	const struct code_tree *t = s->tree;
	uint32_t left = code_child(t, node, CODE_FIELD_LEFT);
	uint32_t right = code_child(t, node, CODE_FIELD_RIGHT);
	uint32_t op = code_child(t, node, CODE_FIELD_OPERATOR);
	const struct code_value *a, *b;

	if (left == CODE_NO_NODE || right == CODE_NO_NODE || op == CODE_NO_NODE)
		return;
	if (code_is(t, op, "+")) {
		eval_sum(s, node, v);
		return;
	}
	a = eval_at(s, left);
	if (code_is(t, op, "%") && a->str && t->language == CODE_PYTHON) {
		eval_percent(s, a, right, v);
		v->flags |= a->flags;
		return;
	}
	b = eval_at(s, right);
	v->flags |= a->flags | b->flags;
	if (code_is(t, op, "/") && (a->str || b->str) && t->language == CODE_PYTHON)
		eval_path(s, a, b, v);
	if (t->language == CODE_GO && a->name && !v->name &&
	    (strncmp(a->name, "int", 3) == 0 || strncmp(a->name, "uint", 4) == 0))
		v->name = a->name; /* a number of a kind stays one */
	v->is_number = arithmetic(v, a, t->text + t->nodes[op].start,
				  t->nodes[op].end - t->nodes[op].start, b);
	if (code_is(t, op, "*") && a->is_constant && b->is_number && b->number >= 0 &&
	    b->number * (int64_t)(a->len + 1) < LIMIT_CODE_STRING) {
		struct code_text text = {.arena = &s->arena};

		for (int64_t i = 0; i < b->number; i++)
			code_text_add(&text, a->str, a->len);
		value_set_text(v, &text, true);
	}
}

static bool is_namespace(const char *name)
{
	return name && (strcmp(name, "globals()") == 0 || strcmp(name, "locals()") == 0 ||
			strcmp(name, "vars()") == 0 || strcmp(name, "__builtins__") == 0 ||
			strcmp(name, "builtins") == 0 || strcmp(name, "__dict__") == 0);
}

/* namespace["name"] is the thing of that name. */
static bool eval_member(struct code_scan *s, const struct code_value *object,
			const struct code_value *key, struct code_value *v)
{
	static const char dict[] = ".__dict__", vars[] = "vars():";
	static const char *const inside[] = {".f_builtins", ".f_globals", ".__globals__",
					     ".__builtins__"};
	const char *name = object->name;
	size_t n = name ? strlen(name) : 0;

	if (!name || !key->is_constant || key->len == 0 || key->len > 128)
		return false;
	if (is_namespace(name)) {
		const struct code_value *bound = code_lookup(s, key->str, key->len);

		if (bound)
			*v = *bound;
		else
			v->name = code_arena_copy(&s->arena, key->str, key->len);
		return true;
	}
	/* the names of a frame or of a function's module */
	for (size_t i = 0; i < ARRAY_LEN(inside); i++) {
		size_t k = strlen(inside[i]);

		if (n > k && strcmp(name + n - k, inside[i]) == 0) {
			v->name = code_arena_copy(&s->arena, key->str, key->len);
			return true;
		}
	}
	if (strcmp(name, "sys.modules") == 0) {
		v->name = code_arena_copy(&s->arena, key->str, key->len);
		return true;
	}
	if (n > sizeof(dict) - 1 && strcmp(name + n - (sizeof(dict) - 1), dict) == 0) {
		char *root = code_arena_copy(&s->arena, name, n - (sizeof(dict) - 1));

		v->name = root ? name_canonical(s, name_join(s, root, ".", key->str, key->len))
			       : NULL;
		return true;
	}
	if (strncmp(name, vars, sizeof(vars) - 1) == 0) {
		v->name = name_join(s, name + sizeof(vars) - 1, ".", key->str, key->len);
		return true;
	}
	return false;
}

/* The flag of a secret variable. */
static unsigned eval_variable(struct code_scan *s, const struct code_value *key)
{
	char *name;

	for (unsigned i = 0; i < s->n_variables; i++)
		if (strlen(s->variables[i]) == key->len &&
		    memcmp(s->variables[i], key->str, key->len) == 0)
			return CODE_VARIABLE(i);
	name = key->is_constant && s->n_variables < CODE_VARIABLES
		       ? code_arena_copy(&s->arena, key->str, key->len)
		       : NULL;
	if (!name)
		return CODE_VARIABLE(CODE_VARIABLES);
	s->variables[s->n_variables] = name;
	return CODE_VARIABLE(s->n_variables++);
}

static void eval_env_name(struct code_scan *s, const struct code_value *key, struct code_value *v)
{
	static const char *const secrets[] = {"SECRET",  "TOKEN",       "PASSW",
					      "API_KEY", "APIKEY",      "AWS_",
					      "CREDEN",  "PRIVATE_KEY", "ACCESS_KEY"};

	v->flags |= CODE_FROM_ENV;
	if (!key || !key->str)
		return;
	if (key->len == 4 && memcmp(key->str, "HOME", 4) == 0) {
		value_set(v, "~", 1, true);
		v->flags &= ~(unsigned)CODE_FROM_ENV;
	}
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
		if (memmem(key->str, key->len, secrets[i], strlen(secrets[i])))
			v->flags |= CODE_FROM_SECRET | eval_variable(s, key);
}

static void eval_slice(struct code_scan *s, uint32_t slice, const struct code_value *object,
		       struct code_value *v)
{
	struct code_text text = {.arena = &s->arena};
	const struct code_tree *t = s->tree;
	const char *at = t->text + t->nodes[slice].start;
	size_t len = t->nodes[slice].end - t->nodes[slice].start;

	if (!object->is_constant)
		return;
	if (len == 4 && memcmp(at, "::-1", 4) == 0) {
		for (uint32_t i = object->len; i > 0; i--)
			code_text_char(&text, object->str[i - 1]);
		value_set_text(v, &text, true);
	} else if (len > 2 && memcmp(at, "::", 2) == 0) {
		int64_t step = 0;

		if (!code_number(at + 2, len - 2, &step) || step <= 0)
			return;
		for (int64_t i = 0; i < object->len; i += step)
			code_text_char(&text, object->str[i]);
		value_set_text(v, &text, true);
	}
}

static void eval_subscript(struct code_scan *s, uint32_t node, struct code_value *v)
{
	const struct code_tree *t = s->tree;
	uint32_t object = code_child(t, node, CODE_FIELD_VALUE);
	uint32_t index = code_child(t, node, CODE_FIELD_INDEX);
	const struct code_value *o, *k = &unknown_value;

	if (object == CODE_NO_NODE)
		object = code_child(t, node, CODE_FIELD_OBJECT);
	if (object == CODE_NO_NODE)
		return;
	o = eval_at(s, object);
	v->flags |= o->flags;
	if (index == CODE_NO_NODE)
		return;
	if (t->nodes[index].kind == CODE_SLICE) {
		eval_slice(s, index, o, v);
		v->name = o->str ? NULL : o->name;
		return;
	}
	k = eval_at(s, index);
	if (o->name &&
	    (strcmp(o->name, "os.environ") == 0 || strcmp(o->name, "os.environb") == 0)) {
		v->flags &= ~(unsigned)CODE_FROM_ENV_ALL;
		eval_env_name(s, k, v);
		return;
	}
	if (eval_member(s, o, k, v) || code_reach_item(s, o, k, v))
		return;
	if (o->name)
		v->name = name_join(s, o->name, "[]", "", 0);
	if (k->is_number && o->node != CODE_NO_NODE && k->number >= 0 && k->number < 1024 &&
	    t->nodes[o->node].kind == CODE_LIST) {
		uint32_t c = o->node + 1;

		for (int64_t i = 0; i < k->number && c < t->nodes[o->node].skip; i++)
			c = t->nodes[c].skip;
		if (c < t->nodes[o->node].skip) {
			const struct code_value *item = eval_at(s, c);

			if (item->str || item->name)
				*v = *item;
		}
	}
}

static void eval_attribute(struct code_scan *s, uint32_t node, struct code_value *v)
{
	const struct code_tree *t = s->tree;
	uint32_t object = code_child(t, node, CODE_FIELD_OBJECT);
	uint32_t attribute = code_child(t, node, CODE_FIELD_ATTRIBUTE);
	const struct code_value *o, *bound;
	const char *word;
	size_t len;

	if (object == CODE_NO_NODE) /* a type of another package */
		object = code_child(t, node, CODE_FIELD_PACKAGE);
	if (attribute == CODE_NO_NODE)
		attribute = code_child(t, node, CODE_FIELD_NAME);
	if (object == CODE_NO_NODE || attribute == CODE_NO_NODE)
		return;
	word = t->text + t->nodes[node].start;
	len = t->nodes[node].end - t->nodes[node].start;
	bound = len < NAME_MAX_BYTES ? code_lookup(s, word, len) : NULL;
	if (bound) {
		*v = *bound;
		return;
	}
	o = eval_at(s, object);
	v->flags |= o->flags & ~(unsigned)CODE_IS_BUILT;
	word = t->text + t->nodes[attribute].start;
	len = t->nodes[attribute].end - t->nodes[attribute].start;
	if (o->name) {
		v->name = name_canonical(s, name_join(s, o->name, ".", word, len));
		bound = code_lookup(s, v->name, strlen(v->name));
		if (bound) {
			*v = *bound;
			return;
		}
		if (strcmp(v->name, "os.environ") == 0 || strcmp(v->name, "os.environb") == 0)
			v->flags |= CODE_FROM_ENV_ALL;
		else if (strcmp(v->name, "sys.argv") == 0 || strcmp(v->name, "sys.stdin") == 0 ||
			 strcmp(v->name, "os.Args") == 0 || strcmp(v->name, "os.Stdin") == 0 ||
			 strncmp(v->name, "request.", 8) == 0 ||
			 strncmp(v->name, "flask.request.", 14) == 0 ||
			 strncmp(v->name, "net/http.Request.", 17) == 0)
			v->flags |= CODE_FROM_INPUT |
				    (strcmp(v->name, "os.Args") == 0 ? CODE_FROM_ARGS : 0);
	} else {
		v->name = name_join(s, "?", ".", word, len);
	}
	if (o->str && len == 6 && memcmp(word, "parent", 6) == 0)
		code_fold_parent(o, v);
}

/* getattr(x, "name"), __import__("name") and their kin. */
static bool eval_reflection(struct code_scan *s, const struct code_call *c, struct code_value *v)
{
	const struct code_value *first = c->n > 0 ? c->args[0].value : &unknown_value;
	const struct code_value *second = c->n > 1 ? c->args[1].value : &unknown_value;
	static const char tail[] = ".__getattribute__", tail2[] = ".__getattr__",
			  call[] = ".__call__";
	size_t n = strlen(c->name);

	if (strcmp(c->name, "getattr") == 0 || strcmp(c->name, "inspect.getattr_static") == 0 ||
	    (strcmp(c->name, "object.__getattribute__") == 0 && c->n > 1)) {
		if (!second->is_constant || !first->name || second->len > 128) {
			v->name = "getattr()";
			return true;
		}
		v->name =
			name_canonical(s, name_join(s, first->name, ".", second->str, second->len));
		v->flags |= first->flags;
		return true;
	}
	if (strcmp(c->name, "__import__") == 0 || strcmp(c->name, "importlib.import_module") == 0 ||
	    strcmp(c->name, "importlib.__import__") == 0) {
		if (first->is_constant && first->len < 128)
			v->name = code_arena_copy(&s->arena, first->str, first->len);
		return true;
	}
	if (strcmp(c->name, "vars") == 0 && first->name) {
		v->name = name_join(s, "vars()", ":", first->name, strlen(first->name));
		return true;
	}
	for (int i = 0; i < 2; i++) {
		const char *end = i ? tail2 : tail;
		size_t k = i ? sizeof(tail2) - 1 : sizeof(tail) - 1;

		if (n > k && strcmp(c->name + n - k, end) == 0 && first->is_constant) {
			char *root = code_arena_copy(&s->arena, c->name, n - k);

			v->name = root ? name_canonical(s, name_join(s, root, ".", first->str,
								     first->len))
				       : NULL;
			return true;
		}
	}
	if (n > sizeof(call) - 1 && strcmp(c->name + n - (sizeof(call) - 1), call) == 0) {
		char *root = code_arena_copy(&s->arena, c->name, n - (sizeof(call) - 1));

		v->name = root ? name_join(s, root, "()", "", 0) : NULL;
		return true;
	}
	return false;
}

static void eval_call(struct code_scan *s, uint32_t node, struct code_value *v)
{
	struct code_call c;

	code_call_read(s, node, &c);
	v->flags |= c.flags & ~(unsigned)CODE_FROM_SOCKET;
	v->flags |= c.receiver_flags;
	v->flags |= code_source_flags(s, &c);
	v->flags |= code_function_flags(s, c.name);
	if (eval_reflection(s, &c, v) || code_reach_attribute(s, &c, v))
		return;
	if (strcmp(c.name, "os.getenv") == 0 || strcmp(c.name, "os.environ.get") == 0 ||
	    strcmp(c.name, "os.environ.pop") == 0 || strcmp(c.name, "os.Getenv") == 0 ||
	    strcmp(c.name, "os.LookupEnv") == 0) {
		v->flags &= ~(unsigned)CODE_FROM_ENV_ALL;
		eval_env_name(s, c.n ? c.args[0].value : NULL, v);
		return;
	}
	if (code_fold_call(s, &c, v))
		return;
	if (c.name[0])
		v->name = name_join(s, c.name, "()", "", 0);
}

static void eval_list(struct code_scan *s, uint32_t node, struct code_value *v)
{
	unsigned n = 0;

	CODE_EACH_CHILD(s->tree, node, c)
	{
		if (n++ > 512)
			break;
		v->flags |= eval_at(s, c)->flags;
	}
}

static void eval_union(struct code_scan *s, uint32_t node, struct code_value *v)
{
	unsigned n = 0;

	CODE_EACH_CHILD(s->tree, node, c)
	{
		const struct code_value *part;

		if (n++ > 64 || s->tree->nodes[c].field == CODE_FIELD_OPERATOR)
			continue;
		part = eval_at(s, c);
		v->flags |= part->flags;
		if (!v->str && part->str) {
			value_set(v, part->str, part->len, false);
		}
		if (!v->name && part->name)
			v->name = part->name;
	}
}

static void eval_composite(struct code_scan *s, uint32_t node, struct code_value *v)
{
	const struct code_tree *t = s->tree;
	uint32_t type = code_child(t, node, CODE_FIELD_TYPE);
	uint32_t body = code_child(t, node, CODE_FIELD_BODY);

	if (type != CODE_NO_NODE &&
	    (t->nodes[type].kind == CODE_ATTRIBUTE || t->nodes[type].kind == CODE_IDENTIFIER))
		v->name = eval_at(s, type)->name;
	if (body != CODE_NO_NODE) {
		v->flags |= eval_at(s, body)->flags;
		v->node = body;
	}
}

static void eval_node(struct code_scan *s, uint32_t node, struct code_value *v)
{
	const struct code_tree *t = s->tree;
	const struct code_node *n = &t->nodes[node];
	uint32_t child;

	switch (n->kind) {
	case CODE_IDENTIFIER:
	case CODE_DOTTED:
		eval_identifier(s, node, v);
		break;
	case CODE_STRING:
	case CODE_RAW_STRING:
	case CODE_RUNE:
		eval_string(s, node, v);
		break;
	case CODE_CONCATENATED:
		eval_concatenated(s, node, v);
		break;
	case CODE_INTEGER:
		v->is_number = code_number(t->text + n->start, n->end - n->start, &v->number);
		value_set(v, t->text + n->start, n->end - n->start, true);
		break;
	case CODE_BINARY:
		eval_binary(s, node, v);
		break;
	case CODE_ATTRIBUTE:
		eval_attribute(s, node, v);
		break;
	case CODE_SUBSCRIPT:
		eval_subscript(s, node, v);
		break;
	case CODE_CALL:
		eval_call(s, node, v);
		break;
	case CODE_LIST:
	case CODE_DICTIONARY:
	case CODE_PAIR:
	case CODE_ELEMENT:
	case CODE_COMPREHENSION:
		child = n->kind == CODE_ELEMENT ? code_first(t, node) : CODE_NO_NODE;
		if (child != CODE_NO_NODE)
			*v = *eval_at(s, child);
		else if (n->kind == CODE_LIST && code_first(t, node) != CODE_NO_NODE &&
			 t->nodes[code_first(t, node)].skip == n->skip && t->language == CODE_GO &&
			 n->field != CODE_FIELD_BODY)
			*v = *eval_at(s, code_first(t, node));
		else
			eval_list(s, node, v);
		break;
	case CODE_COMPOSITE:
		eval_composite(s, node, v);
		break;
	case CODE_PAREN:
	case CODE_AWAIT:
	case CODE_SPLAT:
	case CODE_UNARY:
	case CODE_CONVERSION:
	case CODE_SLICE_EXPRESSION:
	case CODE_POINTER_TYPE:
	case CODE_NAMED:
		child = n->kind == CODE_NAMED || n->kind == CODE_CONVERSION
				? code_child(t, node,
					     n->kind == CODE_NAMED ? CODE_FIELD_VALUE
								   : CODE_FIELD_OBJECT)
				: code_first(t, node);
		if (child != CODE_NO_NODE)
			*v = *eval_at(s, child);
		if (n->kind == CODE_UNARY && v->is_number) {
			v->is_number = false;
			v->is_constant = false;
		}
		break;
	case CODE_BOOLEAN:
	case CODE_CONDITIONAL:
		eval_union(s, node, v);
		break;
	default:
		break;
	}
}

static const struct code_value *eval_at(struct code_scan *s, uint32_t node)
{
	struct code_value *v;

	if (node == CODE_NO_NODE || s->depth > LIMIT_CODE_EVAL)
		return &unknown_value;
	if (s->memo[node])
		return s->memo[node];
	v = code_value_new(s, node);
	if (s->arena.is_full)
		return &unknown_value;
	s->memo[node] = v; /* what refers to itself is unknown */
	s->depth++;
	eval_node(s, node, v);
	s->depth--;
	return v;
}

const struct code_value *code_eval(struct code_scan *s, uint32_t node)
{
	return eval_at(s, node);
}

const char *code_cstr(struct code_scan *s, const struct code_value *v)
{
	const char *p = v->str ? code_arena_copy(&s->arena, v->str, v->len) : NULL;

	return p ? p : "";
}
