/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of a command: the rules on its model, the notes of the walk, code for other interpreters, and hosts that
 * the policy does not allow.
 */
#include "inspect/command.h"

#include "base/limits.h"
#include "base/str.h"
#include "inspect/adversary.h"
#include "inspect/allow.h"
#include "inspect/code.h"
#include "inspect/shell/model.h"
#include "inspect/shell/net.h"
#include "inspect/shell/rule.h"
#include "inspect/shell/script.h"
#include "inspect/shell/weak.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct command_judge {
	const struct inspect_context *c;
	const struct shell_model *m;
	struct findings *out;
	size_t first;   /* of our findings in out */
	bool is_script; /* a file: begins with #! */
	bool is_long;   /* a script, in which single acts that may be harmless say little */
};

static int command_add(struct command_judge *j, const struct finding *f)
{
	for (size_t i = j->first; i < j->out->n; i++)
		if (j->out->items[i].line == f->line && strcmp(j->out->items[i].rule, f->rule) == 0)
			return 0;
	return findings_add(j->out, f);
}

void command_snippet(const struct shell_command *c, char *ret, size_t size)
{
	struct buf b = BUF_INIT(4096), shown = BUF_INIT(4096);

	for (size_t i = 0; i < c->n && b.len < size; i++) {
		if (i > 0)
			buf_char(&b, ' ');
		buf_add(&b, c->argv[i].s, c->argv[i].len < 200 ? c->argv[i].len : 200);
	}
	for (size_t i = 0; i < b.len; i++)
		b.data[i] = (char)(b.data[i] == SHELL_UNKNOWN ? '$' : b.data[i]);
	str_escape(&shown, buf_cstr(&b), b.len < size ? b.len : size - 1);
	(void)snprintf(ret, size, "%s", buf_cstr(&shown));
	buf_done(&b);
	buf_done(&shown);
}

static int command_rule(void *arg, const struct shell_rule *rule, const struct shell_command *c)
{
	struct command_judge *j = arg;
	struct finding f = {.type = rule->type,
			    .level = rule->level,
			    .confidence = rule->confidence,
			    .line = c->line,
			    .column = c->column};

	if ((j->is_long || (j->is_script && c->is_conditional)) && rule->level == THREAT_LOW)
		f.confidence /= 2;
	(void)snprintf(f.rule, sizeof(f.rule), "%s", rule->id);
	(void)snprintf(f.message, sizeof(f.message), "%s", rule->reason);
	command_snippet(c, f.snippet, sizeof(f.snippet));
	return command_add(j, &f);
}

static int command_rules(struct command_judge *j)
{
	for (size_t i = 0; i < j->m->n; i++) {
		int r = rule_each(j->m, &j->m->commands[i], command_rule, j);

		if (r < 0)
			return r;
	}
	return 0;
}

static int command_note(struct command_judge *j, unsigned note, const char *rule,
			const char *message, enum threat level, double confidence)
{
	struct finding f = {.type = FINDING_INPUT,
			    .level = level,
			    .confidence = confidence,
			    .line = j->m->note_line ? j->m->note_line : 1};

	if (!(j->m->notes & note))
		return 0;
	(void)snprintf(f.rule, sizeof(f.rule), "%s", rule);
	(void)snprintf(f.message, sizeof(f.message), "%s", message);
	return command_add(j, &f);
}

static int command_notes(struct command_judge *j)
{
	int r = command_note(j, NOTE_CUT, "CMD-LIMIT",
			     "It is too large, too deep or too slow to be read to its end.",
			     THREAT_MEDIUM, 0.6);

	if (r == 0)
		r = command_note(j, NOTE_FORKS, "CMD-FORK-BOMB",
				 "It starts copies of itself without end.", THREAT_CRITICAL, 0.9);
	if (r == 0)
		r = command_note(j, NOTE_SYNTAX, "CMD-SYNTAX",
				 "Most of it cannot be read as a command.", THREAT_LOW, 0.4);
	if (r == 0)
		r = command_note(j, NOTE_NUL, "CMD-NUL",
				 "It has NUL bytes, which hide text from some readers.", THREAT_LOW,
				 0.4);
	if (r == 0)
		r = command_note(j, NOTE_FRAGMENT, "CMD-FRAGMENT",
				 "It begins in the middle of a command, as injected text does.",
				 THREAT_LOW, 0.4);
	return r;
}

