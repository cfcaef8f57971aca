/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One invocation of the command.  Nothing is set up before a verb needs it: the way from main() to
 * the body of `run` is the walk through the tables and no system call but the check of stdio and one signal.
 */
#pragma once

#include "cli/option.h"
#include "cli/out.h"
#include "cli/verb.h"

#define CLI_EXIT_FAILED 125 /* cordon itself failed, or was asked wrongly */
#define CLI_EXIT_PIPE 141   /* the reader of stdout went away, and SIGPIPE is ignored */

#define CLI_DEPTH_MAX 3 /* cordon, policy, show */

/* Options of the program itself, before any verb. */
struct cli_root {
	bool wants_help;
	bool wants_version;
};

/* Options that every verb takes. */
struct cli_common {
	bool wants_help;
	int verbosity; /* enum log_level, or -1 when neither -q nor -v was given */
};

struct cli {
	const struct verb *path[CLI_DEPTH_MAX]; /* from the program to the verb that runs */
	size_t depth;
	char **argv; /* not parsed yet: options and words of the verb */
	size_t argc;
	char **words; /* after cli_parse(): what is no option, NULL-terminated; borrows */
	size_t n_words;
	struct cli_common common;
	struct out out;
};

/* Runs the verb that argv names under root and returns the exit code, output written. */
int cli_main(const struct verb *root, int argc, char **argv);

/* Parses the verb's options into *target (zeroed by the caller; NULL when the verb has none) and
 * its words into cli->words.  True: go on.  False: return *ret_code; help was printed or an error
 * reported. */
CORDON_MUST_CHECK bool cli_parse(struct cli *cli, void *target, int *ret_code);

/* Reports err, after "VERB: ", and returns CLI_EXIT_FAILED. */
int cli_fail(const struct cli *cli, struct cordon_error *err);
/* Prints what the buffer holds and a newline, and ends the buffer. */
CORDON_MUST_CHECK int cli_print_line(struct cli *cli, struct buf *b, struct cordon_error *err);
/* The verb that runs. */
const struct verb *cli_verb(const struct cli *cli);
