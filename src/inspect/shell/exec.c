/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simple command: recorded, then unwrapped.  A wrapper is a program whose remaining words are another command;
 * which options it has and how many words stand before that command is one row of a table.
 */
#include "inspect/shell/run.h"
#include "inspect/shell/script.h"

#include "base/glob.h"
#include "base/path.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

struct wrapper {
	const char *name;
	const char *shorts; /* options that take a value */
	const char *longs;  /* the same, with a blank around each */
	unsigned skip;      /* operands before the command */
	bool has_assigns;   /* NAME=VALUE may stand before it */
	unsigned via;
};

static const struct wrapper wrappers[] = {
	{"sudo", "ugpCRTDhrtU",
	 " user group prompt chdir chroot host role type other-user command-timeout ", 0, true,
	 VIA_ROOT},
	{"doas", "uC", " ", 0, true, VIA_ROOT},
	{"pkexec", "u", " user ", 0, false, VIA_ROOT},
	{"gosu", "", " ", 1, false, VIA_ROOT},
	{"su-exec", "", " ", 1, false, VIA_ROOT},
	{"runas", "u", " user ", 0, false, VIA_ROOT},
	{"sg", "", " ", 1, false, 0},
	{"env", "uC", " unset chdir block-signal default-signal ignore-signal ", 0, true, 0},
	{"nice", "n", " adjustment ", 0, false, 0},
	{"ionice", "cnpPu", " class classdata ", 0, false, 0},
	{"nohup", "", " ", 0, false, 0},
	{"setsid", "", " ", 0, false, 0},
	{"stdbuf", "ioe", " input output error ", 0, false, 0},
	{"unbuffer", "", " ", 0, false, 0},
	{"timeout", "sk", " signal kill-after ", 1, false, 0},
	{"gtimeout", "sk", " signal kill-after ", 1, false, 0},
	{"time", "fo", " format output ", 0, true, 0},
	{"chronic", "", " ", 0, false, 0},
	{"command", "", " ", 0, true, 0},
	{"builtin", "", " ", 0, false, 0},
	{"noglob", "", " ", 0, false, 0},
	{"coproc", "", " ", 0, false, 0},
	{"chroot", "", " userspec groups ", 1, false, VIA_ROOT},
	{"unshare", "SGRw", " setuid setgid root wd map-user map-group propagation ", 0, false, 0},
	{"nsenter", "tSGrw", " target setuid setgid ", 0, false, VIA_ROOT},
	{"setpriv", "", " reuid regid groups bounding-set inh-caps ambient-caps ", 0, false, 0},
	{"capsh", "", " ", 99, false, 0},
	{"taskset", "", " ", 1, false, 0},
	{"chrt", "TPD", " ", 1, false, 0},
	{"numactl", "CNmipP", " cpunodebind membind physcpubind interleave ", 0, false, 0},
	{"prlimit", "p", " pid ", 0, false, 0},
	{"cgexec", "g", " ", 0, false, 0},
	{"systemd-run", "pMHEuG",
	 " unit property slice description uid gid on-calendar on-active on-boot setenv working-directory machine host service-type timer-property ",
	 0, false, VIA_LATER},
	{"systemd-inhibit", "", " what who why mode ", 0, false, 0},
	{"dbus-run-session", "", " config-file ", 0, false, 0},
	{"dbus-launch", "", " ", 0, false, 0},
	{"xvfb-run", "nfsep", " server-num server-args auth-file ", 0, false, 0},
	{"strace", "oepsuESPXIaOb", " output trace expr ", 0, false, 0},
	{"ltrace", "oepsunalAFx", " output ", 0, false, 0},
	{"valgrind", "", " ", 0, false, 0},
	{"catchsegv", "", " ", 0, false, 0},
	{"rlwrap", "abCDfHlpqsS", " ", 0, false, 0},
	{"torsocks", "", " ", 0, false, 0},
	{"torify", "", " ", 0, false, 0},
	{"proxychains", "f", " ", 0, false, 0},
	{"proxychains4", "f", " ", 0, false, 0},
	{"caffeinate", "tw", " ", 0, false, 0},
	{"fakeroot", "lsib", " ", 0, false, 0},
	{"firejail", "", " ", 0, false, 0},
	{"proot", "rbRwq", " ", 0, false, 0},
	{"faketime", "f", " ", 1, false, 0},
	{"daemonize", "acepluE", " ", 0, false, VIA_BACKGROUND},
	{"start-stop-daemon", "", " ", 99, false, 0},
	{"dotenv", "f", " ", 0, false, 0},
	{"cross-env", "", " ", 0, true, 0},
	{"busybox", "", " ", 0, false, 0},
	{"toybox", "", " ", 0, false, 0},
	{"ld-linux-x86-64.so.2", "", " library-path preload ", 0, false, 0},
	{"ld.so", "", " library-path preload ", 0, false, 0},
	{"perf", "", " ", 1, false, 0},
	{"setarch", "", " ", 1, false, 0},
	{"linux64", "", " ", 0, false, 0},
	{"linux32", "", " ", 0, false, 0},
	{"i386", "", " ", 0, false, 0},
	{"x86_64", "", " ", 0, false, 0},
	{"aa-exec", "pni", " profile namespace ", 0, false, 0},
	{"cpulimit", "lpeP", " limit pid ", 0, false, 0},
	{"logsave", "", " ", 1, false, 0},
	{"multitime", "nIifqrs", " ", 0, false, 0},
	{"choom", "n", " adjust ", 0, false, 0},
	{"distcc", "", " ", 0, false, 0},
	{"softflowd", "", " ", 99, false, 0},
	{"zsh-run", "", " ", 0, false, 0},
	{"entr", "s", " ", 0, false, VIA_EACH},
	{"sshpass", "pfdeP", " ", 0, false, 0},
	{"s6-setuidgid", "", " ", 1, false, 0},
	{"flatpak-spawn", "", " directory env ", 0, false, 0},
	{"wsl", "duW", " distribution user ", 0, false, 0},
	{"chpst", "ueU/nmodfcb", " ", 0, false, 0},
	{"softlimit", "admstlfcropk", " ", 0, false, 0},
	{"setuidgid", "", " ", 1, false, 0},
	{"envdir", "", " ", 1, false, 0},
	{"dtach", "nAacNrE", " ", 0, false, VIA_BACKGROUND},
	{"abduco", "nAacr", " ", 0, false, VIA_BACKGROUND},
	{"sem", "j", " jobs id ", 0, false, VIA_EACH},
	{"ts-node", "", " ", 99, false, 0},
};

