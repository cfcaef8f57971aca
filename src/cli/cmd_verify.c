/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon verify`: its table; the body is cmd_verify_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

static const char *const verify_languages[] = {"go", "python", "bash", "other", NULL};

static const struct option verify_option_rows[] = {
	{0, "lang", "LANGUAGE", OPTION_INTO_ENUM(struct verify_options, language),
	 .names = verify_languages, .complete = COMPLETE_NAMES, .is_required = true,
	 .help = "what the code is written in"},
	{0, "block-module", "NAME", OPTION_INTO_LIST(struct verify_options, modules), .group = "Lists",
	 .help = "a module, or a qualified name in one, that may not be used"},
	{0, "block-function", "NAME", OPTION_INTO_LIST(struct verify_options, functions),
	 .group = "Lists", .help = "a function that may not be called"},
	{0, "block-pattern", "REGEX", OPTION_INTO_LIST(struct verify_options, patterns),
	 .group = "Lists", .help = "what no line may hold"},
	{0, "allow-path", "DIR", OPTION_INTO_LIST(struct verify_options, paths),
	 .complete = COMPLETE_DIR, .group = "Lists",
	 .help = "files below it may be written and deleted (/tmp and /var/tmp always)"},
	COMMAND_OPTION_JSON(struct verify_options, json),
	{0},
};

static void verify_options_done(struct verify_options *o)
{
	strv_done(&o->modules);
	strv_done(&o->functions);
	strv_done(&o->patterns);
	strv_done(&o->paths);
}

static int cmd_verify_run(struct cli *cli)
{
	AUTO(verify_options_done) struct verify_options options = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	return cmd_verify_main(cli, &options);
}

const struct verb verb_verify = {
	.name = "verify",
	.summary = "read code before it is run and list what it must not do",
	.synopsis = (const char *const[]){"--lang LANGUAGE [OPTIONS] FILE", NULL},
	.options = verify_option_rows,
	.words = {.name = "FILE", .min = 1, .max = 1, .complete = COMPLETE_FILE},
	.description =
		"Reads a file of python, go or bash as a syntax tree and lists what it does that it should "
		"not: imports under other names, functions that are looked up by a string, commands in "
		"strings, code in strings, files of the system, credentials, connections that feed a "
		"shell, and weaknesses that a reviewer wants to know. *-* is standard input. Code of "
		"another language (_other_) is read line by line by patterns alone.\n"
		"\n"
		"An _error_ makes the code unsafe, a _warning_ does not. Nothing is run. Code can hide from "
		"every reader: what runs it must still be confined.",
	.exit_status = "*0*\n\tsafe, perhaps with warnings\n\n*2*\n\tunsafe: at least one violation is an "
		       "error\n\n*125*\n\tit could not be verified: no such file, a bad option, a bad "
		       "pattern",
	.examples =
		(const struct verb_example[]){
			{"cordon verify --lang python setup.py", "before a package is installed"},
			{"cordon verify --lang go --block-module net/http main.go",
			 "and forbid one more module"},
			{0},
		},
	.run = cmd_verify_run,
};
