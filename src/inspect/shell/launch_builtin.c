/* SPDX-License-Identifier: Apache-2.0 */
/* Builtins that run code, at once or later, or change what later commands see. */
#include "inspect/shell/launch.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

struct shell_text launch_trap(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	size_t at = exec_operand(cmd, 1, "", " ");

	return at + 1 < cmd->n ? exec_code(r, c, word_value(&cmd->argv[at]), VIA_LATER)
			       : run_nothing();
}

struct shell_text launch_alias(struct run *r, size_t c)
{
	for (size_t i = 1; i < r->m->commands[c].n; i++) {
		const struct shell_word *w = &r->m->commands[c].argv[i];
		size_t eq = strcspn(w->s, "=");
		struct run_alias *a;

		if (w->s[eq] != '=')
			continue;
		/* What it says is judged without itself. */
		(void)exec_code(r, c, run_known(r, w->s + eq + 1, w->len - eq - 1, w->taint),
				VIA_LATER);
		w = &r->m->commands[c].argv[i];
		a = run_grow(r, (void **)&r->aliases, &r->n_aliases, &r->cap_aliases, sizeof(*a),
			     LIMIT_SHELL_NAMES);
		if (!a)
			break;
		a->name = arena_copy(&r->m->arena, w->s, eq);
		a->text = arena_copy(&r->m->arena, w->s + eq + 1, w->len - eq - 1);
	}
	return run_nothing();
}

/* hash -p PATH NAME */
struct shell_text launch_hash(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	struct run_alias *a;

	if (cmd->n < 4 || strcmp(cmd->argv[1].s, "-p") != 0)
		return run_nothing();
	a = run_grow(r, (void **)&r->aliases, &r->n_aliases, &r->cap_aliases, sizeof(*a),
		     LIMIT_SHELL_NAMES);
	if (a)
		*a = (struct run_alias){.name = cmd->argv[3].s, .text = cmd->argv[2].s};
	return run_nothing();
}

struct shell_text launch_cd(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	size_t at = exec_operand(cmd, 1, "", " ");

	if (at >= cmd->n)
		r->cwd = "~";
	else if (cmd->argv[at].flags & WORD_UNKNOWN || strcmp(cmd->argv[at].s, "-") == 0)
		r->cwd = NULL;
	else if (cmd->argv[at].s[0] == '/' || cmd->argv[at].s[0] == '~' || !r->cwd)
		r->cwd = cmd->argv[at].s;
	else {
		struct buf b = BUF_INIT(LIMIT_PATH_BYTES);

		buf_printf(&b, "%s/%s", r->cwd, cmd->argv[at].s);
		r->cwd = buf_error(&b) < 0 ? NULL : arena_copy(&r->m->arena, b.data, b.len);
		run_buf_done(r, &b);
	}
	return run_nothing();
}

struct shell_text launch_read(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	size_t at = exec_operand(cmd, 1, "adinNptu", " ");
	struct shell_text v = cmd->has_in ? cmd->in : (struct shell_text){.taint = TAINT_INPUT};
	struct shell_word room;
	const struct shell_word *fd = exec_option(r, cmd, 'u', NULL, &room);

	if (fd) {
		struct buf b = BUF_INIT(256);
		const struct run_file *f;

		buf_printf(&b, "&%.200s", fd->s);
		f = run_file(r, buf_cstr(&b));
		if (f)
			v = f->value;
		run_buf_done(r, &b);
	}
	if (v.is_known)
		v = run_known(r, v.s, strcspn(v.s, "\n") < v.len ? strcspn(v.s, "\n") : v.len,
			      v.taint);
	for (size_t i = at; i < cmd->n; i++)
		run_set(r, cmd->argv[i].s, cmd->argv[i].len, v);
	return run_nothing();
}

struct shell_text launch_unset(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];

	for (size_t i = 1; i < cmd->n; i++) {
		struct run_variable *v = run_get(r, cmd->argv[i].s, cmd->argv[i].len);

		if (v && !v->is_readonly)
			v->name = "";
	}
	return run_nothing();
}

/* exec without a command only opens descriptors; {name} is set. */
struct shell_text launch_exec(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	size_t at = exec_operand(cmd, 1, "a", " ");

	if (at < cmd->n && cmd->argv[at].s[0] == '{' && cmd->n_redirects > 0) {
		struct shell_word name = cmd->argv[at];
		size_t len = strcspn(name.s, "}");

		if (len > 1) {
			struct buf b = BUF_INIT(256);
			struct shell_redirect *d = &cmd->redirects[0];
			const struct run_file *f = NULL;
			bool is_network = false;
			struct shell_text v = d->kind == REDIRECT_TEXT
						      ? word_value(&d->target)
						      : exec_contents(r, &d->target, &is_network);

			if (d->kind == REDIRECT_DUP) {
				buf_printf(&b, "&%.200s", d->target.s);
				if (b.len > 1 && b.data[b.len - 1] == '-')
					buf_truncate(&b, b.len - 1);
				f = run_file(r, buf_cstr(&b));
				v = f ? f->value : v;
				is_network = f ? f->is_network : false;
				buf_clear(&b);
			}
			run_set(r, name.s + 1, len - 1, run_known(r, name.s, len + 1, 0));
			buf_printf(&b, "&%.*s", (int)(len + 1 > 200 ? 200 : len + 1), name.s);
			f = run_file(r, d->target.s);
			if (f && f->tree) {
				struct run_file copy = *f;
				struct run_file *slot = run_grow(r, (void **)&r->files, &r->n_files,
								 &r->cap_files, sizeof(*slot),
								 LIMIT_SHELL_NAMES);

				copy.path = arena_copy(&r->m->arena, b.data, b.len);
				if (slot)
					*slot = copy;
			} else {
				run_file_set(r, buf_cstr(&b), v, is_network);
			}
			run_buf_done(r, &b);
			return run_nothing();
		}
	}
	return at < cmd->n ? exec_rest(r, c, at, 0) : run_nothing();
}

