/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon learn`: its table; the body is cmd_learn_main(). */
#include "cli/body_run.h"
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/limits.h"

static const struct option learn_option_rows[] = {
	{'o', "output", "FILE", OPTION_INTO_STRING(struct learn_options, output),
	 .complete = COMPLETE_FILE, .group = "Manifest",
	 .help = "write the manifest there (default: standard output)"},
	{0, "rounds", "N", OPTION_INTO_INT(struct learn_options, rounds), .min = 1,
	 .max = LIMIT_LEARN_ROUNDS, .group = "Manifest",
	 .help = "run again with what was missing, up to N times in all (default: 1)"},
	{0},
};

static void learn_options_done(struct learn_options *o)
{
	run_options_done(&o->run);
}

static int learn_check(const struct cli *cli, const struct learn_options *o,
		       struct cordon_error *err)
{
	int r = run_options_check(&o->run, err);

	if (r == 0)
		r = run_check_words(cli, &o->run, err);
	if (r == 0 && o->run.json)
		return cordon_fail(
			err, CORDON_E_INVALID,
			"option '--json': the answer is a manifest; use '--report FILE'");
	return r;
}

static int cmd_learn_run(struct cli *cli)
{
	AUTO(learn_options_done) struct learn_options options = {0};
	struct cordon_error err = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	if (learn_check(cli, &options, &err) < 0)
		return cli_fail(cli, &err);
	return cmd_learn_main(cli, &options);
}

const struct verb verb_learn = {
	.name = "learn",
	.summary = "run a command, and print the least manifest that lets it pass",
	.synopsis =
		(const char *const[]){"[OPTIONS] [--] CMD [ARG...]", "[OPTIONS] -c STRING", NULL},
	.options = run_option_rows,
	.more_options = learn_option_rows,
	.words = {.name = "CMD",
		  .max = VERB_WORDS_ANY,
		  .complete = COMPLETE_COMMAND,
		  .starts_command = true},
	.description =
		"Runs the command in the sandbox of *cordon run* with the same options, writes down "
		"which paths, hosts, sockets, devices and system calls it asked for, and prints a "
		"manifest with what it used and what it missed.\n"
		"\n"
		"The command never gets more rights than *cordon run* would give it: what is outside "
		"the scope stays outside, and is only written down. So a command that stops at the first "
		"missing file shows only that one. Run *cordon learn -p* with the manifest so far until "
		"it passes, looking at each; or let *--rounds* do that: it runs the command again "
		"with the paths that were missing, which are then granted without being asked for, and "
		"repeats whatever the command does. Hosts, sockets and devices are never granted that way.\n"
		"\n"
		"Credentials, protected names, system calls that no policy opens, and what only a message of "
		"the command says are listed as remarks and never granted. Eight files of one directory become the directory, unless it "
		"is at the top of the file system, a home, or holds credentials. The workspace is granted "
		"read-only when nothing in it was written.\n"
		"\n"
		"Without *-o* the manifest is on standard output, and what the command writes there "
		"goes to standard error.\n"
		"\n"
		"Every path that is asked for is looked up, so the command runs slower than usual. Where "
		"the backend cannot do that the verb fails.",
	.examples =
		(const struct verb_example[]){
			{"cordon learn -o build.yaml -- make", "what a build needs"},
			{"cordon run -p build.yaml -- make", "and no more"},
			{"cordon learn --rounds 5 -r /opt/sdk -- ./configure",
			 "until nothing is missing, at most five times"},
			{0},
		},
	.exit_status = "*0*\n\tthe manifest was written, however the command ended\n\n"
		       "*125*\n\tit was not: the command could not be run or watched\n\n"
		       "*126*\n\tthe policy refused the command",
	.run = cmd_learn_run,
};