/* Programs that a glob in the place of a program could mean. */
static const char *const exec_globbed[] = {"cat",    "rm",      "sh",   "bash",  "nc",   "curl",
					   "wget",   "python3", "perl", "chmod", "dd",   "whoami",
					   "base64", "tail",    "head", "id",    "less", "more"};

const char *exec_name(const char *path)
{
	return path_base(path);
}

size_t exec_operand(const struct shell_command *c, size_t at, const char *shorts, const char *longs)
{
	for (; at < c->n; at++) {
		const char *s = c->argv[at].s;

		if (strcmp(s, "--") == 0)
			return at + 1;
		if (s[0] != '-' || !s[1])
			return at;
		if (s[1] == '-') {
			char name[66];

			if (!strchr(s, '=')) {
				(void)snprintf(name, sizeof(name), " %.62s ", s + 2);
				at += strstr(longs, name) != NULL;
			}
			continue;
		}
		/* A cluster: the first letter with a value takes the rest, or the next word. */
		for (const char *p = s + 1; *p; p++)
			if (strchr(shorts, *p)) {
				at += p[1] == '\0';
				break;
			}
	}
	return at;
}

const struct shell_word *exec_option(struct run *r, const struct shell_command *c, char letter,
				     const char *name, struct shell_word *room)
{
	size_t len = name ? strlen(name) : 0;

	for (size_t i = 1; i < c->n; i++) {
		const struct shell_word *w = &c->argv[i];

		if (strcmp(w->s, "--") == 0)
			break;
		if (name && str_starts(w->s, "--") && strncmp(w->s + 2, name, len) == 0) {
			if (w->s[2 + len] == '=') {
				*room = word_of(r, w->s + 3 + len, w->len - 3 - len);
				room->taint = w->taint;
				return room;
			}
			if (w->s[2 + len] == '\0' && i + 1 < c->n)
				return &c->argv[i + 1];
		}
		if (letter && w->s[0] == '-' && w->s[1] == letter) {
			if (w->len == 2)
				return i + 1 < c->n ? &c->argv[i + 1] : NULL;
			*room = word_of(r, w->s + 2, w->len - 2);
			room->taint = w->taint;
			return room;
		}
	}
	return NULL;
}

