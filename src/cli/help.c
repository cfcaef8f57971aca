/* SPDX-License-Identifier: Apache-2.0 */
/* See help.h. */
#include "cli/help.h"

#include <string.h>

#define HELP_COLUMN 28 /* where the explanations begin */

void help_path(struct buf *b, const struct verb *const *path, size_t depth, char separator)
{
	for (size_t i = 0; i < depth; i++) {
		if (i > 0)
			buf_char(b, separator);
		buf_str(b, path[i]->name);
	}
}

void help_option_text(struct buf *b, const struct option *o)
{
	buf_str(b, o->help);
	if (o->names) {
		buf_str(b, ": ");
		for (size_t i = 0; o->names[i]; i++)
			buf_printf(b, "%s%s", i ? ", " : "", o->names[i]);
	}
	if (o->is_repeatable && o->argument)
		buf_str(b, " (repeatable)");
}

size_t help_line_length(const char *text, size_t width)
{
	size_t len = strlen(text);
	size_t cut = width;

	if (len <= width)
		return len;
	while (cut > 0 && text[cut] != ' ')
		cut--;
	return cut > 0 ? cut : width; /* one word wider than the line */
}

/* Text in the column from indent on, wrapped; the cursor stands at column at. */
static void help_wrapped(struct out *o, size_t at, size_t indent, const char *text)
{
	if (at + 2 > indent) {
		out_str(o, "\n");
		at = 0;
	}
	for (;;) {
		size_t n = help_line_length(text, HELP_WIDTH - indent);

		out_printf(o, "%*s%.*s\n", (int)(indent - at), "", (int)n, text);
		text += n;
		while (*text == ' ')
			text++;
		if (!*text)
			return;
		at = 0;
	}
}

static void help_heading(struct out *o, const char *text)
{
	out_str(o, "\n");
	out_styled(o, OUT_BOLD, text);
	out_str(o, ":\n");
}

static void help_row(struct out *o, const char *left, const char *text)
{
	out_printf(o, "  %s", left);
	help_wrapped(o, strlen(left) + 2, HELP_COLUMN, text);
}

static void help_option(struct out *o, const struct option *option)
{
	struct buf left = BUF_INIT(256);
	struct buf text = BUF_INIT(4096);

	if (option->short_name)
		buf_printf(&left, "-%c, ", option->short_name);
	else
		buf_str(&left, "    ");
	buf_printf(&left, "--%s", option->long_name);
	if (option->argument)
		buf_printf(&left, " %s", option->argument);
	help_option_text(&text, option);
	help_row(o, buf_cstr(&left), buf_cstr(&text));
	buf_done(&left);
	buf_done(&text);
}

static const char *help_group(const struct option *o)
{
	return o->group ? o->group : "Options";
}

/* Is o the first of its group? */
static bool help_opens_group(const struct verb *verb, const struct option *o)
{
	const struct option *other;

	for (size_t i = 0; (other = verb_next_option(verb, &i)) && other != o;)
		if (strcmp(help_group(other), help_group(o)) == 0)
			return false;
	return true;
}

static void help_options(struct out *o, const struct verb *verb)
{
	const struct option *first, *option;

	for (size_t i = 0; (first = verb_next_option(verb, &i));) {
		if (!help_opens_group(verb, first))
			continue;
		help_heading(o, help_group(first));
		for (size_t j = 0; (option = verb_next_option(verb, &j));)
			if (strcmp(help_group(option), help_group(first)) == 0)
				help_option(o, option);
	}
}

static void help_synopsis(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct verb *verb = path[depth - 1];
	struct buf name = BUF_INIT(256);

	help_path(&name, path, depth, ' ');
	for (size_t i = 0; verb->synopsis && verb->synopsis[i]; i++)
		out_printf(o, "  %s%s%s\n", buf_cstr(&name), verb->synopsis[i][0] ? " " : "",
			   verb->synopsis[i]);
	buf_done(&name);
}

/* The program only: where to go on reading. */
static void help_footer(struct out *o, const struct verb *root)
{
	out_printf(o, "\n'%s help VERB' or '%s VERB --help' says more about one of them.\n",
		   root->name, root->name);
}

void help_write(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct verb *verb = path[depth - 1];
	struct buf name = BUF_INIT(256);

	help_path(&name, path, depth, ' ');
	out_styled(o, OUT_BOLD, buf_cstr(&name));
	out_printf(o, ": %s\n", verb->summary);
	buf_done(&name);
	help_heading(o, "Usage");
	help_synopsis(o, path, depth);
	if (verb->subverbs) {
		help_heading(o, "Verbs");
		for (size_t i = 0; verb->subverbs[i]; i++)
			help_row(o, verb->subverbs[i]->name, verb->subverbs[i]->summary);
	}
	help_options(o, verb);
	if (verb->examples) {
		help_heading(o, "Examples");
		for (const struct verb_example *e = verb->examples; e->command; e++)
			out_printf(o, "  %s\n      %s\n", e->command, e->what);
	}
	if (depth == 1)
		help_footer(o, verb);
}

void help_write_usage(struct out *o, const struct verb *root)
{
	out_printf(o, "usage: %s %s\n", root->name, root->synopsis[0]);
	out_printf(o, "'%s help' lists the verbs, '%s help VERB' explains one\n", root->name,
		   root->name);
}
