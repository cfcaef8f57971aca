/* SPDX-License-Identifier: Apache-2.0 */
/* See tree.h.  One idle parser is kept, because making one costs more than a short command. */
#include "inspect/shell/tree.h"

#include "inspect/shell/heap.h"
#include "inspect/shell/plain.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_bash(void);

enum { TREE_SYMBOLS = 512 };

struct tree_parser {
	struct heap heap; /* all that tree-sitter holds */
	TSParser *parser;
	uint8_t kinds[TREE_SYMBOLS]; /* of tree-sitter's symbols */
};

static _Atomic(struct tree_parser *) tree_idle;

static void tree_kinds(const TSLanguage *language, uint8_t kinds[static TREE_SYMBOLS])
{
	static const struct {
		const char *name;
		uint8_t kind;
		bool is_named;
	} rows[] = {
#define SHELL_NODE_ROW(id, name, is_named) {name, NODE_##id, is_named},
		SHELL_NODES(SHELL_NODE_ROW)
#undef SHELL_NODE_ROW
	};
	/* By the first byte: this is done once in each process, and most processes judge one command. */
	uint8_t head[UCHAR_MAX + 1] = {0}, next[ARRAY_LEN(rows) + 1];
	uint32_t count = ts_language_symbol_count(language);

	static_assert(ARRAY_LEN(rows) < UCHAR_MAX, "an index does not fit");
	for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
		uint8_t *first = &head[(unsigned char)rows[k].name[0]];

		next[k + 1] = *first;
		*first = (uint8_t)(k + 1);
	}
	for (uint32_t i = 0; i < count && i < TREE_SYMBOLS; i++) {
		const char *name = ts_language_symbol_name(language, (TSSymbol)i);
		bool is_named = ts_language_symbol_type(language, (TSSymbol)i) ==
				TSSymbolTypeRegular;

		for (size_t k = name ? head[(unsigned char)name[0]] : 0; k > 0; k = next[k])
			if (rows[k - 1].is_named == is_named && strcmp(rows[k - 1].name, name) == 0)
				kinds[i] = rows[k - 1].kind;
	}
}

static void tree_parser_free(struct tree_parser *p)
{
	if (p)
		heap_done(&p->heap);
	free(p);
}

__attribute__((noinline)) static struct tree_parser *tree_parser_take(void)
{
	struct tree_parser *p = atomic_exchange(&tree_idle, NULL);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	heap_init(&p->heap);
	tree_kinds(tree_sitter_bash(), p->kinds);
	return p;
}

static void tree_parser_give(struct tree_parser *p)
{
	struct tree_parser *none = NULL;

	if (!atomic_compare_exchange_strong(&tree_idle, &none, p))
		tree_parser_free(p);
}

void shell_tree_release(void)
{
	tree_parser_free(atomic_exchange(&tree_idle, NULL));
}

struct tree_input {
	const char *text;
	uint32_t len;
	int64_t deadline_ms;
};

static const char *tree_read(void *payload, uint32_t at, TSPoint point, uint32_t *ret_len)
{
	const struct tree_input *in = payload;

	(void)point;
	*ret_len = at < in->len ? in->len - at : 0;
	return at < in->len ? in->text + at : "";
}

static bool tree_progress(TSParseState *state)
{
	const struct tree_input *in = state->payload;

	return clock_ms() > in->deadline_ms;
}

struct tree_walk {
	const struct tree_parser *parser;
	struct shell_node *nodes;
	size_t n, max;
	bool is_cut;
};

static void tree_node(struct tree_walk *w, TSNode node, struct shell_node *ret)
{
	TSSymbol symbol = ts_node_symbol(node);

	*ret = (struct shell_node){
		.kind = symbol == (TSSymbol)-1  ? NODE_ERROR
			: symbol < TREE_SYMBOLS ? w->parser->kinds[symbol]
						: NODE_OTHER,
		.is_named = ts_node_is_named(node),
		.start = ts_node_start_byte(node),
		.end = ts_node_end_byte(node),
	};
}

