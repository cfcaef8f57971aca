/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acts of clients: a library that speaks to git, to a database or to a cloud does what a command of that name does.
 * Where there is such a command it is put together and judged as if it had been given to a shell.
 */
#include "inspect/code/scan.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* The last component of a qualified name, and the one before it; "" when there is none. */
static const char *client_last(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : "";
}

static bool client_is_below(const char *name, const char *what)
{
	const char *dot = strrchr(name, '.');
	size_t n = strlen(what), before = dot ? (size_t)(dot - name) : 0;

	return before > n && memcmp(dot - n, what, n) == 0 && dot[-(ptrdiff_t)n - 1] == '.';
}

/* A word in the shell's quotes. */
static void client_word(struct buf *b, const char *s, size_t len)
{
	buf_str(b, " '");
	for (size_t i = 0; i < len; i++)
		if (s[i] == '\'')
			buf_str(b, "'\\''");
		else
			buf_char(b, s[i] == CODE_HOLE ? 'x' : s[i]);
	buf_char(b, '\'');
}

static void client_line(struct code_scan *s, const struct code_call *c, struct buf *b)
{
	if (buf_error(b) == 0)
		code_act_line(s, c->node, buf_cstr(b), b->len);
	buf_done(b);
}

/* repo.git.push("--force", "origin") */
static void client_git(struct code_scan *s, const struct code_call *c)
{
	struct buf b = BUF_INIT(LIMIT_CODE_STRING);

	buf_printf(&b, "git %.40s", client_last(c->name));
	for (unsigned i = 0; i < c->n; i++)
		if (c->args[i].value->str && c->args[i].keyword == CODE_NO_NODE)
			client_word(&b, c->args[i].value->str, c->args[i].value->len);
	client_line(s, c, &b);
}

static bool client_has(const char *s, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= len; i++)
		if (strncasecmp(s + i, word, n) == 0)
			return true;
	return false;
}

/*
 * cursor.execute("DROP SCHEMA public CASCADE").  A table that is made anew, or that is one of a test's own, is dropped
 * by every second program that uses a database: only what has no such excuse is handed over.
 */
static void client_sql(struct code_scan *s, const struct code_call *c)
{
	const struct code_value *v = c->n > 0 ? c->args[0].value : NULL;
	struct buf b = BUF_INIT(LIMIT_CODE_STRING);

	if (!v || !v->is_constant || !v->str || v->len < 10)
		return;
	if (!client_has(v->str, v->len, "drop database") &&
	    !client_has(v->str, v->len, "drop schema") &&
	    !client_has(v->str, v->len, "drop owned") && !client_has(v->str, v->len, "truncate ") &&
	    !(client_has(v->str, v->len, "drop table") && client_has(v->str, v->len, " cascade")))
		return;
	if (client_has(v->str, v->len, "if exists") || client_has(v->str, v->len, "test") ||
	    client_has(v->str, v->len, "create "))
		return;
	buf_str(&b, "psql -c");
	client_word(&b, v->str, v->len);
	client_line(s, c, &b);
}

/* os.environ["LD_PRELOAD"] = "/tmp/x.so" */
void code_act_environ(struct code_scan *s, const char *name, size_t len, uint32_t node,
		      const struct code_value *v)
{
	static const char *const names[] = {"LD_PRELOAD", "LD_AUDIT",       "DYLD_INSERT_LIBRARIES",
					    "BASH_ENV",   "PROMPT_COMMAND", "GIT_SSH_COMMAND"};

	if (s->tree->language != CODE_PYTHON || !client_has(name, len, "environ[") || !v->str ||
	    v->len == 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (client_has(name, len, names[i])) {
			struct buf b = BUF_INIT(LIMIT_CODE_STRING);
			struct code_call c = {.node = node};

			buf_printf(&b, "export %s=", names[i]);
			for (uint32_t k = 0; k < v->len; k++)
				buf_char(&b, v->str[k] == CODE_HOLE ? 'x' : v->str[k]);
			client_line(s, &c, &b);
			return;
		}
}

void code_act_client(struct code_scan *s, const struct code_call *c)
{
	static const char *const executes[] = {"execute", "executescript", "exec_driver_sql",
					       "Exec",    "ExecContext",   "MustExec"};
	const char *last = client_last(c->name);

	if (client_is_below(c->name, "git") && s->tree->language == CODE_PYTHON)
		client_git(s, c);
	for (size_t i = 0; i < ARRAY_LEN(executes); i++)
		if (strcmp(last, executes[i]) == 0) {
			struct code_call rest = *c;

			/* the context comes first */
			if (strcmp(last, "ExecContext") == 0 && rest.n > 1)
				rest.args[0] = rest.args[1];
			client_sql(s, &rest);
		}
}
