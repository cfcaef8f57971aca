/* SPDX-License-Identifier: Apache-2.0 */
/* See scan.h. */
#include "inspect/code/scan.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

struct code_binding {
	const char *name;
	uint32_t len;
	uint32_t next; /* in its bucket; 0: none; indexes start at 1 */
	uint32_t bucket;
	const struct code_value *value;
};

#define FUNCTION_PARAMS 12

struct code_function {
	struct code_function *next;
	const char *name;
	unsigned returns; /* flags */
	const struct code_value *params[FUNCTION_PARAMS];
};

static uint32_t scan_hash(const char *s, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h % CODE_BUCKETS;
}

void code_raise(struct code_scan *s, int r)
{
	if (r < 0 && s->error == 0)
		s->error = r;
}

const struct code_value *code_lookup(struct code_scan *s, const char *name, size_t len)
{
	for (uint32_t i = s->buckets[scan_hash(name, len)]; i; i = s->bindings[i].next)
		if (s->bindings[i].len == len && memcmp(s->bindings[i].name, name, len) == 0)
			return s->bindings[i].value;
	return NULL;
}

struct code_scope *code_scope_now(struct code_scan *s)
{
	return &s->scopes[s->n_scopes - 1];
}

void code_bind(struct code_scan *s, const char *name, size_t len, const struct code_value *v,
	       unsigned extra_flags)
{
	uint32_t bucket = scan_hash(name, len), i;
	size_t mark = code_scope_now(s)->mark;
	void *p = s->bindings;

	if (len == 0 || len > 256 || (len == 1 && name[0] == '_'))
		return;
	if (extra_flags) {
		struct code_value *copy = code_value_new(s, v->node);

		*copy = *v;
		copy->flags |= extra_flags;
		v = copy;
	}
	for (i = s->buckets[bucket]; i; i = s->bindings[i].next)
		if (s->bindings[i].len == len && memcmp(s->bindings[i].name, name, len) == 0)
			break;
	/* What belongs to an object outlives the function that sets it. */
	if (i && (i >= mark || memchr(name, '.', len))) {
		s->bindings[i].value = v;
		return;
	}
	if (s->n_bindings == 0)
		s->n_bindings = 1;
	if (mem_grow(&p, &s->cap_bindings, s->n_bindings + 1, sizeof(*s->bindings),
		     LIMIT_CODE_NODES) < 0)
		return;
	s->bindings = p;
	s->bindings[s->n_bindings] =
		(struct code_binding){name, (uint32_t)len, s->buckets[bucket], bucket, v};
	s->buckets[bucket] = (uint32_t)s->n_bindings++;
}

static struct code_function *function_find(struct code_scan *s, const char *name, size_t len)
{
	struct code_function *f = s->functions[scan_hash(name, len)];

	while (f && (strlen(f->name) != len || memcmp(f->name, name, len) != 0))
		f = f->next;
	return f;
}

static struct code_function *function_get(struct code_scan *s, const char *name, size_t len)
{
	struct code_function *f = function_find(s, name, len);
	uint32_t slot = scan_hash(name, len);

	if (f || len > 128)
		return f;
	f = code_arena_take(&s->arena, sizeof(*f));
	if (!f)
		return NULL;
	f->name = code_arena_copy(&s->arena, name, len);
	if (!f->name)
		return NULL;
	f->next = s->functions[slot];
	s->functions[slot] = f;
	return f;
}

/* The part of a name that a function of the file would have: self.run is run. */
static const char *function_word(const char *name)
{
	return strncmp(name, "self.", 5) == 0 ? name + 5 : name;
}

unsigned code_function_flags(struct code_scan *s, const char *name)
{
	const struct code_function *f;

	name = function_word(name);
	f = function_find(s, name, strlen(name));
	return f ? f->returns : 0;
}

void code_function_called(struct code_scan *s, const struct code_call *c)
{
	struct code_function *f;
	const char *name = function_word(c->name);

	if (!s->is_first_walk || !name[0] || strchr(name, '.'))
		return;
	f = function_get(s, name, strlen(name));
	for (unsigned i = 0; f && i < c->n && i < FUNCTION_PARAMS; i++)
		if (!f->params[i] && c->args[i].keyword == CODE_NO_NODE &&
		    (c->args[i].value->str || c->args[i].value->name ||
		     (c->args[i].value->flags & ~(unsigned)CODE_FROM_PARAM) ||
		     (c->args[i].value->node != CODE_NO_NODE &&
		      s->tree->nodes[c->args[i].value->node].kind == CODE_LIST)))
			f->params[i] = c->args[i].value;
}

