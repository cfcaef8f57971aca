/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon completion SHELL`: prints a script, so that it works without an installed tree. */
#include "cli/cli.h"
#include "cli/completion.h"

#include <string.h>

static int cmd_completion_run(struct cli *cli)
{
	int code = 0;

	if (!cli_parse(cli, /* target= */ NULL, &code))
		return code;
	for (size_t i = 0; i < COMPLETION_SHELL_COUNT; i++)
		if (strcmp(completion_shells[i], cli->words[0]) == 0)
			completion_write(&cli->out, (enum completion_shell)i, cli->path[0]);
	return 0;
}

const struct verb verb_completion = {
	.name = "completion",
	.summary = "print the completion script of a shell",
	.synopsis = (const char *const[]){"bash|zsh|fish", NULL},
	.words = {.name = "SHELL",
		  .min = 1,
		  .max = 1,
		  .complete = COMPLETE_NAMES,
		  .names = completion_shells},
	.description =
		"Prints a script for the shell. *make install* puts the same scripts where the "
		"shells look for them.",
	.examples =
		(const struct verb_example[]){
			{"source <(cordon completion bash)", "for this bash session"},
			{"cordon completion fish > ~/.config/fish/completions/cordon.fish",
			 "for every fish session"},
			{0},
		},
	.run = cmd_completion_run,
};