struct shell_text exec_joined(struct run *r, size_t c, size_t at)
{
	const struct shell_command *cmd = &r->m->commands[c];
	struct shell_text v = run_nothing();

	for (size_t i = at; i < cmd->n; i++) {
		if (i > at)
			v = run_join(r, v, run_known(r, " ", 1, 0));
		v = run_join(r, v, word_value(&cmd->argv[i]));
	}
	return v;
}

struct shell_text exec_code(struct run *r, size_t c, struct shell_text code, unsigned via)
{
	struct shell_command *cmd = &r->m->commands[c];
	unsigned line = r->line;
	struct shell_text out;

	cmd->runs |= code.taint;
	if (!code.s || code.len == 0 || strspn(code.s, "\001\n ") == code.len)
		return (struct shell_text){.taint = code.taint};
	r->line = cmd->line > 0 ? cmd->line : 1;
	out = run_text(r, code.s, code.len, via, (struct shell_text){.taint = cmd->in.taint});
	r->line = line;
	return out;
}

/* Commands that the code hands to a shell. */
static void exec_spawns(struct run *r, size_t c, struct shell_code code)
{
	size_t at = 0, len = 0;
	const char *text;

	/* Tcl's braces are the shell's quotes. */
	if (strncmp(r->m->commands[c].name, "tclsh", 5) == 0) {
		char *copy = arena_take(&r->m->arena, code.len + 1);

		for (size_t i = 0; copy && i < code.len; i++)
			copy[i] = code.text[i] == '{' || code.text[i] == '}' ? '\'' : code.text[i];
		code.text = copy ? copy : code.text;
	}
	while (run_step(r) && (text = script_next_command(&r->m->arena, &code, &at, &len)) != NULL)
		(void)exec_code(r, c, (struct shell_text){.s = text, .len = len, .is_known = true},
				VIA_CODE | VIA_SHELL);
}

void exec_language(struct run *r, size_t c, enum shell_language language, struct shell_text code)
{
	struct shell_code *slot;

	r->m->commands[c].runs |= code.taint;
	if (!code.s || code.len == 0)
		return;
	slot = run_grow(r, (void **)&r->m->codes, &r->m->n_codes, &r->m->cap_codes, sizeof(*slot),
			LIMIT_SHELL_COMMANDS);
	if (!slot)
		return;
	*slot = (struct shell_code){.language = language,
				    .text = code.s,
				    .len = code.len,
				    .command = c,
				    .line = r->m->commands[c].line};
	exec_spawns(r, c, *slot);
}

struct shell_text exec_words(struct run *r, size_t c, struct run_words *words, unsigned via)
{
	const struct shell_command *cmd = &r->m->commands[c];
	struct run_call call = {.argv = *words,
				.assigns = {.v = cmd->assigns, .n = cmd->n_assigns},
				.in = cmd->in,
				.has_in = cmd->has_in,
				.in_is_network = cmd->in_is_network,
				.out_is_network = cmd->out_is_network,
				.line = cmd->line,
				.column = cmd->column};
	unsigned kept = r->via;
	struct shell_text out;

