/* SPDX-License-Identifier: Apache-2.0 */
/* See run.h: statements in the order in which they would run. */
#include "inspect/shell/run.h"

#include "base/clock.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

void run_place(struct run *r, uint32_t node, unsigned *ret_line, unsigned *ret_column)
{
	const struct shell_tree *t = r->tree;
	uint32_t to = t->nodes[node].start;

	/* Texts inside texts have the place of the command that runs them. */
	if (r->line > 0) {
		*ret_line = r->line;
		*ret_column = 0;
		return;
	}
	if (r->place_tree != t || to < r->place_at) {
		r->place_tree = t;
		r->place_at = 0;
		r->place_line = r->place_column = 1;
	}
	r->steps -= r->steps > (to - r->place_at) / 64 ? (to - r->place_at) / 64 : r->steps;
	for (; r->place_at < to && r->place_at < t->len; r->place_at++) {
		bool is_end = t->text[r->place_at] == '\n';

		r->place_column = is_end ? 1 : r->place_column + 1;
		r->place_line += is_end;
	}
	*ret_line = r->place_line;
	*ret_column = r->place_column;
}

/* ---- simple commands ---- */

/* Substitutions in places that are no command: tests, arithmetic, case words. */
static void run_hidden(struct run *r, uint32_t node)
{
	const struct shell_node *nodes = r->tree->nodes;

	if (!run_step(r) || r->depth > LIMIT_SHELL_NESTING)
		return;
	if (nodes[node].kind == NODE_VARIABLE_NAME || nodes[node].kind == NODE_WORD) {
		/* the value of a name is arithmetic too, and so are subscripts in it */
		const struct run_variable *v = run_get(r, r->tree->text + nodes[node].start,
						       nodes[node].end - nodes[node].start);

		if (v && v->value.s && memchr(v->value.s, '[', v->value.len))
			run_substitutions(r, v->value.s, v->value.len);
	}
	if (run_is_word(&nodes[node])) {
		struct shell_word w = word_one(r, node);
		const char *open = memchr(w.s, '[', w.len);

		/* a subscript is expanded once more, wherever a number or a name is wanted */
		if (open && memchr(r->tree->text + nodes[node].start, '\'',
				   nodes[node].end - nodes[node].start))
			run_substitutions(r, open, w.len - (size_t)(open - w.s));
		return;
	}
	r->depth++;
	for (uint32_t c = nodes[node].first; c; c = nodes[c].next)
		run_hidden(r, c);
	r->depth--;
}

static struct shell_text run_call(struct run *r, struct run_call *call)
{
	run_inputs(r, call);
	if (call->argv.n == 0) {
		for (size_t i = 0; i < call->assigns.n; i++) {
			const struct shell_word *w = &call->assigns.v[i];
			size_t eq = strcspn(w->s, "=");

			run_set(r, w->s, eq,
				(struct shell_text){.s = w->s + eq + 1,
						    .len = w->len - eq - 1,
						    .taint = w->taint,
						    .is_known = !(w->flags & WORD_UNKNOWN)});
		}
		/* $(<file) */
		if (call->n_redirects == 0)
			return run_nothing();
	}
	return exec_call(r, call);
}

static void run_command_parts(struct run *r, uint32_t node, struct run_call *call)
{
	const struct shell_node *nodes = r->tree->nodes;

	for (uint32_t c = nodes[node].first; c && run_step(r); c = nodes[c].next) {
		switch (nodes[c].kind) {
		case NODE_ASSIGNMENT:
			run_assignment(r, c, call);
			break;
		case NODE_COMMAND_NAME:
			word_expand(r, c, &call->argv);
			break;
		case NODE_FILE_REDIRECT:
			run_file_redirect(r, c, call);
			break;
		case NODE_HERESTRING:
			run_herestring(r, c, call);
			break;
		case NODE_HEREDOC_REDIRECT:
			run_heredoc(r, c, call);
			break;
		case NODE_SUBSHELL:
		case NODE_ERROR:
			(void)run_node(r, c, run_nothing(), false);
			break;
		default:
			if (nodes[c].kind == NODE_NUMBER && run_is_descriptor(r, c))
				break;
			if (run_is_word(&nodes[c]))
				word_expand(r, c, &call->argv);
		}
	}
}