void code_report_rule(struct code_scan *s, const struct code_rule *rule, uint32_t node,
		      const char *name, const char *what)
{
	const struct code_tree *t = s->tree;
	const struct code_node *n = &t->nodes[node];
	size_t len = n->end - n->start;
	const char *eol = memchr(t->text + n->start, '\n', len);
	struct code_hit hit = {.rule = rule, .line = n->line, .column = n->column, .what = what};

	if (s->is_first_walk || s->error)
		return;
	if (eol)
		len = (size_t)(eol - (t->text + n->start));
	hit.code = name && name[0]
			   ? name
			   : code_arena_copy(&s->arena, t->text + n->start, len < 120 ? len : 120);
	if (!hit.code)
		hit.code = "";
	hit.standing = s->standing;
	s->has_error_hit = s->has_error_hit || rule->is_error;
	code_raise(s, s->sink->hit(s->sink->arg, &hit, s->err));
}

void code_report(struct code_scan *s, enum code_rule_id id, uint32_t node, const char *what)
{
	code_report_rule(s, &code_rules[id], node, NULL, what);
}

/* ---- assignments ---- */

static void assign_one(struct code_scan *s, uint32_t left, const struct code_value *v,
		       unsigned extra)
{
	const struct code_node *n = &s->tree->nodes[left];
	const char *word = s->tree->text + n->start;
	size_t len = n->end - n->start;

	/* In a branch the value may also be what it was before. */
	if (n->kind == CODE_IDENTIFIER && code_ancestor(s->tree, left, CODE_IF) != CODE_NO_NODE) {
		const struct code_value *old = code_lookup(s, word, len);

		extra |= old ? old->flags & ~(unsigned)CODE_FROM_SOCKET : 0;
		if (extra && v->is_constant) {
			struct code_value *either = code_value_new(s, v->node);

			*either = *v;
			either->is_constant = false;
			v = either;
		}
	}
	if (n->kind == CODE_IDENTIFIER || n->kind == CODE_ATTRIBUTE)
		code_bind(s, word, len, v, extra);
	if (n->kind == CODE_IDENTIFIER || n->kind == CODE_ATTRIBUTE || n->kind == CODE_SUBSCRIPT)
		code_act_assign(s, word, len, left, v);
}

static bool is_list_node(const struct code_tree *t, uint32_t node)
{
	return t->nodes[node].kind == CODE_LIST;
}

static void assign_pair(struct code_scan *s, uint32_t left, uint32_t right, unsigned extra)
{
	const struct code_tree *t = s->tree;
	uint32_t r;

	if (!is_list_node(t, left)) {
		assign_one(s, left, code_eval(s, right), extra);
		return;
	}
	r = is_list_node(t, right) ? right + 1 : right;
	CODE_EACH_CHILD(t, left, l)
	{
		bool has_more = is_list_node(t, right) && r < t->nodes[right].skip &&
				t->nodes[r].skip < t->nodes[right].skip;

		if (r != CODE_NO_NODE && (r < t->nodes[right].skip))
			assign_one(s, l, code_eval(s, r), extra);
		if (has_more)
			r = t->nodes[r].skip;
	}
}