	if (words->n == 0 || r->depth + 4 >= LIMIT_SHELL_NESTING) {
		if (words->n > 0)
			r->m->notes |= NOTE_CUT;
		return (struct shell_text){.taint = cmd->in.taint};
	}
	r->via |= via | VIA_WRAPPED;
	r->depth += 4;
	out = exec_call(r, &call);
	r->depth -= 4;
	r->via = kept;
	return out;
}

struct shell_text exec_rest(struct run *r, size_t c, size_t at, unsigned via)
{
	const struct shell_command *cmd = &r->m->commands[c];
	struct run_words words = {0};

	if (at < cmd->n) {
		words.v = cmd->argv + at;
		words.n = words.cap = cmd->n - at;
	}
	return exec_words(r, c, &words, via);
}

static bool exec_is_assign(const char *s)
{
	size_t n = strcspn(s, "=");

	if (s[n] != '=')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
			    s[i]))
			return false;
	return true;
}

static bool exec_wrapper(struct run *r, size_t c, struct shell_text *ret_out)
{
	struct shell_command *cmd = &r->m->commands[c];
	const struct wrapper *w = NULL;
	struct shell_word room;
	const struct shell_word *split;
	size_t at;

	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]) && !w; i++)
		if (wrappers[i].name[0] == cmd->name[0] && strcmp(wrappers[i].name, cmd->name) == 0)
			w = &wrappers[i];
	if (!w || w->skip == 99)
		return false;
	if (strcmp(w->name, "command") == 0 && cmd->n > 1 &&
	    (strcmp(cmd->argv[1].s, "-v") == 0 || strcmp(cmd->argv[1].s, "-V") == 0)) {
		*ret_out = cmd->n > 2 ? word_value(&cmd->argv[2]) : run_nothing();
		return true;
	}
	if (strcmp(w->name, "env") == 0 &&
	    (split = exec_option(r, cmd, 'S', "split-string", &room)) != NULL) {
		*ret_out = exec_code(r, c, word_value(split), VIA_SHELL);
		return true;
	}
	at = exec_operand(cmd, 1, w->shorts, w->longs);
	if (w->has_assigns && at < cmd->n && exec_is_assign(cmd->argv[at].s)) {
		/* Kept as words in front, so that rules see them on the inner command. */
		struct run_call none = {0};

		for (; at < cmd->n && exec_is_assign(cmd->argv[at].s); at++)
			word_add(r, &none.assigns, &cmd->argv[at]);
		cmd->assigns = none.assigns.v;
		cmd->n_assigns = none.assigns.n;
	}
	/* coproc NAME { …; }: the grammar knows no coproc */
	if (strcmp(w->name, "coproc") == 0)
		for (size_t i = at; i < cmd->n && i < at + 2; i++)
			if (strcmp(cmd->argv[i].s, "{") == 0) {
				at = i + 1;
				break;
			}
	at += w->skip;
	if (at >= cmd->n) {
		/* env alone prints the environment. */
		*ret_out = strcmp(w->name, "env") == 0
				   ? (struct shell_text){.taint = TAINT_IDENTITY}
				   : (struct shell_text){.taint = cmd->in.taint};
		return true;
	}
	*ret_out = exec_rest(r, c, at, w->via);
	return true;
}

