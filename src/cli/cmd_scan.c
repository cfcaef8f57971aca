/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon scan`: its table; the body is cmd_scan_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

static const struct option scan_option_rows[] = {
	{0, "sarif", OPTION_INTO_FLAG(struct scan_cli_options, sarif),
	 .help = "answer in SARIF 2.1.0"},
	COMMAND_OPTION_JSON(struct scan_cli_options, policy.json),
	COMMAND_OPTION_POLICY(struct scan_cli_options, policy.policies, NULL),
	{0},
};

static void scan_cli_options_done(struct scan_cli_options *o)
{
	policy_options_done(&o->policy);
}

static int cmd_scan_run(struct cli *cli)
{
	AUTO(scan_cli_options_done) struct scan_cli_options options = {0};
	struct cordon_error err = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	if (options.sarif && options.policy.json) {
		(void)cordon_fail(&err, CORDON_E_INVALID,
				  "option '--sarif': not together with '--json'");
		return cli_fail(cli, &err);
	}
	return cmd_scan_main(cli, &options);
}

const struct verb verb_scan = {
	.name = "scan",
	.summary = "look through a project before an agent enters it",
	.synopsis = (const char *const[]){"[--json | --sarif] PATH", NULL},
	.options = scan_option_rows,
	.words = {"PATH", 1, 1, COMPLETE_FILE},
	.description =
		"Reads what would act on whoever works in the project: instructions for agents, settings "
		"and hooks of agents and editors, MCP servers, development containers, scripts of "
		"package managers and build systems, workflows, git's configuration, hooks, submodules and "
		"filters, files of variables, symbolic links that lead out, and characters that hide text. "
		"Commands in them are judged as *cordon check* would. Nothing is executed, no link is "
		"followed, and what cannot be read or is too much is a finding.\n"
		"\n"
		"Files that *.gitignore* names are passed by, except for those that act by themselves and "
		"those that git has nevertheless. A limit that was reached (*SCAN-LIMIT*) is never SAFE: "
		"what acts is still looked for behind it, and only the end of the time ends the walk. The "
		"project's own *.cordon.yaml* has no say in how it is judged.",
	.exit_status =
		"*0*\n\tSAFE\n\n*1*\n\tSUSPICIOUS, or not everything was looked at\n\n*2*\n\tMALICIOUS\n\n*125*\n\tit could not be "
		"looked through",
	.examples =
		(const struct verb_example[]){
			{"cordon scan .", "this project"},
			{"cordon scan --sarif . >scan.sarif", "for a code host"},
			{0},
		},
	.run = cmd_scan_run,
};
