/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See yaml.h.  Aliases are kept as shared nodes, so memory is bounded by the text; what an alias
 * would cost if it were written out is bounded by the weight of the nodes (a "billion laughs"
 * document fails on LIMIT_YAML_NODES before anything walks it).
 */
#include "policy/yaml.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/utf8.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#define YREADER_MARK "\xef\xbb\xbf" /* of UTF-8, at the beginning */

/* Bytes of text that weigh as much as a node, so that aliases cannot multiply long texts either: what
 * LIMIT_YAML_NODES allows is about 3 MB, and no file of LIMIT_MANIFEST_BYTES reaches it by itself. */
enum { YNODE_TEXT_UNIT = 64 };

struct yanchor {
	char *name;
	struct ynode *node;
};

struct yreader {
	yaml_parser_t parser;
	struct ystream stream;
	const char *name;
	const char *text;
	size_t len;
	struct yanchor *anchors;
	size_t n_anchors;
	size_t anchors_cap;
	size_t n_aliases;
	struct cordon_error *err;
};

static void ynode_free(struct ynode *node)
{
	if (!node)
		return;
	free(node->text);
	free(node->items);
	free(node);
}

void ystream_done(struct ystream *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_nodes; i++)
		ynode_free(s->nodes[i]);
	free(s->nodes);
	free(s->docs);
	*s = (struct ystream){0};
}

static int yreader_fail(struct yreader *r, int code, yaml_mark_t mark, const char *what)
{
	code = cordon_fail(r->err, code, "%s:%zu:%zu: %s", r->name, mark.line + 1, mark.column + 1,
			   what);
	return cordon_hint(r->err, code,
			   code == CORDON_E_LIMIT ? "a policy is small: shorten it or split it"
						  : "write the value out as plain YAML");
}

/* The line and column of a byte. */
static yaml_mark_t yreader_mark(const struct yreader *r, size_t offset)
{
	yaml_mark_t mark = {0};

	for (size_t i = 0; i < offset && i < r->len; i++) {
		bool is_more = ((unsigned char)r->text[i] & 0xc0) == 0x80; /* of a character */

		mark.column = r->text[i] == '\n' ? 0 : mark.column + !is_more;
		mark.line += r->text[i] == '\n';
	}
	return mark;
}

/* What libyaml refused, in one line, with a hint for the mistakes people make. */
static int yreader_syntax(struct yreader *r)
{
	const yaml_parser_t *p = &r->parser;
	int code;

	if (p->error == YAML_MEMORY_ERROR)
		return cordon_nomem(r->err);
	/* Characters that YAML does not have; libyaml gives their offset only. */
	if (p->error == YAML_READER_ERROR)
		return cordon_hint(r->err,
				   yreader_fail(r, CORDON_E_POLICY,
						yreader_mark(r, p->problem_offset),
						"a control or other special character"),
				   "remove it, or write it as an escape in double quotes");
	code = cordon_fail(r->err, CORDON_E_POLICY, "%s:%zu:%zu: not valid YAML: %s", r->name,
			   p->problem_mark.line + 1, p->problem_mark.column + 1,
			   p->problem ? p->problem : "unknown problem");
	if (p->problem && strstr(p->problem, "cannot start any token"))
		return cordon_hint(r->err, code,
				   "indent with spaces, never tabs; quote values that start with "
				   "one of @ ` %% ! & *");
	if (p->context)
		return cordon_hint(r->err, code, "%s that starts at line %zu", p->context,
				   p->context_mark.line + 1);
	return cordon_hint(r->err, code, "check indentation, quotes and brackets near that place");
}

static int ynode_new(struct yreader *r, enum ynode_kind kind, yaml_mark_t mark, struct ynode **ret)
{
	struct ynode *node;
	void *p = r->stream.nodes;
	int e;

	e = mem_grow(&p, &r->stream.nodes_cap, r->stream.n_nodes + 1, sizeof(node),
		     LIMIT_YAML_NODES);
	r->stream.nodes = p;
	if (e == -E2BIG)
		return yreader_fail(r, CORDON_E_LIMIT, mark, "more nodes than a policy may have");
	node = e < 0 ? NULL : calloc(1, sizeof(*node));
	if (!node)
		return cordon_nomem(r->err);
	node->kind = kind;
	node->line = (uint32_t)mark.line + 1;
	node->column = (uint32_t)mark.column + 1;
	node->weight = 1;
	r->stream.nodes[r->stream.n_nodes++] = node;
	*ret = node;
	return 0;
}

