/* SPDX-License-Identifier: Apache-2.0 */
/* See gate.h. */
#include "inspect/gate.h"

#include "base/glob.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/utf8.h"
#include "inspect/shell/rule.h"
#include "policy/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Programs that take a command string; argv[0] is compared by its last component. */
static const char *const gate_shells[] = {
	"sh",    "bash",  "dash",   "zsh",     "ksh",  "mksh",        "ash",        "fish",
	"csh",   "tcsh",  "rbash",  "busybox", "pwsh", "rc",          "es",         "elvish",
	"nu",    "xonsh", "lksh",   "yash",    "sash", "posh",        "osh",        "ysh",
	"ksh93", "rksh",  "toybox", "rzsh",    "oksh", "bash-static", "zsh-static", "mksh-static",
};

enum {
	GATE_BLANK_RUN = 256, /* this many blanks in a row hide what follows */
};

static void gate_refuse(struct refusal *ret, const char *kind, const char *target)
{
	struct buf b = BUF_INIT(sizeof(ret->target) * 8);

	ret->is_refused = true;
	(void)snprintf(ret->kind, sizeof(ret->kind), "%s", kind);
	str_escape(&b, target, strnlen(target, sizeof(ret->target)));
	(void)snprintf(ret->target, sizeof(ret->target), "%s", buf_cstr(&b));
	buf_done(&b);
}

/* "PATH 'ENTRY' (from user file:1:2)" */
static void gate_rule(const struct policy *p, struct refusal *ret, enum policy_row row,
		      const char *entry, const struct origin *o)
{
	struct buf b = BUF_INIT(2048);

	buf_str(&b, shape_policy.fields[row].path);
	if (entry)
		buf_printf(&b, " '%.120s'", entry);
	ret->rule_len = b.len < sizeof(ret->rule) ? b.len : sizeof(ret->rule) - 1;
	ret->origin = *o;
	buf_str(&b, " (");
	policy_origin_text(p, o, &b);
	buf_char(&b, ')');
	(void)snprintf(ret->rule, sizeof(ret->rule), "%s", buf_cstr(&b));
	buf_done(&b);
}

static void gate_blank(struct buf *out)
{
	if (!out->data || out->data[out->len - 1] != ' ')
		buf_char(out, ' ');
}

/* " text " with runs of blanks made one and a blank at either side of each operator, so that `a|b` and
 * `a  |  b` are the same. */
static int gate_normalise(const char *text, size_t len, struct buf *out, struct cordon_error *err)
{
	buf_char(out, ' ');
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '\t' || c == '\n' || c == '\r' || c == '\0')
			c = ' ';
		if (c == ' ') {
			gate_blank(out);
		} else if (strchr("|&;<>()", c)) {
			gate_blank(out);
			buf_char(out, c);
			buf_char(out, ' ');
		} else {
			buf_char(out, c);
		}
	}
	gate_blank(out);
	if (buf_error(out) == -ENOMEM)
		return cordon_nomem(err);
	return buf_error(out) < 0
		       ? cordon_fail(err, CORDON_E_LIMIT, "the command is too long to check")
		       : 0;
}

int gate_command_matches(const char *entry, const char *text, size_t len, bool *ret,
			 struct cordon_error *err)
{
	struct buf pattern = BUF_INIT(LIMIT_GLOB_BYTES),
		   hay = BUF_INIT((size_t)3 * LIMIT_ARG_BYTES + 2),
		   want = BUF_INIT(LIMIT_GLOB_BYTES);
	int r = gate_normalise(entry, strlen(entry), &want, err);

	if (r == 0)
		r = gate_normalise(text, len, &hay, err);
	/* An edge is a blank, an operator or a quote; `*` of the entry crosses everything. */
	buf_str(&pattern, "*[ ;|&(){}`'\"]");
	for (size_t i = 1; r == 0 && i + 1 < want.len; i++) {
		if (strchr("?[\\", want.data[i]))
			buf_char(&pattern, '\\');
		buf_char(&pattern, want.data[i]);
	}
	buf_str(&pattern, "[ ;|&(){}`'\"<>]*");
	if (r == 0 && buf_error(&pattern) == -ENOMEM)
		r = cordon_nomem(err);
	else if (r == 0 && buf_error(&pattern) < 0)
		r = cordon_fail(err, CORDON_E_LIMIT, "an entry of blocked_commands is too long");
	if (r == 0)
		*ret = glob_match_text(buf_cstr(&pattern), buf_cstr(&hay));
	buf_done(&pattern);
	buf_done(&hay);
	buf_done(&want);
	return r;
}