static struct shell_text run_command(struct run *r, uint32_t node, struct run_call *call)
{
	const struct shell_node *n = &r->tree->nodes[node];

	run_place(r, node, &call->line, &call->column);
	if (n->kind == NODE_DECLARATION) {
		run_declaration(r, node, call);
	} else if (n->kind == NODE_UNSET) {
		struct shell_word name = word_of(r, "unset", 5);

		word_add(r, &call->argv, &name);
		for (uint32_t c = n->first; c; c = r->tree->nodes[c].next)
			if (r->tree->nodes[c].is_named)
				word_expand(r, c, &call->argv);
	} else {
		run_command_parts(r, node, call);
	}
	return run_call(r, call);
}

/* ---- statements ---- */

static struct shell_text run_pipe_on(struct run *r, uint32_t first, struct shell_text in,
				     bool has_in)
{
	const struct shell_node *nodes = r->tree->nodes;
	size_t outer = r->pipe, group = outer ? outer : ++r->group;
	size_t before = r->m->n, stage = before;

	for (uint32_t c = first; c && run_step(r); c = nodes[c].next) {
		if (!nodes[c].is_named || nodes[c].kind == NODE_COMMENT)
			continue;
		r->group = r->pipe = group;
		stage = r->m->n;
		in = run_node(r, c, in, has_in);
		has_in = true;
	}
	/* all but those of the last stage write into a pipe */
	for (size_t i = before; i < stage && i < r->m->n; i++)
		r->m->commands[i].is_piped |= r->m->commands[i].group == group;
	r->pipe = outer;
	return in;
}

/* while …; done < FILE: nobody but the loop reads the file, so that it counts as a command of its own. */
static void run_reads(struct run *r, const struct run_call *call)
{
	for (size_t i = 0; i < call->n_redirects; i++)
		if (call->redirects[i].kind == REDIRECT_IN &&
		    (effect_file(r, call->redirects[i].target.s, call->redirects[i].target.flags) &
		     TAINT_SECRET)) {
			struct run_call one = {.redirects = &call->redirects[i],
					       .n_redirects = 1,
					       .line = call->line ? call->line : 1};

			(void)exec_call(r, &one);
		}
}

/* A statement whose redirections were read into call. */
static struct shell_text run_within(struct run *r, uint32_t body, struct run_call *call)
{
	struct shell_command seen = {.redirects = call->redirects,
				     .n_redirects = call->n_redirects};
	unsigned via = r->via;
	struct shell_text out;
	size_t before = r->m->n;

	run_inputs(r, call);
	run_reads(r, call);
	r->via |= call->out_is_network || call->in_is_network ? VIA_NETWORK : 0;
	out = body ? run_node(r, body, call->in, call->has_in) : run_nothing();
	r->via = via;
	run_outputs(r, call, before);
	effect_redirects(r, &seen, out);
	return out;
}

