/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon shell`: a call like any other whose command is the caller's shell. */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/env.h"
#include "base/path.h"
#include "workspace/system.h"

#include <string.h>
#include <unistd.h>

#define SHELL_WORDS_MAX 4

/*
 * Shells that can be asked for, and how their prompt says where they are.  Start-up files are left out where
 * they would set another prompt; those in home are not there anyway.  The first row stands for all others.
 */
static const struct shell_row {
	const char *name;
	const char *args[SHELL_WORDS_MAX - 1];
	const char *prompt; /* PS1; NULL: the arguments set it */
} shell_rows[] = {
	{"sh", {NULL}, "(cordon) $PWD $ "},
	{"bash", {"--norc", "--noprofile", NULL}, "(cordon) \\w\\$ "},
	{"dash", {NULL}, "(cordon) $PWD $ "},
	{"zsh", {"-f", NULL}, "(cordon) %~ %# "},
	{"ksh", {NULL}, "(cordon) $PWD $ "},
	{"mksh", {NULL}, "(cordon) $PWD $ "},
	{"fish",
	 {"--no-config",
	  "--init-command=function fish_prompt; echo '(cordon) '(prompt_pwd)'> '; end", NULL},
	 NULL},
};

#define SHELL_FALLBACK "/bin/sh"

/* Is the program in a directory of the system, which every sandbox shows? */
static bool cmd_shell_is_visible(const char *path)
{
	AUTO_FREE char *real = NULL;

	if (path[0] != '/' || path_resolve(path, &real) < 0 || access(real, X_OK) < 0)
		return false;
	for (size_t i = 0; i < SYSTEM_DIRS; i++)
		if (path_is_within(real, system_dirs[i]))
			return true;
	return false;
}

/* $SHELL if it is a shell that we know and the call can see, else /bin/sh. */
static const struct shell_row *cmd_shell_pick(const char **ret_path)
{
	const char *path = env_get("SHELL");

	*ret_path = SHELL_FALLBACK;
	if (!path || !cmd_shell_is_visible(path))
		return &shell_rows[0];
	for (size_t i = 0; i < ARRAY_LEN(shell_rows); i++)
		if (strcmp(path_base(path), shell_rows[i].name) == 0) {
			*ret_path = path;
			return &shell_rows[i];
		}
	return &shell_rows[0];
}

static int cmd_shell_check(const struct run_options *o, struct cordon_error *err)
{
	if (o->command)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_INVALID,
				    "option '-c': a shell takes its commands from its input"),
			"use 'cordon run -c STRING'");
	if (o->json)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_INVALID,
				    "option '--json': the output of a shell is not kept"),
			"use '--report FILE'");
	return run_options_check(o, err);
}

/* The prompt, unless the caller sets one. */
static int cmd_shell_prompt(struct run_options *o, const struct shell_row *row)
{
	for (size_t i = 0; i < o->env.n; i++)
		if (strcmp(o->env.v[i], "PS1") == 0 || strncmp(o->env.v[i], "PS1=", 4) == 0)
			return 0;
	return row->prompt ? strv_addf(&o->env, "PS1=%s", row->prompt) : 0;
}

static int cmd_shell_run(struct cli *cli)
{
	AUTO(run_options_done) struct run_options options = {0};
	AUTO(strv_done) struct strv words = {0};
	struct cordon_error err = {0};
	const struct shell_row *row;
	const char *path;
	int code = 0;
	int r;

	if (!cli_parse(cli, &options, &code))
		return code;
	if (cmd_shell_check(&options, &err) < 0)
		return cli_fail(cli, &err);
	row = cmd_shell_pick(&path);
	r = strv_add(&words, path);
	for (size_t i = 0; r == 0 && row->args[i]; i++)
		r = strv_add(&words, row->args[i]);
	if (r == 0)
		r = cmd_shell_prompt(&options, row);
	if (r < 0)
		return cli_fail(cli, (cordon_nomem(&err), &err));
	cli->words = words.v;
	cli->n_words = words.n;
	return cmd_run_main(cli, &options);
}

const struct verb verb_shell = {
	.name = "shell",
	.summary = "an interactive shell in a sandbox",
	.synopsis = (const char *const[]){"[OPTIONS]", NULL},
	.options = run_option_rows,
	.description =
		"Runs your shell where *cordon run* with the same options would run a command: to look at "
		"what a call sees, or to work there. It is *$SHELL* if that is a shell which cordon knows "
		"(sh, bash, dash, zsh, ksh, mksh, fish) in a directory of the system, else /bin/sh. The "
		"prompt begins with *(cordon)*; *-e PS1=...* sets another. Start-up files of the home "
		"directory are not read: home is private.\n"
		"\n"
		"Without a terminal it reads commands from standard input. A policy that denies shells "
		"refuses it, and *-c* and *--json* belong to *cordon run*.\n"
		"\n"
		"On a terminal the shell has one of its own: job control, Ctrl-C and Ctrl-Z work inside. "
		"cordon-run(1) says what is taken out of its output.",
	.examples =
		(const struct verb_example[]){
			{"cordon shell", "look around in the sandbox of this directory"},
			{"cordon shell --net allow-all --cache npm",
			 "with network and a package cache"},
			{0},
		},
	.exit_status = "The code of the shell, or as *cordon run*.",
	.run = cmd_shell_run,
};
