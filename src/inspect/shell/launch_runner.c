/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools of projects that run another program: of a package, in an environment, with secrets, on a service.  What they run
 * is judged as if it had been typed.
 */
#include "inspect/shell/launch.h"
#include "inspect/shell/rule.h"

#include <stdlib.h>
#include <string.h>

/* Sorted by program. */
static const struct runner_row {
	const char *program;
	const char *subs;   /* the first operand is one of these; NULL: the program comes at once */
	unsigned skip;      /* words between them */
	const char *shorts; /* letters that take a value */
	const char *longs;  /* names that do */
} runner_rows[] = {
	{"adb", "shell", 0, "s", " "},
	{"asdf", "exec", 0, "", " "},
	{"aws-vault", "exec", 1, "d", " duration region mfa-token backend "},
	{"bun", "x", 0, "", " "},
	{"bundle", "exec", 0, "", " gemfile "},
	{"bunx", NULL, 0, "p", " package "},
	{"chamber", "exec", 1, "b", " backend "},
	{"conda", "run", 0, "np", " name prefix cwd "},
	{"direnv", "exec", 1, "", " "},
	{"doppler", "run", 0, "pct", " project config token command "},
	{"dotenvx", "run", 0, "f", " env-file "},
	{"fnm", "exec", 0, "", " using "},
	{"hatch", "run", 0, "e", " env "},
	{"heroku", "run", 0, "asr", " app remote size type "},
	{"infisical", "run", 0, "", " env projectId path "},
	{"lerna", "exec", 0, "", " scope ignore "},
	{"limactl", "shell", 1, "", " workdir "},
	{"mamba", "run", 0, "np", " name prefix cwd "},
	{"micromamba", "run", 0, "np", " name prefix cwd "},
	{"mise", "exec x", 0, "C", " cd "},
	{"multipass", "exec", 1, "d", " working-directory "},
	{"nodenv", "exec", 0, "", " "},
	{"npm", "exec x", 0, "pw", " package workspace "},
	{"npx", NULL, 0, "pcw", " package call workspace "},
	{"op", "run", 0, "", " env-file account "},
	{"pdm", "run", 0, "p", " project "},
	{"pipenv", "run", 0, "", " "},
	{"pixi", "run exec", 0, "e", " environment manifest-path "},
	{"pnpm", "exec dlx", 0, "CF", " dir filter package "},
	{"pnpx", NULL, 0, "p", " package "},
	{"poetry", "run", 0, "C", " directory "},
	{"pyenv", "exec", 0, "", " "},
	{"railway", "run", 0, "es", " environment service "},
	{"rbenv", "exec", 0, "", " "},
	{"rye", "run", 0, "", " pyproject "},
	{"sops", "exec-env exec-file", 1, "", " "},
	{"uv", "run", 0, "p", " with python project directory env-file "},
	{"uvx", NULL, 0, "p", " from with python "},
	{"volta", "run", 0, "", " node npm yarn "},
	{"yarn", "exec dlx run", 0, "p", " cwd package "},
};

static int runner_compare(const void *key, const void *row)
{
	return strcmp(key, ((const struct runner_row *)row)->program);
}

/* name@version of a package is its program's name. */
static struct shell_text runner_run(struct run *r, size_t c, size_t at)
{
	const struct shell_command *cmd = &r->m->commands[c];
	const char *s = cmd->argv[at].s;
	const char *mark = strchr(s + (*s == '@'), '@');
	struct run_words words = {0};
	struct shell_word first = cmd->argv[at];

	if (mark && !strchr(s, ':'))
		first = word_of(r, s, (size_t)(mark - s));
	word_add(r, &words, &first);
	for (size_t i = at + 1; i < r->m->commands[c].n; i++)
		word_add(r, &words, &r->m->commands[c].argv[i]);
	return exec_words(r, c, &words, 0);
}

/* salt TARGET cmd.run COMMAND */
static bool runner_salt(struct run *r, size_t c, struct shell_text *ret_out)
{
	const struct shell_command *cmd = &r->m->commands[c];

	if (!rule_is("salt salt-call salt-ssh", cmd->name))
		return false;
	for (size_t i = 1; i + 1 < cmd->n; i++)
		if (strncmp(cmd->argv[i].s, "cmd.", 4) == 0) {
			*ret_out = exec_code(r, c, word_value(&cmd->argv[i + 1]), VIA_REMOTE);
			return true;
		}
	return false;
}

bool launch_runner(struct run *r, size_t c, struct shell_text *ret_out)
{
	const struct shell_command *cmd = &r->m->commands[c];
	const struct runner_row *row = bsearch(cmd->name, runner_rows,
					       sizeof(runner_rows) / sizeof(runner_rows[0]),
					       sizeof(runner_rows[0]), runner_compare);
	size_t at;

	if (!row)
		return runner_salt(r, c, ret_out);
	at = exec_operand(cmd, 1, row->shorts, row->longs);
	if (row->subs && (at >= cmd->n || !rule_is(row->subs, cmd->argv[at].s)))
		return false;
	if (row->subs)
		at = exec_operand(cmd, at + 1, row->shorts, row->longs) + row->skip;
	if (at < cmd->n && strcmp(cmd->argv[at].s, "--") == 0)
		at++;
	if (at >= cmd->n)
		return false;
	if (at + 1 == cmd->n && memchr(cmd->argv[at].s, ' ', cmd->argv[at].len))
		*ret_out = exec_code(r, c, word_value(&cmd->argv[at]), VIA_SHELL);
	else
		*ret_out = runner_run(r, c, at);
	return true;
}
