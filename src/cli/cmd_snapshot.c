/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon snapshot`: the tables of its subverbs; the bodies are cmd_snapshot_*_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

static const struct option snapshot_list_rows[] = {
	COMMAND_OPTION_JSON(struct snapshot_list_options, json),
	{0},
};

static const struct option snapshot_restore_rows[] = {
	{'n', "dry-run", OPTION_INTO_FLAG(struct snapshot_restore_options, is_dry_run),
	 .help = "only print what would be changed"},
	{0, "to", "DIR", OPTION_INTO_PATH(struct snapshot_restore_options, target),
	 .complete = COMPLETE_DIR,
	 .help = "into this directory instead of the one that was saved; needed for what was "
		 "imported"},
	{0, "remove", "PATH", OPTION_INTO_LIST(struct snapshot_restore_options, removed),
	 .complete = COMPLETE_FILE,
	 .help = "remove this path, which is not in the snapshot; a directory only if it is empty "
		 "then"},
	{0},
};

static const struct option snapshot_import_rows[] = {
	{0, "name", "NAME", OPTION_INTO_STRING(struct snapshot_import_options, name),
	 .help = "keep it under this name instead of its own"},
	{0},
};

static int snapshot_list_run(struct cli *cli)
{
	struct snapshot_list_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_snapshot_list_main(cli, &options) : code;
}

static int snapshot_verify_run(struct cli *cli)
{
	int code = 0;

	return cli_parse(cli, /* target= */ NULL, &code) ? cmd_snapshot_verify_main(cli) : code;
}

static void snapshot_restore_options_done(struct snapshot_restore_options *o)
{
	strv_done(&o->removed);
}

static int snapshot_restore_run(struct cli *cli)
{
	AUTO(snapshot_restore_options_done) struct snapshot_restore_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_snapshot_restore_main(cli, &options) : code;
}

static int snapshot_export_run(struct cli *cli)
{
	int code = 0;

	return cli_parse(cli, /* target= */ NULL, &code) ? cmd_snapshot_export_main(cli) : code;
}

static int snapshot_import_run(struct cli *cli)
{
	struct snapshot_import_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_snapshot_import_main(cli, &options) : code;
}

static int snapshot_rm_run(struct cli *cli)
{
	int code = 0;

	return cli_parse(cli, /* target= */ NULL, &code) ? cmd_snapshot_rm_main(cli) : code;
}

static const struct verb snapshot_list_verb = {
	.name = "list",
	.summary = "list the snapshots of the store",
	.synopsis = (const char *const[]){"[--json]", NULL},
	.options = snapshot_list_rows,
	.description =
		"The newest first. _checkpoint_ made those that were saved before a SUSPICIOUS "
		"call.",
	.run = snapshot_list_run,
};

static const struct verb snapshot_verify_verb = {
	.name = "verify",
	.summary = "read all that a snapshot needs",
	.synopsis = (const char *const[]){"[NAME]", NULL},
	.words = {.name = "NAME", .max = 1},
	.description =
		"Without a name, of all snapshots. Every problem is a line, and the exit status 125. What is "
		"damaged is set aside in _snapshots/damaged_ of the state directory: the next snapshot "
		"with the same content writes it anew.",
	.run = snapshot_verify_run,
};

static const struct verb_example snapshot_restore_examples[] = {
	{"cordon snapshot restore --dry-run NAME", "what would be changed"},
	{"cordon snapshot restore --to /tmp/look NAME", "look at it beside what is there"},
	{NULL, NULL},
};

static const struct verb snapshot_restore_verb = {
	.name = "restore",
	.summary = "give files back what a snapshot has of them",
	.synopsis = (const char *const[]){"[OPTIONS] NAME", NULL},
	.options = snapshot_restore_rows,
	.words = {.name = "NAME", .min = 1, .max = 1},
	.description =
		"Prints a line for each path that was changed. What equals the snapshot is not touched, and "
		"what is not in it stays, but for the paths of *--remove*. Either everything that is "
		"needed is there, or nothing is changed; when it is interrupted the next command "
		"finishes it.\n"
		"\n"
		"The snapshots of a sandbox are restored by *cordon sandbox restore*.",
	.examples = snapshot_restore_examples,
	.run = snapshot_restore_run,
};

static const struct verb snapshot_export_verb = {
	.name = "export",
	.summary = "write a snapshot as one file",
	.synopsis = (const char *const[]){"NAME FILE|-", NULL},
	.words = {.name = "NAME FILE", .min = 2, .max = 2},
	.description = "The file is new, and only its owner can read it.",
	.run = snapshot_export_run,
};

static const struct verb snapshot_import_verb = {
	.name = "import",
	.summary = "read a snapshot from a file",
	.synopsis = (const char *const[]){"[--name NAME] FILE|-", NULL},
	.options = snapshot_import_rows,
	.words = {.name = "FILE", .min = 1, .max = 1, .complete = COMPLETE_FILE},
	.description =
		"Anybody may have written the file: it is checked as a whole before anything of it is in "
		"the store, and restored without owners, set-user-id bits and privileged attributes, only "
		"to a directory that is named. Prints its name.",
	.run = snapshot_import_run,
};

static const struct verb snapshot_rm_verb = {
	.name = "rm",
	.summary = "forget snapshots",
	.synopsis = (const char *const[]){"NAME...", NULL},
	.words = {.name = "NAME", .min = 1, .max = VERB_WORDS_ANY},
	.description = "What no other snapshot needs is removed.",
	.run = snapshot_rm_run,
};

const struct verb verb_snapshot = {
	.name = "snapshot",
	.summary = "saved states of files",
	.synopsis = (const char *const[]){"list|verify|restore|export|import|rm [ARG...]", NULL},
	.subverbs = (const struct verb *const[]){&snapshot_list_verb, &snapshot_verify_verb,
						 &snapshot_restore_verb, &snapshot_export_verb,
						 &snapshot_import_verb, &snapshot_rm_verb, NULL},
	.description =
		"Snapshots are made before a SUSPICIOUS call that is enforced (_checkpoint_ in its report), "
		"by *cordon sandbox snapshot*, and by programs that use the library. They are kept in "
		"_snapshots_ in the state directory; what files hold is kept once, however many "
		"snapshots have it.",
};
