/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See output.h.  A search is told by where it begins and by whether it chooses: `find / -type f` names all there is,
 * `find / -name core` does not.
 */
#include "inspect/shell/output.h"

#include "inspect/shell/place.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

#define OUTPUT_LARGE (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME))

/* The word behind an option that does not choose and takes one. */
static bool output_takes(const struct shell_command *c, const char *s)
{
	if (strcmp(c->name, "find") == 0)
		return rule_is("-maxdepth -mindepth -type", s);
	return strcmp(c->name, "ls") != 0 && rule_is("--max-depth --min-depth --type -d -t", s);
}

static bool output_is_fd(const struct shell_command *c)
{
	return rule_is("fd fdfind", c->name);
}

bool output_is_choosing(const struct shell_command *c)
{
	if (rule_is("ls du", c->name))
		return false;
	if (output_is_fd(c) && !rule_is(". .* ^ ", rule_operand(c, 0)) && *rule_operand(c, 0))
		return true;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s, *next = i + 1 < c->n ? c->argv[i + 1].s : "";

		if (rule_is("-exec -execdir -ok -okdir -x -X --exec --exec-batch", s))
			return false;
		if (rule_is("-name -iname -path -wholename", s) && rule_is("* *.* */*", next))
			i++;
		else if (strcmp(s, "-type") == 0 && !rule_is("f d f,d d,f", next))
			return true;
		else if (output_takes(c, s))
			i++;
		else if (s[0] == '-' && !output_is_fd(c) &&
			 !rule_is("-H -L -P -print -print0 -xdev -mount -depth -follow -noleaf -a "
				  "-o -and -or",
				  s))
			return true;
		else if (strcmp(s, "!") == 0)
			return true;
	}
	return false;
}

static uint64_t output_class(struct run *r, const struct shell_word *w)
{
	return place_of(r->m->context, w->s, r->cwd, (w->flags & WORD_GLOB) != 0);
}

unsigned output_place(struct run *r, const struct shell_word *start, bool is_choosing)
{
	uint64_t place = output_class(r, start);

	return (place & (PLACE(SECRET_DIR) | PLACE(SECRET)) ? TAINT_SECRET : 0u) |
	       (place & OUTPUT_LARGE && !is_choosing ? TAINT_WHOLE : 0u);
}

/* How much is lost when the wrong thing is done to what lies there. */
static int output_weight(struct run *r, const struct shell_word *w)
{
	uint64_t place = output_class(r, w);

	return place & OUTPUT_LARGE                          ? 3
	       : place & (PLACE(SECRET_DIR) | PLACE(SECRET)) ? 2
	       : place & PLACE(SYSTEM)                       ? 1
							     : 0;
}

struct shell_text output_names(struct run *r, const struct shell_command *c)
{
	bool is_choosing = output_is_choosing(c), is_pattern = output_is_fd(c);
	bool is_plain = rule_is("ls du", c->name);
	const struct shell_word *most = NULL;
	struct shell_text out;
	struct buf b = BUF_INIT(LIMIT_SHELL_WORD);
	size_t len;

	for (size_t i = 1; i < c->n; i++) {
		const struct shell_word *w = &c->argv[i];

		if (output_takes(c, w->s)) {
			i++;
			continue;
		}
		if (strchr("-(!", w->s[0])) {
			/* what stands behind the conditions of find is no place */
			if (strcmp(c->name, "find") == 0 && !rule_is("-H -L -P", w->s))
				break;
			continue;
		}
		if (is_pattern) {
			is_pattern = false;
			continue;
		}
		/* ls prints whole paths of what a pattern fits, or with -d */
		if (strcmp(c->name, "ls") == 0 && !(w->flags & WORD_GLOB) && !rule_has(c, "-d"))
			continue;
		if (!most || output_weight(r, w) > output_weight(r, most))
			most = w;
	}
	if (!most)
		return (struct shell_text){.taint = is_plain ? 0 : TAINT_FILE};
	/* ls -d DIR prints DIR */
	if (strcmp(c->name, "ls") == 0 && !(most->flags & WORD_GLOB))
		return word_value(most);
	len = most->flags & WORD_GLOB ? strcspn(most->s, "*?[") : most->len;
	buf_add(&b, most->s, len);
	if (len > 0 && most->s[len - 1] != '/' && len == most->len)
		buf_char(&b, '/');
	buf_str(&b, is_choosing ? "\001/\001" : "\001");
	out = run_known(r, buf_cstr(&b), b.len,
			output_place(r, most, is_choosing) | (is_plain ? 0 : TAINT_FILE));
	out.is_known = false;
	run_buf_done(r, &b);
	return out;
}

/* The name of all variables together, and not of one of them: os.environ, process.env, ENVIRON. */
static bool output_is_all(const char *s)
{
	static const struct {
		const char *name, *one; /* what follows when one variable is taken */
	} rows[] = {
		{"os.environ", "[.b"}, {"process.env", "[."},   {"ENVIRON", "["},
		{"%ENV", ""},          {"ENV.to", ""},          {"ENV.each", ""},
		{"ENV.inspect", ""},   {"getenv()", ""},        {"$_ENV", "["},
		{"os.Environ()", ""},  {"System.getenv()", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (const char *p = s; (p = strstr(p, rows[i].name)) != NULL;) {
			p += strlen(rows[i].name);
			if (str_starts(p, ".items") || str_starts(p, ".copy") || !*p ||
			    !strchr(rows[i].one, *p))
				return true;
		}
	return false;
}

unsigned output_environment(const struct shell_command *c)
{
	if (rule_is("export declare typeset readonly", c->name)) {
		/* without a name it prints all; functions are no variables */
		for (size_t i = 1; i < c->n; i++)
			if (c->argv[i].s[0] != '-' || strpbrk(c->argv[i].s, "fF"))
				return 0;
		return TAINT_IDENTITY;
	}
	if (strcmp(c->name, "systemctl") == 0)
		return strcmp(rule_operand(c, 0), "show-environment") == 0 ? TAINT_IDENTITY : 0;
	if (rule_is("jq jaq gojq yq", c->name)) {
		for (size_t i = 1; i < c->n; i++)
			if (rule_is("env $ENV env|.", c->argv[i].s))
				return TAINT_IDENTITY;
		return 0;
	}
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].len > 4 && output_is_all(c->argv[i].s))
			return TAINT_IDENTITY;
	return 0;
}

struct shell_text output_passed(const struct shell_command *c, struct shell_text out)
{
	bool is_whole = rule_is("sort uniq shuf tr nl column cut tac rev", c->name) ||
			(rule_is("awk gawk mawk", c->name) && c->n > 1 &&
			 !strpbrk(c->argv[c->n - 1].s, "/~<>=!"));

	if (!is_whole || !c->has_in)
		out.taint &= ~(unsigned)TAINT_WHOLE;
	/* lines of what came in, of which the beginning is known */
	if (c->has_in && !c->in.is_known && c->in.s && c->n > 0 &&
	    rule_is("sort uniq shuf tr grep egrep fgrep rg", c->name)) {
		out.s = c->in.s;
		out.len = c->in.len;
	}
	return out;
}
