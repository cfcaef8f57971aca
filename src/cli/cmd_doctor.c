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
		"version numbers, each in a child of its own with a deadline, and prints the fix for "
		"whatever does not work. Then it looks at the state directory, the end of the audit "
		"log and the policy files. Nothing is left behind.",
	.exit_status = "*0*\n\twhatever was found\n\n*125*\n\tthe doctor itself failed",
	.run = cmd_doctor_run,
};