/* One line: the words of a command from the first on as the shell would make them, the program without its directory. */
static void gate_spell(const struct shell_command *c, size_t first, struct buf *out)
{
	buf_str(out, c->name);
	for (size_t i = first; i < c->n; i++) {
		buf_char(out, ' ');
		buf_add(out, c->argv[i].s, c->argv[i].len);
	}
}

/* The first word behind the options that stand before it; a letter alone may take a value or not. */
static size_t gate_operand(const struct shell_command *c, bool letters_take)
{
	size_t i = 1;

	while (i < c->n && c->argv[i].s[0] == '-' && c->argv[i].s[1]) {
		const char *s = c->argv[i].s;

		bool takes = s[1] != '-' && s[2] == '\0' ? letters_take : rule_is_valued(s);

		i += takes ? 2 : 1;
	}
	return i;
}

/* The command without the options before its first operand: `git -C x push` is `git push`. */
static int gate_plain_matches(const char *entry, const struct shell_command *c, struct buf *line,
			      bool *ret, struct cordon_error *err)
{
	int e = 0;

	for (int k = 0; k < 2 && !*ret && e == 0; k++) {
		size_t first = gate_operand(c, k == 1);

		if (first == 1 || first >= c->n)
			continue;
		buf_clear(line);
		gate_spell(c, first, line);
		if (buf_error(line) == 0)
			e = gate_command_matches(entry, buf_cstr(line), line->len, ret, err);
	}
	buf_clear(line);
	return e;
}

/* Does the entry forbid a command that the call runs, however it is written or wrapped?  Each command is looked at by
 * itself and each pipeline as a whole. */
static int gate_parsed_matches(const char *entry, const struct shell_model *m, bool *ret,
			       struct cordon_error *err)
{
	struct buf line = BUF_INIT((size_t)3 * LIMIT_ARG_BYTES);
	int e = 0;

	*ret = false;
	for (size_t i = 0; i < m->n && !*ret && e == 0; i++) {
		size_t end = i + 1;

		e = gate_plain_matches(entry, &m->commands[i], &line, ret, err);
		if (*ret || e < 0)
			break;
		gate_spell(&m->commands[i], 1, &line);
		if (buf_error(&line) == 0)
			e = gate_command_matches(entry, buf_cstr(&line), line.len, ret, err);
		if (i > 0 && m->commands[i - 1].group == m->commands[i].group)
			continue;
		for (; end < m->n && m->commands[end].group == m->commands[i].group; end++) {
			buf_str(&line, " | ");
			gate_spell(&m->commands[end], 1, &line);
		}
		if (end > i + 1 && !*ret && e == 0 && buf_error(&line) == 0)
			e = gate_command_matches(entry, buf_cstr(&line), line.len, ret, err);
	}
	if (e == 0 && buf_error(&line) == -ENOMEM)
		e = cordon_nomem(err);
	else if (e == 0 && buf_error(&line) < 0)
		e = cordon_fail(err, CORDON_E_LIMIT, "the command is too long to check");
	buf_done(&line);
	return e;
}

/* The model of what the call runs: its string for a shell, or its words quoted for one. */
static int gate_model(const struct request *r, struct shell_model *m, struct buf *text,
		      struct cordon_error *err)
{
	if (r->kind != REQUEST_SHELL)
		for (size_t i = 0; i < r->argv.n; i++) {
			if (i > 0)
				buf_char(text, ' ');
			str_shell_quote(text, r->argv.v[i]);
		}
	else
		buf_add(text, r->text, r->text_len);
	if (buf_error(text) < 0)
		return buf_error(text) == -ENOMEM ? cordon_nomem(err)
						  : cordon_fail(err, CORDON_E_LIMIT,
								"the command is too long to check");
	return shell_model_build(NULL, buf_cstr(text), text->len, m) < 0 ? cordon_nomem(err) : 0;
}