/* Depth first without recursion: path[] holds the ancestors, last[] the latest child of each. */
static void tree_flatten(struct tree_walk *w, TSNode root)
{
	uint32_t last[LIMIT_SHELL_DEPTH] = {0};
	TSTreeCursor c = ts_tree_cursor_new(root);
	unsigned depth = 0;
	bool is_down = true;

	tree_node(w, root, &w->nodes[w->n++]);
	for (;;) {
		bool has_next = false;

		if (is_down && depth + 1 < LIMIT_SHELL_DEPTH)
			has_next = ts_tree_cursor_goto_first_child(&c);
		else if (is_down)
			w->is_cut = w->is_cut ||
				    ts_node_child_count(ts_tree_cursor_current_node(&c)) > 0;
		if (has_next) {
			w->nodes[w->n - 1].first = (uint32_t)w->n;
			depth++;
		} else if (depth > 0 && ts_tree_cursor_goto_next_sibling(&c)) {
			w->nodes[last[depth]].next = (uint32_t)w->n;
		} else {
			if (depth == 0 || !ts_tree_cursor_goto_parent(&c))
				break;
			depth--;
			is_down = false;
			continue;
		}
		if (w->n >= w->max) {
			w->is_cut = true;
			break;
		}
		is_down = true;
		last[depth] = (uint32_t)w->n;
		tree_node(w, ts_tree_cursor_current_node(&c), &w->nodes[w->n++]);
	}
	/* A link to a node that was not stored any more. */
	if (w->n >= w->max)
		for (size_t i = 0; i < w->n; i++) {
			w->nodes[i].first = w->nodes[i].first >= w->n ? 0 : w->nodes[i].first;
			w->nodes[i].next = w->nodes[i].next >= w->n ? 0 : w->nodes[i].next;
		}
	ts_tree_cursor_delete(&c);
}

static int tree_convert(const struct tree_parser *p, TSTree *tree, struct arena *arena,
			struct shell_tree *ret)
{
	TSNode root = ts_tree_root_node(tree);
	uint32_t count = ts_node_descendant_count(root);
	struct tree_walk w = {.parser = p,
			      .max = count < LIMIT_SHELL_NODES ? count : LIMIT_SHELL_NODES};

	w.nodes = arena_take(arena, w.max * sizeof(*w.nodes));
	if (!w.nodes)
		return arena->error;
	tree_flatten(&w, root);
	ret->nodes = w.nodes;
	ret->n = w.n;
	ret->is_cut = w.is_cut || count > LIMIT_SHELL_NODES;
	ret->has_error = ts_node_has_error(root);
	return 0;
}

/* Everything that takes memory of tree-sitter's. */
static int tree_parse(struct tree_parser *p, struct tree_input *in, struct arena *arena,
		      struct shell_tree *ret)
{
	TSTree *tree;
	int r = -ENOMEM;

	if (!p->parser) {
		p->parser = ts_parser_new();
		if (!ts_parser_set_language(p->parser, tree_sitter_bash()))
			return -ENOMEM;
	}
	tree = ts_parser_parse_with_options(
		p->parser, NULL,
		(TSInput){.payload = in, .read = tree_read, .encoding = TSInputEncodingUTF8},
		(TSParseOptions){.payload = in, .progress_callback = tree_progress});
	r = tree ? tree_convert(p, tree, arena, ret) : -ETIMEDOUT;
	if (tree)
		ts_tree_delete(tree);
	ts_parser_reset(p->parser);
	return r;
}

/* Comes back when tree-sitter found no memory, or is late. */
__attribute__((noinline)) static int tree_parse_caught(struct tree_parser *p, struct tree_input *in,
						       struct arena *arena, struct shell_tree *ret)
{
	switch (setjmp(p->heap.out)) {
	case 0:
		return tree_parse(p, in, arena, ret);
	case HEAP_LATE:
		return -ETIMEDOUT;
	default:
		return -ENOMEM;
	}
}

int shell_tree_parse(const char *text, size_t len, int64_t deadline_ms, struct arena *arena,
		     struct shell_tree *ret)
{
	return plain_tree(text, len, arena, ret)
		       ? 0
		       : shell_tree_parse_full(text, len, deadline_ms, arena, ret);
}

/*
 * The grammar takes a backslash at the start of a line for the end of the line before: in "ls\n\\rm x" it sees one
 * command.  What it reads is the text with another letter there, or a blank for a line that is continued before it
 * has begun; places stay the same, and words are read from the text itself.
 */
