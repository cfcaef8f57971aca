/* SPDX-License-Identifier: Apache-2.0 */
/* See man.h. */
#include "cli/man.h"

#include "cli/cli.h"
#include "cli/help.h"

#include <ctype.h>
#include <string.h>

/* Text from the tables: what scdoc would read as markup is escaped. */
static void man_text(struct out *o, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\*_#`<>[]~", *text))
			out_str(o, "\\");
		out_add(o, text, 1);
	}
}

static void man_synopsis(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct verb *verb = path[depth - 1];
	struct buf name = BUF_INIT(256);

	help_path(&name, path, depth, ' ');
	for (size_t i = 0; verb->synopsis && verb->synopsis[i]; i++) {
		out_printf(o, "*%s*%s", buf_cstr(&name), verb->synopsis[i][0] ? " " : "");
		man_text(o, verb->synopsis[i]);
		out_str(o, verb->synopsis[i + 1] ? "++\n" : "\n");
	}
	out_str(o, "\n");
	buf_done(&name);
}

static void man_option(struct out *o, const struct option *option)
{
	struct buf text = BUF_INIT(4096);
	char first;

	if (option->short_name)
		out_printf(o, "*-%c*, ", option->short_name);
	out_printf(o, "*--%s*", option->long_name);
	if (option->argument) {
		out_str(o, " ");
		man_text(o, option->argument);
	}
	help_option_text(&text, option);
	first = buf_cstr(&text)[0];
	out_printf(o, "\n\t%c", toupper((unsigned char)first));
	man_text(o, buf_cstr(&text) + (first != '\0'));
	out_str(o, strchr("?.", option->help[strlen(option->help) - 1]) && !option->names
			   ? "\n\n"
			   : ".\n\n");
	buf_done(&text);
}

static void man_options(struct out *o, const struct verb *verb)
{
	const struct option *option;

	for (size_t i = 0; (option = verb_next_option(verb, &i));)
		man_option(o, option);
}

static void man_examples(struct out *o, const struct verb *verb)
{
	if (!verb->examples)
		return;
	out_str(o, "# EXAMPLES\n\n");
	for (const struct verb_example *e = verb->examples; e->command; e++) {
		out_printf(o, "%c", toupper((unsigned char)e->what[0]));
		man_text(o, e->what + 1);
		out_printf(o, ":\n\n```\n%s\n```\n\n", e->command);
	}
}

/* A subverb inside the page of its parent. */
static void man_subverb(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct verb *verb = path[depth - 1];

	out_printf(o, "## %s\n\n", verb->name);
	man_synopsis(o, path, depth);
	out_printf(o, "%s\n\n", verb->description);
	man_options(o, verb);
	if (verb->exit_status)
		out_printf(o, "Exit status:\n\n%s\n\n", verb->exit_status);
}

/* The program's page names the page of every verb; the others belong to one page each. */
static void man_verbs(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct verb *verb = path[depth - 1];

	if (!verb->subverbs)
		return;
	out_str(o, "# VERBS\n\n");
	for (size_t i = 0; verb->subverbs[i]; i++) {
		const struct verb *sub_path[CLI_DEPTH_MAX] = {path[0], path[1], NULL};

		if (depth > 1) {
			sub_path[depth] = verb->subverbs[i];
			man_subverb(o, sub_path, depth + 1);
			continue;
		}
		out_printf(o, "*cordon-%s*(1)\n\t%c", verb->subverbs[i]->name,
			   toupper((unsigned char)verb->subverbs[i]->summary[0]));
		man_text(o, verb->subverbs[i]->summary + 1);
		out_str(o, ".\n\n");
	}
}

static void man_see_also(struct out *o, const struct verb *root, const struct verb *verb)
{
	out_str(o, "# SEE ALSO\n\n");
	if (verb != root)
		out_str(o, "*cordon*(1)");
	for (size_t i = 0, n = verb != root; root->subverbs[i]; i++)
		if (root->subverbs[i] != verb)
			out_printf(o, "%s*cordon-%s*(1)", n++ ? ", " : "", root->subverbs[i]->name);
	out_str(o, "\n");
}

void man_write(struct out *o, const struct verb *root, const struct verb *verb,
	       const char *const *fragments, size_t n_fragments)
{
	const struct verb *path[CLI_DEPTH_MAX] = {root, verb};
	size_t depth = verb == root ? 1 : 2;
	struct buf name = BUF_INIT(256);

	help_path(&name, path, depth, '-');
	out_printf(o, "%s(1) \"cordon %s\" \"cordon\"\n\n# NAME\n\n%s - ", buf_cstr(&name),
		   CORDON_VERSION, buf_cstr(&name));
	buf_done(&name);
	man_text(o, verb->summary);
	out_str(o, "\n\n# SYNOPSIS\n\n");
	man_synopsis(o, path, depth);
	out_printf(o, "# DESCRIPTION\n\n%s\n\n", verb->description);
	man_verbs(o, path, depth);
	out_str(o, "# OPTIONS\n\n");
	man_options(o, verb);
	if (verb->exit_status)
		out_printf(o, "# EXIT STATUS\n\n%s\n\n", verb->exit_status);
	man_examples(o, verb);
	for (size_t i = 0; i < n_fragments; i++)
		out_printf(o, "%s\n", fragments[i]);
	man_see_also(o, root, verb);
}