static int ynode_add(struct yreader *r, struct ynode *parent, struct ynode *child, yaml_mark_t mark)
{
	void *p = parent->items;
	int e = mem_grow(&p, &parent->cap, parent->n + 1, sizeof(child),
			 2 * (size_t)LIMIT_YAML_NODES);

	parent->items = p;
	if (e == -E2BIG)
		return yreader_fail(r, CORDON_E_LIMIT, mark, "a list or map with too many entries");
	if (e < 0)
		return cordon_nomem(r->err);
	parent->items[parent->n++] = child;
	parent->weight += child->weight;
	if (parent->weight > LIMIT_YAML_NODES)
		return yreader_fail(r, CORDON_E_LIMIT, mark,
				    "aliases expand to more nodes than a policy may have");
	return 0;
}

/* Notes an anchor.  node is NULL for a container that has only begun: an alias to it would be a cycle.
 * *ret is where to put the node later. */
static int yreader_anchor(struct yreader *r, const yaml_char_t *anchor, struct ynode *node,
			  yaml_mark_t mark, size_t *ret)
{
	void *p = r->anchors;
	char *name;
	int e;

	if (!anchor)
		return 0;
	e = mem_grow(&p, &r->anchors_cap, r->n_anchors + 1, sizeof(*r->anchors),
		     LIMIT_YAML_ALIASES);
	r->anchors = p;
	if (e == -E2BIG)
		return yreader_fail(r, CORDON_E_LIMIT, mark, "too many anchors");
	name = e < 0 ? NULL : strdup((const char *)anchor);
	if (!name)
		return cordon_nomem(r->err);
	*ret = r->n_anchors;
	r->anchors[r->n_anchors++] = (struct yanchor){.name = name, .node = node};
	return 0;
}

static int yreader_alias(struct yreader *r, const yaml_event_t *ev, struct ynode **ret)
{
	const char *name = (const char *)ev->data.alias.anchor;

	if (++r->n_aliases > LIMIT_YAML_ALIASES)
		return yreader_fail(r, CORDON_E_LIMIT, ev->start_mark, "too many aliases");
	for (size_t i = r->n_anchors; i-- > 0;) {
		if (strcmp(r->anchors[i].name, name) != 0)
			continue;
		if (!r->anchors[i].node)
			break;
		*ret = r->anchors[i].node;
		return 0;
	}
	return yreader_fail(r, CORDON_E_POLICY, ev->start_mark,
			    "an alias that stands for no finished anchor");
}

static int yreader_scalar(struct yreader *r, const yaml_event_t *ev, struct ynode **ret)
{
	const char *text = (const char *)ev->data.scalar.value;
	size_t len = ev->data.scalar.length;
	struct ynode *node = NULL;
	size_t index;
	int e;

	if (ev->data.scalar.tag)
		return yreader_fail(r, CORDON_E_POLICY, ev->start_mark,
				    "explicit tags are not used in policies");
	if (len > LIMIT_YAML_SCALAR)
		return yreader_fail(r, CORDON_E_LIMIT, ev->start_mark, "a value that is too long");
	if (memchr(text, '\0', len))
		return yreader_fail(r, CORDON_E_POLICY, ev->start_mark,
				    "a NUL character in a value");
	e = ynode_new(r, YNODE_SCALAR, ev->start_mark, &node);
	if (e < 0)
		return e;
	node->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	node->len = len;
	node->weight += len / YNODE_TEXT_UNIT;
	node->text = strndup(text, len);
	if (!node->text)
		return cordon_nomem(r->err);
	*ret = node;
	return yreader_anchor(r, ev->data.scalar.anchor, node, ev->start_mark, &index);
}

static int yreader_event(struct yreader *r, yaml_event_t *ret)
{
	return yaml_parser_parse(&r->parser, ret) ? 0 : yreader_syntax(r);
}

