/* SPDX-License-Identifier: Apache-2.0 */
/* Assignments and declarations: what names stand for from now on. */
#include "inspect/shell/run.h"

#include "base/str.h"

#include <string.h>

/* declare x={a,b} is x=a x=b, and the last one holds; elsewhere braces are no list. */
static struct shell_word run_value(struct run *r, uint32_t node, bool is_declared)
{
	const struct shell_node *n = &r->tree->nodes[node];
	struct run_words words = {0};
	const char *s = r->tree->text + n->start;
	size_t len = n->end - n->start;

	/* x=$x$y is not split at blanks */
	if (len > 2 && s[0] == '$' && strcspn(s, "\"'\\`(*?[~") >= len)
		return word_heredoc(r, node, n->start, n->end);
	if (!is_declared || !memchr(r->tree->text + n->start, '{', n->end - n->start) ||
	    memchr(r->tree->text + n->start, '$', n->end - n->start))
		return word_one(r, node);
	word_expand(r, node, &words);
	return words.n > 0 ? words.v[words.n - 1] : (struct shell_word){.s = ""};
}

/* Prompts are expanded whenever they are shown. */
static void run_prompt(struct run *r, const char *name, size_t len, const struct shell_text *v)
{
	if (len == 3 && name[0] == 'P' && name[1] == 'S' && v->s)
		run_substitutions(r, v->s, v->len);
}

void run_assignment(struct run *r, uint32_t node, struct run_call *call)
{
	const struct shell_node *nodes = r->tree->nodes;
	const char *text = r->tree->text;
	size_t start = nodes[node].start, eq = start;
	struct shell_word value = {.s = ""};
	struct run_words items = {0};
	bool is_append;

	while (eq < nodes[node].end && text[eq] != '=')
		eq++;
	is_append = eq > start && text[eq - 1] == '+';
	if (memchr(text + start, '[', eq - start))
		run_substitutions(r, text + start, eq - start);
	for (uint32_t c = nodes[node].first; c; c = nodes[c].next) {
		if (nodes[c].start <= eq)
			continue;
		if (nodes[c].kind == NODE_ARRAY)
			for (uint32_t k = nodes[c].first; k; k = nodes[k].next) {
				if (!run_is_word(&nodes[k]))
					continue;
				word_expand(r, k, &items);
				if (value.len == 0 && items.n > 0)
					value = items.v[0];
			}
		else if (run_is_word(&nodes[c]))
			value = run_value(r, c, call && call->is_declaration);
	}
	start += 0;
	eq -= is_append;
	if (call) {
		struct shell_word w = {.taint = value.taint, .flags = value.flags};
		struct buf b = BUF_INIT(LIMIT_SHELL_WORD);

		buf_add(&b, text + start, eq - start);
		buf_char(&b, '=');
		buf_add(&b, value.s, value.len);
		w.s = arena_copy(&r->m->arena, buf_cstr(&b), b.len);
		w.len = b.len;
		run_buf_done(r, &b);
		word_add(r, &call->assigns, &w);
	} else {
		struct run_variable *old = run_get(r, text + start, eq - start);
		struct shell_text v = word_value(&value);

		if (is_append && old)
			v = run_join(r, old->value, v);
		run_set(r, text + start, eq - start, v);
		run_prompt(r, text + start, eq - start, &v);
		old = items.n > 0 && !is_append ? run_get(r, text + start, eq - start) : NULL;
		if (old && !old->is_readonly) {
			old->items = items.v;
			old->n_items = items.n;
		}
	}
}

/* declare -n: a name for a name. */
static bool run_is_reference(const struct run_call *call)
{
	for (size_t i = 1; i < call->argv.n && strcmp(call->argv.v[0].s, "export") != 0; i++)
		if (call->argv.v[i].s[0] == '-' && strchr(call->argv.v[i].s, 'n'))
			return true;
	return false;
}

void run_declaration(struct run *r, uint32_t node, struct run_call *call)
{
	const struct shell_node *nodes = r->tree->nodes;
	const char *text = r->tree->text;
	size_t len = strcspn(text + nodes[node].start, " \t\n;");
	struct shell_word name = word_of(r, text + nodes[node].start, len);
	bool is_local = strcmp(name.s, "local") == 0;

	word_add(r, &call->argv, &name);
	for (uint32_t c = nodes[node].first; c && run_step(r); c = nodes[c].next) {
		if (run_is_word(&nodes[c]) || nodes[c].kind == NODE_VARIABLE_NAME) {
			word_expand(r, c, &call->argv);
		} else if (nodes[c].kind == NODE_ASSIGNMENT) {
			struct run_call one = {.is_declaration = true};
			size_t eq;

			run_assignment(r, c, &one);
			if (one.assigns.n == 0)
				continue;
			word_add(r, &call->argv, &one.assigns.v[0]);
			eq = strcspn(one.assigns.v[0].s, "=");
			if (is_local && r->params) {
				struct run_variable *v =
					run_grow(r, (void **)&r->variables, &r->n_variables,
						 &r->cap_variables, sizeof(*v), LIMIT_SHELL_NAMES);
				if (v)
					*v = (struct run_variable){
						.is_local = true,
						.name = arena_copy(&r->m->arena, one.assigns.v[0].s,
								   eq)};
			}
			run_prompt(r, one.assigns.v[0].s, eq,
				   &(struct shell_text){.s = one.assigns.v[0].s + eq + 1,
							.len = one.assigns.v[0].len - eq - 1});
			run_set(r, one.assigns.v[0].s, eq,
				(struct shell_text){.s = one.assigns.v[0].s + eq + 1,
						    .len = one.assigns.v[0].len - eq - 1,
						    .taint = one.assigns.v[0].taint,
						    .is_known = !(one.assigns.v[0].flags &
								  WORD_UNKNOWN)});
			if (strcmp(name.s, "readonly") == 0) {
				struct run_variable *v = run_get(r, one.assigns.v[0].s, eq);

				if (v)
					v->is_readonly = true;
			}
			if (run_is_reference(call)) {
				struct run_variable *v = run_get(r, one.assigns.v[0].s, eq);
				const char *to = one.assigns.v[0].s + eq + 1;

				if (v && *to && strcmp(v->name, to) != 0)
					v->ref = to;
			}
		}
	}
}

/* Variables that change what the shell does are as good as commands. */
void run_exported(struct run *r, uint32_t node)
{
	static const char *const names[] = {
		"HISTFILE=",       "HISTSIZE=",   "HISTFILESIZE=", "HISTCONTROL=",
		"PROMPT_COMMAND=", "LD_PRELOAD=", "BASH_ENV=",     "PROMPT_COMMAND+="};
	const char *text = r->tree->text + r->tree->nodes[node].start;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strncmp(text, names[i], strlen(names[i])) == 0) {
			struct run_call call = {0}, one = {0};
			struct shell_word name = word_of(r, "export", 6);

			run_place(r, node, &call.line, &call.column);
			word_add(r, &call.argv, &name);
			run_assignment(r, node, &one);
			if (one.assigns.n > 0)
				word_add(r, &call.argv, &one.assigns.v[0]);
			(void)exec_call(r, &call);
			return;
		}
}
