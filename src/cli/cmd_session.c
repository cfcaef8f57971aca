/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon session`: the tables of its subverbs; the bodies are cmd_session_*_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

static const struct option session_rows[] = {
	COMMAND_OPTION_JSON(struct session_options, json),
	{0},
};

static int session_list_run(struct cli *cli)
{
	struct session_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_session_list_main(cli, &options) : code;
}

static int session_show_run(struct cli *cli)
{
	struct session_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_session_show_main(cli, &options) : code;
}

static int session_lift_run(struct cli *cli)
{
	int code = 0;

	return cli_parse(cli, /* target= */ NULL, &code) ? cmd_session_lift_main(cli) : code;
}

static int session_approvals_run(struct cli *cli)
{
	struct session_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_session_approvals_main(cli, &options) : code;
}

static int session_revoke_run(struct cli *cli)
{
	struct session_revoke_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_session_revoke_main(cli, &options) : code;
}

static const struct option session_revoke_rows[] = {
	{0, "session", "ID", OPTION_INTO_STRING(struct session_revoke_options, session),
	 .help = "only what was allowed for this session"},
	{0, "project", "DIR", OPTION_INTO_PATH(struct session_revoke_options, project),
	 .complete = COMPLETE_DIR,
	 .help = "only what was allowed for the project in this directory"},
	{0, "all", OPTION_INTO_FLAG(struct session_revoke_options, all),
	 .help = "every host, instead of those that are named"},
	{0},
};

static const struct verb session_list = {
	.name = "list",
	.summary = "list the sessions that are remembered",
	.synopsis = (const char *const[]){"[--json]", NULL},
	.options = session_rows,
	.description =
		"Prints each session with the time of its last call, how many calls it made, and "
		"what tainted it.",
	.run = session_list_run,
};

static const struct verb session_show = {
	.name = "show",
	.summary = "say what is remembered of one session",
	.synopsis = (const char *const[]){"[--json] SESSION", NULL},
	.options = session_rows,
	.words = {.name = "SESSION", .min = 1, .max = 1},
	.description =
		"Prints the last calls of a session with what is known of them: *claimed* by the "
		"words of the call, or *seen* by the kernel while it ran in a sandbox.",
	.run = session_show_run,
};

static const struct verb session_lift = {
	.name = "lift",
	.summary = "forget that a session read a file with secrets",
	.synopsis = (const char *const[]){"SESSION", NULL},
	.words = {.name = "SESSION", .min = 1, .max = 1},
	.description =
		"Asks the person at the terminal, and on _y_ gives the session back the network that the "
		"policy gives it. Without a terminal nobody can answer and nothing is lifted: an agent "
		"cannot do this for itself.",
	.run = session_lift_run,
};

static const struct verb session_approvals = {
	.name = "approvals",
	.summary = "list hosts that a person allowed",
	.synopsis = (const char *const[]){"[--json]", NULL},
	.options = session_rows,
	.description =
		"Prints each host that was allowed at a terminal (*cordon run --ask-hosts*) for a "
		"session or a project and still is, with the time until when and who allowed it.",
	.run = session_approvals_run,
};

static const struct verb_example session_revoke_examples[] = {
	{"cordon session revoke api.example.org", "whoever it was allowed for"},
	{"cordon session revoke --project . --all", "every host of this project"},
	{NULL, NULL},
};

static const struct verb session_revoke = {
	.name = "revoke",
	.summary = "take back that hosts were allowed",
	.synopsis = (const char *const[]){"[--session ID] [--project DIR] HOST...|--all", NULL},
	.options = session_revoke_rows,
	.words = {.name = "HOST", .complete = COMPLETE_HOST, .min = 0, .max = VERB_WORDS_ANY},
	.description =
		"*HOST* is written as *cordon session approvals* prints it. Calls that run keep what they "
		"have; the next one asks again. Each host is written to the audit trail. A host that was "
		"not allowed is an error, and then nothing of it is taken back.",
	.examples = session_revoke_examples,
	.run = session_revoke_run,
};

const struct verb verb_session = {
	.name = "session",
	.summary = "what is remembered of sessions: calls, taint, hosts",
	.synopsis = (const char *const[]){"list|show|lift|approvals|revoke [ARG]", NULL},
	.subverbs = (const struct verb *const[]){&session_list, &session_show, &session_lift,
						 &session_approvals, &session_revoke, NULL},
	.description =
		"Calls that name a session (*cordon run --session*, agent hooks) are remembered in "
		"_state.db_ in the state directory, so that what is harmless one by one is seen in a "
		"row: a file with secrets is read, then something is sent. A session that opened such a "
		"file is tainted: it keeps the hosts of an allowlist and loses any other network until a "
		"person lifts that (*policy.taint.action* says otherwise).",
};
