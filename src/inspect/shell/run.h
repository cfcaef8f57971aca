/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over a text for bash that makes a model of it.  Private to this folder: run.c walks statements,
 * word.c expands words, exec.c unwraps programs, effect.c says what programs write.
 */
#pragma once

#include "base/buf.h"
#include "base/limits.h"
#include "inspect/shell/model.h"
#include "inspect/shell/tree.h"

struct run_variable {
	const char *name;
	struct shell_text value;
	struct shell_word *items; /* of an array, n_items of them */
	const char *ref;          /* declare -n: the name that it stands for */
	size_t n_items;
	bool is_readonly, is_local;
};

struct run_function {
	const char *name;
	const struct shell_tree *tree;
	uint32_t body;
	uint32_t node; /* of the definition */
	bool is_running, is_called;
};

struct run_alias {
	const char *name, *text;
	bool is_running; /* an alias does not expand in itself */
};

/* A file, a pipe or a descriptor ("&3") whose contents we know something about. */
struct run_file {
	const char *path;
	struct shell_text value;
	bool is_network;
	const struct shell_tree *tree; /* of >(…): who reads what is written */
	uint32_t reader;
};

struct run {
	struct shell_model *m;
	const struct shell_tree *tree; /* being walked */
	struct run_variable *variables;
	size_t n_variables, cap_variables;
	struct run_function *functions;
	size_t n_functions, cap_functions;
	struct run_alias *aliases;
	size_t n_aliases, cap_aliases;
	struct run_file *files;
	size_t n_files, cap_files;
	struct shell_word *params; /* $1 and on */
	size_t n_params;
	const char *cwd;
	unsigned via;
	unsigned depth; /* of texts, functions and wrappers */
	unsigned line;  /* of the outermost text */
	unsigned conditions;
	size_t steps; /* left */
	int64_t deadline_ms;
	size_t group;
	const char *pending_fd; /* a number that stands right before a redirection */
	size_t pipe;            /* the group of the pipeline around, 0: none */
	/* where run_place() was last */
	const struct shell_tree *place_tree;
	uint32_t place_at;
	unsigned place_line, place_column;
};

/* Words being built. */
struct run_words {
	struct shell_word *v;
	size_t n, cap;
};

/* A simple command that is about to be run. */
struct run_call {
	struct run_words argv, assigns;
	struct shell_redirect *redirects;
	size_t n_redirects, cap_redirects;
	struct shell_text in;
	bool has_in, is_piped, in_is_network, out_is_network;
	bool is_declaration; /* of declare and its kin: braces are a list in their words */
	unsigned line, column;
};

/* state.c */
/* One step of work; false when there are none left (NOTE_CUT). */
bool run_step(struct run *r);
/* Frees a buffer; what it could not hold is remembered. */
void run_buf_done(struct run *r, struct buf *b);
/* Several steps at once. */
void run_charge(struct run *r, size_t steps);
/* Grows an array of the arena by one zeroed element, at most max; NULL when that is not to be had. */
void *run_grow(struct run *r, void **items, size_t *n, size_t *cap, size_t size, size_t max);

/* run.c */
struct shell_text run_text(struct run *r, const char *text, size_t len, unsigned via,
			   struct shell_text in);
struct shell_text run_node(struct run *r, uint32_t node, struct shell_text in, bool has_in);
struct shell_text run_children(struct run *r, uint32_t node, struct shell_text in, bool has_in);
/* The body of a function, with the redirections of its definition. */
struct shell_text run_body(struct run *r, const struct run_function *f, struct shell_text in,
			   bool has_in);
void run_set(struct run *r, const char *name, size_t len, struct shell_text value);
struct run_variable *run_get(const struct run *r, const char *name, size_t len);
struct run_file *run_file(const struct run *r, const char *path);
/* Remembers what is in a file; contents that flow to >(…) are read at once. */
void run_file_set(struct run *r, const char *path, struct shell_text value, bool is_network);
struct shell_text run_nothing(void);
struct shell_text run_known(struct run *r, const char *s, size_t len, unsigned taint);
struct shell_text run_join(struct run *r, struct shell_text a, struct shell_text b);

/* Runs each $(…) and `…` that stands in a text, as the shell does when it expands the text once more. */
void run_substitutions(struct run *r, const char *text, size_t len);
/* The line and the column of a node, or of the command that runs its text. */
void run_place(struct run *r, uint32_t node, unsigned *ret_line, unsigned *ret_column);

/* assign.c */
/* NAME=VALUE: kept for the call, or set when there is none. */
void run_assignment(struct run *r, uint32_t node, struct run_call *call);
/* export, declare, local, readonly, typeset. */
void run_declaration(struct run *r, uint32_t node, struct run_call *call);
/* Variables that change what the shell does are as good as commands. */
void run_exported(struct run *r, uint32_t node);

