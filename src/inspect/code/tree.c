/* SPDX-License-Identifier: Apache-2.0 */
/* See tree.h.  The parser's own tree is walked once, copied and dropped. */
#include "inspect/code/tree.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "inspect/shell/heap.h"

#include <errno.h>
#include <string.h>
#include <threads.h>

#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_go(void);

#define SYMBOLS_MAX 768
#define FIELDS_MAX 96

struct grammar {
	const TSLanguage *language;
	uint8_t kinds[SYMBOLS_MAX];
	uint8_t fields[FIELDS_MAX];
};

static struct grammar grammars[CODE_LANGUAGE_COUNT];
static once_flag grammars_once = ONCE_FLAG_INIT;

static const struct {
	enum code_kind kind;
	const char *name;
} kind_names[] = {
#define CODE_KIND(id, name) {CODE_##id, name},
#define CODE_FIELD(id, name)
#include "inspect/code/kinds.def"
#undef CODE_KIND
#undef CODE_FIELD
};

static const struct {
	enum code_field field;
	const char *name;
} field_names[] = {
#define CODE_KIND(id, name)
#define CODE_FIELD(id, name) {CODE_FIELD_##id, name},
#include "inspect/code/kinds.def"
#undef CODE_KIND
#undef CODE_FIELD
};

static void grammar_init(struct grammar *g, const TSLanguage *language)
{
	uint32_t symbols = ts_language_symbol_count(language);
	uint32_t fields = ts_language_field_count(language);

	for (uint32_t i = 0; i < symbols && i < SYMBOLS_MAX; i++) {
		const char *name = ts_language_symbol_name(language, (TSSymbol)i);

		if (ts_language_symbol_type(language, (TSSymbol)i) != TSSymbolTypeRegular)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(kind_names); k++)
			if (name && strcmp(name, kind_names[k].name) == 0)
				g->kinds[i] = (uint8_t)kind_names[k].kind;
	}
	for (uint32_t i = 1; i <= fields && i < FIELDS_MAX; i++) {
		const char *name = ts_language_field_name_for_id(language, (TSFieldId)i);

		for (size_t k = 0; k < ARRAY_LEN(field_names); k++)
			if (name && strcmp(name, field_names[k].name) == 0)
				g->fields[i] = (uint8_t)field_names[k].field;
	}
	g->language = language;
}

static void grammars_init(void)
{
	grammar_init(&grammars[CODE_PYTHON], tree_sitter_python());
	grammar_init(&grammars[CODE_GO], tree_sitter_go());
}

void code_tree_done(struct code_tree *t)
{
	free(t->nodes);
	*t = (struct code_tree){0};
}

struct tree_input {
	const char *text;
	uint32_t len;
	int64_t deadline_ms;
};

static const char *tree_read(void *payload, uint32_t at, TSPoint position, uint32_t *ret_bytes)
{
	const struct tree_input *in = payload;

	(void)position;
	*ret_bytes = at < in->len ? in->len - at : 0;
	return at < in->len ? in->text + at : "";
}

static bool tree_is_late(TSParseState *state)
{
	const struct tree_input *in = state->payload;

	return clock_ms() > in->deadline_ms;
}

static int tree_add(struct code_tree *t, size_t *cap, const struct code_node *node)
{
	void *p = t->nodes;
	int r = mem_grow(&p, cap, (size_t)t->n + 1, sizeof(*node), LIMIT_CODE_NODES);

	t->nodes = p;
	if (r < 0)
		return r == -E2BIG ? -EFBIG : r;
	t->nodes[t->n++] = *node;
	return 0;
}

/* Adds the cursor's node when it means something; CODE_NO_NODE in *ret_index when it does not. */
static int tree_take(struct code_tree *t, size_t *cap, const struct grammar *g,
		     const TSTreeCursor *cursor, uint32_t parent, uint32_t *ret_index)
{
	TSNode node = ts_tree_cursor_current_node(cursor);
	TSFieldId field = ts_tree_cursor_current_field_id(cursor);
	TSSymbol symbol = ts_node_symbol(node);
	TSPoint point = ts_node_start_point(node);
	struct code_node own = {
		.kind = symbol < SYMBOLS_MAX ? g->kinds[symbol] : CODE_OTHER,
		.field = field < FIELDS_MAX ? g->fields[field] : CODE_FIELD_NONE,
		.column = (uint16_t)(point.column < UINT16_MAX ? point.column + 1 : UINT16_MAX),
		.start = ts_node_start_byte(node),
		.end = ts_node_end_byte(node),
		.line = point.row + 1,
		.parent = parent,
	};

	*ret_index = CODE_NO_NODE;
	if (!ts_node_is_named(node) && own.field == CODE_FIELD_NONE)
		return 0;
	if (ts_node_is_error(node) || ts_node_is_missing(node)) {
		own.kind = CODE_ERROR;
		t->has_error = true;
	}
	*ret_index = t->n;
	return tree_add(t, cap, &own);
}

