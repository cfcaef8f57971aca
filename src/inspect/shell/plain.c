/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See plain.h.  A word is plain when each of its bytes stands for itself in every place of a command, and when no word
 * of it means something to the shell's grammar.
 */
#include "inspect/shell/plain.h"

#include "base/mem.h"

#include <string.h>

enum {
	PLAIN_BYTES = 4096, /* of a text; longer ones are nobody's everyday command */
	PLAIN_WORDS = 256,
	PLAIN_HEAD = 3, /* nodes before the first word: program, command, command_name */
};

/* What the grammar has a meaning for, as the first word or where it may stand later. */
static const char plain_reserved[][9] = {
	"if",     "then",    "elif",    "else",     "fi",     "for",      "while",  "until",
	"do",     "done",    "case",    "esac",     "in",     "function", "select", "time",
	"coproc", "declare", "typeset", "readonly", "export", "local",    "unset",  "unsetenv",
};

static bool plain_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool plain_is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool plain_is_byte(char c)
{
	return plain_is_alpha(c) || plain_is_digit(c) || (c && strchr("_./:,@%+=-~", c));
}

static bool plain_is_reserved(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(plain_reserved); i++)
		if (strlen(plain_reserved[i]) == len && memcmp(plain_reserved[i], word, len) == 0)
			return true;
	return false;
}

/* The kind of a word without quotes; NODE_ERROR when the parser must say. */
static enum shell_node_kind plain_word(const char *word, size_t len)
{
	size_t at = word[0] == '-', digits = 0;

	if (word[0] == '=' || word[0] == '+' || plain_is_reserved(word, len))
		return NODE_ERROR;
	while (at + digits < len && plain_is_digit(word[at + digits]))
		digits++;
	if (digits > 0 && at + digits == len)
		return NODE_NUMBER;
	/* 0x1f and its kin are numbers too, or not: not for us to know */
	if (digits > 0 && word[at] == '0' && (word[at + 1] == 'x' || word[at + 1] == 'X'))
		return NODE_ERROR;
	return NODE_WORD;
}

/* May this be the name of a command?  The parser reads the beginning of a line as a variable where it can. */
static bool plain_is_name(const char *word, size_t len, enum shell_node_kind kind)
{
	if (kind != NODE_WORD || word[0] == '-' || plain_is_digit(word[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (strchr(":,@%=~", word[i]))
			return false;
	return true;
}

/* The end of the word that begins at `at`, and what it is; 0 when it is not plain. */
static size_t plain_next(const char *text, size_t len, size_t at, enum shell_node_kind *ret)
{
	size_t end = at;

	if (text[at] == '\'') {
		for (end = at + 1; end < len && text[end] != '\''; end++)
			if (text[end] < ' ' || text[end] > '~')
				return 0;
		*ret = NODE_RAW_STRING;
		return end < len ? end + 1 : 0;
	}
	while (end < len && plain_is_byte(text[end]))
		end++;
	if (end == at)
		return 0;
	*ret = plain_word(text + at, end - at);
	return *ret == NODE_ERROR ? 0 : end;
}

/* Fills the nodes of words, which follow one another; how many, 0 when one of them is not plain.  With words NULL they
 * are only counted. */
static size_t plain_words(const char *text, size_t len, struct shell_node *words)
{
	size_t n = 0, at = 0;

	while (at < len) {
		enum shell_node_kind kind = NODE_ERROR;
		size_t end = plain_next(text, len, at, &kind);

		if (end == 0 || n == PLAIN_WORDS || (end < len && text[end] != ' ') ||
		    (n == 0 && !plain_is_name(text, end, kind)))
			return 0;
		if (words)
			words[n] = (struct shell_node){.kind = (uint8_t)kind,
						       .is_named = true,
						       .start = (uint32_t)at,
						       .end = (uint32_t)end,
						       .next = (uint32_t)(PLAIN_HEAD + n + 1)};
		n++;
		for (at = end; at < len && text[at] == ' '; at++)
			;
		if (at == len && end < len)
			return 0; /* blanks at the end belong to one node and not to another */
	}
	return n;
}

bool plain_tree(const char *text, size_t len, struct arena *arena, struct shell_tree *ret)
{
	size_t n = len > 0 && len <= PLAIN_BYTES ? plain_words(text, len, NULL) : 0;
	struct shell_node *nodes;

	nodes = n > 0 ? arena_take(arena, (PLAIN_HEAD + n) * sizeof(*nodes)) : NULL;
	if (!nodes || plain_words(text, len, nodes + PLAIN_HEAD) != n)
		return false;
	nodes[PLAIN_HEAD + n - 1].next = 0;
	nodes[2] = nodes[PLAIN_HEAD]; /* the name is the first word */
	nodes[2].kind = NODE_COMMAND_NAME;
	nodes[2].first = PLAIN_HEAD;
	nodes[PLAIN_HEAD].next = 0;
	nodes[1] = (struct shell_node){
		.kind = NODE_COMMAND, .is_named = true, .end = (uint32_t)len, .first = 2};
	nodes[0] = (struct shell_node){
		.kind = NODE_PROGRAM, .is_named = true, .end = (uint32_t)len, .first = 1};
	*ret = (struct shell_tree){.text = text, .len = len, .nodes = nodes, .n = PLAIN_HEAD + n};
	return true;
}