static void assign(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t left = code_child(t, node, CODE_FIELD_LEFT);
	uint32_t right = code_child(t, node, CODE_FIELD_RIGHT);
	unsigned extra = 0;

	if (t->nodes[node].kind == CODE_VAR_SPEC || t->nodes[node].kind == CODE_NAMED) {
		left = code_child(t, node, CODE_FIELD_NAME);
		right = code_child(t, node, CODE_FIELD_VALUE);
	}
	if (left == CODE_NO_NODE)
		return;
	if (right == CODE_NO_NODE) { /* var x T */
		uint32_t type = code_child(t, node, CODE_FIELD_TYPE);

		if (type != CODE_NO_NODE && t->language == CODE_GO)
			assign_one(s, left, code_eval(s, type), 0);
		return;
	}
	if (t->nodes[node].kind == CODE_AUGMENTED ||
	    (t->nodes[node].kind == CODE_ASSIGNMENT &&
	     code_is(t, code_child(t, node, CODE_FIELD_OPERATOR), "+="))) {
		const struct code_node *l = &t->nodes[left];
		const struct code_value *old =
			code_lookup(s, t->text + l->start, l->end - l->start);
		struct code_value *v = code_value_new(s, right);
		const struct code_value *add = code_eval(s, right);

		if (old && old->str && add->str) {
			struct code_text sum = {.arena = &s->arena};

			code_text_add(&sum, old->str, old->len);
			code_text_add(&sum, add->str, add->len);
			if (!sum.is_broken) {
				v->str = sum.data;
				v->len = (uint32_t)sum.len;
				v->is_constant = old->is_constant && add->is_constant;
			}
		}
		v->flags = add->flags | (old ? old->flags : 0);
		if (!v->is_constant)
			v->flags |= CODE_IS_BUILT;
		assign_one(s, left, v, 0);
		return;
	}
	assign_pair(s, left, right, extra);
	if (t->nodes[node].kind == CODE_VAR_SPEC && t->nodes[left].kind == CODE_IDENTIFIER) {
		uint32_t type = code_child(t, node, CODE_FIELD_TYPE);
		const struct code_value *k = type == CODE_NO_NODE ? NULL : code_eval(s, type);
		struct code_value *v;

		/* What is declared as a number of a kind is one, whatever it starts with. */
		if (!k || !k->name ||
		    (strncmp(k->name, "int", 3) != 0 && strncmp(k->name, "uint", 4) != 0))
			return;
		v = code_value_new(s, type);
		v->name = k->name;
		code_bind(s, t->text + t->nodes[left].start,
			  t->nodes[left].end - t->nodes[left].start, v, 0);
	}
}

/* ---- functions ---- */

static bool is_visitor_name(const struct code_tree *t, uint32_t node)
{
	return code_is(t, node, "request") || code_is(t, node, "event") || code_is(t, node, "req");
}

/* Is the function one that a framework calls with what visitors send? */
static bool is_route(const struct code_tree *t, uint32_t function)
{
	uint32_t parent = t->nodes[function].parent;

	if (parent == CODE_NO_NODE)
		return false;
	CODE_EACH_CHILD(t, parent, c)
	{
		const struct code_node *n = &t->nodes[c];

		if (n->kind == CODE_DECORATOR &&
		    (memmem(t->text + n->start, n->end - n->start, "route", 5) ||
		     memmem(t->text + n->start, n->end - n->start, ".get(", 5) ||
		     memmem(t->text + n->start, n->end - n->start, ".post(", 6)))
			return true;
	}
	return false;
}

static void bind_param(struct code_scan *s, uint32_t node, const struct code_function *f,
		       unsigned index, unsigned flags)
{
	const struct code_tree *t = s->tree;
	uint32_t name = node, type = CODE_NO_NODE;
	struct code_value *v = code_value_new(s, node);

	if (t->nodes[node].kind == CODE_PARAMETER) {
		name = code_child(t, node, CODE_FIELD_NAME);
		type = code_child(t, node, CODE_FIELD_TYPE);
		if (name == CODE_NO_NODE)
			name = code_first(t, node);
	}
	if (name == CODE_NO_NODE || t->nodes[name].kind != CODE_IDENTIFIER)
		return;
	if (f && index < FUNCTION_PARAMS && f->params[index]) {
		*v = *f->params[index];
	} else if (t->language == CODE_PYTHON && t->nodes[node].kind == CODE_PARAMETER) {
		uint32_t usual = code_child(t, node, CODE_FIELD_VALUE);

		/* What a parameter usually is tells which function is called, and no more. */
		if (usual != CODE_NO_NODE && (t->nodes[usual].kind == CODE_ATTRIBUTE ||
					      t->nodes[usual].kind == CODE_IDENTIFIER))
			v->name = code_eval(s, usual)->name;
	}
	v->flags |= flags;
	if (is_visitor_name(t, name) && t->language == CODE_PYTHON) {
		v->flags |= CODE_FROM_INPUT;
		v->name = "request";
	}
	if (t->language == CODE_GO && type != CODE_NO_NODE) {
		const struct code_value *k = code_eval(s, type);

		if (k->name && (strchr(k->name, '.') || strncmp(k->name, "int", 3) == 0 ||
				strncmp(k->name, "uint", 4) == 0))
			v->name = k->name;
		if (k->name && strcmp(k->name, "net/http.Request") == 0)
			v->flags |= CODE_FROM_INPUT;
	}
	code_bind(s, t->text + t->nodes[name].start, t->nodes[name].end - t->nodes[name].start, v,
		  0);
	if (t->language == CODE_GO) /* a, b string */
		CODE_EACH_CHILD(t, node, c)
	if (t->nodes[c].field == CODE_FIELD_NAME && c != name)
		code_bind(s, t->text + t->nodes[c].start, t->nodes[c].end - t->nodes[c].start, v,
			  0);
}

