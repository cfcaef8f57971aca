/* SPDX-License-Identifier: Apache-2.0 */
/* The zsh script: one function per verb around _arguments. */
#include "cli/completion.h"

static const char *const zsh_actions[] = {
	[COMPLETE_NONE] = " ",
	[COMPLETE_FILE] = "_files",
	[COMPLETE_DIR] = "_files -/",
	[COMPLETE_HOST] = "_hosts",
	[COMPLETE_VARIABLE] = "_parameters -g \"*export*\"",
	[COMPLETE_COMMAND] = "_command_names -e",
	[COMPLETE_VERB] = NULL,  /* written out */
	[COMPLETE_NAMES] = NULL, /* written out */
};
_Static_assert(ARRAY_LEN(zsh_actions) == COMPLETE_COUNT, "a kind that zsh does not know");

/* Inside single quotes of a specification: what _arguments and _describe would read is escaped. */
static void zsh_quoted(struct out *o, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			out_str(o, "'\\''");
		else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
			out_printf(o, "\\%c", *text);
		else
			out_add(o, text, 1);
	}
}

static void zsh_function_name(struct out *o, const struct verb *const *path, size_t depth)
{
	struct buf name = BUF_INIT(256);

	completion_path(&name, path, depth, '_');
	out_printf(o, "_cordon%s%s", depth > 1 ? "_" : "", buf_cstr(&name));
	buf_done(&name);
}

static void zsh_action(struct out *o, enum option_complete kind, const char *const *names)
{
	if (names) {
		out_str(o, "(");
		completion_names(o, names);
		out_str(o, ")");
	} else if (zsh_actions[kind]) {
		out_str(o, zsh_actions[kind]);
	}
}

static void zsh_option(struct out *o, const struct option *option)
{
	const char *plus = option->argument ? "+" : "";
	const char *equals = option->argument ? "=" : "";

	out_str(o, " \\\n\t\t");
	if (option->short_name && option->is_repeatable)
		out_printf(o, "'*'{-%c%s,--%s%s}'", option->short_name, plus, option->long_name,
			   equals);
	else if (option->short_name)
		out_printf(o, "'(-%c --%s)'{-%c%s,--%s%s}'", option->short_name, option->long_name,
			   option->short_name, plus, option->long_name, equals);
	else
		out_printf(o, "'%s--%s%s", option->is_repeatable ? "*" : "", option->long_name,
			   equals);
	out_str(o, "[");
	zsh_quoted(o, option->help);
	out_str(o, "]");
	if (option->argument) {
		out_str(o, ":");
		zsh_quoted(o, option->argument);
		out_str(o, ":");
		zsh_action(o, option->complete, option->names);
	}
	out_str(o, "'");
}

/* '1:VERB:(…)' and, for their subverbs, '2:SUBVERB:(…)' */
static void zsh_verb_words(struct out *o, const struct verb *root)
{
	out_str(o, " \\\n\t\t'1:VERB:(");
	for (size_t i = 0; root->subverbs[i]; i++)
		out_printf(o, "%s%s", i ? " " : "", root->subverbs[i]->name);
	out_str(o, ")' \\\n\t\t'2:SUBVERB:(");
	for (size_t i = 0; root->subverbs[i]; i++)
		for (size_t j = 0; root->subverbs[i]->subverbs && root->subverbs[i]->subverbs[j];
		     j++)
			out_printf(o, "%s ", root->subverbs[i]->subverbs[j]->name);
	out_str(o, ")'");
}

static void zsh_words(struct out *o, const struct verb *root, const struct verb *verb)
{
	if (verb->words.starts_command) {
		out_str(o,
			" \\\n\t\t'(-)1:command: _command_names -e' \\\n\t\t'*::arguments: _normal'");
	} else if (verb->words.complete == COMPLETE_VERB) {
		zsh_verb_words(o, root);
	} else if (verb->words.name) {
		out_printf(o, " \\\n\t\t'%s:%s:", verb->words.max > 1 ? "*" : "1",
			   verb->words.name);
		zsh_action(o, verb->words.complete, verb->words.names);
		out_str(o, "'");
	}
}

/* Which subverb the words name, and its function. */
static void zsh_dispatch(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct verb *verb = path[depth - 1];

	out_str(o, " \\\n\t\t'1: :->verb' '*:: :->rest' && return 0\n\tcase $state in\n\tverb)\n"
		   "\t\tverbs=(\n");
	for (size_t i = 0; verb->subverbs[i]; i++) {
		out_printf(o, "\t\t\t'%s:", verb->subverbs[i]->name);
		zsh_quoted(o, verb->subverbs[i]->summary);
		out_str(o, "'\n");
	}
	out_str(o,
		"\t\t)\n\t\t_describe -t verbs verb verbs\n\t\t;;\n\trest)\n\t\tcase $words[1] in\n");
	for (size_t i = 0; verb->subverbs[i]; i++) {
		out_printf(o, "\t\t%s) ", verb->subverbs[i]->name);
		zsh_function_name(o, path, depth);
		out_printf(o, "_%s ;;\n", verb->subverbs[i]->name);
	}
	out_str(o, "\t\tesac\n\t\t;;\n\tesac\n");
}

static void zsh_function(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct verb *verb = path[depth - 1];
	const struct option *option;

	zsh_function_name(o, path, depth);
	out_str(o, "() {\n");
	if (verb->subverbs)
		out_str(o, "\tlocal curcontext=\"$curcontext\" state line\n\tlocal -a verbs\n"
			   "\ttypeset -A opt_args\n");
	out_printf(o, "\t_arguments -s %s",
		   verb->subverbs               ? "-C"
		   : verb->words.starts_command ? "-S -A '-*'"
						: "-S");
	for (size_t i = 0; (option = verb_next_option(verb, &i));)
		zsh_option(o, option);
	if (verb->subverbs) {
		zsh_dispatch(o, path, depth);
	} else {
		zsh_words(o, path[0], verb);
		out_str(o, "\n");
	}
	out_str(o, "}\n\n");
}

void completion_zsh(struct out *o, const struct verb *root)
{
	out_str(o,
		"#compdef cordon\n"
		"# zsh completion for cordon, made from its tables by 'cordon completion zsh'\n\n");
	completion_each_verb(o, root, zsh_function);
	/* Works as an autoloaded function in $fpath and when it is sourced. */
	out_str(o, "if [[ $funcstack[1] == _cordon ]]; then\n\t_cordon \"$@\"\n"
		   "else\n\tcompdef _cordon cordon\nfi\n");
}
