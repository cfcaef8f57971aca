/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon doctor`: its table; the body is cmd_doctor_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

static const struct option doctor_option_rows[] = {
	COMMAND_OPTION_JSON(struct doctor_options, json),
	{0},
};

static int cmd_doctor_run(struct cli *cli)
{
	struct doctor_options options = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	return cmd_doctor_main(cli, &options);
}

const struct verb verb_doctor = {
	.name = "doctor",
	.summary = "say what this machine can enforce, and how to fix what it cannot",
	.synopsis = (const char *const[]){"[--json]", NULL},
	.options = doctor_option_rows,
	.description =
		"Tries each kernel feature and engine that cordon can use instead of inferring it from "
		"version numbers, and prints the remedy beside whatever does not work.",
	.run = cmd_doctor_run,
};