/* The entries once more, on what the shell would make of the text.  What cannot be read to its end is refused: an entry
 * may forbid the rest. */
static int gate_blocked_parsed(const struct policy *p, const struct request *r, struct refusal *ret,
			       struct cordon_error *err)
{
	struct buf text = BUF_INIT((size_t)4 * LIMIT_ARG_BYTES);
	struct shell_model m = {0};
	int e;

	if (p->blocked_commands.n == 0)
		return 0;
	e = gate_model(r, &m, &text, err);
	for (size_t i = 0; i < p->blocked_commands.n && e == 0 && !ret->is_refused; i++) {
		const struct item *item = &p->blocked_commands.items[i];
		bool found = false;

		e = gate_parsed_matches(item->text, &m, &found, err);
		if (e < 0 || (!found && !(m.notes & NOTE_CUT)))
			continue;
		gate_refuse(ret, found ? "command" : "limit", r->text);
		gate_rule(p, ret, POLICY_BLOCKED_COMMANDS, item->text, &item->origin);
		(void)snprintf(
			ret->remedy, sizeof(ret->remedy),
			found ? "remove the entry from blocked_commands, or change the command"
			      : "the command is too large to be checked against blocked_commands: "
				"split it");
	}
	shell_model_done(&m);
	buf_done(&text);
	return e;
}

static int gate_blocked_commands(const struct policy *p, const struct request *r,
				 struct refusal *ret, struct cordon_error *err)
{
	for (size_t i = 0; i < p->blocked_commands.n && !ret->is_refused; i++) {
		const struct item *item = &p->blocked_commands.items[i];
		bool found = false;
		int e = gate_command_matches(item->text, r->text, r->text_len, &found, err);

		if (e < 0)
			return e;
		if (!found)
			continue;
		gate_refuse(ret, "command", r->text);
		gate_rule(p, ret, POLICY_BLOCKED_COMMANDS, item->text, &item->origin);
		(void)snprintf(ret->remedy, sizeof(ret->remedy),
			       "remove the entry from blocked_commands, or change the command");
	}
	return 0;
}

static int gate_blocked_patterns(const struct policy *p, const struct request *r,
				 struct refusal *ret, struct cordon_error *err)
{
	for (size_t i = 0; i < p->blocked_patterns.n && !ret->is_refused; i++) {
		const struct item *item = &p->blocked_patterns.items[i];
		struct pattern *pattern = NULL;
		int e = pattern_compile(item->text, &pattern, err);

		if (e < 0)
			return e;
		e = pattern_search(pattern, r->text, r->text_len);
		pattern_free(pattern);
		if (e == 0)
			continue;
		/* A search that gave up counts as found. */
		gate_refuse(ret, "command", r->text);
		gate_rule(p, ret, POLICY_BLOCKED_PATTERNS, item->text, &item->origin);
		(void)snprintf(
			ret->remedy, sizeof(ret->remedy),
			e < 0 ? "the pattern took too many steps on this command: simplify it"
			      : "remove the entry from blocked_patterns, or change the command");
	}
	return 0;
}

static bool gate_is_shell(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(gate_shells); i++)
		if (strcmp(path_base(name), gate_shells[i]) == 0)
			return true;
	return false;
}

/* A shell behind wrappers (env, sudo, xargs, find -exec), or something that cannot be read to its end. */
static int gate_wrapped_shell(const struct request *r, char *ret, size_t size,
			      struct cordon_error *err)
{
	struct buf text = BUF_INIT((size_t)4 * LIMIT_ARG_BYTES);
	struct shell_model m = {0};
	int e = gate_model(r, &m, &text, err);

	for (size_t i = 0; e == 0 && i < m.n && !*ret; i++)
		if (gate_is_shell(m.commands[i].name))
			(void)snprintf(ret, size, "%s", m.commands[i].name);
	if (e == 0 && !*ret && (m.notes & NOTE_CUT))
		(void)snprintf(ret, size, "%s", r->argv.v[0]);
	shell_model_done(&m);
	buf_done(&text);
	return e;
}

