/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon sandbox`: the tables of its subverbs; the bodies are in sandbox_*.c. */
#include "cli/commands.h"
#include "cli/sandbox.h"

#include "base/limits.h"

#include <string.h>

#define SANDBOX_WORD                                                                               \
	{                                                                                          \
		.name = "ID", .min = 1, .max = 1                                                   \
	}

static const struct option create_rows[] = {
	{0, "name", "NAME", OPTION_INTO_STRING(struct sandbox_create_options, name),
	 .group = "Sandbox", .help = "a name by which it can be called, too"},
	{0, "idle-timeout", "DURATION",
	 OPTION_INTO_DURATION(struct sandbox_create_options, idle_ms), .min = 1, .group = "Sandbox",
	 .help = "end its processes after so long without a call (default: never)"},
	{0, "max-sandboxes", "N", OPTION_INTO_INT(struct sandbox_create_options, max), .min = 1,
	 .max = LIMIT_SANDBOXES, .group = "Sandbox",
	 .help = "refuse when there are so many already"},
	{0},
};

#define EXEC_INTO(kind, member) OPTION_INTO_##kind(struct sandbox_exec_options, run.member)

static const struct option exec_rows[] = {
	{'c', "command", "STRING", EXEC_INTO(STRING, command), .is_empty_ok = true,
	 .help = "run a shell string instead of a command"},
	{'C', "cwd", "DIR", EXEC_INTO(PATH, cwd), .complete = COMPLETE_DIR,
	 .help = "directory inside, from the workspace (default: the workspace)"},
	{'e', "env", "NAME[=VALUE]", EXEC_INTO(LIST, env), .complete = COMPLETE_VARIABLE,
	 .help = "pass a variable on, or set it, for this call"},
	{'t', "timeout", "DURATION", EXEC_INTO(DURATION, timeout_ms), .min = 1,
	 .help = "end the command after this time; exit code 124"},
	{0, "grace", "DURATION", EXEC_INTO(DURATION, grace_ms),
	 .help = "time between SIGTERM and SIGKILL on timeout (default: 2s)"},
	{0, "max-output", "SIZE", EXEC_INTO(SIZE, max_output_bytes),
	 .help = "bytes of output that are passed on"},
	{0, "tool", "NAME", EXEC_INTO(STRING, tool),
	 .help = "name by which policy rules know this call (default: " RUN_TOOL_DEFAULT ")"},
	{0, "agent", "NAME", EXEC_INTO(STRING, agent),
	 .help = "the agent that makes this call, for the thresholds of the policy"},
	{0, "session", "NAME", EXEC_INTO(STRING, session),
	 .help = "the session that this call belongs to (default: the sandbox's id)"},
	{0, "enforce", EXEC_INTO(SET, enforcement), .value = RUN_ENFORCE,
	 .help = "act on verdicts"},
	{0, "dry-run", EXEC_INTO(SET, enforcement), .value = RUN_DRY_RUN,
	 .help = "only record what verdicts would do"},
	{0, "report", "FILE|fd:N", EXEC_INTO(STRING, report), .complete = COMPLETE_FILE,
	 .help = "write the result as JSON"},
	{0, "json", EXEC_INTO(FLAG, json),
	 .help = "write the result to standard output, with the command's output inside"},
	{0},
};

static const struct option list_rows[] = {
	COMMAND_OPTION_JSON(struct sandbox_list_options, json),
	{0},
};

static const struct option logs_rows[] = {
	{'f', "follow", OPTION_INTO_FLAG(struct sandbox_logs_options, follow),
	 .help = "go on with what is added, until interrupted or the sandbox ends"},
	{0},
};

static const struct option rm_rows[] = {
	{0, "force", OPTION_INTO_FLAG(struct sandbox_rm_options, force),
	 .help = "also while calls run in it, and with changes that were not committed"},
	{0},
};

static const struct option diff_rows[] = {
	{'u', "unified", OPTION_INTO_FLAG(struct sandbox_diff_options, unified),
	 .help = "show the changed lines of text files"},
	{0},
};

static const struct option commit_rows[] = {
	{0, "force", OPTION_INTO_FLAG(struct sandbox_commit_options, force),
	 .help = "overwrite what was changed outside since the sandbox was made"},
	{0},
};

static const struct option snapshot_rows[] = {
	{0, "name", "NAME", OPTION_INTO_STRING(struct sandbox_snapshot_options, name),
	 .help = "its name (default: one is made up)"},
	{0},
};

static const struct option restore_rows[] = {
	{0, "dry-run", OPTION_INTO_FLAG(struct sandbox_restore_options, dry_run),
	 .help = "only say what would be done"},
	{0},
};

static const struct option cleanup_rows[] = {
	{0, "max-age", "DURATION", OPTION_INTO_DURATION(struct sandbox_cleanup_options, max_age_ms),
	 .is_required = true, .help = "remove those that were not used for so long"},
	{0},
};

static void create_options_done(struct sandbox_create_options *o)
{
	run_options_done(&o->run);
}

static void exec_options_done(struct sandbox_exec_options *o)
{
	run_options_done(&o->run);
}

/* What belongs to a single call, or what cannot be had between calls. */
static int create_check(const struct run_options *o, struct cordon_error *err)
{
	const struct {
		bool is_given;
		const char *option;
	} rows[] = {
		{o->command != NULL, "-c"},      {o->json, "--json"},
		{o->report != NULL, "--report"}, {o->tool != NULL, "--tool"},
		{o->agent != NULL, "--agent"},   {o->session != NULL, "--session"},
		{o->constrain, "--constrain"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].is_given)
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_INVALID,
						       "option '%s' belongs to a call",
						       rows[i].option),
					   "give it to 'cordon sandbox exec'");
	if (o->workspace && strcmp(o->workspace, "cow") != 0)
		return cordon_fail(err, CORDON_E_INVALID,
				   "option '--workspace': a sandbox that stays is always 'cow'");
	if (o->rollback_on_failure)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "option '--rollback-on-failure' belongs to 'cordon "
					       "run'"),
				   "use 'cordon sandbox rollback'");
	return run_options_check(o, err);
}

static int sandbox_create_run(struct cli *cli)
{
	AUTO(create_options_done) struct sandbox_create_options options = {0};
	struct cordon_error err = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	if (create_check(&options.run, &err) < 0)
		return cli_fail(cli, &err);
	return cmd_sandbox_create_main(cli, &options);
}

static int sandbox_list_run(struct cli *cli)
{
	struct sandbox_list_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_sandbox_list_main(cli, &options) : code;
}

static int sandbox_status_run(struct cli *cli)
{
	struct sandbox_list_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_sandbox_status_main(cli, &options) : code;
}

static int sandbox_exec_run(struct cli *cli)
{
	AUTO(exec_options_done) struct sandbox_exec_options options = {0};
	struct cordon_error err = {0};
	int code = 0;
	size_t skip;

	if (!cli_parse(cli, &options, &code))
		return code;
	skip = cli->n_words > 1 && strcmp(cli->words[1], "--") == 0 ? 2 : 1;
	if (options.run.command && cli->n_words > 1)
		(void)cordon_fail(
			&err, CORDON_E_INVALID,
			"'-c' takes the whole command in one string, but '%.200s' follows",
			cli->words[1]);
	else if (!options.run.command && cli->n_words <= skip)
		(void)cordon_fail(&err, CORDON_E_INVALID, "needs a command or '-c STRING'");
	else if (run_options_check(&options.run, &err) == 0)
		return cmd_sandbox_exec_main(cli, &options);
	return cli_fail(cli, &err);
}

static int sandbox_logs_run(struct cli *cli)
{
	struct sandbox_logs_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_sandbox_logs_main(cli, &options) : code;
}

static int sandbox_pause_run(struct cli *cli)
{
	int code = 0;

	return cli_parse(cli, /* target= */ NULL, &code) ? cmd_sandbox_pause_main(cli) : code;
}

static int sandbox_resume_run(struct cli *cli)
{
	int code = 0;

	return cli_parse(cli, /* target= */ NULL, &code) ? cmd_sandbox_resume_main(cli) : code;
}

static int sandbox_diff_run(struct cli *cli)
{
	struct sandbox_diff_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_sandbox_diff_main(cli, &options) : code;
}

static int sandbox_commit_run(struct cli *cli)
{
	struct sandbox_commit_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_sandbox_commit_main(cli, &options) : code;
}

static int sandbox_discard_run(struct cli *cli)
{
	int code = 0;

	return cli_parse(cli, /* target= */ NULL, &code) ? cmd_sandbox_discard_main(cli) : code;
}

static int sandbox_snapshot_run(struct cli *cli)
{
	struct sandbox_snapshot_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_sandbox_snapshot_main(cli, &options) : code;
}

static int sandbox_restore_run(struct cli *cli)
{
	struct sandbox_restore_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_sandbox_restore_main(cli, &options) : code;
}

static int sandbox_rm_run(struct cli *cli)
{
	struct sandbox_rm_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_sandbox_rm_main(cli, &options) : code;
}

static int sandbox_cleanup_run(struct cli *cli)
{
	struct sandbox_cleanup_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_sandbox_cleanup_main(cli, &options) : code;
}

static const struct verb sandbox_create_verb = {
	.name = "create",
	.summary = "make a sandbox that stays",
	.synopsis = (const char *const[]){"[OPTIONS]", NULL},
	.options = run_option_rows,
	.more_options = create_rows,
	.description =
		"Makes a sandbox of the current directory, or the one of *-C*, and prints its id. It "
		"stays until it is removed, ended for being idle, or the machine stops. The policy and "
		"the environment are those of now, for every later call: files that change afterwards do "
		"not reach into it. Of stored secrets (_sandbox.capabilities.secrets.injection_) those in the "
		"_environment_ are given to each call; files (_file-mount_) are there as long as the "
		"sandbox is, and so is what a placeholder stands for (_host-boundary_): every call "
		"gets the same placeholders. What a call with secrets leaves in the background is not "
		"logged. Ports and sockets of the host (*--publish*, *--allow-port*, *--allow-socket*) are passed on as "
		"long as it lives. With *--ask-hosts* a call in it can be asked, on its terminal; what is "
		"allowed once holds as long as that call, and between calls the answer is no. Options "
		"that belong to one call are refused.\n"
		"\n"
		"It is held by backend _native_, _bwrap_ or _landlock_: the first of them that works here and can hold the "
		"policy, or the one of *-b*. Under _landlock_ the change set is a copy of the workspace, in which calls "
		"work; there is no list of hosts; and what runs inside can end the sandbox (*kill -9 -1*), "
		"as it has no pid namespace.",
	.examples =
		(const struct verb_example[]){
			{"id=$(cordon sandbox create --net deny -m 2G)", "one for this directory"},
			{"cordon sandbox create --name web --idle-timeout 2h", "with a name"},
			{0},
		},
	.run = sandbox_create_run,
};

static const struct verb sandbox_list_verb = {
	.name = "list",
	.summary = "list the sandboxes, newest first",
	.synopsis = (const char *const[]){"[--json]", NULL},
	.options = list_rows,
	.description =
		"A sandbox is _created_ (it is being made), _running_, _paused_, _stopped_ (its "
		"files are there, its processes are gone) or in _error_.",
	.run = sandbox_list_run,
};

static const struct verb sandbox_status_verb = {
	.name = "status",
	.summary = "say how one sandbox is, or all",
	.synopsis = (const char *const[]){"[--json] [ID]", NULL},
	.options = list_rows,
	.words = {.name = "ID", .max = 1},
	.description =
		"Everything that is known of a sandbox: what it is made of, since when, what "
		"holds it, and how many calls are in it.",
	.run = sandbox_status_run,
};

static const struct verb sandbox_exec_verb = {
	.name = "exec",
	.summary = "run a command in a sandbox that is there",
	.synopsis = (const char *const[]){"[OPTIONS] ID [--] CMD [ARG...]",
					  "[OPTIONS] -c STRING ID", NULL},
	.options = exec_rows,
	.words = {.name = "ID",
		  .min = 1,
		  .max = VERB_WORDS_ANY,
		  .complete = COMPLETE_COMMAND,
		  .starts_command = true},
	.description =
		"The call is judged and recorded as by *cordon run*, and runs in the namespaces, limits, "
		"network and environment of the sandbox. A SUSPICIOUS call, when verdicts are enforced, "
		"gets no socket of the network, and a snapshot is taken first (_checkpoint_ in the "
		"report). It runs alone: where the network is open or secrets are granted it is refused "
		"while other processes live in the sandbox, and so is a call of a tainted session that "
		"loses an open network. Both are refused where the sandbox has a writable grant other "
		"than its workspace, a device or a cache; a SUSPICIOUS call also where the policy names "
		"what it may have, as the sandbox cannot be changed for it. Calls belong to the session of the sandbox's id "
		"unless *--session* names another.\n"
		"\n"
		"What the command leaves in the background goes on running; what it prints after the call "
		"is in *cordon sandbox logs*. When the call is interrupted, or its time is over, its own "
		"processes are ended; what made a session of its own (*setsid*) stays.\n"
		"\n"
		"The report tells what was changed while the call ran, also by what runs in the background. "
		"Of what was refused it has what the command's messages say; system calls are not told, "
		"unlike those of *cordon run*.",
	.examples =
		(const struct verb_example[]){
			{"cordon sandbox exec sb-0123456789ab -- make test", "in the sandbox"},
			{"cordon sandbox exec -c 'npm start >/dev/null &' web",
			 "a server that stays"},
			{0},
		},
	.exit_status = "As *cordon run*.",
	.run = sandbox_exec_run,
};

static const struct verb sandbox_logs_verb = {
	.name = "logs",
	.summary = "show what background processes printed",
	.synopsis = (const char *const[]){"[-f] ID", NULL},
	.options = logs_rows,
	.words = SANDBOX_WORD,
	.description =
		"What processes of a sandbox print after the call that started them has ended. "
		"At most 4 MiB are kept; the oldest goes first. Control characters are made "
		"visible on a terminal.",
	.run = sandbox_logs_run,
};

static const struct verb sandbox_pause_verb = {
	.name = "pause",
	.summary = "stop every process of a sandbox",
	.synopsis = (const char *const[]){"ID", NULL},
	.words = SANDBOX_WORD,
	.description =
		"Stops all processes at one moment; they use no processor until *resume*, and "
		"calls are refused. A paused sandbox is not ended for being idle. Where there is no control "
		"group to freeze it is done by signals, which a timer inside can undo: *status* tells which, "
		"and never says _paused_ of processes that go on.",
	.run = sandbox_pause_run,
};

static const struct verb sandbox_resume_verb = {
	.name = "resume",
	.summary = "let a paused sandbox go on, or start a stopped one again",
	.synopsis = (const char *const[]){"ID", NULL},
	.words = SANDBOX_WORD,
	.description =
		"A sandbox whose processes are gone (it was idle, its keeper was killed, the "
		"machine was started anew) is started again over the same files, and that is "
		"said.",
	.run = sandbox_resume_run,
};

static const struct verb sandbox_diff_verb = {
	.name = "diff",
	.summary = "show what a sandbox changed",
	.synopsis = (const char *const[]){"[-u] ID", NULL},
	.options = diff_rows,
	.words = SANDBOX_WORD,
	.description =
		"Prints sorted lines _added: PATH_, _modified: PATH_, _deleted: PATH_. It costs "
		"what was changed, not what is there. Also for change sets that *cordon run "
		"--workspace cow* kept, as *commit*, *discard* and *rm*.",
	.run = sandbox_diff_run,
};

static const struct verb sandbox_commit_verb = {
	.name = "commit",
	.summary = "write a sandbox's changes to the workspace",
	.synopsis = (const char *const[]){"[--force] ID [PATH...]", NULL},
	.options = commit_rows,
	.words = {.name = "ID", .min = 1, .max = VERB_WORDS_ANY},
	.description =
		"All changes, or those at and below the given paths of the workspace. Each file changes in "
		"one step. Paths that were changed outside since the sandbox was made are conflicts: "
		"nothing is written then, unless *--force* is given. Protected paths are left out, and said.",
	.run = sandbox_commit_run,
};

static const struct verb sandbox_discard_verb = {
	.name = "discard",
	.summary = "forget what a sandbox changed",
	.synopsis = (const char *const[]){"ID", NULL},
	.words = SANDBOX_WORD,
	.description =
		"The sandbox is as new. If it runs, its processes are ended for that and it is "
		"started again.",
	.run = sandbox_discard_run,
};

static const struct verb sandbox_snapshot_verb = {
	.name = "snapshot",
	.summary = "save what a sandbox changed so far",
	.synopsis = (const char *const[]){"[--name NAME] ID", NULL},
	.options = snapshot_rows,
	.words = SANDBOX_WORD,
	.description =
		"Prints the snapshot's name. It holds the sandbox's changes, not the workspace, and "
		"goes with the sandbox. *cordon sandbox status* lists them.",
	.run = sandbox_snapshot_run,
};

static const struct verb sandbox_restore_verb = {
	.name = "restore",
	.summary = "give a sandbox back the changes of a snapshot",
	.synopsis = (const char *const[]){"[--dry-run] ID SNAPSHOT", NULL},
	.options = restore_rows,
	.words = {.name = "ID", .min = 2, .max = 2},
	.description =
		"The workspace itself is not touched. If the sandbox runs, its processes are ended "
		"for that and it is started again.",
	.run = sandbox_restore_run,
};

static const struct verb sandbox_rollback_verb = {
	.name = "rollback",
	.summary = "go back to the last snapshot of a sandbox",
	.synopsis = (const char *const[]){"[--dry-run] ID", NULL},
	.options = restore_rows,
	.words = SANDBOX_WORD,
	.description = "As *restore*, with the newest snapshot.",
	.run = sandbox_restore_run,
};

static const struct verb sandbox_rm_verb = {
	.name = "rm",
	.summary = "end sandboxes and remove them",
	.synopsis = (const char *const[]){"[--force] ID...", NULL},
	.options = rm_rows,
	.words = {.name = "ID", .min = 1, .max = VERB_WORDS_ANY},
	.description =
		"Every process of the sandbox is killed, and its changes, snapshots and log are removed. "
		"With changes that were not committed, or calls in it, only with *--force*.",
	.run = sandbox_rm_run,
};

static const struct verb sandbox_cleanup_verb = {
	.name = "cleanup",
	.summary = "remove sandboxes that nobody uses",
	.synopsis = (const char *const[]){"--max-age DURATION", NULL},
	.options = cleanup_rows,
	.description =
		"Removes every sandbox that was not used for the given time and in which no call "
		"runs, changes and snapshots included, and prints their ids.",
	.run = sandbox_cleanup_run,
};

const struct verb verb_sandbox = {
	.name = "sandbox",
	.summary = "sandboxes that stay between calls",
	.synopsis = (const char *const[]){"VERB [OPTIONS] [ARG...]", NULL},
	.subverbs =
		(const struct verb *const[]){
			&sandbox_create_verb, &sandbox_list_verb, &sandbox_status_verb,
			&sandbox_exec_verb, &sandbox_logs_verb, &sandbox_pause_verb,
			&sandbox_resume_verb, &sandbox_snapshot_verb, &sandbox_restore_verb,
			&sandbox_diff_verb, &sandbox_commit_verb, &sandbox_discard_verb,
			&sandbox_rollback_verb, &sandbox_rm_verb, &sandbox_cleanup_verb, NULL},
	.description =
		"*cordon run* makes a sandbox for one call. These verbs make one that stays: calls enter it "
		"in a few milliseconds, servers go on running between them, and all of it can be paused. What "
		"they write to the workspace is kept apart until somebody commits it. "
		"_ID_ is the id that *create* printed, the beginning of one, or a name.\n"
		"\n"
		"A small process of cordon's, the keeper, lives as long as the sandbox. When it is killed "
		"the sandbox's processes die with it.",
};
