/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over the tree of one file: names are bound as the text binds them, calls are matched with
 * the rules, and what was found is handed to a sink.  Nothing is executed, nothing is read from disk.
 *
 * Small files are walked twice: the first time only to learn what the file's own functions are called
 * with and what they return, so that `run("…")` at the end tells about the body at the beginning.
 */
#pragma once

#include "inspect/code/rule.h"
#include "inspect/code/value.h"

#define CODE_ARGS_MAX 24

struct code_argument {
	const struct code_value *value;
	uint32_t node;    /* of the value */
	uint32_t keyword; /* node of its name, or CODE_NO_NODE */
};

struct code_call {
	uint32_t node;
	uint32_t function;
	const char *name; /* qualified; "" when unknown */
	struct code_argument args[CODE_ARGS_MAX];
	unsigned n;
	unsigned flags; /* of all arguments together */
	unsigned receiver_flags;
	bool has_splat;
	const char *text; /* of the whole call; not terminated */
	size_t len;
};

struct code_hit {
	const struct code_rule *rule;
	uint32_t line, column;
	const char *code; /* the qualified name or the first line of the text; terminated */
	const char *what; /* added to the reason; may be NULL */
	enum code_standing standing;
};

/* What the walk is for.  Each returns 0 or a negative error code, which ends the walk. */
struct code_sink {
	void *arg;
	int (*hit)(void *arg, const struct code_hit *hit, struct cordon_error *err);
	/* A command line that the code would give to a shell. */
	int (*command)(void *arg, const char *text, size_t len, uint32_t line,
		       struct cordon_error *err);
	/* Python code in a string of the code. */
	int (*code)(void *arg, const char *text, size_t len, uint32_t line,
		    struct cordon_error *err);
	/* Every call, after the rules; has_hit says whether one reported an error. */
	int (*call)(void *arg, const struct code_call *call, uint32_t line, bool has_hit,
		    struct cordon_error *err);
	/* Every imported module. */
	int (*module)(void *arg, const char *name, uint32_t line, bool has_hit,
		      struct cordon_error *err);
	/* May the code touch this path? */
	bool (*allows_path)(void *arg, const char *path, size_t len);
};

struct code_binding;
struct code_function;

#define CODE_BUCKETS 1024
#define CODE_SCOPES_MAX 64
/* In longer files an act that can be meant well is only reported: they are read by people and tests. */
#define CODE_LIBRARY_LINES 150

struct code_scope {
	uint32_t end;      /* the first node that is not in it */
	uint32_t function; /* its node */
	size_t mark;       /* of the bindings */
	unsigned events;   /* what was seen in it */
	uint32_t event_node;
	struct code_function *summary; /* may be NULL */
};

struct code_scan {
	const struct code_tree *tree;
	const struct inspect_context *context;
	const struct code_sink *sink;
	struct code_arena arena;
	const struct code_value **memo; /* by node */
	struct code_binding *bindings;
	size_t n_bindings, cap_bindings;
	uint32_t buckets[CODE_BUCKETS];
	struct code_function *functions[CODE_BUCKETS];
	struct code_scope scopes[CODE_SCOPES_MAX];
	unsigned n_scopes;
	unsigned events;                       /* of the whole file */
	unsigned depth;                        /* of expressions that are being evaluated */
	const char *variables[CODE_VARIABLES]; /* secret ones of the environment, by slot */
	unsigned n_variables;
	unsigned n_blobs;
	unsigned n_commands;
	bool is_first_walk;
	enum code_standing standing;
	bool is_setup;
	bool has_error_hit; /* the rules of the present call reported one */
	int64_t deadline_ms;
	int error;
	struct cordon_error *err;
};

/* Walks the tree.  0 or a negative code of the sink, -ENOMEM as CORDON_E_NOMEM. */
CORDON_MUST_CHECK int code_scan_run(const struct code_tree *tree,
				    const struct inspect_context *context,
				    const struct code_sink *sink, struct cordon_error *err);

/* Parses and walks; a text beyond the limits or not of the language is a hit. */
CORDON_MUST_CHECK int code_walk(const struct inspect_context *c, enum code_language language,
				const char *text, size_t len, const struct code_sink *sink,
				struct cordon_error *err);

