/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules on the model of a command.  A row says for which programs, subcommands and options it holds and may ask one
 * more question; it has one command that hits and one that must not, from which its test is made.
 */
#pragma once

#include "inspect/shell/model.h"
#include "inspect/shell/place.h"

struct shell_rule {
	const char *id;
	const char *reason; /* one sentence for people */
	enum finding_type type;
	enum threat level;
	double confidence;
	const char *programs; /* any of these, blanks between; NULL: every program */
	const char *words;    /* operands in this order from the first on: "volume rm|prune" */
	const char *flags;    /* all of these: "-f|--force --all" */
	const char *unless;   /* none of these options */
	bool (*test)(const struct shell_model *m, const struct shell_command *c);
	const char *hit, *miss;
};

struct shell_rules {
	const struct shell_rule *rows;
	size_t n;
};

extern const struct shell_rules shell_rules_destroy;
extern const struct shell_rules shell_rules_service;
extern const struct shell_rules shell_rules_access;
extern const struct shell_rules shell_rules_persist;
extern const struct shell_rules shell_rules_network;
extern const struct shell_rules shell_rules_escape;
extern const struct shell_rules shell_rules_evade;
extern const struct shell_rules shell_rules_host;
extern const struct shell_rules shell_rules_collect;
extern const struct shell_rules shell_rules_craft;
extern const struct shell_rules shell_rules_reach;
extern const struct shell_rules shell_rules_schema;
extern const struct shell_rules shell_rules_mac;
extern const struct shell_rules shell_rules_store;
extern const struct shell_rules shell_rules_drain;
extern const struct shell_rules shell_rules_fetch;
extern const struct shell_rules shell_rules_guise;
extern const struct shell_rules shell_rules_lore;
extern const struct shell_rules shell_rules_load;
extern const struct shell_rules shell_rules_loss;
extern const struct shell_rules shell_rules_cloud;
extern const struct shell_rules shell_rules_git;
extern const struct shell_rules shell_rules_verb;
extern const struct shell_rules shell_rules_below;
extern const struct shell_rules shell_rules_stray;
extern const struct shell_rules shell_rules_upkeep;
extern const struct shell_rules shell_rules_inline;
extern const struct shell_rules shell_rules_spill;
extern const struct shell_rules shell_rules_linger;
extern const struct shell_rules shell_rules_sweep;

enum { SHELL_RULE_TABLES = 30 };
extern const struct shell_rules *const shell_rule_tables[SHELL_RULE_TABLES];

/* Does the row hold for the command? */
bool rule_matches(const struct shell_rule *rule, const struct shell_model *m,
		  const struct shell_command *c);

/* Fills what the rows ask of each command; before the first rule_each(). */
void rule_prepare(struct shell_model *m);
/* Calls found for every row of every table that holds.  0 or its first error. */
CORDON_MUST_CHECK int rule_each(const struct shell_model *m, const struct shell_command *c,
				int (*found)(void *arg, const struct shell_rule *rule,
					     const struct shell_command *c),
				void *arg);
/* The same rows in the same order, without an index: what rule_each() does for the first commands of a process. */
CORDON_MUST_CHECK int rule_each_scanned(const struct shell_model *m, const struct shell_command *c,
					int (*found)(void *arg, const struct shell_rule *rule,
						     const struct shell_command *c),
					void *arg);

/* What the first operands of a program that nobody listed say. */
enum rule_verb {
	VERB_DESTROYS = 1 << 0,
	VERB_REVEALS = 1 << 1,
	VERB_LETS_IN = 1 << 2,
};
unsigned verb_classes(const struct shell_command *c);

/* ---- questions that several rows ask ---- */

/* Any of the options "-f|--force"; a letter is found in a cluster too. */
bool rule_has(const struct shell_command *c, const char *options);
/* Is name one of names (blanks between)? */
bool rule_is(const char *names, const char *name);
/* Is one of the parts (blanks between) among the words, which have a dash before and behind each? */
bool rule_is_part(const char *words, const char *parts);
/* The classes of one word, as this command sees it. */
uint64_t rule_place(const struct shell_model *m, const struct shell_command *c,
		    struct shell_word *w);
/* All classes of the operands and of values of options. */
uint64_t rule_operands(const struct shell_model *m, const struct shell_command *c);
/* Classes of what the command would write to, and of what it would read. */
uint64_t rule_writes(const struct shell_model *m, const struct shell_command *c);
uint64_t rule_reads(const struct shell_model *m, const struct shell_command *c);
/* The first operand, which is no option. */
const char *rule_operand(const struct shell_command *c, size_t index);
/* Is it an option whose value stands behind it as a word of its own, wherever it is known to have one? */
bool rule_is_valued(const char *option);
/* Does any word (or the known input) contain the text, whatever the case? */
bool rule_says(const struct shell_command *c, const char *text);
bool rule_is_shell(const char *name);
/* Does an address or the name of a host belong to a place where many projects are kept in the open? */
bool rule_is_forge(const char *s);
/* Can nobody tell who answers at an address: no encryption, or a bare number for a host? */
bool rule_is_shady(const char *s);
/* Does a mode of chmod or install (4755, u+s, =xs) let a program run with its owner's rights? */
bool rule_is_setuid(const char *mode);
/* Does every destination of the command lie on this machine? */
bool rule_is_local(const struct shell_model *m, const struct shell_command *c);