static int yreader_key(struct yreader *r, const struct ynode *map, const struct ynode *key,
		       yaml_mark_t mark)
{
	if (key->kind != YNODE_SCALAR)
		return yreader_fail(r, CORDON_E_POLICY, mark, "a key that is not a plain string");
	if (!key->quoted && strcmp(key->text, "<<") == 0)
		return cordon_hint(r->err,
				   yreader_fail(r, CORDON_E_POLICY, mark,
						"merge keys ('<<') are not used in policies"),
				   "write the values out");
	if (map->n / 2 >= LIMIT_POLICY_ITEMS)
		return yreader_fail(r, CORDON_E_LIMIT, mark, "a map with too many entries");
	for (size_t i = 0; i + 1 < map->n; i += 2) {
		if (strcmp(map->items[i]->text, key->text) != 0)
			continue;
		return cordon_hint(
			r->err,
			cordon_fail(r->err, CORDON_E_POLICY, "%s:%zu:%zu: duplicate key '%s'",
				    r->name, mark.line + 1, mark.column + 1, key->text),
			"it stands first at line %u; keep one of them", map->items[i]->line);
	}
	return 0;
}

static int yreader_value(struct yreader *r, const yaml_event_t *ev, unsigned depth,
			 struct ynode **ret);

/* Reads the items of a map or list until its end. */
static int yreader_container(struct yreader *r, const yaml_event_t *start, unsigned depth,
			     struct ynode **ret)
{
	bool is_map = start->type == YAML_MAPPING_START_EVENT;
	const yaml_char_t *tag = is_map ? start->data.mapping_start.tag
					: start->data.sequence_start.tag;
	const yaml_char_t *anchor = is_map ? start->data.mapping_start.anchor
					   : start->data.sequence_start.anchor;
	struct ynode *node = NULL;
	size_t index = 0;
	int e;

	if (tag)
		return yreader_fail(r, CORDON_E_POLICY, start->start_mark,
				    "explicit tags are not used in policies");
	if (depth >= LIMIT_YAML_DEPTH)
		return yreader_fail(r, CORDON_E_LIMIT, start->start_mark, "nested too deeply");
	e = ynode_new(r, is_map ? YNODE_MAP : YNODE_SEQ, start->start_mark, &node);
	if (e == 0)
		e = yreader_anchor(r, anchor, /* node= */ NULL, start->start_mark, &index);
	for (size_t i = 0; e == 0; i++) {
		yaml_event_t ev;
		struct ynode *child = NULL;
		bool is_end;

		e = yreader_event(r, &ev);
		if (e < 0)
			return e;
		is_end = ev.type == YAML_MAPPING_END_EVENT || ev.type == YAML_SEQUENCE_END_EVENT;
		if (!is_end) {
			e = yreader_value(r, &ev, depth + 1, &child);
			if (e == 0 && is_map && i % 2 == 0)
				e = yreader_key(r, node, child, ev.start_mark);
			if (e == 0)
				e = ynode_add(r, node, child, ev.start_mark);
		}
		yaml_event_delete(&ev);
		if (is_end)
			break;
	}
	if (e < 0)
		return e;
	if (is_map)
		node->n /= 2;
	*ret = node;
	/* Only a finished node can be referred to, so no cycle can be built. */
	if (anchor)
		r->anchors[index].node = node;
	return 0;
}

static int yreader_value(struct yreader *r, const yaml_event_t *ev, unsigned depth,
			 struct ynode **ret)
{
	if (ev->type == YAML_SCALAR_EVENT)
		return yreader_scalar(r, ev, ret);
	if (ev->type == YAML_ALIAS_EVENT)
		return yreader_alias(r, ev, ret);
	if (ev->type == YAML_MAPPING_START_EVENT || ev->type == YAML_SEQUENCE_START_EVENT)
		return yreader_container(r, ev, depth, ret);
	return yreader_fail(r, CORDON_E_POLICY, ev->start_mark, "an unexpected YAML construct");
}

static void yreader_drop_anchors(struct yreader *r)
{
	for (size_t i = 0; i < r->n_anchors; i++)
		free(r->anchors[i].name);
	r->n_anchors = 0;
}