static int gate_shell_mode(const struct policy *p, const struct request *r, struct refusal *ret,
			   struct cordon_error *err)
{
	char shell[256] = "";
	int e = 0;

	if (!policy_is_written(p, POLICY_SHELL_MODE) || p->shell_mode != SHELL_DENY)
		return 0;
	if (r->kind == REQUEST_SHELL || gate_is_shell(r->argv.v[0]))
		(void)snprintf(shell, sizeof(shell), "%s", r->argv.v[0]);
	else
		e = gate_wrapped_shell(r, shell, sizeof(shell), err);
	if (e < 0 || !shell[0])
		return e;
	gate_refuse(ret, "command", shell);
	gate_rule(p, ret, POLICY_SHELL_MODE, "deny", &p->origin[POLICY_SHELL_MODE]);
	(void)snprintf(
		ret->remedy, sizeof(ret->remedy),
		"run the program itself instead of a shell, or set shell.mode to restricted");
	return 0;
}

static bool gate_is_blank(uint32_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xa0 || c == 0x1680 ||
	       (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
	       c == 0x205f || c == 0x2800 || c == 0x3000;
}

/* Zero width, bidirectional controls, fillers, variation selectors and tags. */
static bool gate_is_invisible(uint32_t c)
{
	return c == 0xad || c == 0x61c || c == 0x115f || c == 0x1160 || c == 0x180e ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0x3164 || c == 0xfeff || c == 0xffa0 ||
	       (c >= 0xe0000 && c <= 0xe01ef);
}

static bool gate_hides_text(const char *text, size_t len)
{
	size_t run = 0;

	for (size_t i = 0; i < len;) {
		uint32_t c = 0;
		size_t n = utf8_decode(text + i, len - i, &c);

		if (n == 0) {
			c = 0;
			n = 1;
		}
		run = gate_is_blank(c) ? run + 1 : 0;
		if (run >= GATE_BLANK_RUN || gate_is_invisible(c))
			return true;
		i += n;
	}
	return false;
}

static bool gate_is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

static void gate_input(const struct policy *p, const struct request *r, struct refusal *ret)
{
	int row = -1;

	if (policy_has(p, POLICY_INPUT_SIZE) && r->text_len > (uint64_t)p->input_max_bytes)
		row = POLICY_INPUT_SIZE;
	else if (p->input_nul && memchr(r->text, '\0', r->text_len))
		row = POLICY_INPUT_NUL;
	else if (p->input_blanks && gate_hides_text(r->text, r->text_len))
		row = POLICY_INPUT_BLANKS;
	else if (policy_has(p, POLICY_INPUT_ENCODING) &&
		 ((p->input_encoding == ENCODING_UTF8 && !utf8_is_valid(r->text, r->text_len)) ||
		  (p->input_encoding == ENCODING_ASCII && !gate_is_ascii(r->text, r->text_len))))
		row = POLICY_INPUT_ENCODING;
	if (row < 0)
		return;
	gate_refuse(ret, "input", r->text);
	gate_rule(p, ret, (enum policy_row)row, NULL, &p->origin[row]);
	(void)snprintf(ret->remedy, sizeof(ret->remedy), "change the input, or '%s'",
		       shape_policy.fields[row].path);
}

int gate_check_lists(const struct policy *p, const struct request *r, struct refusal *ret,
		     struct cordon_error *err)
{
	int e = 0;

	*ret = (struct refusal){0};
	gate_input(p, r, ret);
	if (!ret->is_refused)
		e = gate_blocked_commands(p, r, ret, err);
	if (e == 0 && !ret->is_refused)
		e = gate_blocked_parsed(p, r, ret, err);
	if (e == 0 && !ret->is_refused)
		e = gate_blocked_patterns(p, r, ret, err);
	return e;
}

int gate_check(const struct policy *p, const struct request *r, struct refusal *ret,
	       struct cordon_error *err)
{
	int e;

	*ret = (struct refusal){0};
	e = gate_shell_mode(p, r, ret, err);
	/* The lists hold in every mode: a list that somebody wrote is never ignored. */
	return e < 0 || ret->is_refused ? e : gate_check_lists(p, r, ret, err);
}
