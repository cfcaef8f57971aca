/* SPDX-License-Identifier: Apache-2.0 */
/* Imports: which word of the file stands for which module or member, and the rules about modules. */
#include "inspect/code/scan.h"

#include "base/mem.h"

#include <string.h>

static void import_module(struct code_scan *s, const char *name, uint32_t node)
{
	char prefix[256];
	size_t len = strlen(name);
	char cut = s->tree->language == CODE_GO ? '/' : '.';

	if (len >= sizeof(prefix))
		return;
	memcpy(prefix, name, len + 1);
	s->has_error_hit = false;
	for (;;) {
		const struct code_rule *rule;
		unsigned next = 0;
		char *end;

		while ((rule = code_rule_next(CODE_RULE_IMPORT, s->tree->language, prefix, &next)))
			if (!rule->when || rule->when(s, NULL))
				code_report_rule(s, rule, node, name, NULL);
		end = strrchr(prefix, cut);
		if (!end)
			break;
		*end = '\0';
		if (s->tree->language == CODE_GO && strchr(prefix, '.') == NULL)
			break; /* crypto/md5/x is not crypto/md5 */
	}
	if (!s->is_first_walk && s->sink->module && s->error == 0)
		code_raise(s, s->sink->module(s->sink->arg, name, s->tree->nodes[node].line,
					      s->has_error_hit, s->err));
}

static const char *node_text(struct code_scan *s, uint32_t node)
{
	const struct code_node *n = &s->tree->nodes[node];
	struct code_text plain = {.arena = &s->arena};

	if (n->end - n->start > 240)
		return "";
	code_plain_name(&plain, s->tree->text + n->start, n->end - n->start);
	code_text_char(&plain, '\0');
	return plain.is_broken ? "" : plain.data;
}

static void import_bind(struct code_scan *s, const char *word, size_t len, const char *name,
			uint32_t node)
{
	struct code_value *v = code_value_new(s, node);

	v->name = name;
	code_bind(s, word, len, v, 0);
}

/* import a.b, c as d */
static void import_plain(struct code_scan *s, uint32_t node)
{
	CODE_EACH_CHILD(s->tree, node, c)
	{
		uint32_t name = c, alias = CODE_NO_NODE;
		const char *text;

		if (s->tree->nodes[c].kind == CODE_ALIASED) {
			name = code_child(s->tree, c, CODE_FIELD_NAME);
			alias = code_child(s->tree, c, CODE_FIELD_ALIAS);
		}
		if (name == CODE_NO_NODE)
			continue;
		text = node_text(s, name);
		if (alias != CODE_NO_NODE) {
			const char *word = node_text(s, alias);

			import_bind(s, word, strlen(word), text, c);
		} else {
			size_t len = strcspn(text, ".");
			const char *root = code_arena_copy(&s->arena, text, len);

			if (root)
				import_bind(s, root, len, root, c);
		}
		import_module(s, text, c);
	}
}

/* from a import b as c, * */
static void import_from(struct code_scan *s, uint32_t node)
{
	uint32_t module = code_child(s->tree, node, CODE_FIELD_MODULE);
	const char *from;

	if (module == CODE_NO_NODE)
		return;
	from = node_text(s, module);
	import_module(s, from, node);
	CODE_EACH_CHILD(s->tree, node, c)
	{
		uint32_t name = c, alias = CODE_NO_NODE;
		const char *word, *text;
		struct code_text full = {.arena = &s->arena};

		if (c == module)
			continue;
		if (s->tree->nodes[c].kind == CODE_WILDCARD) {
			static const char *const os_names[] = {"system", "popen", "remove", "execv",
							       "Popen",  "call",  "run"};

			for (size_t i = 0; i < ARRAY_LEN(os_names); i++) {
				full = (struct code_text){.arena = &s->arena};
				code_text_add(&full, from, strlen(from));
				code_text_char(&full, '.');
				code_text_add(&full, os_names[i], strlen(os_names[i]) + 1);
				if (!full.is_broken &&
				    (strcmp(from, "os") == 0 || strcmp(from, "subprocess") == 0))
					import_bind(s, os_names[i], strlen(os_names[i]), full.data,
						    c);
			}
			continue;
		}
		if (s->tree->nodes[c].kind == CODE_ALIASED) {
			name = code_child(s->tree, c, CODE_FIELD_NAME);
			alias = code_child(s->tree, c, CODE_FIELD_ALIAS);
		}
		if (name == CODE_NO_NODE)
			continue;
		text = node_text(s, name);
		word = alias == CODE_NO_NODE ? text : node_text(s, alias);
		code_text_add(&full, from, strlen(from));
		code_text_char(&full, '.');
		code_text_add(&full, text, strlen(text) + 1);
		if (full.is_broken)
			continue;
		import_bind(s, word, strlen(word), full.data, c);
		import_module(s, full.data, c);
	}
}

static void import_go(struct code_scan *s, uint32_t node)
{
	uint32_t path = code_child(s->tree, node, CODE_FIELD_PATH);
	uint32_t alias = code_child(s->tree, node, CODE_FIELD_NAME);
	const char *text, *word;

	if (path == CODE_NO_NODE)
		return;
	text = code_cstr(s, code_eval(s, path));
	if (alias != CODE_NO_NODE && s->tree->nodes[alias].kind == CODE_IDENTIFIER) {
		word = node_text(s, alias);
	} else {
		word = strrchr(text, '/');
		word = word ? word + 1 : text;
		if (word[0] == 'v' && word[1] >= '0' && word[1] <= '9' && word > text + 1) {
			const char *end = word - 1, *start = end;

			while (start > text && start[-1] != '/')
				start--;
			word = code_arena_copy(&s->arena, start, (size_t)(end - start));
			if (!word)
				return;
		}
	}
	import_bind(s, word, strlen(word), text, node);
	if (alias != CODE_NO_NODE && code_is(s->tree, alias, ".")) {
		static const char *const names[] = {"Command", "CommandContext", "Pointer", "Exit"};

		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			struct code_text full = {.arena = &s->arena};

			code_text_add(&full, text, strlen(text));
			code_text_char(&full, '.');
			code_text_add(&full, names[i], strlen(names[i]) + 1);
			if (!full.is_broken)
				import_bind(s, names[i], strlen(names[i]), full.data, node);
		}
	}
	import_module(s, text, node);
}

void code_import(struct code_scan *s, uint32_t node)
{
	if (s->tree->nodes[node].kind == CODE_IMPORT)
		import_plain(s, node);
	else if (s->tree->nodes[node].kind == CODE_IMPORT_FROM)
		import_from(s, node);
	else
		import_go(s, node);
}
