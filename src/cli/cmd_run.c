/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon run`: its table and its words; the body is cmd_run_main(). */
#include "cli/body_run.h"
#include "cli/cli.h"
#include "cli/commands.h"

int run_check_words(const struct cli *cli, const struct run_options *options,
		    struct cordon_error *err)
{
	if (options->command && cli->n_words > 0)
		return cordon_fail(
			err, CORDON_E_INVALID,
			"'-c' takes the whole command in one string, but '%.200s' follows",
			cli->words[0]);
	if (!options->command && cli->n_words == 0)
		return cordon_fail(err, CORDON_E_INVALID, "needs a command or '-c STRING'");
	return 0;
}

static int cmd_run_run(struct cli *cli)
{
	AUTO(run_options_done) struct run_options options = {0};
	struct cordon_error err = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	if (run_options_check(&options, &err) < 0 || run_check_words(cli, &options, &err) < 0)
		return cli_fail(cli, &err);
	return cmd_run_main(cli, &options);
}

const struct verb verb_run = {
	.name = "run",
	.summary = "run a command in a sandbox",
	.synopsis =
		(const char *const[]){"[OPTIONS] [--] CMD [ARG...]", "[OPTIONS] -c STRING", NULL},
	.options = run_option_rows,
	.words = {.name = "CMD",
		  .max = VERB_WORDS_ANY,
		  .complete = COMPLETE_COMMAND,
		  .starts_command = true},
	.description =
		"Reads the call, judges it, picks a backend that gives every guarantee which the "
		"policy needs, runs the command there and records the call in the audit log. It needs "
		"no daemon.\n"
		"\n"
		"Options end at the first word that is none, so that the options of the command stay "
		"its own: *cordon run ls -l* runs *ls -l*.\n"
		"\n"
		"Without any policy the level is *process*, the network is denied, the working "
		"directory is the workspace and may be read and written, /tmp is private, the "
		"environment is scrubbed, credentials and protected paths are out of reach, there is "
		"no limit of time or memory, and verdict actions are only recorded.\n"
		"\n"
		"Policies are layered: built in, /etc/cordon/policy.yaml, the user's, the project's "
		".cordon.yaml (may only tighten), the file given with *-p* (further ones may only tighten), "
		"options; a ceiling in /etc/cordon/ceiling.yaml stands over all of them. A "
		"limit that is asked for and cannot be held on this machine is an error; nothing is "
		"dropped silently.",
	.examples =
		(const struct verb_example[]){
			{"cordon run -- make test",
			 "build in the current directory, without network"},
			{"cordon run --allow-host example.org -- curl https://example.org",
			 "with one host in reach"},
			{"cordon run -m 512M -t 30s -c 'python3 train.py | tail'",
			 "a shell string with limits of memory and time"},
			{"cordon run --workspace discard --report r.json -- npm test",
			 "throw the changes away, keep the report"},
			{0},
		},
	.exit_status = "The command's own code, or:\n"
		       "\n"
		       "*124*\n\tended at the time limit\n"
		       "\n"
		       "*125*\n\tcordon itself failed: bad policy, no eligible backend\n"
		       "\n"
		       "*126*\n\trefused by verdict or policy, or not executable\n"
		       "\n"
		       "*127*\n\tcommand not found\n"
		       "\n"
		       "*128+N*\n\tkilled by signal N\n"
		       "\n"
		       "*137*\n\tkilled at the memory limit",
	.run = cmd_run_run,
};
