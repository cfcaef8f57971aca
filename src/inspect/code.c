/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of code: the walk of code/scan.h with a sink that judges. */
#include "inspect/code.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "inspect/code/scan.h"
#include "inspect/command.h"
#include "inspect/shell/weak.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct code_judge {
	const struct inspect_context *context;
	enum code_language language;
	struct findings *ret;
};

static int judge_add(struct findings *ret, const struct code_rule *rule,
		     enum code_standing standing, unsigned line, unsigned column, const char *code,
		     const char *what, struct cordon_error *err)
{
	struct finding f = {.type = rule->type, .line = line, .column = column};
	int r;

	code_weight_of(rule->weight, standing, &f.level, &f.confidence);
	if (rule->weight == CODE_NOTE)
		return 0;
	(void)snprintf(f.rule, sizeof(f.rule), "%s", rule->id);
	(void)snprintf(f.message, sizeof(f.message), "%s%s%s", rule->reason, what ? ": " : "",
		       what ? what : "");
	/* Long and odd texts may hold what nobody should read: only what is short and plain is shown. */
	(void)snprintf(f.snippet, sizeof(f.snippet), "%.100s", code);
	f.snippet[utf8_check(f.snippet, strlen(f.snippet))] = '\0';
	r = findings_add(ret, &f);
	return r < 0 ? cordon_fail_leaf(err, r, "findings") : 0;
}

static int judge_hit(void *arg, const struct code_hit *hit, struct cordon_error *err)
{
	struct code_judge *j = arg;
	bool hides_text = hit->rule == &code_rules[CODE_RULE_PY_PASSWORD] ||
			  hit->rule == &code_rules[CODE_RULE_GO_PASSWORD];

	return judge_add(j->ret, hit->rule, hit->standing, hit->line, hit->column,
			 hides_text ? "" : hit->code, hit->what, err);
}

/* Findings of a text inside the code stand at the line of the code. */
static void judge_move(struct findings *f, size_t from, uint32_t line)
{
	for (size_t i = from; i < f->n; i++) {
		f->items[i].line = line;
		f->items[i].column = 0;
	}
}

/* What code holds, a command or more code, is judged one level deeper, at the place where it stands. */
static int judge_inside(struct code_judge *j, bool is_command, const char *text, size_t len,
			uint32_t line, struct cordon_error *err)
{
	struct inspect_context inner = *j->context;
	size_t before = j->ret->n;
	int r;

	if (++inner.depth > LIMIT_CODE_DEPTH)
		return judge_add(j->ret, &code_rules[CODE_RULE_CODE_LIMIT], CODE_SCRIPT, line, 0,
				 "", NULL, err);
	r = is_command ? command_inspect(&inner, text, len, j->ret, err)
		       : code_inspect(&inner, j->language, text, len, j->ret, err);
	judge_move(j->ret, before, line);
	return r;
}

static int judge_command(void *arg, const char *text, size_t len, uint32_t line,
			 struct cordon_error *err)
{
	return judge_inside(arg, /* is_command= */ true, text, len, line, err);
}

static int judge_code(void *arg, const char *text, size_t len, uint32_t line,
		      struct cordon_error *err)
{
	return judge_inside(arg, /* is_command= */ false, text, len, line, err);
}

int code_inspect(const struct inspect_context *c, enum code_language language, const char *text,
		 size_t len, struct findings *ret, struct cordon_error *err)
{
	struct inspect_context own = *c;
	struct code_judge judge = {.context = &own, .language = language, .ret = ret};
	struct code_sink sink = {
		.arg = &judge, .hit = judge_hit, .command = judge_command, .code = judge_code};

	inspect_context_begin(&own, len);
	if (language == CODE_BASH)
		return command_inspect(&own, text, len, ret, err);
	if (language == CODE_PYTHON && c->depth == 0) {
		int r = weak_inspect(text, len, ret);

		if (r < 0)
			return cordon_nomem(err);
	}
	return code_walk(&own, language, text, len, &sink, err);
}