/* set -- WORD…: what "$@" is from now on */
struct shell_text launch_set(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];

	if (cmd->n > 2 && strcmp(cmd->argv[1].s, "--") == 0) {
		r->params = cmd->argv + 2;
		r->n_params = cmd->n - 2;
	}
	return cmd->n == 1 ? (struct shell_text){.taint = TAINT_IDENTITY} : run_nothing();
}

/* shift, shift N */
struct shell_text launch_shift(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	size_t n = cmd->n > 1 && cmd->argv[1].s[0] >= '1' && cmd->argv[1].s[0] <= '9'
			   ? (size_t)(cmd->argv[1].s[0] - '0')
			   : 1;

	if (r->params && n <= r->n_params) {
		r->params += n;
		r->n_params -= n;
	}
	return run_nothing();
}

/* mapfile NAME: one item for each line of what flows in */
struct shell_text launch_mapfile(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	struct shell_word room;
	const struct shell_word *w = exec_option(r, cmd, 'C', NULL, &room);
	size_t at = exec_operand(cmd, 1, "dnOsuCc", " ");
	struct shell_word name = at < cmd->n ? cmd->argv[at] : word_of(r, "MAPFILE", 7);
	struct shell_text in = cmd->in;
	struct run_words items = {0};
	struct run_variable *v;

	for (size_t i = 0; in.s && i < in.len && run_step(r);) {
		size_t n = strcspn(in.s + i, "\n");
		struct shell_word line = word_of(r, in.s + i, n < in.len - i ? n : in.len - i);

		line.taint = in.taint;
		word_add(r, &items, &line);
		i += n + 1;
	}
	run_set(r, name.s, name.len,
		items.n > 0 ? word_value(&items.v[0]) : (struct shell_text){.taint = in.taint});
	v = run_get(r, name.s, name.len);
	if (v && !v->is_readonly && items.n > 0) {
		v->items = items.v;
		v->n_items = items.n;
	}
	if (w && r->m->commands[c].has_in)
		return exec_code(r, c, word_value(w), VIA_SHELL);
	return run_nothing();
}

/* bind -x '"KEY": COMMAND' */
struct shell_text launch_bind(struct run *r, size_t c)
{
	struct shell_word room;
	const struct shell_word *w = exec_option(r, &r->m->commands[c], 'x', NULL, &room);
	const char *colon = w ? strchr(w->s, ':') : NULL;

	if (colon)
		(void)exec_code(r, c, run_known(r, colon + 1, strlen(colon + 1), w->taint),
				VIA_LATER);
	return run_nothing();
}

/* complete -C COMMAND, compgen -W WORDS: the words are expanded */
struct shell_text launch_complete(struct run *r, size_t c)
{
	struct shell_word room;
	const struct shell_word *w = exec_option(r, &r->m->commands[c], 'W', NULL, &room);

	if (w)
		run_substitutions(r, w->s, w->len);
	w = exec_option(r, &r->m->commands[c], 'C', NULL, &room);
	if (w)
		(void)exec_code(r, c, word_value(w), VIA_LATER);
	return run_nothing();
}

/* Builtins that take a name expand the subscript that stands behind it, quoted or not. */
void launch_subscripts(struct run *r, size_t c)
{
	if (!rule_is("test [ let unset printf read declare typeset local export readonly mapfile readarray wait "
		     "getopts ((",
		     r->m->commands[c].name))
		return;
	for (size_t i = 1; i < r->m->commands[c].n && run_step(r); i++) {
		const struct shell_word *w = &r->m->commands[c].argv[i];
		const char *open = memchr(w->s, '[', w->len);
		const struct run_variable *v =
			rule_is("(( let", r->m->commands[c].name) ? run_get(r, w->s, w->len) : NULL;

		/* the value of a name is arithmetic too */
		if (v && v->value.s && memchr(v->value.s, '[', v->value.len))
			run_substitutions(r, v->value.s, v->value.len);

		/* printf 'x[$(y)]' prints it */
		if (strcmp(r->m->commands[c].name, "printf") == 0 &&
		    strcmp(r->m->commands[c].argv[i - 1].s, "-v") != 0)
			continue;
		if (open && (param_is_name(w->s[0]) || open[1] == '$'))
			run_substitutions(r, open, w->len - (size_t)(open - w->s));
	}
}