/* For the rules (when.c, act_*.c): */
const struct code_value *code_eval(struct code_scan *s, uint32_t node);
void code_report(struct code_scan *s, enum code_rule_id id, uint32_t node, const char *what);
void code_report_rule(struct code_scan *s, const struct code_rule *rule, uint32_t node,
		      const char *name, const char *what);
/* The value of a keyword, or of the position when there is no such keyword; NULL when not given. */
const struct code_argument *code_arg(const struct code_scan *s, const struct code_call *c,
				     const char *keyword, int position);
bool code_arg_is(const struct code_scan *s, const struct code_call *c, const char *keyword,
		 const char *text);
/* Does the call send secrets of the environment only, and to a host that they may go to (bound.c)? */
bool code_is_for_host(const struct code_scan *s, const struct code_call *c);
/* The text of a value terminated, with holes; "" when unknown. */
const char *code_cstr(struct code_scan *s, const struct code_value *v);
/* Binds a name of the file to a value in the present scope. */
void code_bind(struct code_scan *s, const char *name, size_t len, const struct code_value *v,
	       unsigned extra_flags);
const struct code_value *code_lookup(struct code_scan *s, const char *name, size_t len);
/* What a function of the file itself gives back, or NULL. */
unsigned code_function_flags(struct code_scan *s, const char *name);
void code_function_called(struct code_scan *s, const struct code_call *c);
struct code_scope *code_scope_now(struct code_scan *s);
/* A new value; never NULL (a shared one when memory is out). */
struct code_value *code_value_new(struct code_scan *s, uint32_t node);
/* Folds a call of a known pure function into v; false when it is none. */
bool code_fold_call(struct code_scan *s, const struct code_call *c, struct code_value *v);
/* The directory of a path that is known. */
void code_fold_parent(const struct code_value *in, struct code_value *v);
/* Keeps the first error, which ends the walk. */
void code_raise(struct code_scan *s, int r);
/* Binds what an import names. */
void code_import(struct code_scan *s, uint32_t node);
/* Fills c from a call node. */
void code_call_read(struct code_scan *s, uint32_t node, struct code_call *c);
/* Where the result of a call of that name comes from. */
unsigned code_source_flags(struct code_scan *s, const struct code_call *c);

/* The ways around (reach.c): an item of a dictionary, what operator makes, the entries of a directory. */
bool code_reach_item(struct code_scan *s, const struct code_value *dictionary,
		     const struct code_value *key, struct code_value *v);
bool code_reach_attribute(struct code_scan *s, const struct code_call *c, struct code_value *v);
void code_reach_call(struct code_scan *s, struct code_call *c);
/* The name below, when a module is reached through another one that holds it. */
const char *code_reach_below(const char *name);
void code_reach_entry(struct code_scan *s, uint32_t node, struct code_value *v);

bool code_is_sql(const struct code_value *v);

/* The acts that need more than a row (act_*.c). */
/* What a loop makes of it (act_loop.c). */
void code_act_loop(struct code_scan *s, const struct code_call *c);
/* What it tells git or a database (act_client.c); what it puts into the environment. */
void code_act_client(struct code_scan *s, const struct code_call *c);
void code_act_environ(struct code_scan *s, const char *name, size_t len, uint32_t node,
		      const struct code_value *v);
void code_act_call(struct code_scan *s, const struct code_call *c);
/* A function that runs things as a value: of a return, a decorator or a name in a class. */
void code_act_value(struct code_scan *s, uint32_t node);
void code_act_string(struct code_scan *s, uint32_t node, const struct code_value *v);
void code_act_assign(struct code_scan *s, const char *name, size_t len, uint32_t node,
		     const struct code_value *v);
void code_act_node(struct code_scan *s, uint32_t node);
/* A list of words that is a command. */
void code_act_words(struct code_scan *s, uint32_t node, uint32_t list);
/* A line of a shell. */
void code_act_line(struct code_scan *s, uint32_t node, const char *text, size_t len);
void code_act_go(struct code_scan *s, uint32_t node);
void code_act_end(struct code_scan *s, const struct code_scope *scope);
