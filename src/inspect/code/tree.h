/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source as a flat tree: the nodes of the grammar that mean something to us, in the order of the text,
 * each with the index behind its last descendant.  Walking is a loop over an array, so that neither
 * depth nor a hostile shape can exhaust anything but the named limits.  Two grammars share one
 * vocabulary (kinds.def).
 */
#pragma once

#include "base/error.h"
#include "inspect/code.h"

#include <stdbool.h>
#include <stdint.h>

enum code_kind {
	CODE_OTHER,
	CODE_CALL,
	CODE_ATTRIBUTE,
	CODE_IDENTIFIER,
	CODE_STRING,
	CODE_RAW_STRING,
	CODE_RUNE,
	CODE_CONCATENATED,
	CODE_CONTENT,
	CODE_ESCAPE,
	CODE_INTERPOLATION,
	CODE_STRING_START,
	CODE_INTEGER,
	CODE_TRUE,
	CODE_FALSE,
	CODE_NONE,
	CODE_BINARY,
	CODE_UNARY,
	CODE_BOOLEAN,
	CODE_COMPARISON,
	CODE_CONDITIONAL,
	CODE_PAREN,
	CODE_AWAIT,
	CODE_SUBSCRIPT,
	CODE_SLICE,
	CODE_SLICE_EXPRESSION,
	CODE_LIST,
	CODE_ELEMENT,
	CODE_DICTIONARY,
	CODE_PAIR,
	CODE_COMPREHENSION,
	CODE_FOR_IN,
	CODE_COMPOSITE,
	CODE_CONVERSION,
	CODE_ARGUMENTS,
	CODE_KEYWORD,
	CODE_SPLAT,
	CODE_ASSIGNMENT,
	CODE_AUGMENTED,
	CODE_NAMED,
	CODE_VAR_SPEC,
	CODE_IMPORT,
	CODE_IMPORT_FROM,
	CODE_IMPORT_SPEC,
	CODE_ALIASED,
	CODE_WILDCARD,
	CODE_DOTTED,
	CODE_RELATIVE,
	CODE_DOT,
	CODE_FUNCTION,
	CODE_LAMBDA,
	CODE_CLASS,
	CODE_TYPE_SPEC,
	CODE_STRUCT,
	CODE_FIELD_DECLARATION,
	CODE_DECORATOR,
	CODE_PARAMETERS,
	CODE_PARAMETER,
	CODE_RETURN,
	CODE_EXPRESSION,
	CODE_IF,
	CODE_FOR,
	CODE_RANGE,
	CODE_WHILE,
	CODE_TRY,
	CODE_EXCEPT,
	CODE_WITH_ITEM,
	CODE_AS_PATTERN,
	CODE_AS_TARGET,
	CODE_BLOCK,
	CODE_PASS,
	CODE_CONTINUE,
	CODE_ASSERT,
	CODE_EXEC,
	CODE_DELETE,
	CODE_GO_STATEMENT,
	CODE_DEFER,
	CODE_POINTER_TYPE,
	CODE_SLICE_TYPE,
	CODE_ARRAY_TYPE,
	CODE_TYPE,
	CODE_COMMENT,
	CODE_MODULE,
	CODE_WORD,
	CODE_ERROR,
	CODE_KIND_COUNT
};

enum code_field {
	CODE_FIELD_NONE,
	CODE_FIELD_FUNCTION,
	CODE_FIELD_ARGUMENTS,
	CODE_FIELD_OBJECT,
	CODE_FIELD_ATTRIBUTE,
	CODE_FIELD_LEFT,
	CODE_FIELD_RIGHT,
	CODE_FIELD_OPERATOR,
	CODE_FIELD_NAME,
	CODE_FIELD_VALUE,
	CODE_FIELD_ALIAS,
	CODE_FIELD_MODULE,
	CODE_FIELD_BODY,
	CODE_FIELD_KEY,
	CODE_FIELD_INDEX,
	CODE_FIELD_TYPE,
	CODE_FIELD_PATH,
	CODE_FIELD_PACKAGE,
	CODE_FIELD_PARAMETERS,
	CODE_FIELD_EXPRESSION,
	CODE_FIELD_START,
	CODE_FIELD_END,
	CODE_FIELD_LENGTH,
	CODE_FIELD_TAG,
	CODE_FIELD_CONDITION,
	CODE_FIELD_COUNT
};

#define CODE_NO_NODE UINT32_MAX

struct code_node {
	uint8_t kind;  /* enum code_kind */
	uint8_t field; /* enum code_field: its place in its parent */
	uint16_t column;
	uint32_t start, end; /* bytes of the text */
	uint32_t line;       /* from 1 */
	uint32_t parent;     /* CODE_NO_NODE for the root */
	uint32_t skip;       /* the first node behind this one and its descendants */
};

struct code_tree {
	const char *text; /* borrowed */
	size_t len;
	enum code_language language;
	struct code_node *nodes;
	uint32_t n;
	uint32_t n_lines;
	bool has_error; /* the text is not of that language, at least in part */
};

void code_tree_done(struct code_tree *t);
/* How long a text of so many bytes may take to be parsed, and again to be walked. */
int64_t code_tree_ms(size_t len);
/* Parses.  -EFBIG: more bytes or nodes than the limits; -ETIMEDOUT; -ENOMEM; -EINVAL: no such grammar. */
CORDON_MUST_CHECK int code_tree_parse(const char *text, size_t len, enum code_language language,
				      int64_t deadline_ms, struct code_tree *ret);

/* The first child in that place, or CODE_NO_NODE. */
uint32_t code_child(const struct code_tree *t, uint32_t node, enum code_field field);
/* The first child of that kind, or CODE_NO_NODE. */
uint32_t code_child_of_kind(const struct code_tree *t, uint32_t node, enum code_kind kind);
/* The first child that is neither a comment nor a name of an operator, or CODE_NO_NODE. */
uint32_t code_first(const struct code_tree *t, uint32_t node);
/* The nearest ancestor of that kind, or CODE_NO_NODE. */
uint32_t code_ancestor(const struct code_tree *t, uint32_t node, enum code_kind kind);
/* Does the text of the node equal this word? */
bool code_is(const struct code_tree *t, uint32_t node, const char *word);

#define CODE_EACH_CHILD(t, node, child)                                                            \
	for (uint32_t child = (node) + 1; child < (t)->nodes[node].skip;                           \
	     child = (t)->nodes[child].skip)
