/* SPDX-License-Identifier: Apache-2.0 */
/* See completion.h. */
#include "cli/completion.h"

#include "cli/cli.h"
#include "cli/help.h"

#include <assert.h>

const char *const completion_shells[COMPLETION_SHELL_COUNT + 1] = {
	[COMPLETION_BASH] = "bash",
	[COMPLETION_ZSH] = "zsh",
	[COMPLETION_FISH] = "fish",
};

void completion_write(struct out *o, enum completion_shell shell, const struct verb *root)
{
	switch (shell) {
	case COMPLETION_BASH:
		completion_bash(o, root);
		return;
	case COMPLETION_ZSH:
		completion_zsh(o, root);
		return;
	case COMPLETION_FISH:
		completion_fish(o, root);
		return;
	case COMPLETION_SHELL_COUNT:
		break;
	}
	assert(false);
}

static void completion_walk(struct out *o, const struct verb **path, size_t depth,
			    completion_visitor *visit)
{
	const struct verb *verb = path[depth - 1];

	visit(o, path, depth);
	for (size_t i = 0; verb->subverbs && verb->subverbs[i]; i++) {
		assert(depth < CLI_DEPTH_MAX);
		path[depth] = verb->subverbs[i];
		completion_walk(o, path, depth + 1, visit);
	}
}

void completion_each_verb(struct out *o, const struct verb *root, completion_visitor *visit)
{
	const struct verb *path[CLI_DEPTH_MAX] = {root};

	completion_walk(o, path, 1, visit);
}

void completion_path(struct buf *b, const struct verb *const *path, size_t depth, char separator)
{
	help_path(b, path + 1, depth - 1, separator);
}

void completion_names(struct out *o, const char *const *names)
{
	for (size_t i = 0; names[i]; i++)
		out_printf(o, "%s%s", i ? " " : "", names[i]);
}
