/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax tree of a text for bash as one flat array, made in one pass from what tree-sitter found.  Bytes,
 * nodes, depth and time are bounded; what was cut is said and is a finding of the caller.
 */
#pragma once

#include "base/error.h"
#include "inspect/shell/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* X(id, name, is_named): the nodes that somebody looks at.  All others are NODE_OTHER. */
#define SHELL_NODES(X)                                                                             \
	X(PROGRAM, "program", true)                                                                \
	X(COMMAND, "command", true)                                                                \
	X(COMMAND_NAME, "command_name", true)                                                      \
	X(COMMAND_SUBSTITUTION, "command_substitution", true)                                      \
	X(PROCESS_SUBSTITUTION, "process_substitution", true)                                      \
	X(COMPOUND, "compound_statement", true)                                                    \
	X(SUBSHELL, "subshell", true)                                                              \
	X(LIST, "list", true)                                                                      \
	X(PIPELINE, "pipeline", true)                                                              \
	X(NEGATED, "negated_command", true)                                                        \
	X(REDIRECTED, "redirected_statement", true)                                                \
	X(FILE_REDIRECT, "file_redirect", true)                                                    \
	X(HEREDOC_REDIRECT, "heredoc_redirect", true)                                              \
	X(HERESTRING, "herestring_redirect", true)                                                 \
	X(HEREDOC_START, "heredoc_start", true)                                                    \
	X(HEREDOC_BODY, "heredoc_body", true)                                                      \
	X(HEREDOC_END, "heredoc_end", true)                                                        \
	X(FILE_DESCRIPTOR, "file_descriptor", true)                                                \
	X(ASSIGNMENT, "variable_assignment", true)                                                 \
	X(ASSIGNMENTS, "variable_assignments", true)                                               \
	X(VARIABLE_NAME, "variable_name", true)                                                    \
	X(SUBSCRIPT, "subscript", true)                                                            \
	X(ARRAY, "array", true)                                                                    \
	X(DECLARATION, "declaration_command", true)                                                \
	X(UNSET, "unset_command", true)                                                            \
	X(TEST, "test_command", true)                                                              \
	X(FUNCTION, "function_definition", true)                                                   \
	X(IF, "if_statement", true)                                                                \
	X(ELIF, "elif_clause", true)                                                               \
	X(ELSE, "else_clause", true)                                                               \
	X(WHILE, "while_statement", true)                                                          \
	X(FOR, "for_statement", true)                                                              \
	X(FOR_C, "c_style_for_statement", true)                                                    \
	X(DO_GROUP, "do_group", true)                                                              \
	X(CASE, "case_statement", true)                                                            \
	X(CASE_ITEM, "case_item", true)                                                            \
	X(WORD, "word", true)                                                                      \
	X(STRING, "string", true)                                                                  \
	X(RAW_STRING, "raw_string", true)                                                          \
	X(ANSI_STRING, "ansi_c_string", true)                                                      \
	X(TRANSLATED, "translated_string", true)                                                   \
	X(CONCATENATION, "concatenation", true)                                                    \
	X(SIMPLE_EXPANSION, "simple_expansion", true)                                              \
	X(EXPANSION, "expansion", true)                                                            \
	X(ARITHMETIC, "arithmetic_expansion", true)                                                \
	X(BRACE, "brace_expression", true)                                                         \
	X(NUMBER, "number", true)                                                                  \
	X(EXTGLOB, "extglob_pattern", true)                                                        \
	X(REGEX, "regex", true)                                                                    \
	X(COMMENT, "comment", true)                                                                \
	X(PIPE, "|", false)                                                                        \
	X(PIPE_BOTH, "|&", false)                                                                  \
	X(AMPERSAND, "&", false)                                                                   \
	X(AND, "&&", false)                                                                        \
	X(OR, "||", false)                                                                         \
	X(IN_WORD, "in", false)                                                                    \
	X(CLOSE, ")", false)                                                                       \
	X(LESS, "<", false)                                                                        \
	X(GREATER, ">", false)                                                                     \
	X(APPEND, ">>", false)                                                                     \
	X(CLOBBER, ">|", false)                                                                    \
	X(BOTH, "&>", false)                                                                       \
	X(BOTH_APPEND, "&>>", false)                                                               \
	X(DUP_IN, "<&", false)                                                                     \
	X(DUP_OUT, ">&", false)                                                                    \
	X(CLOSE_IN, "<&-", false)                                                                  \
	X(CLOSE_OUT, ">&-", false)                                                                 \
	X(PROCESS_IN, "<(", false)                                                                 \
	X(PROCESS_OUT, ">(", false)

enum shell_node_kind {
	NODE_OTHER,
	NODE_ERROR,
#define SHELL_NODE_ENUM(id, name, is_named) NODE_##id,
	SHELL_NODES(SHELL_NODE_ENUM)
#undef SHELL_NODE_ENUM
		NODE_COUNT
};

struct shell_node {
	uint8_t kind;
	bool is_named;
	uint32_t start, end; /* bytes of the text */
	uint32_t first;      /* child, 0: none */
	uint32_t next;       /* sibling, 0: none */
};

struct shell_tree {
	const char *text;
	size_t len;
	const struct shell_node *nodes; /* nodes[0] is the program */
	size_t n;
	bool has_error; /* some of it is no shell */
	bool is_cut;    /* nodes, depth or time ran out */
};

/* The grammar tears some words behind a dollar sign: a$B-c$D/e ends with the second $, and D/e is another word.  Is at
 * such a tear, and where does the word end that goes on there? */
bool shell_tree_is_torn(const struct shell_tree *t, size_t at);
size_t shell_tree_torn_end(const struct shell_tree *t, size_t at);
/* Frees the idle parser that is kept for the next text. */
void shell_tree_release(void);
/* Parses len bytes, at most LIMIT_SHELL_BYTES.  The tree lives in the arena and borrows text.  0, -E2BIG, -ETIMEDOUT or
 * -ENOMEM. */
CORDON_MUST_CHECK int shell_tree_parse(const char *text, size_t len, int64_t deadline_ms,
				       struct arena *arena, struct shell_tree *ret);
/* The same by the parser alone; plain commands go another way (plain.h). */
CORDON_MUST_CHECK int shell_tree_parse_full(const char *text, size_t len, int64_t deadline_ms,
					    struct arena *arena, struct shell_tree *ret);
