/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to a function or a path that go through something else: an item of a dictionary, what operator makes, the
 * entries of a directory that a loop goes through.
 */
#include "inspect/code/scan.h"

#include "base/mem.h"

#include <string.h>

/* The value of a key in a dictionary that is written out. */
bool code_reach_item(struct code_scan *s, const struct code_value *dictionary,
		     const struct code_value *key, struct code_value *v)
{
	const struct code_tree *t = s->tree;

	if (!key->is_constant || dictionary->node == CODE_NO_NODE ||
	    t->nodes[dictionary->node].kind != CODE_DICTIONARY)
		return false;
	CODE_EACH_CHILD(t, dictionary->node, pair)
	{
		uint32_t k = code_child(t, pair, CODE_FIELD_KEY);
		uint32_t value = code_child(t, pair, CODE_FIELD_VALUE);
		const struct code_value *name;

		if (t->nodes[pair].kind != CODE_PAIR || k == CODE_NO_NODE || value == CODE_NO_NODE)
			continue;
		name = code_eval(s, k);
		if (name->is_constant && name->len == key->len &&
		    memcmp(name->str, key->str, key->len) == 0) {
			*v = *code_eval(s, value);
			return true;
		}
	}
	return false;
}

/* The call that made the function that is called, of that name; false when it was another. */
static bool reach_maker(struct code_scan *s, const struct code_call *c, const char *name,
			struct code_call *maker)
{
	const struct code_value *f;
	uint32_t node = c->function;

	if (node == CODE_NO_NODE)
		return false;
	f = code_eval(s, node);
	if (s->tree->nodes[node].kind != CODE_CALL)
		node = f->node;
	if (!f->name || strcmp(f->name, name) != 0 || node == CODE_NO_NODE ||
	    s->tree->nodes[node].kind != CODE_CALL)
		return false;
	code_call_read(s, node, maker);
	return maker->n > 0 && maker->args[0].value->is_constant && c->n > 0 &&
	       c->args[0].value->name;
}

static const char *reach_name(struct code_scan *s, const char *object,
			      const struct code_value *word)
{
	struct code_text name = {.arena = &s->arena};

	code_text_add(&name, object, strlen(object));
	code_text_char(&name, '.');
	code_text_add(&name, word->str, word->len);
	code_text_char(&name, '\0');
	return name.is_broken ? NULL : name.data;
}

/* operator.attrgetter("system")(os) is os.system. */
bool code_reach_attribute(struct code_scan *s, const struct code_call *c, struct code_value *v)
{
	struct code_call maker;

	if (strcmp(c->name, "operator.attrgetter()") != 0 ||
	    !reach_maker(s, c, "operator.attrgetter()", &maker))
		return false;
	v->name = reach_name(s, c->args[0].value->name, maker.args[0].value);
	return v->name != NULL;
}

/* operator.methodcaller("system", x)(os) is os.system(x): the call as it would be written. */
void code_reach_call(struct code_scan *s, struct code_call *c)
{
	struct code_call maker;
	const char *name;

	static const char call[] = ".__call__";
	size_t n = strlen(c->name);

	if (n > sizeof(call) - 1 && strcmp(c->name + n - (sizeof(call) - 1), call) == 0) {
		name = code_arena_copy(&s->arena, c->name, n - (sizeof(call) - 1));
		c->name = name ? name : c->name;
		return;
	}
	if (strcmp(c->name, "operator.methodcaller()") != 0 ||
	    !reach_maker(s, c, "operator.methodcaller()", &maker))
		return;
	name = reach_name(s, c->args[0].value->name, maker.args[0].value);
	if (!name)
		return;
	c->name = name;
	c->n = maker.n - 1;
	memmove(c->args, maker.args + 1, c->n * sizeof(c->args[0]));
	c->flags |= maker.flags;
}

/* shutil.os.system, random._os.system, x.sys.modules: a module that another one holds is that module. */
const char *code_reach_below(const char *name)
{
	static const char *const modules[] = {"os.",          "_os.",      "subprocess.",
					      "_subprocess.", "builtins.", "sys.modules",
					      "_sys.modules"};

	/* a module of its own */
	if (strncmp(name, "asyncio.", 8) == 0)
		return name;
	for (const char *p = name; (p = strchr(p, '.')) != NULL;) {
		p++;
		for (size_t i = 0; i < ARRAY_LEN(modules); i++)
			if (strncmp(p, modules[i], strlen(modules[i])) == 0)
				return p + (*p == '_');
	}
	return name;
}

/* Of a list of paths that is written out, the first that matters stands for all of them. */
static void reach_listed(struct code_scan *s, uint32_t list, struct code_value *v)
{
	unsigned n = 0;

	CODE_EACH_CHILD(s->tree, list, item)
	{
		const struct code_value *path = code_eval(s, item);

		if (n++ > 64)
			break;
		if (path->str && path->len > 1 &&
		    (code_path_class(path->str, path->len) & ~(unsigned)CODE_PATH_TEMP)) {
			v->str = path->str;
			v->len = path->len;
			v->is_constant = false;
			return;
		}
	}
}

/* What a loop over a directory or a pattern gets at each turn: a path in that place whose end is not known. */
void code_reach_entry(struct code_scan *s, uint32_t node, struct code_value *v)
{
	static const char *const patterns[] = {"glob.glob", "glob.iglob", "os.walk", "os.scandir",
					       NULL};
	static const char *const methods[] = {".iterdir", ".glob", ".rglob", NULL};
	struct code_text text = {.arena = &s->arena};
	const struct code_value *in = NULL;
	struct code_call c;
	const char *last;

	const struct code_value *all = code_eval(s, node);

	if (all->node != CODE_NO_NODE && s->tree->nodes[all->node].kind == CODE_LIST) {
		reach_listed(s, all->node, v);
		return;
	}
	if (s->tree->nodes[node].kind != CODE_CALL || s->tree->language != CODE_PYTHON)
		return;
	code_call_read(s, node, &c);
	/* list(...), sorted(...) */
	if (c.n > 0 && (strcmp(c.name, "list") == 0 || strcmp(c.name, "sorted") == 0) &&
	    s->tree->nodes[c.args[0].node].kind == CODE_CALL)
		code_call_read(s, c.args[0].node, &c);
	last = strrchr(c.name, '.');
	for (size_t i = 0; patterns[i]; i++)
		if (c.n > 0 && strcmp(c.name, patterns[i]) == 0)
			in = c.args[0].value;
	if (!in && last && c.function != CODE_NO_NODE &&
	    s->tree->nodes[c.function].kind == CODE_ATTRIBUTE) {
		uint32_t object = code_child(s->tree, c.function, CODE_FIELD_OBJECT);

		for (size_t i = 0; methods[i]; i++)
			if (strcmp(last, methods[i]) == 0 && object != CODE_NO_NODE)
				in = code_eval(s, object);
	}
	if (!in || !in->str || in->len == 0)
		return;
	for (uint32_t i = 0; i < in->len; i++)
		code_text_char(&text, in->str[i] == '*' ? CODE_HOLE : in->str[i]);
	if (!memchr(in->str, '*', in->len)) {
		code_text_char(&text, '/');
		code_text_char(&text, CODE_HOLE);
	}
	if (text.is_broken)
		return;
	v->str = text.data;
	v->len = (uint32_t)text.len;
	v->is_constant = false;
}