static int yreader_document(struct yreader *r, const yaml_event_t *ev)
{
	struct ynode *root = NULL;
	void *p = r->stream.docs;
	int e;

	e = yreader_value(r, ev, 0, &root);
	if (e < 0)
		return e;
	e = mem_grow(&p, &r->stream.docs_cap, r->stream.n_docs + 1, sizeof(root),
		     LIMIT_YAML_DOCUMENTS);
	r->stream.docs = p;
	if (e == -E2BIG)
		return yreader_fail(r, CORDON_E_LIMIT, ev->start_mark, "too many documents");
	if (e < 0)
		return cordon_nomem(r->err);
	r->stream.docs[r->stream.n_docs++] = root;
	yreader_drop_anchors(r);
	return 0;
}

static int yreader_run(struct yreader *r)
{
	for (;;) {
		yaml_event_t ev;
		int e = yreader_event(r, &ev);
		bool is_end;

		if (e < 0)
			return e;
		is_end = ev.type == YAML_STREAM_END_EVENT;
		if (!is_end && ev.type != YAML_STREAM_START_EVENT &&
		    ev.type != YAML_DOCUMENT_START_EVENT && ev.type != YAML_DOCUMENT_END_EVENT)
			e = yreader_document(r, &ev);
		yaml_event_delete(&ev);
		if (e < 0 || is_end)
			return e;
	}
}

/* Refuses bytes that libyaml might read otherwise than people do: broken UTF-8, UTF-16, NUL. */
static int yreader_check_bytes(struct yreader *r, const char *text, size_t len)
{
	const char *nul = memchr(text, '\0', len);
	size_t bad = utf8_check(text, nul ? (size_t)(nul - text) : len);

	if (bad == len)
		return 0;
	return cordon_hint(r->err,
			   yreader_fail(r, CORDON_E_POLICY, yreader_mark(r, bad),
					text[bad] == '\0' ? "a NUL byte" : "not valid UTF-8"),
			   "save the file as UTF-8 text");
}

int ystream_parse(const char *text, size_t len, const char *name, struct ystream *ret,
		  struct cordon_error *err)
{
	struct yreader r = {.name = name, .text = text, .len = len, .err = err};
	int e;

	if (len > LIMIT_MANIFEST_BYTES)
		return cordon_fail(err, CORDON_E_LIMIT, "%s:1:1: larger than %d bytes", name,
				   LIMIT_MANIFEST_BYTES);
	e = yreader_check_bytes(&r, text, len);
	if (e < 0)
		return e;
	/* Editors of other systems mark UTF-8 so; libyaml takes the mark for text when it is told the encoding. */
	if (len >= strlen(YREADER_MARK) && memcmp(text, YREADER_MARK, strlen(YREADER_MARK)) == 0) {
		text += strlen(YREADER_MARK);
		len -= strlen(YREADER_MARK);
		r.text = text;
		r.len = len;
	}
	if (!yaml_parser_initialize(&r.parser))
		return cordon_nomem(err);
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
	e = yreader_run(&r);
	yaml_parser_delete(&r.parser);
	yreader_drop_anchors(&r);
	free(r.anchors);
	if (e < 0) {
		ystream_done(&r.stream);
		return e;
	}
	*ret = r.stream;
	return 0;
}

const struct ynode *ynode_get(const struct ynode *map, const char *key)
{
	if (!map || map->kind != YNODE_MAP)
		return NULL;
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->items[2 * i]->text, key) == 0)
			return map->items[2 * i + 1];
	return NULL;
}

bool ynode_is_null(const struct ynode *node)
{
	return node->kind == YNODE_SCALAR && !node->quoted &&
	       (node->len == 0 || strcmp(node->text, "~") == 0 ||
		strcasecmp(node->text, "null") == 0);
}

const char *ynode_describe(const struct ynode *node)
{
	int64_t i;
	double d;

	if (node->kind == YNODE_MAP)
		return "a map";
	if (node->kind == YNODE_SEQ)
		return "a list";
	if (node->quoted)
		return "a string";
	if (ynode_is_null(node))
		return "null";
	if (strcasecmp(node->text, "true") == 0 || strcasecmp(node->text, "false") == 0)
		return "a boolean";
	if (parse_int(node->text, INT64_MIN, INT64_MAX, &i) != -EINVAL ||
	    parse_double(node->text, -1e308, 1e308, &d) != -EINVAL)
		return "a number";
	return "a string";
}
