/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon hook`: the tables of its subverbs; the bodies are cmd_hook_*_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

#include "hook/dialect.h"

static const struct option hook_agent_rows[] = {
	{0, "deadline", "DURATION", OPTION_INTO_DURATION(struct hook_agent_options, deadline),
	 .min = 1, .max = 600000,
	 .help = "deny when there is no answer by then (default: 5s); shorter than the agent's"},
	{0, "always-reply", OPTION_INTO_FLAG(struct hook_agent_options, always_reply),
	 .help = "answer {} where there is nothing to say"},
	COMMAND_OPTION_POLICY(struct hook_agent_options, policies, NULL),
	{0},
};

#define HOOK_OPTION_PROJECT                                                                         \
	{                                                                                           \
		0, "project", OPTION_INTO_FLAG(struct hook_install_options, project),               \
			.help = "the settings of the project in the current directory, instead of " \
				"the user's"                                                        \
	}
#define HOOK_OPTION_SETTINGS                                                                       \
	{                                                                                          \
		0, "settings", "FILE", OPTION_INTO_PATH(struct hook_install_options, settings),    \
			.complete = COMPLETE_FILE, .help = "this file instead of the usual one"    \
	}

static const struct option hook_install_rows[] = {
	HOOK_OPTION_PROJECT,
	HOOK_OPTION_SETTINGS,
	COMMAND_OPTION_POLICY(struct hook_install_options, policies, NULL),
	{0},
};

static const struct option hook_place_rows[] = {
	HOOK_OPTION_PROJECT,
	HOOK_OPTION_SETTINGS,
	{0},
};

static const char *const hook_names[] = {
#define HOOK_NAME(id, name) name,
	HOOK_DIALECTS(HOOK_NAME)
#undef HOOK_NAME
		NULL,
};

static void hook_agent_options_done(struct hook_agent_options *o)
{
	strv_done(&o->policies);
}

static void hook_install_options_done(struct hook_install_options *o)
{
	strv_done(&o->policies);
}

static int hook_agent_run(struct cli *cli)
{
	AUTO(hook_agent_options_done) struct hook_agent_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_hook_agent_main(cli, &options) : code;
}

static int hook_with(struct cli *cli,
		     int (*body)(struct cli *cli, const struct hook_install_options *options))
{
	AUTO(hook_install_options_done) struct hook_install_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? body(cli, &options) : code;
}

static int hook_install_run(struct cli *cli)
{
	return hook_with(cli, cmd_hook_install_main);
}

static int hook_uninstall_run(struct cli *cli)
{
	return hook_with(cli, cmd_hook_uninstall_main);
}

static int hook_test_run(struct cli *cli)
{
	return hook_with(cli, cmd_hook_test_main);
}

#define HOOK_EXITS                                                                                 \
	"*0*\n\tthe call goes on: nothing was said, or standard output says how\n\n"               \
	"*2*\n\tthe call is denied; the reason is on standard error. Also for wrong options: an "  \
	"agent lets a call go on after any other code"

/* An agent's name is a verb, so that its options can be given behind it. */
#define HOOK_AGENT(id_, name_, title)                                                              \
	static const struct verb hook_##id_ = {                                                    \
		.name = name_,                                                                     \
		.summary = "answer a hook of " title,                                              \
		.synopsis = (const char *const[]){"[OPTIONS]", NULL},                              \
		.options = hook_agent_rows,                                                        \
		.description = "Reads one question of " title " as JSON on standard input and "    \
			       "answers in its dialect. See *cordon-hook*(1).",                    \
		.exit_status = HOOK_EXITS,                                                         \
		.run = hook_agent_run,                                                             \
		.exit_failed = 2,                                                                  \
	}

HOOK_AGENT(claude_code, "claude-code", "Claude Code");
HOOK_AGENT(codex, "codex", "Codex");
HOOK_AGENT(gemini, "gemini", "Gemini CLI");
HOOK_AGENT(cursor, "cursor", "Cursor");

static const struct verb hook_install = {
	.name = "install",
	.summary = "put the hook into an agent's settings",
	.synopsis = (const char *const[]){"AGENT [--project] [-p FILE]...", NULL},
	.options = hook_install_rows,
	.words = {"AGENT", 1, 1, .names = hook_names},
	.description =
		"Adds entries for this program to the agent's settings and leaves everything else in "
		"the file as it is, byte for byte. The file before is kept beside it with "
		"*.cordon-backup* behind its name, and a number from the second time on. A file that is not valid JSON is not touched, and a "
		"link that leads out of the home directory (or the project) is not followed. Where "
		"the entries are there already nothing is changed. Settings that turn all hooks off "
		"(*disableAllHooks* of Claude Code) are named on standard error.",
	.examples =
		(const struct verb_example[]){
			{"cordon hook install claude-code", "for every project of this user"},
			{"cordon hook install cursor --project", "for this project"},
			{0},
		},
	.run = hook_install_run,
};

static const struct verb hook_uninstall = {
	.name = "uninstall",
	.summary = "take the hook out of an agent's settings",
	.synopsis = (const char *const[]){"AGENT [--project]", NULL},
	.options = hook_place_rows,
	.words = {"AGENT", 1, 1, .names = hook_names},
	.description = "Takes every entry of ours out of the agent's settings, and lists that are "
		       "empty then. Everything else stays as it is.",
	.run = hook_uninstall_run,
};

static const struct verb hook_test = {
	.name = "test",
	.summary = "try the hook that is installed",
	.synopsis = (const char *const[]){"AGENT [--project]", NULL},
	.options = hook_place_rows,
	.words = {"AGENT", 1, 1, .names = hook_names},
	.description =
		"Runs the command lines in the agent's settings as the agent would, with a call that is "
		"safe, one that a policy of the test's own forbids, and a question that is no JSON, and "
		"prints what became of each. Settings that turn all hooks off are a failure.",
	.exit_status =
		"*0*\n\tevery answer was right\n\n*125*\n\tone was not, or nothing is installed",
	.run = hook_test_run,
};

const struct verb verb_hook = {
	.name = "hook",
	.summary = "answer the hooks of coding agents",
	.synopsis = (const char *const[]){"claude-code|codex|gemini|cursor [OPTIONS]",
					  "install|uninstall|test AGENT [OPTIONS]", NULL},
	.subverbs =
		(const struct verb *const[]){
			&hook_claude_code,
			&hook_codex,
			&hook_gemini,
			&hook_cursor,
			&hook_install,
			&hook_uninstall,
			&hook_test,
			NULL,
		},
	.description =
		"An agent asks its hook before it runs a tool, and tells it what the tool returned. "
		"Commands, paths, addresses and texts in a call are judged as *cordon check* and *cordon "
		"why* would.\n"
		"\n"
		"A call that the policy itself forbids, and a MALICIOUS one, is denied. A SUSPICIOUS "
		"command is rewritten into *cordon run --constrain*, so that it runs where it can do no "
		"harm, and the agent asks a person about that, where it can ask (*enforcement.constrain*). "
		"Secrets are taken out of what tools return, and text that speaks to the agent is marked "
		"or withheld. Without a policy that enforces, what detectors conclude is only recorded.\n"
		"\n"
		"Agents let a call go on when their hook fails. So the work is done in a process of its "
		"own: when that crashes, gives no answer in time or one that is none, the call is denied. "
		"After a tool ran its output is withheld then, as far as the agent lets a hook do so: Claude "
		"Code and, for MCP tools, Cursor replace it; Codex and Gemini CLI show the reason instead; for "
		"Cursor's other tools there is only a warning beside it. An input of which not even the "
		"event can be read is answered with exit code 2, which leaves an output where it is. "
		"What a hook cannot close: that the program is missing or not executable, that the agent "
		"kills it or does not run it (Claude Code puts files that are mentioned as *@file* before "
		"the model without asking), and what the agent does without a tool. The sandbox is the "
		"boundary; a hook only decides what goes into it. Cursor alone can be told to refuse when "
		"the hook is missing, and *install* does so.",
	.exit_status = HOOK_EXITS,
	.exit_failed = 2,
};