/* A statement with redirections behind it. */
static struct shell_text run_redirected(struct run *r, uint32_t node, struct shell_text in,
					bool has_in)
{
	const struct shell_node *nodes = r->tree->nodes;
	uint32_t body = 0, after = 0;
	struct run_call call = {.in = in, .has_in = has_in};
	struct shell_text out;

	for (uint32_t c = nodes[node].first; c && run_step(r); c = nodes[c].next) {
		if (nodes[c].kind == NODE_HEREDOC_REDIRECT)
			after = c;
		else if (nodes[c].is_named && !body && nodes[c].kind != NODE_FILE_REDIRECT &&
			 nodes[c].kind != NODE_HERESTRING)
			body = c;
	}
	/* A pipeline's redirections belong to its last command. */
	if (body && nodes[body].kind == NODE_COMMAND) {
		run_place(r, body, &call.line, &call.column);
		run_command_parts(r, body, &call);
	}
	for (uint32_t c = nodes[node].first; c && run_step(r); c = nodes[c].next) {
		if (nodes[c].kind == NODE_FILE_REDIRECT)
			run_file_redirect(r, c, &call);
		else if (nodes[c].kind == NODE_HERESTRING)
			run_herestring(r, c, &call);
		else if (nodes[c].kind == NODE_HEREDOC_REDIRECT)
			run_heredoc(r, c, &call);
	}
	/* `> file` has no command and empties the file all the same. */
	if (body ? nodes[body].kind == NODE_COMMAND : call.n_redirects > 0) {
		if (!body)
			run_place(r, node, &call.line, &call.column);
		out = run_call(r, &call);
	} else {
		out = run_within(r, body, &call);
	}
	/* cat <<EOF | sh: the rest of the line hangs below the heredoc. */
	for (uint32_t c = after ? nodes[after].first : 0; c; c = nodes[c].next)
		if (nodes[c].kind == NODE_PIPELINE)
			out = run_pipe_on(r, nodes[c].first, out, true);
		else if (nodes[c].kind != NODE_FILE_REDIRECT &&
			 nodes[c].kind != NODE_HEREDOC_BODY &&
			 nodes[c].kind != NODE_HEREDOC_START && nodes[c].kind != NODE_HEREDOC_END &&
			 nodes[c].is_named && !run_is_word(&nodes[c]))
			out = run_join(r, out, run_node(r, c, run_nothing(), false));
	return out;
}

struct shell_text run_body(struct run *r, const struct run_function *f, struct shell_text in,
			   bool has_in)
{
	const struct shell_node *nodes = f->tree->nodes;
	struct run_call call = {.in = in, .has_in = has_in};
	uint32_t body = f->body;

	/* Redirections of a definition hold for each call. */
	for (uint32_t c = nodes[f->node].first; c; c = nodes[c].next)
		if (nodes[c].kind == NODE_FILE_REDIRECT)
			run_file_redirect(r, c, &call);
	return run_within(r, body, &call);
}

static void run_function_add(struct run *r, uint32_t node)
{
	const struct shell_node *nodes = r->tree->nodes;
	struct run_function f = {.tree = r->tree};
	struct run_function *slot = NULL;

	for (uint32_t c = nodes[node].first; c; c = nodes[c].next) {
		if (!f.name && (nodes[c].kind == NODE_WORD || nodes[c].kind == NODE_VARIABLE_NAME))
			f.name = word_one(r, c).s;
		else if (nodes[c].is_named && f.name)
			f.body = f.body ? f.body : c;
	}
	if (!f.name || !f.body)
		return;
	for (size_t i = 0; i < r->n_functions && !slot; i++)
		if (strcmp(r->functions[i].name, f.name) == 0 && !r->functions[i].is_running)
			slot = &r->functions[i];
	if (!slot)
		slot = run_grow(r, (void **)&r->functions, &r->n_functions, &r->cap_functions,
				sizeof(f), LIMIT_SHELL_NAMES);
	f.node = node;
	if (slot)
		*slot = f;
}

static bool run_is_endless(const struct run *r, uint32_t node)
{
	static const char *const always[] = {"true", ":", "((1))", "(( 1 ))", "[ 1 ]", "[[ 1 ]]"};
	const struct shell_node *n = &r->tree->nodes[node];
	size_t len = n->end - n->start;

	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		if (strlen(always[i]) == len &&
		    memcmp(always[i], r->tree->text + n->start, len) == 0)
			return true;
	return false;
}