static void scope_enter(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t params = code_child(t, node, CODE_FIELD_PARAMETERS);
	uint32_t name = code_child(t, node, CODE_FIELD_NAME);
	struct code_scope *scope;
	struct code_function *f = NULL;
	unsigned index = 0, flags = CODE_FROM_PARAM;

	if (s->n_scopes == CODE_SCOPES_MAX)
		return;
	if (name != CODE_NO_NODE) {
		const struct code_node *n = &t->nodes[name];

		f = function_get(s, t->text + n->start, n->end - n->start);
		/* A function of the file hides what had its name. */
		if (f) {
			struct code_value *own = code_value_new(s, name);

			own->name = f->name;
			code_bind(s, t->text + n->start, n->end - n->start, own, 0);
		}
	}
	scope = &s->scopes[s->n_scopes++];
	*scope = (struct code_scope){.end = t->nodes[node].skip,
				     .function = node,
				     .mark = s->n_bindings ? s->n_bindings : 1,
				     .summary = f};
	if (is_route(t, node))
		flags |= CODE_FROM_INPUT;
	if (params == CODE_NO_NODE)
		return;
	CODE_EACH_CHILD(t, params, p)
	{
		if (t->nodes[p].kind == CODE_COMMENT)
			continue;
		if (index == 0 && code_is(t, p, "self"))
			continue;
		bind_param(s, p, f, index++, flags);
	}
}

static void scope_leave(struct code_scan *s)
{
	struct code_scope *scope = &s->scopes[--s->n_scopes];
	size_t n;

	code_act_end(s, scope);
	n = s->n_bindings;
	for (size_t i = n; i > scope->mark; i--)
		s->buckets[s->bindings[i - 1].bucket] = s->bindings[i - 1].next;
	s->n_bindings = scope->mark < n ? scope->mark : n;
	for (size_t i = s->n_bindings; i < n; i++) { /* what belongs to an object stays */
		struct code_binding b = s->bindings[i];

		if (!memchr(b.name, '.', b.len))
			continue;
		b.next = s->buckets[b.bucket];
		s->buckets[b.bucket] = (uint32_t)s->n_bindings;
		s->bindings[s->n_bindings++] = b;
	}
}

/* ---- the walk ---- */

static void visit_call(struct code_scan *s, uint32_t node)
{
	const struct code_rule *rule;
	struct code_call c;
	unsigned next = 0;

	code_call_read(s, node, &c);
	code_reach_call(s, &c);
	s->has_error_hit = false;
	code_function_called(s, &c);
	if (c.name[0]) {
		while ((rule = code_rule_next(CODE_RULE_CALL, s->tree->language, c.name, &next)))
			if (!rule->when || rule->when(s, &c))
				code_report_rule(s, rule, node, c.name, NULL);
	}
	code_act_call(s, &c);
	if (!s->is_first_walk && s->sink->call && s->error == 0)
		code_raise(s, s->sink->call(s->sink->arg, &c, s->tree->nodes[node].line,
					    s->has_error_hit, s->err));
}

static void visit_attribute(struct code_scan *s, uint32_t node)
{
	const struct code_value *v = code_eval(s, node);
	const struct code_rule *rule;
	unsigned next = 0;

	if (!v->name)
		return;
	while ((rule = code_rule_next(CODE_RULE_USE, s->tree->language, v->name, &next)))
		code_report_rule(s, rule, node, v->name, NULL);
}