static bool exec_function(struct run *r, size_t c, struct shell_text *ret_out)
{
	struct shell_command *cmd = &r->m->commands[c];
	struct run_function *f = NULL;
	struct shell_word *params = r->params;
	const struct shell_tree *tree = r->tree;
	size_t n_params = r->n_params, n_variables = r->n_variables, index;
	static struct shell_word none;

	for (size_t i = 0; i < r->n_functions && !f; i++)
		if (strcmp(r->functions[i].name, cmd->argv[0].s) == 0)
			f = &r->functions[i];
	if (!f)
		return false;
	if (f->is_running) {
		/* It calls itself, and somewhere on the way two run at once. */
		if (!(r->via & VIA_FUNCTION) && (r->via & VIA_BACKGROUND)) {
			r->m->notes |= NOTE_FORKS;
			r->m->note_line = cmd->line;
		}
		*ret_out = (struct shell_text){.taint = cmd->in.taint};
		return true;
	}
	if (r->depth + 8 >= LIMIT_SHELL_NESTING) {
		r->m->notes |= NOTE_CUT;
		return true;
	}
	index = (size_t)(f - r->functions);
	f->is_running = f->is_called = true;
	r->params = cmd->n > 1 ? cmd->argv + 1 : &none;
	r->n_params = cmd->n - 1;
	r->tree = f->tree;
	r->depth += 8;
	*ret_out = run_body(r, f, cmd->in, cmd->has_in);
	r->depth -= 8;
	r->functions[index].is_running = false;
	r->tree = tree;
	r->params = params;
	r->n_params = n_params;
	for (size_t i = n_variables; i < r->n_variables;)
		if (r->variables[i].is_local)
			r->variables[i] = r->variables[--r->n_variables];
		else
			i++;
	return true;
}

static bool exec_alias(struct run *r, size_t c, struct shell_text *ret_out)
{
	const struct shell_command *cmd = &r->m->commands[c];

	for (size_t i = r->n_aliases; i > 0; i--)
		if (!r->aliases[i - 1].is_running &&
		    strcmp(r->aliases[i - 1].name, cmd->argv[0].s) == 0) {
			struct shell_text code = run_known(r, r->aliases[i - 1].text,
							   strlen(r->aliases[i - 1].text), 0);

			r->aliases[i - 1].is_running = true;
			/* Words stay words. */
			if (strspn(code.s,
				   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "._-/+") == code.len) {
				struct run_words words = {0};
				struct shell_word first = word_of(r, code.s, code.len);

				word_add(r, &words, &first);
				for (size_t k = 1; k < r->m->commands[c].n; k++)
					word_add(r, &words, &r->m->commands[c].argv[k]);
				*ret_out = exec_words(r, c, &words, 0);
				r->aliases[i - 1].is_running = false;
				return true;
			}
			if (cmd->n > 1)
				code = run_join(r, run_join(r, code, run_known(r, " ", 1, 0)),
						exec_joined(r, c, 1));
			*ret_out = exec_code(r, c, code, VIA_SHELL);
			r->aliases[i - 1].is_running = false;
			return true;
		}
	return false;
}

static const char *exec_program(struct run *r, const struct shell_word *w)
{
	const char *name = exec_name(w->s);
	size_t len = strlen(name);

	/* C:\Windows\x.exe and the like */
	if (strchr(name, '\\'))
		name = strrchr(name, '\\') + 1;
	if ((w->flags & WORD_GLOB) && glob_has_magic(name))
		for (size_t i = 0; i < sizeof(exec_globbed) / sizeof(exec_globbed[0]); i++)
			if (glob_match(name, exec_globbed[i]))
				return exec_globbed[i];
	len = strlen(name);
	/* r${x}m: what is not set is empty */
	if (len > 1 && strchr(name, SHELL_UNKNOWN)) {
		char *bare = arena_take(&r->m->arena, len + 1);
		size_t n = 0;

		for (size_t i = 0; bare && i < len; i++)
			if (name[i] != SHELL_UNKNOWN)
				bare[n++] = name[i];
		if (n > 0) {
			name = bare;
			len = n;
		}
	}
	if (len > 4 && strcasecmp(name + len - 4, ".exe") == 0)
		name = arena_copy(&r->m->arena, name, len - 4);
	return name;
}