/* redirect.c */
bool run_is_word(const struct shell_node *n);
bool run_is_descriptor(struct run *r, uint32_t node);
void run_file_redirect(struct run *r, uint32_t node, struct run_call *call);
void run_herestring(struct run *r, uint32_t node, struct run_call *call);
/* The text of a heredoc; what follows on its first line is left to the caller. */
void run_heredoc(struct run *r, uint32_t node, struct run_call *call);
/* Whoever writes to the files of a statement: the last command of it, since before; or nobody else. */
void run_outputs(struct run *r, const struct run_call *call, size_t before);
/* Inputs of a call from its redirections; descriptors that they open are remembered. */
void run_inputs(struct run *r, struct run_call *call);

/* param.c */
bool param_is_name(char c);
bool param_name_is(const char *name, size_t len, const char *want);
/* The value of a name: is it set? */
bool param_lookup(struct run *r, const char *name, size_t len, struct shell_text *ret);
/* $1, $@ and the like. */
bool param_positional(struct run *r, const char *name, size_t len, struct shell_text *ret);
/* ${name#word} and ${name%word}, ${name:from:count}: op is all behind the name. */
struct shell_text param_cut(struct run *r, struct shell_text v, const char *op, size_t len);
struct shell_text param_slice(struct run *r, struct shell_text v, const char *op, size_t len);

/* ${name/pattern/word}, ${name,,}, ${name^}, ${name@E} and the like; not known when it cannot be told. */
struct shell_text param_change(struct run *r, struct shell_text v, const char *op, size_t len);
/* ${name[1]}, ${name[@]}; v when the name has no items. */
struct shell_text param_item(struct run *r, const char *name, size_t name_len, const char *op,
			     size_t len, struct shell_text v);

/* word.c */
void word_expand(struct run *r, uint32_t node, struct run_words *out);
/* The same of a piece of text, read in double quotes (heredocs) or not. */
struct shell_word word_one(struct run *r, uint32_t node);
struct shell_word word_heredoc(struct run *r, uint32_t node, size_t start, size_t end);
struct shell_text word_value(const struct shell_word *w);
void word_add(struct run *r, struct run_words *out, const struct shell_word *w);
struct shell_word word_of(struct run *r, const char *s, size_t len);

/* A word that is no node: bytes of the text. */
void word_range(struct run *r, size_t start, size_t end, struct run_words *out);

/* loose.c: runs a part of the text that is no shell, as far as it can be read. */
void loose_run(struct run *r, size_t start, size_t end);

/* exec.c */
struct shell_text exec_call(struct run *r, struct run_call *call);
/* Runs the words of c from index at on, as a command of its own. */
struct shell_text exec_rest(struct run *r, size_t c, size_t at, unsigned via);
/* The same of words that were put together; in is what c gets. */
struct shell_text exec_words(struct run *r, size_t c, struct run_words *words, unsigned via);
/* Runs text as shell code on behalf of c. */
struct shell_text exec_code(struct run *r, size_t c, struct shell_text code, unsigned via);
/* All words of c from index at on with blanks between them. */
struct shell_text exec_joined(struct run *r, size_t c, size_t at);
/* The first word of c from index at on that is no option.  shorts: letters that take a value; longs: names that do,
 * with blanks around each. */
size_t exec_operand(const struct shell_command *c, size_t at, const char *shorts,
		    const char *longs);
/* The value of an option: -x VALUE, -xVALUE, --long VALUE, --long=VALUE; NULL when it is not there. */
const struct shell_word *exec_option(struct run *r, const struct shell_command *c, char letter,
				     const char *name, struct shell_word *room);
/* What a file holds, as far as we know. */
struct shell_text exec_contents(struct run *r, const struct shell_word *w, bool *ret_network);
const char *exec_name(const char *path);
void exec_language(struct run *r, size_t c, enum shell_language language, struct shell_text code);

/* launch.c */
/* Programs that run other programs or code.  True when it knew the program; *ret_out is what that writes. */
bool launch_known(struct run *r, size_t c, struct shell_text *ret_out);
/* launch_guess.c: runs what a program that nobody listed seems to be told to run. */
void launch_guess(struct run *r, size_t c);
/* launch_builtin.c: runs what subscripts of names hold, which builtins expand. */
void launch_subscripts(struct run *r, size_t c);
/* launch_hook.c: runs what options and variables of any program name as commands. */
void launch_hooks(struct run *r, size_t c);

/* effect.c */
/* What c writes; also sets what it sends. */
struct shell_text effect_of(struct run *r, struct shell_command *c);
/* The taint of the contents of a file. */
unsigned effect_file(struct run *r, const char *path, unsigned flags);
void effect_redirects(struct run *r, const struct shell_command *c, struct shell_text out);
