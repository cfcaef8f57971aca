/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program as a verb.  Which others there are is a list of the system's (verb_list.c, verb_list_darwin.c).
 */
#include "cli/verb.h"

#include "base/log.h"
#include "cli/cli.h"
#include "cli/suggest.h"

#include <string.h>

static const struct option verb_root_options[] = {
	{'h', "help", OPTION_INTO_FLAG(struct cli_root, wants_help), .is_final = true,
	 .help = "show this help"},
	{'V', "version", OPTION_INTO_FLAG(struct cli_root, wants_version), .is_final = true,
	 .help = "show the version"},
	{0},
};

const struct option verb_common_options[] = {
	{'h', "help", OPTION_INTO_FLAG(struct cli_common, wants_help), .is_final = true,
	 .group = "General", .help = "show this help"},
	{'q', "quiet", OPTION_INTO_SET(struct cli_common, verbosity), .value = LOG_LEVEL_QUIET,
	 .is_repeatable = true, .group = "General", .help = "say nothing but errors"},
	{'v', "verbose", OPTION_INTO_SET(struct cli_common, verbosity), .value = LOG_LEVEL_VERBOSE,
	 .is_repeatable = true, .group = "General", .help = "say what is being done"},
	{0},
};

const struct verb verb_cordon = {
	.name = "cordon",
	.summary = "run the tool calls of AI agents where they can do no harm",
	.synopsis = (const char *const[]){"VERB [OPTIONS] [ARG...]", "--help | --version", NULL},
	.options = verb_root_options,
	.subverbs = verb_list,
	.description =
		"*cordon* reads a tool call, judges it, picks an isolation mechanism that can hold the "
		"policy, runs the call there and records what happened. One manifest says what a call "
		"may touch, at every level of isolation.\n"
		"\n"
		"Containment is the boundary. What the detectors conclude only makes it tighter: no "
		"safety property rests on them.",
	.exit_status = "*0*\n\tsuccess\n\n*125*\n\tcordon itself failed, or was asked wrongly\n\n"
		       "The verbs say where they use others.",
};

const struct verb *verb_find(const struct verb *parent, const char *name)
{
	for (size_t i = 0; parent->subverbs && parent->subverbs[i]; i++)
		if (strcmp(parent->subverbs[i]->name, name) == 0)
			return parent->subverbs[i];
	return NULL;
}

int verb_unknown(const struct verb *parent, const char *name, struct cordon_error *err)
{
	struct suggest suggest = SUGGEST_INIT(name, "");
	struct buf text = BUF_INIT(1024);
	int r;

	for (size_t i = 0; parent->subverbs[i]; i++)
		suggest_consider(&suggest, parent->subverbs[i]->name);
	suggest_write(&suggest, &text);
	if (text.len == 0)
		buf_printf(&text, "; 'cordon help%s%s' lists them",
			   parent == &verb_cordon ? "" : " ",
			   parent == &verb_cordon ? "" : parent->name);
	r = cordon_fail(err, CORDON_E_INVALID, "unknown verb '%.200s'%s", name, buf_cstr(&text));
	suggest_done(&suggest);
	buf_done(&text);
	return r;
}

const struct option *verb_next_option(const struct verb *verb, size_t *position)
{
	size_t n = 0;

	for (const struct option *o = verb->options; o && o->long_name; o++)
		if (n++ == *position) {
			++*position;
			return o;
		}
	for (const struct option *o = verb->more_options; o && o->long_name; o++)
		if (n++ == *position) {
			++*position;
			return o;
		}
	if (verb == &verb_cordon)
		return NULL;
	for (const struct option *o = verb_common_options; o->long_name; o++)
		if (n++ == *position) {
			++*position;
			return o;
		}
	return NULL;
}
