/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verb of the command as one const entry.  Everything that is said about it to people and shells
 * is made from here.  The program itself is a verb too (verb_cordon), and the only one whose
 * subverbs may have subverbs.
 */
#pragma once

#include "cli/option.h"

struct cli;

/* The words of a verb that are no options. */
struct verb_words {
	const char *name; /* "FILE"; NULL: takes none */
	size_t min;
	size_t max;
	enum option_complete complete;
	const char *const *names; /* allowed words, NULL-terminated */
	bool starts_command;      /* the first word ends options and starts a command */
};

#define VERB_WORDS_ANY SIZE_MAX

struct verb_example {
	const char *command; /* NULL ends the list */
	const char *what;
};

struct verb {
	const char *name;
	const char *summary;                /* one line, no full stop */
	const char *const *synopsis;        /* after the verb's path; NULL-terminated */
	const struct option *options;       /* ends with a row without long_name; may be NULL */
	const struct option *more_options;  /* a second table for the same target; may be NULL */
	const struct verb *const *subverbs; /* NULL-terminated; NULL: none */
	struct verb_words words;
	const char *description;             /* for the man page, scdoc markup */
	const struct verb_example *examples; /* may be NULL */
	const char *exit_status;             /* for the man page, scdoc markup; may be NULL */
	/* Called in the cordon process with nothing parsed: calls cli_parse() first.  Returns the exit
	 * code.  NULL for verbs that only hold subverbs. */
	int (*run)(struct cli *cli);
	int exit_failed; /* the code for wrong options and failures; 0: CLI_EXIT_FAILED */
};

/* Every verb of this system (verb_list.c), ended by NULL. */
extern const struct verb *const verb_list[];
/* The program, with every verb (verbs.c). */
extern const struct verb verb_cordon;

extern const struct verb verb_audit;
extern const struct verb verb_backends;
extern const struct verb verb_check;
extern const struct verb verb_completion;
extern const struct verb verb_container;
extern const struct verb verb_doctor;
extern const struct verb verb_help;
extern const struct verb verb_hook;
extern const struct verb verb_image;
extern const struct verb verb_learn;
extern const struct verb verb_policy;
extern const struct verb verb_profile;
extern const struct verb verb_proxy;
extern const struct verb verb_run;
extern const struct verb verb_sandbox;
extern const struct verb verb_scan;
extern const struct verb verb_secret;
extern const struct verb verb_select;
extern const struct verb verb_session;
extern const struct verb verb_snapshot;
extern const struct verb verb_shell;
extern const struct verb verb_verify;
extern const struct verb verb_version;
extern const struct verb verb_why;

/* -h, -q and -v, which every verb takes; the target is struct cli_common. */
extern const struct option verb_common_options[];

/* NULL when there is none. */
const struct verb *verb_find(const struct verb *parent, const char *name);
/* Raises "unknown command …" with a suggestion. */
int verb_unknown(const struct verb *parent, const char *name, struct cordon_error *err);
/* The rows of all tables of a verb, common ones last; *position starts at 0.  NULL at the end. */
const struct option *verb_next_option(const struct verb *verb, size_t *position);