/* while true; do x & done, without a wait of its own. */
static bool run_loop_forks(const struct run *r, uint32_t body)
{
	const struct shell_node *nodes = r->tree->nodes;
	bool forks = false;

	for (uint32_t c = nodes[body].first; c; c = nodes[c].next) {
		const char *at = r->tree->text + nodes[c].start;
		size_t len = nodes[c].end - nodes[c].start;

		forks = forks || nodes[c].kind == NODE_AMPERSAND;
		if (nodes[c].kind == NODE_COMMAND && ((len >= 4 && memcmp(at, "wait", 4) == 0) ||
						      (len >= 5 && memcmp(at, "sleep", 5) == 0)))
			return false;
	}
	return forks;
}

/* for i in $(seq 100000), for i in {1..100000}: a number of five digits before the body */
static bool run_is_many(const struct run *r, uint32_t node, uint32_t body)
{
	const struct shell_node *nodes = r->tree->nodes;
	size_t digits = 0;

	for (size_t i = nodes[node].start; i < nodes[body].start && digits < 5; i++)
		digits = r->tree->text[i] >= '0' && r->tree->text[i] <= '9' ? digits + 1 : 0;
	return digits >= 5;
}

static struct shell_text run_loop(struct run *r, uint32_t node, struct shell_text in, bool has_in)
{
	const struct shell_node *nodes = r->tree->nodes;
	struct shell_text out = run_nothing();
	bool is_endless = false;
	unsigned via = r->via;

	r->via |= VIA_LOOP;
	for (uint32_t c = nodes[node].first; c && run_step(r); c = nodes[c].next) {
		if (!nodes[c].is_named)
			continue;
		if (nodes[c].kind == NODE_DO_GROUP && is_endless && run_loop_forks(r, c)) {
			r->m->notes |= NOTE_FORKS;
			run_place(r, node, &r->m->note_line, &(unsigned){0});
		}
		is_endless = is_endless || run_is_endless(r, c);
		out = run_join(r, out, run_node(r, c, in, has_in));
	}
	r->via = via;
	return out;
}

/* Does a body do nothing but gather its items: for i in …; do x=$x$i; done? */
static bool run_gathers(const struct run *r, uint32_t node)
{
	const struct shell_node *nodes = r->tree->nodes;

	for (uint32_t c = nodes[node].first; c; c = nodes[c].next)
		if (nodes[c].kind == NODE_DO_GROUP)
			for (uint32_t k = nodes[c].first; k; k = nodes[k].next)
				if (nodes[k].is_named && nodes[k].kind != NODE_ASSIGNMENT)
					return false;
	return true;
}

static struct shell_text run_for(struct run *r, uint32_t node, struct shell_text in, bool has_in)
{
	const struct shell_node *nodes = r->tree->nodes;
	const struct shell_node *name = NULL;
	struct run_words words = {0};
	struct shell_text out = run_nothing();
	unsigned via = r->via;
	size_t rounds;

	for (uint32_t c = nodes[node].first; c && run_step(r); c = nodes[c].next) {
		if (nodes[c].kind == NODE_DO_GROUP && run_is_many(r, node, c) &&
		    run_loop_forks(r, c)) {
			r->m->notes |= NOTE_FORKS;
			run_place(r, node, &r->m->note_line, &(unsigned){0});
		}
		if (nodes[c].kind == NODE_VARIABLE_NAME && !name)
			name = &nodes[c];
		else if (run_is_word(&nodes[c]))
			word_expand(r, c, &words);
	}
	r->via |= VIA_LOOP;
	rounds = words.n == 0 ? 1 : words.n < 4 ? words.n : 4;
	if (words.n > 4 && run_gathers(r, node))
		rounds = words.n < LIMIT_SHELL_GATHERED ? words.n : LIMIT_SHELL_GATHERED;
	for (size_t i = 0; i < rounds; i++) {
		struct shell_text v = words.n > 0 ? word_value(&words.v[i])
						  : (struct shell_text){0};

		if (words.n > 0 && (words.v[i].flags & WORD_GLOB))
			v.taint |= TAINT_FILE;
		if (name)
			run_set(r, r->tree->text + name->start, name->end - name->start, v);
		for (uint32_t c = nodes[node].first; c && run_step(r); c = nodes[c].next)
			if (nodes[c].kind == NODE_DO_GROUP || nodes[c].kind == NODE_COMPOUND)
				out = run_join(r, out, run_node(r, c, in, has_in));
	}
	r->via = via;
	return out;
}

