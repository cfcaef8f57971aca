/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon select`: its table; the body is cmd_select_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

static const struct option select_option_rows[] = {
	{0, "isolation", "LEVEL", OPTION_INTO_ENUM(struct select_options, isolation),
	 .names = (const char *const[]){"default", "enhanced", "container", "maximum", "off", NULL},
	 .is_required = true, .help = "how much isolation is wanted"},
	COMMAND_OPTION_JSON(struct select_options, json),
	{0},
};

static int cmd_select_run(struct cli *cli)
{
	struct select_options options = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	return cmd_select_main(cli, &options);
}

const struct verb verb_select = {
	.name = "select",
	.summary = "name the backend for a wanted degree of isolation",
	.synopsis = (const char *const[]){"--isolation LEVEL [--json]", NULL},
	.options = select_option_rows,
	.description =
		"Prints the backend that would be chosen on this machine for a degree of isolation, "
		"and the reason. Nothing is run.",
	.examples =
		(const struct verb_example[]){
			{"cordon select --isolation maximum",
			 "the strongest of those that it chooses from, here"},
			{0},
		},
	.run = cmd_select_run,
};