static int command_codes(struct command_judge *j, struct cordon_error *err)
{
	for (size_t i = 0; i < j->m->n_codes; i++) {
		const struct shell_code *code = &j->m->codes[i];
		struct inspect_context inner = *j->c;
		struct finding f;
		int r = 0;

		inner.depth++;
		if (script_judge(code, &f)) {
			command_snippet(&j->m->commands[code->command], f.snippet,
					sizeof(f.snippet));
			r = command_add(j, &f);
			if (r < 0)
				return cordon_nomem(err);
		}
		if ((code->language == SHELL_PYTHON || code->language == SHELL_GO) &&
		    inner.depth <= LIMIT_INSPECT_DEPTH)
			r = code_inspect(&inner, code->language == SHELL_GO ? CODE_GO : CODE_PYTHON,
					 code->text, code->len, j->out, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Sentences: so many words in a row that are nothing but letters. */
static bool command_has_prose(const char *text, size_t len)
{
	enum { WORDS = 4 };
	size_t words = 0, letters = 0;

	for (size_t i = 0; i <= len; i++) {
		char ch = i < len ? text[i] : ' ';

		if ((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z')) {
			letters++;
			continue;
		}
		if (ch == ' ' || ch == '\n') {
			words = letters > 0 ? words + 1 : 0;
			if (words >= WORDS)
				return true;
		} else if (!strchr(",.:;\"'!?", ch)) {
			words = 0;
		}
		letters = 0;
	}
	return false;
}

/* Instructions for a model in what the command writes or says: whoever reads that later may follow them.  People
 * write about such things too, so that it only makes them look. */
static int command_prose(struct command_judge *j, const char *text, size_t len,
			 struct cordon_error *err)
{
	AUTO(findings_done) struct findings found = {0};
	struct inspect_context own = *j->c;
	int r;

	if (j->c->depth > 0 || !command_has_prose(text, len))
		return 0;
	own.depth++;
	own.document = INSPECT_DOCUMENT_SOURCE;
	r = adversary_inspect(&own, text, len, &found, err);
	for (size_t i = 0; r == 0 && i < found.n; i++) {
		struct finding *f = &found.items[i];

		if (f->type == FINDING_DATA_LEAK || f->level < THREAT_HIGH)
			continue;
		f->level = THREAT_MEDIUM;
		f->confidence = f->confidence < 0.5 ? f->confidence : 0.5;
		if (command_add(j, f) < 0)
			return cordon_nomem(err);
	}
	return r;
}

/* A shell for the network in a language that nobody is asked to run here: pasted, or written to a file. */
static int command_foreign(struct command_judge *j, const char *text, size_t len)
{
	struct finding f;

	if (j->m->n_codes > 0 || !script_judge_text(text, len, &f))
		return 0;
	return command_add(j, &f);
}

static int command_egress(struct command_judge *j)
{
	const struct policy *p = j->c->policy;

	if (!p || !policy_is_written(p, POLICY_NET_MODE) || p->net_mode != NET_ALLOWLIST)
		return 0;
	for (size_t i = 0; i < j->m->n; i++) {
		const struct shell_command *c = &j->m->commands[i];
		const struct net_host *hosts = c->hosts;

		for (size_t k = 0; k < c->n_hosts; k++) {
			struct finding f = {.type = FINDING_EGRESS,
					    .level = THREAT_MEDIUM,
					    .confidence = 0.6,
					    .line = c->line,
					    .column = c->column};
			struct buf b = BUF_INIT(4096);
			int r;

			if (net_is_local(&hosts[k]) ||
			    allow_host(p, hosts[k].name, strlen(hosts[k].name), hosts[k].port))
				continue;
			str_escape(&b, hosts[k].name, strlen(hosts[k].name));
			(void)snprintf(f.rule, sizeof(f.rule), "CMD-EGRESS");
			(void)snprintf(
				f.message, sizeof(f.message),
				"It would contact the %s '%.180s', which the policy does not allow.",
				net_kind_name(hosts[k].kind), buf_cstr(&b));
			buf_done(&b);
			command_snippet(c, f.snippet, sizeof(f.snippet));
			r = findings_add(j->out, &f);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int command_inspect(const struct inspect_context *c, const char *text, size_t len,
		    struct findings *ret, struct cordon_error *err)
{
	struct inspect_context own = *c;
	struct shell_model m;
	struct command_judge j = {.c = &own, .m = &m, .out = ret, .first = ret->n};
	int r;

	inspect_context_begin(&own, len);
	r = shell_model_build(&own, text, len, &m);
	if (r == 0) {
		rule_prepare(&m);
		j.is_long = m.n > LIMIT_SHELL_SHORT;
		j.is_script = len > 2 && text[0] == '#' && text[1] == '!';
		r = command_rules(&j);
	}
	if (r == 0)
		r = command_notes(&j);
	if (r == 0)
		r = command_egress(&j);
	if (r == 0)
		r = command_foreign(&j, text, len);
	if (r == 0 && j.is_script && c->depth == 0)
		r = weak_inspect(text, len, ret);
	if (r == 0 && c->see)
		c->see(c->see_data, &m);
	r = r < 0 ? cordon_nomem(err) : command_codes(&j, err);
	if (r == 0)
		r = command_prose(&j, text, len, err);
	shell_model_done(&m);
	return r;
}