struct shell_text run_children(struct run *r, uint32_t node, struct shell_text in, bool has_in)
{
	const struct shell_node *nodes = r->tree->nodes;
	struct shell_text out = run_nothing();
	unsigned via = r->via;
	size_t pipe = r->pipe, group = r->group;

	r->pipe = 0;
	for (uint32_t c = nodes[node].first; c && run_step(r); c = nodes[c].next) {
		struct shell_text v;
		bool is_background = nodes[c].next && nodes[nodes[c].next].kind == NODE_AMPERSAND;

		if (!nodes[c].is_named || nodes[c].kind == NODE_COMMENT)
			continue;
		r->via = via | (is_background ? VIA_BACKGROUND : 0);
		r->group++;
		v = run_node(r, c, in, has_in);
		out = run_join(r, out, v);
	}
	r->via = via;
	r->pipe = pipe;
	if (pipe)
		r->group = group;
	return out;
}

static struct shell_text run_statement(struct run *r, uint32_t node, struct shell_text in,
				       bool has_in)
{
	const struct shell_node *n = &r->tree->nodes[node];
	const char *cwd = r->cwd;
	struct shell_text out;

	switch (n->kind) {
	case NODE_COMMAND:
	case NODE_DECLARATION:
	case NODE_UNSET:
		return run_command(r, node, &(struct run_call){.in = in, .has_in = has_in});
	case NODE_REDIRECTED:
		return run_redirected(r, node, in, has_in);
	case NODE_PIPELINE:
		return run_pipe_on(r, n->first, in, has_in);
	case NODE_ASSIGNMENT:
		run_assignment(r, node, NULL);
		run_exported(r, node);
		return run_nothing();
	case NODE_FUNCTION:
		run_function_add(r, node);
		return run_nothing();
	case NODE_SUBSHELL:
		out = run_children(r, node, in, has_in);
		r->cwd = cwd;
		return out;
	case NODE_WHILE:
		return run_loop(r, node, in, has_in);
	case NODE_FOR:
		return run_for(r, node, in, has_in);
	case NODE_IF:
	case NODE_CASE:
		r->conditions++;
		out = run_children(r, node, in, has_in);
		r->conditions--;
		return out;
	case NODE_LIST: {
		const struct shell_node *right = NULL;
		bool is_or = false;

		for (uint32_t c = n->first; c; c = r->tree->nodes[c].next) {
			is_or = is_or || r->tree->nodes[c].kind == NODE_OR;
			right = &r->tree->nodes[c];
		}
		(void)right;
		r->conditions += is_or;
		out = run_children(r, node, in, has_in);
		r->conditions -= is_or;
		return out;
	}
	case NODE_FILE_REDIRECT: {
		/* $(<file) */
		struct run_call call = {0};

		run_file_redirect(r, node, &call);
		return run_call(r, &call);
	}
	case NODE_TEST:
	case NODE_HEREDOC_BODY:
		run_hidden(r, node);
		return run_nothing();
	default:
		if (run_is_word(n) || n->kind == NODE_VARIABLE_NAME) {
			run_hidden(r, node);
			return run_nothing();
		}
		return run_children(r, node, in, has_in);
	}
}

struct shell_text run_node(struct run *r, uint32_t node, struct shell_text in, bool has_in)
{
	struct shell_text out = {0};

	if (r->depth >= LIMIT_SHELL_NESTING) {
		r->m->notes |= NOTE_CUT;
		return out;
	}
	r->depth++;
	out = run_statement(r, node, in, has_in);
	r->depth--;
	return out;
}

