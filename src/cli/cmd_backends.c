/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon backends`: its table; the body is cmd_backends_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

static const struct option backends_option_rows[] = {
	COMMAND_OPTION_JSON(struct backends_options, json),
	{0},
};

static int cmd_backends_run(struct cli *cli)
{
	struct backends_options options = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	return cmd_backends_main(cli, &options);
}

const struct verb verb_backends = {
	.name = "backends",
	.summary = "list the isolation mechanisms and what each can hold here",
	.synopsis = (const char *const[]){"[--json]", NULL},
	.options = backends_option_rows,
	.description =
		"Tries every backend on this machine and prints its level, its strength, whether it is "
		"available (or why not, and what would make it so), and the guarantees that it gives. "
		"The last line says which one *--backend auto* picks for the default policy, and why.",
	.run = cmd_backends_run,
};
