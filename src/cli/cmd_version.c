/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon version`. */
#include "cli/cli.h"

static int cmd_version_run(struct cli *cli)
{
	int code = 0;

	if (cli_parse(cli, /* target= */ NULL, &code))
		out_str(&cli->out, "cordon " CORDON_VERSION "\n");
	return code;
}

const struct verb verb_version = {
	.name = "version",
	.summary = "print the version",
	.synopsis = (const char *const[]){"", NULL},
	.description = "Prints the program's name and version on one line.",
	.run = cmd_version_run,
};