/* What stands in errors, up to the end of its line. */
static void run_errors(struct run *r)
{
	const struct shell_tree *t = r->tree;
	size_t done = 0;

	for (size_t i = 0; i < t->n && run_step(r); i++) {
		const char *end;
		size_t stop;

		if (t->nodes[i].kind != NODE_ERROR || t->nodes[i].start < done)
			continue;
		end = memchr(t->text + t->nodes[i].end, '\n', t->len - t->nodes[i].end);
		stop = end ? (size_t)(end - t->text) : t->len;
		if (t->len <= LIMIT_SHELL_LOOSE)
			loose_run(r, t->nodes[i].start, stop);
		done = stop;
	}
}

/* A copy with a NUL behind it.  bash leaves NUL bytes inside out; so must we, before anything reads them as an end. */
static const char *run_without_nul(struct run *r, const char *text, size_t *len)
{
	char *copy;
	size_t n = 0;

	if (*len == 0 || !memchr(text, '\0', *len)) {
		text = arena_copy(&r->m->arena, text, *len);
		*len = r->m->arena.error ? 0 : *len;
		return text;
	}
	r->m->notes |= NOTE_NUL;
	copy = arena_take(&r->m->arena, *len + 1);
	if (!copy) {
		*len = 0;
		return "";
	}
	for (size_t i = 0; i < *len; i++)
		if (text[i])
			copy[n++] = text[i];
	*len = n;
	return copy;
}

/* Is most of it nothing that bash could read? */
static bool run_is_no_shell(const struct shell_tree *t, size_t commands)
{
	size_t bad = 0, end = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->nodes[i].kind == NODE_ERROR && t->nodes[i].start >= end) {
			bad += t->nodes[i].end - t->nodes[i].start;
			end = t->nodes[i].end;
		}
	/* Other shells' syntax breaks the tree too, but its commands are found. */
	return bad > 4096 && bad * 2 > t->len && commands < bad / 2048 + 1;
}

/* name(…); and nothing else, or :name(…): a call for the interpreter that it is put into */
static bool run_is_call(const char *s, size_t len)
{
	size_t n = *s == ':' ? 1 : 0, from = n;

	while (len > 0 && (s[len - 1] == '\n' || s[len - 1] == ' '))
		len--;
	while (n < len && param_is_name(s[n]))
		n++;
	return n > from + 2 && n < len && s[n] == '(' && len - n >= 3 && s[len - 1] == ';' &&
	       s[len - 2] == ')' && !memchr(s, '\n', len);
}

/* Does it begin as if something stood before it?  Injected text closes what it is put into, or is written for the
 * reader that it is put into. */
static bool run_is_fragment(const struct shell_tree *t)
{
	static const char *const starts[] = {"() {",      "(){",       "<?php",    "<!--",
					     "<script",   "<%",        "{{",       "{%",
					     "%20",       "%0a",       "%0A",      "\\n",
					     "{${",       "${@",       "${{",      "#{",
					     "<#",        "$;",        "phpinfo(", "system('",
					     "system(\"", "passthru(", "exec('",   "shell_exec("};
	size_t at = 0, quotes = 0;

	while (at < t->len && strchr(" \t\n", t->text[at]) && t->text[at])
		at++;
	if (at >= t->len || t->len > LIMIT_SHELL_LOOSE)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (t->len - at > strlen(starts[i]) &&
		    strncmp(t->text + at, starts[i], strlen(starts[i])) == 0)
			return true;
	/* 1;sleep 10: a number for whoever it is put into, and a command */
	for (size_t i = at; i < t->len && t->text[i] >= '0' && t->text[i] <= '9'; i++)
		if (i + 2 < t->len && strchr(";|", t->text[i + 1]))
			return true;
	if (!t->has_error)
		return false;
	if (t->text[at] && strchr(";|&)", t->text[at]))
		return true;
	if (run_is_call(t->text + at, t->len - at))
		return true;
	if (t->text[at] == '"' || t->text[at] == '\'') {
		for (size_t i = at; i < t->len; i++)
			quotes += t->text[i] == t->text[at];
		return quotes % 2 == 1;
	}
	/* One line; in a script of another shell an error means nothing. */
	if (memchr(t->text, '\n', t->len))
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (t->nodes[i].kind == NODE_ERROR && t->nodes[i].end == t->nodes[i].start + 1 &&
		    t->text[t->nodes[i].start] == ')')
			return true;
	return t->text[t->len - 1] == '|';
}

