/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy`: the tables of its subverbs; the bodies are cmd_policy_*_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

static const struct option policy_validate_rows[] = {
	COMMAND_OPTION_DIR(struct policy_options, cwd),
	{0},
};

static const struct option policy_effective_rows[] = {
	COMMAND_OPTION_POLICY(struct policy_options, policies, NULL),
	COMMAND_OPTION_DIR(struct policy_options, cwd),
	COMMAND_OPTION_JSON(struct policy_options, json),
	{0},
};

void policy_options_done(struct policy_options *o)
{
	if (o)
		strv_done(&o->policies);
}

/* Parses, then runs the body. */
static int policy_with_options(struct cli *cli,
			       int (*body)(struct cli *cli, const struct policy_options *options))
{
	AUTO(policy_options_done) struct policy_options options = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	return body(cli, &options);
}

static int policy_validate_run(struct cli *cli)
{
	return policy_with_options(cli, cmd_policy_validate_main);
}

static int policy_show_run(struct cli *cli)
{
	return policy_with_options(cli, cmd_policy_show_main);
}

static int policy_explain_run(struct cli *cli)
{
	return policy_with_options(cli, cmd_policy_explain_main);
}

static int policy_schema_run(struct cli *cli)
{
	int code = 0;

	return cli_parse(cli, /* target= */ NULL, &code) ? cmd_policy_schema_main(cli) : code;
}

static const struct verb policy_validate = {
	.name = "validate",
	.summary = "check policy files and say what is wrong with them",
	.synopsis = (const char *const[]){"[-C DIR] FILE...", NULL},
	.options = policy_validate_rows,
	.words = {.name = "FILE", .min = 1, .max = VERB_WORDS_ANY, .complete = COMPLETE_FILE},
	.description =
		"Reads each file as a CKP manifest, a CloneGuard policy or a cordon.yaml, told apart by "
		"their content. An error is one line with file, line and column, and a hint.",
	.exit_status = "*0*\n\tevery file is valid\n\n*125*\n\tat least one is not",
	.run = policy_validate_run,
};

static const struct verb policy_show = {
	.name = "show",
	.summary = "print the effective policy",
	.synopsis = (const char *const[]){"[-p FILE]... [-C DIR] [--json]", NULL},
	.options = policy_effective_rows,
	.description = "Prints the policy that a call in the directory would run under, all layers "
		       "merged.",
	.run = policy_show_run,
};

static const struct verb policy_explain = {
	.name = "explain",
	.summary = "print where each effective value was set",
	.synopsis = (const char *const[]){"[-p FILE]... [-C DIR] [--json]", NULL},
	.options = policy_effective_rows,
	.description =
		"Prints each value of the effective policy with the layer, file and line that set "
		"it.",
	.run = policy_explain_run,
};

static const struct verb policy_schema = {
	.name = "schema",
	.summary = "print the JSON Schema of cordon.yaml",
	.synopsis = (const char *const[]){"", NULL},
	.description =
		"Prints a JSON Schema, made from the table that the parser uses, for editors "
		"and for other programs.",
	.run = policy_schema_run,
};

static const struct verb *const policy_subverbs[] = {
	&policy_validate, &policy_show, &policy_explain, &policy_schema, NULL,
};

const struct verb verb_policy = {
	.name = "policy",
	.summary = "check, show and explain policies",
	.synopsis = (const char *const[]){"validate|show|explain|schema [OPTIONS]", NULL},
	.subverbs = policy_subverbs,
	.description = "Works on policy files and on the effective policy of a directory without "
		       "running anything.",
	.examples =
		(const struct verb_example[]){
			{"cordon policy validate .cordon.yaml", "check the project's file"},
			{"cordon policy explain -p strict.yaml", "which layer set which value"},
			{0},
		},
};
