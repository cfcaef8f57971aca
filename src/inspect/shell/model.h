/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a text for bash would run, as far as that can be known without running it: every command that stands in
 * it or is hidden in another one, its words with quoting and constant expansions resolved, what flows into
 * it, and code that it hands to other interpreters.  Made by walking the syntax tree once in the order of
 * execution with variables, functions, files and descriptors kept as values that are known, partly known
 * (SHELL_UNKNOWN stands for the rest) or tainted.
 */
#pragma once

#include "inspect/context.h"
#include "inspect/shell/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHELL_UNKNOWN '\001' /* stands in a text for what is not known */

struct net_host;

/* Where a value came from. */
enum shell_taint {
	TAINT_SECRET = 1 << 0,   /* a file that holds credentials */
	TAINT_REMOTE = 1 << 1,   /* the network */
	TAINT_DECODED = 1 << 2,  /* a decoder, and not known */
	TAINT_IDENTITY = 1 << 3, /* facts about the machine, the user or the environment */
	TAINT_FILE = 1 << 4,     /* a file of no special kind */
	TAINT_INPUT = 1 << 5,    /* whoever writes to us */
	TAINT_ARCHIVE = 1 << 6,  /* many files packed together */
	TAINT_WHOLE = 1 << 7,    /* names of all there is in the system or in a home */
	TAINT_KEY = 1 << 8,      /* a variable that holds a credential of a provider (provider.h) */
};

/* A value. */
struct shell_text {
	const char *s; /* NUL behind it; NULL when nothing of it is known */
	size_t len;
	unsigned taint; /* of enum shell_taint */
	bool is_known;  /* s is all of it */
};

enum shell_word_flags {
	WORD_UNKNOWN = 1 << 0, /* part of it is not known */
	WORD_GLOB = 1 << 1,    /* has * ? or [ that the shell would expand */
	WORD_QUOTED = 1 << 2,
	WORD_EXPANDED = 1 << 3, /* some of it came out of a variable or a substitution */
	WORD_ITEM = 1 << 5,     /* one of many that another program found */
	WORD_ODD = 1 << 4, /* quoted or escaped in a way that only hides it: r\m, r''m, $'\x72m' */
};

struct shell_word {
	const char *s;
	size_t len;
	unsigned taint;
	unsigned flags;
	uint64_t place; /* of enum shell_place, when PLACE_SEEN is in it */
};

enum shell_redirect_kind {
	REDIRECT_IN,
	REDIRECT_OUT,
	REDIRECT_APPEND,
	REDIRECT_DUP,
	REDIRECT_TEXT, /* heredoc, herestring: target is the text */
	REDIRECT_CLOSE,
};

struct shell_redirect {
	enum shell_redirect_kind kind;
	const char *fd; /* "0", "1", "2", "{name}" */
	struct shell_word target;
};

/* How a command came to be in the model. */
enum shell_via {
	VIA_ROOT = 1 << 0,      /* sudo and the like */
	VIA_SHELL = 1 << 1,     /* sh -c, eval, a script on stdin */
	VIA_REMOTE = 1 << 3,    /* on another machine */
	VIA_CONTAINER = 1 << 4, /* in a container */
	VIA_EACH = 1 << 5,      /* for each of many words: xargs, parallel, find -exec */
	VIA_CODE = 1 << 6,      /* called from code of another language */
	VIA_HOOK = 1 << 7,  /* an option that names a command: ProxyCommand, --checkpoint-action */
	VIA_LATER = 1 << 8, /* at, cron, a trap */
	VIA_BACKGROUND = 1 << 9,
	VIA_LOOP = 1 << 10,
	VIA_FUNCTION = 1 << 11, /* in the body of a function, which was not called by now */
	VIA_NETWORK = 1 << 12,  /* its standard streams are a network connection */
	VIA_WRAPPED = 1 << 13,  /* behind a wrapper */
	VIA_RUNNING = 1 << 14,  /* in a container or a pod that was there before */
};

struct shell_command {
	const char *name; /* of the program, without its directory */
	struct shell_word *argv;
	size_t n;
	struct shell_word *assigns; /* NAME=VALUE before it */
	size_t n_assigns;
	struct shell_redirect *redirects;
	size_t n_redirects;
	struct shell_text in; /* what flows into it */
	bool has_in;          /* from a pipe or a text */
	bool is_piped;        /* its output goes to another command */
	bool in_is_network, out_is_network;
	bool runs_input; /* it executes what flows in */
	unsigned runs;   /* taint of the code that it would execute */
	unsigned reads;  /* taint of the files that it shows or copies */
	bool is_conditional;
	unsigned sends;  /* taint of what it would send over the network */
	bool is_sending; /* it sends something that is not in its options */
	/* filled by rule_prepare(): classes of paths, and hosts */
	uint64_t operand_places, write_places, read_places;
	unsigned verbs; /* of enum rule_verb */
	struct net_host *hosts;
	size_t n_hosts;
	unsigned via; /* of enum shell_via */
	unsigned line, column;
	unsigned depth;
	const char *cwd; /* where cd went, NULL: unknown */
	size_t group;    /* commands of one pipeline have the same */
};

enum shell_language {
	SHELL_PYTHON,
	SHELL_PERL,
	SHELL_RUBY,
	SHELL_NODE,
	SHELL_PHP,
	SHELL_LUA,
	SHELL_AWK,
	SHELL_OTHER,
	/* of files that commands name (launch_file()) */
	SHELL_BASH,
	SHELL_GO,
	SHELL_ANY, /* by its first line, as the kernel goes by it */
};

/* Code for another interpreter. */
struct shell_code {
	enum shell_language language;
	const char *text;
	size_t len;
	size_t command; /* that gets it */
	unsigned line;
};

/* What the walk itself noticed. */
enum shell_note {
	NOTE_SYNTAX = 1 << 0,   /* most of it is no shell */
	NOTE_CUT = 1 << 1,      /* a limit was reached: not all of it was read */
	NOTE_FORKS = 1 << 2,    /* a function or loop multiplies itself */
	NOTE_NUL = 1 << 4,      /* has NUL bytes, which bash leaves out */
	NOTE_FRAGMENT = 1 << 3, /* begins in the middle of a command, as injected text does */
};

struct shell_model {
	struct arena arena;
	const struct inspect_context *context;
	struct shell_command *commands;
	size_t n, cap;
	struct shell_code *codes;
	size_t n_codes, cap_codes;
	unsigned notes;     /* of enum shell_note */
	unsigned providers; /* whose credentials it takes from the environment, as bits (provider.h) */
	unsigned note_line;
	unsigned lines; /* of the whole text that are not empty */
};

void shell_model_done(struct shell_model *m);
/* Fills *m, also on failure; shell_model_done() in any case.  text is copied.  0 or -ENOMEM;
 * a limit that was reached is NOTE_CUT. */
CORDON_MUST_CHECK int shell_model_build(const struct inspect_context *c, const char *text,
					size_t len, struct shell_model *m);
