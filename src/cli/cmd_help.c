/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon help [VERB [SUBVERB]]`: what --help prints, for people who think of it first. */
#include "cli/cli.h"
#include "cli/help.h"

static int cmd_help_run(struct cli *cli)
{
	const struct verb *path[CLI_DEPTH_MAX] = {cli->path[0]};
	struct cordon_error err = {0};
	size_t depth = 1;
	int code = 0;

	if (!cli_parse(cli, /* target= */ NULL, &code))
		return code;
	for (size_t i = 0; i < cli->n_words; i++) { /* at most two: words.max */
		const struct verb *parent = path[depth - 1];
		const struct verb *next = verb_find(parent, cli->words[i]);

		if (!next && !parent->subverbs) {
			(void)cordon_fail(&err, CORDON_E_INVALID, "'%s' has no verbs of its own",
					  parent->name);
			return cli_fail(cli, &err);
		}
		if (!next) {
			(void)verb_unknown(parent, cli->words[i], &err);
			return cli_fail(cli, &err);
		}
		path[depth++] = next;
	}
	help_write(&cli->out, path, depth);
	return 0;
}

const struct verb verb_help = {
	.name = "help",
	.summary = "explain a verb, or list them",
	.synopsis = (const char *const[]){"[VERB [SUBVERB]]", NULL},
	.words = {.name = "VERB", .max = CLI_DEPTH_MAX - 1, .complete = COMPLETE_VERB},
	.description = "Prints the same as *--help* after the verb.",
	.run = cmd_help_run,
};
