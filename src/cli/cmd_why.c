/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon why`: its table; the body is cmd_why_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

static const struct option why_option_rows[] = {
	{0, "path", "PATH", OPTION_INTO_PATH(struct why_options, path), .complete = COMPLETE_FILE,
	 .group = "Question", .help = "may this path be read?"},
	{0, "write", OPTION_INTO_FLAG(struct why_options, write), .group = "Question",
	 .help = "with --path: may it be written?"},
	{0, "host", "HOST[:PORT]", OPTION_INTO_STRING(struct why_options, host),
	 .complete = COMPLETE_HOST, .group = "Question", .help = "may this host be reached?"},
	{0, "command", "STRING", OPTION_INTO_STRING(struct why_options, command),
	 .group = "Question", .help = "may this command be run?"},
	COMMAND_OPTION_POLICY(struct why_options, policy.policies, NULL),
	COMMAND_OPTION_DIR(struct why_options, policy.cwd),
	COMMAND_OPTION_JSON(struct why_options, policy.json),
	{0},
};

static void why_options_done(struct why_options *o)
{
	policy_options_done(&o->policy);
}

static int why_check(const struct why_options *o, struct cordon_error *err)
{
	if (!!o->path + !!o->host + !!o->command != 1)
		return cordon_fail(err, CORDON_E_INVALID,
				   "needs exactly one of '--path', '--host' and '--command'");
	if (o->write && !o->path)
		return cordon_fail(err, CORDON_E_INVALID, "option '--write': only with '--path'");
	return 0;
}

static int cmd_why_run(struct cli *cli)
{
	AUTO(why_options_done) struct why_options options = {0};
	struct cordon_error err = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	if (why_check(&options, &err) < 0)
		return cli_fail(cli, &err);
	return cmd_why_main(cli, &options);
}

const struct verb verb_why = {
	.name = "why",
	.summary = "say what the policy answers for a path, host or command, and why",
	.synopsis = (const char *const[]){"--path PATH [--write] [OPTIONS]",
					  "--host HOST [OPTIONS]", "--command STRING [OPTIONS]",
					  NULL},
	.options = why_option_rows,
	.description = "Prints what the effective policy says, which rule says it, where that rule "
		       "was written, and what to change for another answer. Nothing is run.",
	.exit_status = "*0*\n\tthe question was answered, whatever the answer is\n\n"
		       "*125*\n\tit could not be: a policy that is not valid, a bad option",
	.examples =
		(const struct verb_example[]){
			{"cordon why --path ~/.ssh/id_ed25519", "why a file cannot be read"},
			{"cordon why --host example.org:443", "whether a host can be reached"},
			{0},
		},
	.run = cmd_why_run,
};