static void visit_field(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	bool is_keyword = t->nodes[node].kind == CODE_KEYWORD;
	uint32_t key = code_child(t, node, is_keyword ? CODE_FIELD_NAME : CODE_FIELD_KEY);
	uint32_t value = code_child(t, node, CODE_FIELD_VALUE);
	const struct code_rule *rule;
	unsigned next = 0;
	char text[128];
	size_t k, v;

	if (key == CODE_NO_NODE || value == CODE_NO_NODE)
		return;
	k = t->nodes[key].end - t->nodes[key].start;
	v = t->nodes[value].end - t->nodes[value].start;
	if (k > 48)
		return;
	if (v > sizeof(text) - k - 2)
		v = sizeof(text) - k - 2;
	memcpy(text, t->text + t->nodes[key].start, k);
	text[k] = '=';
	memcpy(text + k + 1, t->text + t->nodes[value].start, v);
	text[k + 1 + v] = '\0';
	while ((rule = code_rule_next(CODE_RULE_FIELD, t->language, text, &next)))
		code_report_rule(s, rule, node, NULL, NULL);
	if (is_keyword || t->language == CODE_GO)
		code_act_assign(s, t->text + t->nodes[key].start, k, key, code_eval(s, value));
}

static void visit_as(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t target = code_child_of_kind(t, node, CODE_AS_TARGET);
	uint32_t value = code_first(t, node);

	if (target == CODE_NO_NODE)
		target = code_child(t, node, CODE_FIELD_ALIAS);
	if (target == CODE_NO_NODE || value == CODE_NO_NODE || value == target)
		return;
	if (t->nodes[target].kind == CODE_AS_TARGET && code_first(t, target) != CODE_NO_NODE)
		target = code_first(t, target);
	code_bind(s, t->text + t->nodes[target].start,
		  t->nodes[target].end - t->nodes[target].start, code_eval(s, value), 0);
}

static void visit_for(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t left = code_child(t, node, CODE_FIELD_LEFT);
	uint32_t right = code_child(t, node, CODE_FIELD_RIGHT);
	const struct code_value *all;
	struct code_value *v;

	if (left == CODE_NO_NODE || right == CODE_NO_NODE)
		return;
	all = code_eval(s, right);
	v = code_value_new(s, right);
	v->flags = all->flags;
	if (all->name) {
		struct code_text name = {.arena = &s->arena};

		code_text_add(&name, all->name, strlen(all->name));
		code_text_add(&name, "[]", 3);
		v->name = name.is_broken ? NULL : name.data;
	}
	code_reach_entry(s, right, v);
	if (t->nodes[left].kind == CODE_LIST) {
		CODE_EACH_CHILD(t, left, l)
		assign_one(s, l, v, 0);
		return;
	}
	assign_one(s, left, v, 0);
}

/* class P(subprocess.Popen): what is made of it starts programs as the other does. */
static void visit_class(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t name = code_child(t, node, CODE_FIELD_NAME);
	uint32_t bases = code_child_of_kind(t, node, CODE_ARGUMENTS);
	uint32_t base = bases == CODE_NO_NODE ? CODE_NO_NODE : code_first(t, bases);
	const struct code_value *v;

	if (name == CODE_NO_NODE || base == CODE_NO_NODE)
		return;
	v = code_eval(s, base);
	if (v->name && strcmp(v->name, "subprocess.Popen") == 0)
		code_bind(s, t->text + t->nodes[name].start,
			  t->nodes[name].end - t->nodes[name].start, v, 0);
}

