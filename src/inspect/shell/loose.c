/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that the parser could not read: split at blanks and operators outside quotes, so that a command is seen in spite
 * of a missing quote or bracket.  bash itself would refuse such text, but other shells and readers of fragments do not.
 */
#include "inspect/shell/run.h"

#include <string.h>

static bool loose_is_operator(char c)
{
	return c && strchr(";|&()\n", c) != NULL;
}

static bool loose_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The end of the word at `at`; a quote that is never closed takes the rest. */
static size_t loose_word(const char *t, size_t at, size_t end)
{
	while (at < end && !loose_is_blank(t[at]) && !loose_is_operator(t[at])) {
		if (t[at] == '\\') {
			at++;
		} else if (t[at] == '\'' || t[at] == '"') {
			const char *shut = memchr(t + at + 1, t[at], end - at - 1);

			at = shut ? (size_t)(shut - t) : end;
		} else if (t[at] == '$' && at + 1 < end && t[at + 1] == '{') {
			const char *shut = memchr(t + at, '}', end - at);

			if (shut)
				at = (size_t)(shut - t);
		}
		at++;
	}
	return at < end ? at : end;
}

void loose_run(struct run *r, size_t start, size_t end)
{
	const char *t = r->tree->text;
	struct run_call call = {0};
	struct shell_text out = run_nothing();
	bool is_piped = false;
	unsigned line = r->line > 0 ? r->line : 1;

	for (size_t at = start; at <= end && run_step(r);) {
		bool is_end = at == end || loose_is_operator(t[at]);

		if (is_end && call.argv.n > 0) {
			call.in = is_piped ? out : run_nothing();
			call.has_in = is_piped;
			call.line = line;
			out = exec_call(r, &call);
			call = (struct run_call){0};
		}
		line += at < end && t[at] == '\n';
		if (is_end) {
			is_piped = at < end && t[at] == '|' && at + 1 < end && t[at + 1] != '|';
			at++;
		} else if (loose_is_blank(t[at])) {
			at++;
		} else {
			size_t next = loose_word(t, at, end);

			if (t[at] != '<' && t[at] != '>')
				word_range(r, at, next, &call.argv);
			at = next > at ? next : at + 1;
		}
	}
}