struct shell_text run_text(struct run *r, const char *text, size_t len, unsigned via,
			   struct shell_text in)
{
	const struct shell_tree *kept = r->tree;
	struct shell_tree *tree = arena_take(&r->m->arena, sizeof(*tree));
	struct shell_text out = {0};
	unsigned via_kept = r->via;
	int e;

	if (!tree || r->depth + 8 >= LIMIT_SHELL_NESTING || r->steps < len) {
		r->m->notes |= NOTE_CUT;
		return out;
	}
	run_charge(r, len);
	text = run_without_nul(r, text, &len);
	e = shell_tree_parse(text, len, r->deadline_ms, &r->m->arena, tree);
	if (e == -ENOMEM)
		r->m->arena.error = -ENOMEM;
	if (e < 0) {
		r->m->notes |= NOTE_CUT;
		return out;
	}
	if (!kept && run_is_fragment(tree))
		r->m->notes |= NOTE_FRAGMENT;
	if (tree->is_cut)
		r->m->notes |= NOTE_CUT;
	r->tree = tree;
	r->via |= via;
	r->depth += 8;
	out = run_children(r, 0, in, in.s != NULL || in.taint != 0);
	if (tree->has_error && !kept && run_is_no_shell(tree, r->m->n))
		r->m->notes |= NOTE_SYNTAX;
	if (tree->has_error)
		run_errors(r);
	r->depth -= 8;
	r->via = via_kept;
	r->tree = kept;
	return out;
}

void run_substitutions(struct run *r, const char *text, size_t len)
{
	for (size_t i = 0; i < len && run_step(r); i++) {
		bool is_tick = text[i] == '`';
		size_t from = i + (is_tick ? 1 : 2), depth = 1, at = from;

		if (text[i] == '\\') {
			i++;
			continue;
		}
		if (!is_tick && !(text[i] == '$' && i + 1 < len && text[i + 1] == '('))
			continue;
		for (; at < len && depth > 0; at++)
			if (is_tick)
				depth -= text[at] == '`';
			else
				depth = depth + (text[at] == '(') - (text[at] == ')');
		if (at > from + 1)
			(void)run_text(r, text + from, at - from - (depth == 0), VIA_SHELL,
				       run_nothing());
		i = at;
	}
}

/* Functions that nobody called are looked at too: a library may be sourced. */
static void run_uncalled(struct run *r)
{
	for (size_t i = 0; i < r->n_functions; i++) {
		struct run_function *f = &r->functions[i];

		if (f->is_called)
			continue;
		f->is_called = f->is_running = true;
		r->tree = f->tree;
		r->via |= VIA_FUNCTION;
		(void)run_body(r, f, (struct shell_text){0}, false);
	}
}

void shell_model_done(struct shell_model *m)
{
	arena_done(&m->arena);
	*m = (struct shell_model){0};
}

int shell_model_build(const struct inspect_context *c, const char *text, size_t len,
		      struct shell_model *m)
{
	struct run r = {.m = m,
			.steps = LIMIT_SHELL_STEPS - 1,
			.deadline_ms = inspect_deadline(c, LIMIT_SHELL_RUN_MS)};

	*m = (struct shell_model){.arena = ARENA_INIT(LIMIT_SHELL_MEMORY), .context = c};
	if (len > LIMIT_SHELL_BYTES) {
		m->notes |= NOTE_CUT;
		return 0;
	}
	for (size_t i = 0; i < len; i++)
		m->lines += text[i] != '\n' && (i == 0 || text[i - 1] == '\n');
	(void)run_text(&r, text, len, 0, (struct shell_text){0});
	run_uncalled(&r);
	return m->arena.error == -ENOMEM ? -ENOMEM : 0;
}
