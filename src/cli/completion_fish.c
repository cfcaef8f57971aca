/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fish script: a function that walks the words and one `complete` line per verb and option.
 * fish evaluates equal conditions once per completion, so each line may repeat its own.
 */
#include "cli/completion.h"

static const char *const fish_values[] = {
	[COMPLETE_NONE] = "-x",
	[COMPLETE_FILE] = "-r -F",
	[COMPLETE_DIR] = "-x -a '(__fish_complete_directories)'",
	[COMPLETE_HOST] = "-x -a '(__fish_print_hostnames)'",
	[COMPLETE_VARIABLE] = "-x -a '(set -xn)'",
	[COMPLETE_COMMAND] = "-x -a '(__fish_complete_command)'",
	[COMPLETE_VERB] = "-x -a '(__cordon_help_words)'",
	[COMPLETE_NAMES] = NULL, /* written out */
};
_Static_assert(ARRAY_LEN(fish_values) == COMPLETE_COUNT, "a kind that fish does not know");

static void fish_quoted(struct out *o, const char *text)
{
	out_str(o, "'");
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			out_str(o, "\\");
		out_add(o, text, 1);
	}
	out_str(o, "'");
}

static void fish_value(struct out *o, enum option_complete kind, const char *const *names)
{
	if (!names) {
		out_printf(o, " %s", fish_values[kind]);
		return;
	}
	out_str(o, " -x -a '");
	completion_names(o, names);
	out_str(o, "'");
}

/* complete … -n '__cordon_at "policy show"' */
static void fish_begin(struct out *o, const struct verb *const *path, size_t depth)
{
	struct buf name = BUF_INIT(256);

	completion_path(&name, path, depth, ' ');
	out_printf(o, "complete -c cordon -n '__cordon_at \"%s\"'", buf_cstr(&name));
	buf_done(&name);
}

static void fish_verb(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct verb *verb = path[depth - 1];
	const struct option *option;

	for (size_t i = 0; verb->subverbs && verb->subverbs[i]; i++) {
		fish_begin(o, path, depth);
		out_printf(o, " -f -a %s -d ", verb->subverbs[i]->name);
		fish_quoted(o, verb->subverbs[i]->summary);
		out_str(o, "\n");
	}
	if (verb->words.name) {
		fish_begin(o, path, depth);
		fish_value(o, verb->words.complete, verb->words.names);
		out_str(o, "\n");
	}
	for (size_t i = 0; (option = verb_next_option(verb, &i));) {
		fish_begin(o, path, depth);
		if (option->short_name)
			out_printf(o, " -s %c", option->short_name);
		out_printf(o, " -l %s", option->long_name);
		if (option->argument)
			fish_value(o, option->complete, option->names);
		out_str(o, " -d ");
		fish_quoted(o, option->help);
		out_str(o, "\n");
	}
}

static void fish_takes_value(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct option *option;
	struct buf name = BUF_INIT(256);

	completion_path(&name, path, depth, ' ');
	for (size_t i = 0; (option = verb_next_option(path[depth - 1], &i));) {
		if (!option->argument)
			continue;
		out_printf(o, "\t\tcase '%s --%s'", buf_cstr(&name), option->long_name);
		if (option->short_name)
			out_printf(o, " '%s -%c'", buf_cstr(&name), option->short_name);
		out_str(o, "\n\t\t\treturn 0\n");
	}
	buf_done(&name);
}

static void fish_subverbs(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct verb *verb = path[depth - 1];
	struct buf name = BUF_INIT(256);

	if (!verb->subverbs)
		return;
	completion_path(&name, path, depth, ' ');
	out_printf(o, "\t\tcase '%s'\n\t\t\tprintf '%%s\\n'", buf_cstr(&name));
	for (size_t i = 0; verb->subverbs[i]; i++)
		out_printf(o, " %s", verb->subverbs[i]->name);
	out_str(o, "\n");
	buf_done(&name);
}

static void fish_commands(struct out *o, const struct verb *const *path, size_t depth)
{
	struct buf name = BUF_INIT(256);

	completion_path(&name, path, depth, ' ');
	if (path[depth - 1]->words.starts_command)
		out_printf(o, " '%s'", buf_cstr(&name));
	buf_done(&name);
}