static size_t exec_record(struct run *r, struct run_call *call)
{
	struct shell_command *c = run_grow(r, (void **)&r->m->commands, &r->m->n, &r->m->cap,
					   sizeof(*c), LIMIT_SHELL_COMMANDS);

	if (!c)
		return SIZE_MAX;
	*c = (struct shell_command){
		.name = call->argv.n > 0 ? exec_program(r, &call->argv.v[0]) : "",
		.argv = call->argv.v,
		.n = call->argv.n,
		.assigns = call->assigns.v,
		.n_assigns = call->assigns.n,
		.redirects = call->redirects,
		.n_redirects = call->n_redirects,
		.in = call->in,
		.has_in = call->has_in,
		.in_is_network = call->in_is_network,
		.out_is_network = call->out_is_network || (r->via & VIA_NETWORK),
		.via = r->via | (call->in_is_network || call->out_is_network ? VIA_NETWORK : 0),
		.line = call->line,
		.column = call->column,
		.depth = r->depth,
		.cwd = r->cwd,
		.group = r->group,
		.is_conditional = r->conditions > 0 || (r->via & VIA_FUNCTION),
	};
	return r->m->n - 1;
}

struct shell_text exec_call(struct run *r, struct run_call *call)
{
	size_t c;
	struct shell_text out = {0};

	if (!run_step(r))
		return out;
	/* Variables in front of a command are seen by what it runs. */
	for (size_t i = 0; i < call->assigns.n && call->argv.n > 0; i++) {
		const struct shell_word *w = &call->assigns.v[i];
		size_t eq = strcspn(w->s, "=");

		if (!run_get(r, w->s, eq) && strncmp(w->s, "HOME", eq) != 0)
			run_set(r, w->s, eq,
				(struct shell_text){.s = w->s + eq + 1,
						    .len = w->len - eq - 1,
						    .taint = w->taint,
						    .is_known = !(w->flags & WORD_UNKNOWN)});
	}
	c = exec_record(r, call);
	if (c == SIZE_MAX)
		return out;
	/* A downloaded file that is run by its name. */
	if (call->argv.n > 0 && strchr(call->argv.v[0].s, '/') && run_file(r, call->argv.v[0].s)) {
		struct shell_text code = run_file(r, call->argv.v[0].s)->value;

		code.taint &= ~(unsigned)TAINT_FILE;
		r->m->commands[c].runs |= code.taint;
		/* written just before, in our sight */
		if (code.s && (code.s[0] != '#' || str_starts(code.s, "#!/bin/sh") ||
			       str_starts(code.s, "#!/bin/bash") || strstr(code.s, "env bash")))
			(void)exec_code(r, c, code, VIA_SHELL);
	}
	if (call->argv.n > 1 && strchr(call->argv.v[0].s, '=') && exec_is_assign(call->argv.v[0].s))
		return exec_rest(r, c, 1, 0);
	/* $SUDO rm -rf /: what is not known may be nothing at all, or a wrapper */
	if (call->argv.n > 1 && strcmp(call->argv.v[0].s, "\001") == 0 &&
	    !(call->argv.v[0].flags & WORD_QUOTED) && call->argv.v[0].taint == 0 &&
	    call->argv.v[1].s[0] != '-')
		return exec_rest(r, c, 1, VIA_WRAPPED);
	/* <(curl …): what is read there came from the network */
	for (size_t i = 1; r->n_files > 0 && i < call->argv.n; i++)
		if (str_starts(call->argv.v[i].s, "/dev/fd/"))
			r->m->commands[c].argv[i].taint |= effect_file(r, call->argv.v[i].s, 0) &
							   TAINT_REMOTE;
	if (call->argv.n > 0) {
		launch_hooks(r, c);
		launch_subscripts(r, c);
	}
	if (call->argv.n == 0) {
		out = call->in;
	} else if (!exec_alias(r, c, &out) && !exec_function(r, c, &out) &&
		   !exec_wrapper(r, c, &out) && !launch_known(r, c, &out)) {
		struct shell_command copy;

		launch_guess(r, c);
		copy = r->m->commands[c];
		out = effect_of(r, &copy);
		r->m->commands[c] = copy;
	}
	effect_redirects(r,
			 &(struct shell_command){.redirects = call->redirects,
						 .n_redirects = call->n_redirects},
			 out);
	if (r->m->commands[c].out_is_network)
		r->m->commands[c].sends |= out.taint;
	return out;
}
