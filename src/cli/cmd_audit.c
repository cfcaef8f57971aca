/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon audit`: the tables of its subverbs; the bodies are cmd_audit_*_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

static const struct option audit_tail_rows[] = {
	{'n', "lines", "N", OPTION_INTO_INT(struct audit_tail_options, lines), .max = 1000000,
	 .help = "how many of the last records (default: 10)"},
	{'f', "follow", OPTION_INTO_FLAG(struct audit_tail_options, follow),
	 .help = "go on with new records as they are written"},
	{0},
};

static const struct option audit_show_rows[] = {
	{0, "type", "TYPE", OPTION_INTO_STRING(struct audit_show_options, type),
	 .help = "only events of this type, or of all that begin so when it ends in a dot"},
	{0, "since", "TIME", OPTION_INTO_STRING(struct audit_show_options, since),
	 .help = "only events since then: a duration back (2h) or an RFC 3339 time"},
	{0, "call", "ID", OPTION_INTO_STRING(struct audit_show_options, call),
	 .help = "only events of this call"},
	COMMAND_OPTION_JSON(struct audit_show_options, json),
	{0},
};

static const struct option audit_export_rows[] = {
	{0, "format", "FORMAT", OPTION_INTO_ENUM(struct audit_export_options, format),
	 .names = (const char *const[]){"sarif", "ocsf", NULL}, .is_required = true,
	 .help = "what to write"},
	{'o', "output", "FILE", OPTION_INTO_PATH(struct audit_export_options, output),
	 .complete = COMPLETE_FILE, .help = "where to write it (default: standard output)"},
	{0},
};

static int audit_tail_run(struct cli *cli)
{
	struct audit_tail_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_audit_tail_main(cli, &options) : code;
}

static int audit_show_run(struct cli *cli)
{
	struct audit_show_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_audit_show_main(cli, &options) : code;
}

static int audit_verify_run(struct cli *cli)
{
	int code = 0;

	return cli_parse(cli, /* target= */ NULL, &code) ? cmd_audit_verify_main(cli) : code;
}

static int audit_export_run(struct cli *cli)
{
	struct audit_export_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_audit_export_main(cli, &options) : code;
}

static const struct verb audit_tail = {
	.name = "tail",
	.summary = "print the last records",
	.synopsis = (const char *const[]){"[-n N] [-f]", NULL},
	.options = audit_tail_rows,
	.description =
		"Prints the last records, one line each: time, type, decision, verdict, exit code, "
		"backend, id of the call, and what decided. With *-f* it goes on until it is "
		"interrupted or nobody reads its output, over rotations of the file too.",
	.run = audit_tail_run,
};

static const struct verb audit_show = {
	.name = "show",
	.summary = "print records for people, filtered",
	.synopsis =
		(const char *const[]){"[--type TYPE] [--since TIME] [--call ID] [--json]", NULL},
	.options = audit_show_rows,
	.description =
		"Prints one line per record, as *tail* does; several filters must all hold. With "
		"*--json* the records come as they are in the file, one JSON object per line.",
	.run = audit_show_run,
};

static const struct verb audit_verify = {
	.name = "verify",
	.summary = "check the hash chain",
	.synopsis = (const char *const[]){"", NULL},
	.description =
		"Recomputes the chain over all files of the log and names the first record that does "
		"not fit. An unfinished write at the end, as a killed process leaves it, is told and "
		"no damage: the next record repairs it. Records cut off the very end cannot be seen "
		"from the log alone: compare the head with one that was noted elsewhere.",
	.exit_status = "*0*\n\tthe chain holds\n\n*125*\n\tit does not, or cannot be read",
	.run = audit_verify_run,
};

static const struct verb audit_export = {
	.name = "export",
	.summary = "write the log in another format",
	.synopsis = (const char *const[]){"--format sarif|ocsf [-o FILE]", NULL},
	.options = audit_export_rows,
	.description =
		"Writes findings and refusals as one SARIF 2.1.0 document, or every event as OCSF "
		"1.1, one JSON object per line. A file appears under its name when it is complete, "
		"readable by its owner only; damage in the log is an error.",
	.run = audit_export_run,
};

static const struct verb *const audit_subverbs[] = {
	&audit_tail, &audit_show, &audit_verify, &audit_export, NULL,
};

const struct verb verb_audit = {
	.name = "audit",
	.summary = "read, check and export the audit log",
	.synopsis = (const char *const[]){"tail|show|verify|export [OPTIONS]", NULL},
	.subverbs = audit_subverbs,
	.description =
		"The log is a file of JSON lines to which records are only appended, each one "
		"chained to the one before by its hash. Inputs are recorded as hashes unless "
		"the policy asks for more, and secrets never.",
	.examples =
		(const struct verb_example[]){
			{"cordon audit show --since 2h", "what happened lately"},
			{"cordon audit verify", "whether somebody changed the log"},
			{0},
		},
};
