/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bash script: four functions that look things up (made from the tables) and one that walks the
 * words.  Names in the tables are plain ASCII words, so they need no quoting.
 */
#include "cli/completion.h"

static const char *const bash_kinds[] = {
	[COMPLETE_NONE] = "none", [COMPLETE_FILE] = "file",         [COMPLETE_DIR] = "dir",
	[COMPLETE_HOST] = "host", [COMPLETE_VARIABLE] = "variable", [COMPLETE_COMMAND] = "command",
	[COMPLETE_VERB] = "verb", [COMPLETE_NAMES] = "names ",
};
_Static_assert(ARRAY_LEN(bash_kinds) == COMPLETE_COUNT, "a kind that bash does not know");

/* REPLY='…' of a kind, with the names where it has some. */
static void bash_reply(struct out *o, enum option_complete kind, const char *const *names)
{
	out_printf(o, "REPLY='%s", bash_kinds[names ? COMPLETE_NAMES : kind]);
	if (names)
		completion_names(o, names);
	out_str(o, "'");
}

static void bash_label(struct out *o, const struct verb *const *path, size_t depth)
{
	struct buf name = BUF_INIT(256);

	completion_path(&name, path, depth, ' ');
	out_printf(o, "\t'%s') ", buf_cstr(&name));
	buf_done(&name);
}

static void bash_verbs(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct verb *verb = path[depth - 1];

	if (!verb->subverbs)
		return;
	bash_label(o, path, depth);
	out_str(o, "REPLY='");
	for (size_t i = 0; verb->subverbs[i]; i++)
		out_printf(o, "%s%s", i ? " " : "", verb->subverbs[i]->name);
	out_str(o, "' ;;\n");
}

static void bash_words(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct verb_words *words = &path[depth - 1]->words;

	if (!words->name)
		return;
	bash_label(o, path, depth);
	bash_reply(o, words->complete, words->names);
	out_str(o, " ;;\n");
}

static void bash_options(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct option *option;

	bash_label(o, path, depth);
	out_str(o, "REPLY='");
	for (size_t i = 0; (option = verb_next_option(path[depth - 1], &i));) {
		if (option->short_name)
			out_printf(o, "-%c ", option->short_name);
		out_printf(o, "--%s ", option->long_name);
	}
	out_str(o, "' ;;\n");
}

static void bash_values(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct option *option;
	struct buf name = BUF_INIT(256);

	completion_path(&name, path, depth, ' ');
	for (size_t i = 0; (option = verb_next_option(path[depth - 1], &i));) {
		if (!option->argument)
			continue;
		out_printf(o, "\t'%s --%s'", buf_cstr(&name), option->long_name);
		if (option->short_name)
			out_printf(o, " | '%s -%c'", buf_cstr(&name), option->short_name);
		out_str(o, ") ");
		bash_reply(o, option->complete, option->names);
		out_str(o, " ;;\n");
	}
	buf_done(&name);
}

static const char bash_walk[] =
	"# _cordon_command N: from word N on it is another command's line\n"
	"_cordon_command()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
	"\tif declare -F _command_offset >/dev/null; then\n"
	"\t\t_command_offset \"$1\"\n"
	"\telif (($1 == COMP_CWORD)) && [[ $cur != */* ]]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	"\telse\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\tfi\n"
	"}\n"
	"\n"
	"_cordon()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} path='' word='' pending='' kind='' ended='' REPLY='' i j\n"
	"\tlocal -a given=()\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\t# bash splits --name=value and host:port into three words\n"
	"\t\tif [[ $word == ':' ]]; then\n"
	"\t\t\t((i++))\n"
	"\t\telif [[ $word == '=' ]]; then\n"
	"\t\t\t:\n"
	"\t\telif [[ $pending ]]; then\n"
	"\t\t\tpending=\n"
	"\t\telif [[ ! $ended && $word == -- ]]; then\n"
	"\t\t\tended=1\n"
	"\t\telif [[ ! $ended && $word == --* ]]; then\n"
	"\t\t\t_cordon_value \"$path $word\" && pending=1 kind=$REPLY\n"
	"\t\telif [[ ! $ended && $word == -?* ]]; then\n"
	"\t\t\tfor ((j = 1; j < ${#word}; j++)); do\n"
	"\t\t\t\t_cordon_value \"$path -${word:j:1}\" || continue\n"
	"\t\t\t\t((j == ${#word} - 1)) && pending=1 kind=$REPLY\n"
	"\t\t\t\tbreak\n"
	"\t\t\tdone\n"
	"\t\telif _cordon_verbs \"$path\" && [[ \" $REPLY \" == *\" $word \"* ]]; then\n"
	"\t\t\tpath=${path:+$path }$word\n"
	"\t\telif _cordon_words \"$path\" && [[ $REPLY == command ]]; then\n"
	"\t\t\t_cordon_command \"$i\"\n"
	"\t\t\treturn\n"
	"\t\telse\n"
	"\t\t\tgiven+=(\"$word\")\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tif [[ $pending ]]; then\n"
	"\t\t[[ $cur == '=' ]] && cur=\n"
	"\telif [[ ! $ended && $cur == -* ]]; then\n"
	"\t\t_cordon_options \"$path\" && kind=\"names $REPLY\"\n"
	"\telif _cordon_verbs \"$path\"; then\n"
	"\t\tkind=\"names $REPLY\"\n"
	"\telif _cordon_words \"$path\"; then\n"
	"\t\tkind=$REPLY\n"
	"\telse\n"
	"\t\tkind=none\n"
	"\tfi\n"
	"\tif [[ $kind == verb ]]; then\n"
	"\t\t_cordon_verbs \"${given[*]}\"\n"
	"\t\tkind=\"names $REPLY\"\n"
	"\tfi\n"
	"\tcase $kind in\n"
	"\t'names '*) mapfile -t COMPREPLY < <(compgen -W \"${kind#names }\" -- \"$cur\") ;;\n"
	"\tfile) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
	"\tdir) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
	"\thost) mapfile -t COMPREPLY < <(compgen -A hostname -- \"$cur\") ;;\n"
	"\tvariable) mapfile -t COMPREPLY < <(compgen -A export -- \"$cur\") ;;\n"
	"\tcommand) _cordon_command \"$COMP_CWORD\" ;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"complete -F _cordon cordon\n";

/* A function that sets REPLY for $1, or returns 1. */
static void bash_function(struct out *o, const char *name, const char *what,
			  const struct verb *root, completion_visitor *visit)
{
	out_printf(o, "# %s\n%s()\n{\n\tREPLY=\n\tcase $1 in\n", what, name);
	completion_each_verb(o, root, visit);
	out_str(o, "\t*) return 1 ;;\n\tesac\n}\n\n");
}

void completion_bash(struct out *o, const struct verb *root)
{
	out_str(o,
		"# bash completion for cordon, made from its tables by 'cordon completion bash'\n\n");
	bash_function(o, "_cordon_verbs", "VERB: the verbs below it", root, bash_verbs);
	bash_function(o, "_cordon_words", "VERB: what its words are", root, bash_words);
	bash_function(o, "_cordon_options", "VERB: its options", root, bash_options);
	bash_function(o, "_cordon_value", "'VERB OPTION': what the option's value is", root,
		      bash_values);
	out_str(o, bash_walk);
}