static void visit(struct code_scan *s, uint32_t i)
{
	const struct code_tree *t = s->tree;
	const struct code_node *n = &t->nodes[i];

	switch (n->kind) {
	case CODE_IMPORT:
	case CODE_IMPORT_FROM:
	case CODE_IMPORT_SPEC:
		code_import(s, i);
		break;
	case CODE_ASSIGNMENT:
	case CODE_AUGMENTED:
	case CODE_NAMED:
	case CODE_VAR_SPEC:
		assign(s, i);
		break;
	case CODE_CALL:
		visit_call(s, i);
		break;
	case CODE_ATTRIBUTE:
		visit_attribute(s, i);
		break;
	case CODE_KEYWORD:
	case CODE_PAIR:
		visit_field(s, i);
		break;
	case CODE_AS_PATTERN:
	case CODE_WITH_ITEM:
		visit_as(s, i);
		break;
	case CODE_FOR:
	case CODE_RANGE:
	case CODE_FOR_IN:
		visit_for(s, i);
		break;
	case CODE_FUNCTION:
	case CODE_LAMBDA:
		scope_enter(s, i);
		break;
	case CODE_CLASS:
		visit_class(s, i);
		break;
	case CODE_RETURN: {
		uint32_t value = code_first(t, i);

		if (value != CODE_NO_NODE && code_scope_now(s)->summary)
			code_scope_now(s)->summary->returns |= code_eval(s, value)->flags &
							       ~(unsigned)CODE_FROM_PARAM;
		break;
	}
	case CODE_STRING:
	case CODE_RAW_STRING:
	case CODE_CONCATENATED:
		if (t->nodes[n->parent].kind != CODE_EXPRESSION &&
		    t->nodes[n->parent].kind != CODE_CONCATENATED)
			code_act_string(s, i, code_eval(s, i));
		break;
	default:
		break;
	}
	code_act_node(s, i);
	if (t->language == CODE_GO)
		code_act_go(s, i);
}

static void scan_walk(struct code_scan *s)
{
	const struct code_tree *t = s->tree;

	s->scopes[0] = (struct code_scope){.end = t->n, .function = CODE_NO_NODE, .mark = 1};
	s->n_scopes = 1;
	s->n_bindings = 0;
	s->n_blobs = 0;
	memset(s->buckets, 0, sizeof(s->buckets));
	memset(s->memo, 0, t->n * sizeof(s->memo[0]));
	for (uint32_t i = 0; i < t->n && s->error == 0; i++) {
		while (s->n_scopes > 1 && i >= code_scope_now(s)->end)
			scope_leave(s);
		if ((i & 1023) == 0 && clock_ms() > s->deadline_ms) {
			s->arena.is_full = true;
			break;
		}
		visit(s, i);
	}
	while (s->n_scopes > 1)
		scope_leave(s);
	code_act_end(s, &s->scopes[0]);
}

/* Published code says whose it is before anything else. */
static bool has_notice(const struct code_tree *t)
{
	static const char *const words[] = {"Copyright", "copyright", "SPDX-",      "License",
					    "LICENSE",   "licensed",  "DO NOT EDIT"};
	size_t len = t->len < 1024 ? t->len : 1024;

	if (len == 0 || (t->text[0] != '#' && t->text[0] != '/' && t->text[0] != '"'))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (memmem(t->text, len, words[i], strlen(words[i])))
			return true;
	return false;
}

static enum code_standing scan_standing(const struct code_tree *t, const struct inspect_context *c)
{
	if (t->n_lines > CODE_LIBRARY_LINES)
		return CODE_LIBRARY;
	if (c->depth > 0 || c->document == INSPECT_DOCUMENT_SOURCE ||
	    c->document == INSPECT_DOCUMENT_TEST || has_notice(t))
		return CODE_PART;
	return CODE_SCRIPT;
}

int code_scan_run(const struct code_tree *tree, const struct inspect_context *context,
		  const struct code_sink *sink, struct cordon_error *err)
{
	struct code_scan *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return cordon_nomem(err);
	*s = (struct code_scan){.tree = tree, .context = context, .sink = sink, .err = err};
	s->arena.max = LIMIT_CODE_ARENA;
	s->deadline_ms = inspect_deadline(context, code_tree_ms(tree->len));
	s->memo = calloc(tree->n ? tree->n : 1, sizeof(*s->memo));
	s->standing = scan_standing(tree, context);
	if (!s->memo)
		r = cordon_nomem(err);
	if (r == 0 && tree->len <= LIMIT_CODE_TWICE) {
		s->is_first_walk = true;
		scan_walk(s);
		s->is_first_walk = false;
	}
	if (r == 0 && s->error == 0)
		scan_walk(s);
	if (r == 0 && s->arena.is_full && s->error == 0 && tree->n)
		code_report(s, CODE_RULE_CODE_LIMIT, 0, NULL);
	if (r == 0)
		r = s->error;
	code_arena_done(&s->arena);
	free(s->memo);
	free(s->bindings);
	free(s);
	return r;
}
