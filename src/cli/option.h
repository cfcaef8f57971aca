/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as table rows.  One row makes the parser, the help text, the man page and the three
 * completions; getopt would need a second list beside it, and its abbreviations would let an option
 * that is added tomorrow change what a script of today means.
 *
 * Rules: long options take their value after `=` or as the next word; short ones cluster (-qv) and
 * take theirs attached or as the next word; `--` ends options; a separate value may not begin with
 * `--` (a forgotten value would swallow the next option); abbreviations are refused with a hint.
 */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the value is, and with it the type of the member that it is stored in. */
enum option_kind {
	OPTION_FLAG,     /* bool */
	OPTION_SET,      /* int: set to .value; rows with one target contradict each other */
	OPTION_STRING,   /* const char *, borrowed from argv */
	OPTION_PATH,     /* the same */
	OPTION_ENUM,     /* const char *, one of .names */
	OPTION_LIST,     /* struct strv; each of .names when there are any */
	OPTION_SIZE,     /* struct option_number, bytes */
	OPTION_DURATION, /* struct option_number, milliseconds */
	OPTION_INT,      /* struct option_number */
	OPTION_KIND_COUNT
};

/* What a shell offers for a value or a positional word. */
enum option_complete {
	COMPLETE_NONE,
	COMPLETE_FILE,
	COMPLETE_DIR,
	COMPLETE_HOST,
	COMPLETE_VARIABLE, /* names of environment variables */
	COMPLETE_COMMAND,  /* a command, then whatever that command completes */
	COMPLETE_VERB,     /* a verb of cordon */
	COMPLETE_NAMES,    /* one of the row's names */
	COMPLETE_COUNT
};

/* A number that may not have been given. */
struct option_number {
	bool is_given;
	int64_t value;
};

struct option {
	char short_name;       /* 0: none */
	const char *long_name; /* without dashes; NULL ends a table */
	const char *argument;  /* its name in the help; NULL: takes no value */
	enum option_kind kind;
	size_t offset;            /* of the member in the target struct; see OPTION_INTO_* */
	const char *help;         /* one sentence, no full stop */
	const char *group;        /* heading in the help; NULL: "Options" */
	const char *const *names; /* allowed values, NULL-terminated */
	enum option_complete complete;
	int value;   /* of OPTION_SET */
	int64_t min; /* numbers: the least and */
	int64_t max; /* the greatest; 0 means INT64_MAX */
	bool is_repeatable;
	bool is_required;
	bool is_empty_ok; /* an empty value means something */
	bool is_final;    /* nothing after it is looked at (--help, --version) */
};

/* Kind and target in one, with the member's type checked at compile time. */
#define OPTION_INTO(kind_, type, member, wanted)                                                   \
	.kind = (kind_),                                                                           \
	.offset = offsetof(type, member) +                                                         \
		  0 * sizeof(struct {                                                              \
			  _Static_assert(__builtin_types_compatible_p(                             \
						 __typeof__(((type *)0)->member), wanted),         \
					 "the option's kind and its member's type differ");        \
			  char unused;                                                             \
		  })
#define OPTION_INTO_FLAG(type, member) OPTION_INTO(OPTION_FLAG, type, member, bool)
#define OPTION_INTO_SET(type, member) OPTION_INTO(OPTION_SET, type, member, int)
#define OPTION_INTO_STRING(type, member) OPTION_INTO(OPTION_STRING, type, member, const char *)
#define OPTION_INTO_PATH(type, member) OPTION_INTO(OPTION_PATH, type, member, const char *)
#define OPTION_INTO_ENUM(type, member) OPTION_INTO(OPTION_ENUM, type, member, const char *)
#define OPTION_INTO_LIST(type, member)                                                             \
	.is_repeatable = true, OPTION_INTO(OPTION_LIST, type, member, struct strv)
#define OPTION_INTO_SIZE(type, member) OPTION_INTO(OPTION_SIZE, type, member, struct option_number)
#define OPTION_INTO_DURATION(type, member)                                                         \
	OPTION_INTO(OPTION_DURATION, type, member, struct option_number)
#define OPTION_INTO_INT(type, member) OPTION_INTO(OPTION_INT, type, member, struct option_number)

/* Rows together with the struct that they fill. */
struct option_table {
	const struct option *rows;
	void *target;
};

#define OPTION_TABLES_MAX 4
#define OPTION_ROWS_MAX 96 /* rows of all tables of one verb together */

struct option_request {
	struct option_table tables[OPTION_TABLES_MAX]; /* up to the first without rows */
	bool stops_at_word; /* the first word that is no option ends them (a command follows) */
	char **argv;        /* argc words and a NULL; reordered when stops_at_word is false */
	size_t argc;
};

struct option_result {
	char **words; /* what is no option, NULL-terminated; borrows argv */
	size_t n_words;
	bool is_final; /* an is_final option ended it: required ones were not looked for */
};

/* Fills the targets, which the caller has zeroed.  They may be half filled after a failure, which is
 * CORDON_E_INVALID with one line that names the option, CORDON_E_LIMIT or CORDON_E_NOMEM. */
CORDON_MUST_CHECK int option_parse(const struct option_request *request,
				   struct option_result *ret_result, struct cordon_error *err);

/* Is value one of names?  CORDON_E_INVALID, listing them, with the nearest as a suggestion. */
CORDON_MUST_CHECK int option_check_name(const char *const *names, const char *value,
					const char **ret_name, struct cordon_error *err);
/* What a shell offers for this option: names when it has any. */
enum option_complete option_completion(const struct option *o);