static int tree_copy(struct code_tree *t, const struct grammar *g, TSNode root)
{
	TSTreeCursor cursor = ts_tree_cursor_new(root);
	uint32_t parent = CODE_NO_NODE, index;
	size_t cap = 0;
	int r;

	for (;;) {
		r = tree_take(t, &cap, g, &cursor, parent, &index);
		if (r < 0)
			break;
		if (index != CODE_NO_NODE && ts_tree_cursor_goto_first_child(&cursor)) {
			parent = index;
			continue;
		}
		if (index != CODE_NO_NODE)
			t->nodes[index].skip = t->n;
		while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
			if (parent == CODE_NO_NODE || !ts_tree_cursor_goto_parent(&cursor))
				goto out;
			t->nodes[parent].skip = t->n;
			parent = t->nodes[parent].parent;
		}
		if (parent == CODE_NO_NODE)
			break;
	}
out:
	ts_tree_cursor_delete(&cursor);
	return r;
}

struct tree_job {
	struct code_tree *tree;
	const struct grammar *grammar;
	TSInput input;
	TSParseOptions options;
};

static int tree_work(struct tree_job *job)
{
	TSParser *parser = ts_parser_new();
	TSTree *tree;
	TSNode root;
	int r;

	if (!parser || !ts_parser_set_language(parser, job->grammar->language)) {
		ts_parser_delete(parser);
		return -EINVAL;
	}
	tree = ts_parser_parse_with_options(parser, NULL, job->input, job->options);
	ts_parser_delete(parser);
	if (!tree)
		return -ETIMEDOUT;
	root = ts_tree_root_node(tree);
	job->tree->n_lines = ts_node_end_point(root).row + 1;
	job->tree->has_error = ts_node_has_error(root);
	r = tree_copy(job->tree, job->grammar, root);
	ts_tree_delete(tree);
	return r;
}

/* Comes back when the parser found no memory, or is late. */
__attribute__((noinline)) static int tree_work_caught(struct tree_job *job, struct heap *heap)
{
	switch (setjmp(heap->out)) {
	case 0:
		return tree_work(job);
	case HEAP_LATE:
		return -ETIMEDOUT;
	default:
		return -ENOMEM;
	}
}

int64_t code_tree_ms(size_t len)
{
	return LIMIT_CODE_MS + (int64_t)(len / LIMIT_CODE_MS_BYTES);
}

int code_tree_parse(const char *text, size_t len, enum code_language language, int64_t deadline_ms,
		    struct code_tree *ret)
{
	struct code_tree t = {.text = text, .len = len, .language = language};
	struct tree_input in = {text, (uint32_t)len, deadline_ms};
	struct tree_job job = {.tree = &t,
			       .input = {&in, tree_read, TSInputEncodingUTF8, NULL},
			       .options = {&in, tree_is_late}};
	struct heap heap;
	int r;

	if (language != CODE_PYTHON && language != CODE_GO)
		return -EINVAL; /* commands have a tree of their own: shell/tree.h */
	if (len > LIMIT_CODE_BYTES)
		return -EFBIG;
	call_once(&grammars_once, grammars_init);
	job.grammar = &grammars[language];
	heap_init(&heap);
	heap_enter(&heap, in.deadline_ms);
	r = tree_work_caught(&job, &heap);
	heap_leave();
	heap_done(&heap); /* empty but after a failure */
	if (r < 0) {
		code_tree_done(&t);
		return r;
	}
	*ret = t;
	return 0;
}

uint32_t code_child(const struct code_tree *t, uint32_t node, enum code_field field)
{
	CODE_EACH_CHILD(t, node, c)
	if (t->nodes[c].field == field)
		return c;
	return CODE_NO_NODE;
}

uint32_t code_child_of_kind(const struct code_tree *t, uint32_t node, enum code_kind kind)
{
	CODE_EACH_CHILD(t, node, c)
	if (t->nodes[c].kind == kind)
		return c;
	return CODE_NO_NODE;
}

uint32_t code_first(const struct code_tree *t, uint32_t node)
{
	CODE_EACH_CHILD(t, node, c)
	if (t->nodes[c].kind != CODE_COMMENT && t->nodes[c].field != CODE_FIELD_OPERATOR)
		return c;
	return CODE_NO_NODE;
}

uint32_t code_ancestor(const struct code_tree *t, uint32_t node, enum code_kind kind)
{
	for (unsigned i = 0; i < LIMIT_CODE_CLIMB; i++) {
		node = t->nodes[node].parent;
		if (node == CODE_NO_NODE || t->nodes[node].kind == kind)
			return node;
	}
	return CODE_NO_NODE;
}

bool code_is(const struct code_tree *t, uint32_t node, const char *word)
{
	size_t len;

	if (node == CODE_NO_NODE)
		return false;
	len = t->nodes[node].end - t->nodes[node].start;
	return strlen(word) == len && memcmp(t->text + t->nodes[node].start, word, len) == 0;
}