static const char fish_walk[] =
	"# Where the cursor is: the verb's path, or !N when from token N on it is another command's\n"
	"# line.\n"
	"function __cordon_state\n"
	"\tset -l tokens (commandline -opc)\n"
	"\tset -l path ''\n"
	"\tset -l pending 0\n"
	"\tfor i in (seq 2 (count $tokens))\n"
	"\t\tset -l token $tokens[$i]\n"
	"\t\tif test $pending = 1\n"
	"\t\t\tset pending 0\n"
	"\t\telse if test \"$token\" = --\n"
	"\t\t\tif __cordon_starts_command \"$path\"\n"
	"\t\t\t\techo !(math $i + 1)\n"
	"\t\t\t\treturn\n"
	"\t\t\tend\n"
	"\t\telse if string match -q -- '--*=*' \"$token\"\n"
	"\t\telse if string match -q -- '--*' \"$token\"\n"
	"\t\t\t__cordon_takes_value \"$path $token\"; and set pending 1\n"
	"\t\telse if string match -q -- '-?*' \"$token\"\n"
	"\t\t\tset -l letters (string split '' -- (string sub -s 2 -- \"$token\"))\n"
	"\t\t\tfor j in (seq (count $letters))\n"
	"\t\t\t\tif __cordon_takes_value \"$path -$letters[$j]\"\n"
	"\t\t\t\t\ttest $j = (count $letters); and set pending 1\n"
	"\t\t\t\t\tbreak\n"
	"\t\t\t\tend\n"
	"\t\t\tend\n"
	"\t\telse if contains -- \"$token\" (__cordon_verbs \"$path\")\n"
	"\t\t\tset path (string trim -- \"$path $token\")\n"
	"\t\telse if __cordon_starts_command \"$path\"\n"
	"\t\t\techo !$i\n"
	"\t\t\treturn\n"
	"\t\tend\n"
	"\tend\n"
	"\techo \"$path\"\n"
	"end\n"
	"\n"
	"function __cordon_at\n"
	"\ttest (__cordon_state) = \"$argv[1]\"\n"
	"end\n"
	"\n"
	"function __cordon_in_command\n"
	"\tstring match -q '!*' -- (__cordon_state)\n"
	"end\n"
	"\n"
	"# What the command after `cordon run` completes itself.\n"
	"function __cordon_command\n"
	"\tset -l first (string sub -s 2 -- (__cordon_state))\n"
	"\tset -l tokens (commandline -opc)\n"
	"\tif test $first -gt (count $tokens)\n"
	"\t\t__fish_complete_command\n"
	"\telse\n"
	"\t\tset -l line (string escape -- $tokens[$first..-1])\n"
	"\t\tcomplete -C (string join ' ' -- $line (commandline -ct))\n"
	"\tend\n"
	"end\n"
	"\n"
	"function __cordon_help_words\n"
	"\t__cordon_verbs (string join ' ' -- (commandline -opc | tail -n +3))\n"
	"end\n"
	"\n"
	"complete -c cordon -f\n"
	"complete -c cordon -n __cordon_in_command -x -a '(__cordon_command)'\n";

void completion_fish(struct out *o, const struct verb *root)
{
	out_str(o,
		"# fish completion for cordon, made from its tables by 'cordon completion fish'\n\n");
	out_str(o, "function __cordon_takes_value\n\tswitch \"$argv[1]\"\n");
	completion_each_verb(o, root, fish_takes_value);
	out_str(o, "\tend\n\treturn 1\nend\n\nfunction __cordon_verbs\n\tswitch \"$argv[1]\"\n");
	completion_each_verb(o, root, fish_subverbs);
	out_str(o, "\tend\nend\n\nfunction __cordon_starts_command\n\tcontains -- \"$argv[1]\"");
	completion_each_verb(o, root, fish_commands);
	out_str(o, "\nend\n\n");
	out_str(o, fish_walk);
	completion_each_verb(o, root, fish_verb);
}