static const char *tree_masked(const char *text, size_t len, struct arena *arena)
{
	const char *at = memmem(text, len, "\n\\", 2);
	char *copy;

	if (!at)
		return text;
	copy = arena_take(arena, len + 1);
	if (copy)
		memcpy(copy, text, len);
	for (size_t i = (size_t)(at - text); copy && i + 2 < len; i++) {
		bool is_escaped = false;

		if (text[i] != '\n' || text[i + 1] != '\\')
			continue;
		for (size_t k = i; k > 0 && text[k - 1] == '\\'; k--)
			is_escaped = !is_escaped;
		if (isalnum((unsigned char)text[i + 2]) || strchr("_./-~", text[i + 2]))
			copy[i + 1] = '+';
		while (!is_escaped && i + 2 < len && text[i + 1] == '\\' && text[i + 2] == '\n') {
			copy[i + 1] = ' ';
			i += 2;
		}
		/* the last of these lines may begin with a backslash, too */
		if (i + 2 < len && text[i] == '\n' && text[i + 1] == '\\' &&
		    (isalnum((unsigned char)text[i + 2]) || strchr("_./-~", text[i + 2])))
			copy[i + 1] = '+';
	}
	return copy;
}

int shell_tree_parse_full(const char *text, size_t len, int64_t deadline_ms, struct arena *arena,
			  struct shell_tree *ret)
{
	struct tree_input in = {.len = (uint32_t)len,
				.deadline_ms = clock_deadline(LIMIT_SHELL_PARSE_MS)};
	struct tree_parser *p;
	int r;

	if (len > LIMIT_SHELL_BYTES)
		return -E2BIG;
	if (deadline_ms < in.deadline_ms)
		in.deadline_ms = deadline_ms;
	in.text = tree_masked(text, len, arena);
	if (!in.text)
		return -ENOMEM;
	p = tree_parser_take();
	if (!p)
		return -ENOMEM;
	*ret = (struct shell_tree){.text = text, .len = len};
	heap_enter(&p->heap, in.deadline_ms);
	r = tree_parse_caught(p, &in, arena, ret);
	heap_leave();
	if (r == -ENOMEM || r == -ETIMEDOUT)
		tree_parser_free(p); /* left in the middle of something */
	else
		tree_parser_give(p);
	return r;
}

/* A word that goes on behind the end of a line: r\ at `at`, m on the next one. */
static bool tree_goes_on(const struct shell_tree *t, size_t at)
{
	static const char ends[] = " \t\n;|&()<>{}`";

	return at > 0 && at + 2 < t->len && t->text[at] == '\\' && t->text[at + 1] == '\n' &&
	       t->text[at - 1] != '\\' && !strchr(ends, t->text[at - 1]) && t->text[at + 2] &&
	       !strchr(ends, t->text[at + 2]);
}

/* $name and a letter that is escaped: $e\rm */
static bool tree_is_escaped(const struct shell_tree *t, size_t at)
{
	size_t i = at;

	if (at + 1 >= t->len || t->text[at] != '\\' || t->text[at + 1] == '\n')
		return false;
	while (i > 0 && (isalnum((unsigned char)t->text[i - 1]) || t->text[i - 1] == '_'))
		i--;
	return i < at && i > 0 && t->text[i - 1] == '$' && (i < 2 || t->text[i - 2] != '\\');
}

bool shell_tree_is_torn(const struct shell_tree *t, size_t at)
{
	if (tree_goes_on(t, at) || (at > 2 && tree_goes_on(t, at - 2)) || tree_is_escaped(t, at))
		return true;
	return at > 1 && at < t->len && t->text[at - 1] == '$' && t->text[at - 2] != '\\' &&
	       t->text[at - 2] != '$' &&
	       (isalpha((unsigned char)t->text[at]) || t->text[at] == '_');
}

size_t shell_tree_torn_end(const struct shell_tree *t, size_t at)
{
	while (at < t->len && t->text[at] && !strchr(" \t\n;|&()<>", t->text[at])) {
		char c = t->text[at++];

		if (c == '\\' && at < t->len)
			at++;
		if (c != '"' && c != '\'')
			continue;
		while (at < t->len && t->text[at] != c)
			at++;
		at += at < t->len;
	}
	return at;
}
