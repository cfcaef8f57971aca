/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that nobody listed and that are told to run something all the same.  How that is said is much the same
 * everywhere: an option that is named after what it takes (--exec, --preview-command, --rsh), a shell with -c among
 * the words, words behind --, an expression that calls system(), a line of input that begins with !.  What is found so
 * is judged as if it had been typed; nothing is concluded from the way alone.
 */
#include "inspect/shell/launch.h"
#include "inspect/shell/rule.h"

#include "base/limits.h"
#include "base/str.h"

#include <string.h>

/* Programs that show, seek or name what they are given, and run none of it. */
static const char guess_quiet[] =
	"echo printf grep egrep fgrep zgrep rg ag ack logger wall notify-send test [ [[ man which whereis type ps pgrep "
	"pkill killall ls cp mv ln rm cat tail head less more chsh usermod useradd adduser export declare local readonly "
	"say figlet cowsay diff cmp wc touch stat file basename dirname apt apt-get dnf yum brew pip pip3 gh glab jq yq "
	"curl wget sed tr cut sort uniq chmod chown history help info tldr apropos whatis cheat dpkg rpm pacman : true false";

/* The last part of the name of an option whose value is a command. */
static const char guess_options[] =
	"exec exec-batch execute command cmd rsh ssh shell hook preview wrapper launcher renderer toolexec run_under extcmd "
	"editor pager viewer program script-shell filter callback pre complete start stop prepare cleanup setup call";

/* Programs that run all the words behind the option -e or -x. */
static const char guess_terminals[] =
	"xterm uxterm lxterm urxvt rxvt st konsole alacritty kitty foot terminator gnome-terminal xfce4-terminal "
	"mate-terminal lxterminal tilix wezterm x-terminal-emulator sakura termite";

/* Programs whose last operands are a command for another machine. */
static const char guess_remotes[] =
	"pdsh clush pssh parallel-ssh dsh mussh rsh rexec plink winexe psexec.py wmiexec.py smbexec.py atexec.py "
	"dcomexec.py impacket-psexec impacket-wmiexec impacket-smbexec mosh et fab";

/* Programs that hand a line of their input to a shell when it begins with !, and those that each operand is one for. */
static const char guess_bangs[] = "ed red ex ftp bc mail mailx sftp telnet gdb mysql sqlite3 tnftp";
static const char guess_each[] =
	"concurrently hyperfine entr watchexec nodemon retry run-s run-p cross-env-shell";

static bool guess_is_option(const char *s)
{
	char name[48];
	size_t n = strcspn(s, "=");
	const char *start = s + strspn(s, "-");

	if (s[0] != '-' || start >= s + n || n - (size_t)(start - s) >= sizeof(name))
		return false;
	memcpy(name, start, n - (size_t)(start - s));
	name[n - (size_t)(start - s)] = '\0';
	if (rule_is(guess_options, name))
		return s[1] == '-' || strlen(name) > 3;
	start = strrchr(name, '-');
	return start && s[1] == '-' && rule_is(guess_options, start + 1);
}

static bool guess_is_run(const char *name)
{
	return rule_is_shell(name) ||
	       rule_is("rm dd shred cat curl wget nc ncat chmod chown useradd usermod userdel insmod kill mkfs.ext4 "
		       "python python3 perl ruby node php sudo tee iptables systemctl crontab mount env busybox toybox doas",
		       name);
}

/* Options whose value is said, shown or sought. */
static bool guess_is_said(const char *s)
{
	static const char words[] =
		"message msg title body description desc text comment notes note subject name label query pattern prompt "
		"grep regex regexp search match filter-regex help summary m t b about reason content data format "
		"template header sql expression find replace";
	char name[48];
	size_t n = strcspn(s, "=");
	const char *start = s + strspn(s, "-");

	if (start >= s + n || n - (size_t)(start - s) >= sizeof(name))
		return true;
	memcpy(name, start, n - (size_t)(start - s));
	name[n - (size_t)(start - s)] = '\0';
	start = strrchr(name, '-');
	return rule_is(words, name) || (start && rule_is(words, start + 1));
}

/* A program at a place where anybody may put one. */
static bool guess_is_anybodys(const char *s)
{
	return (str_starts(s, "/tmp/") || str_starts(s, "/var/tmp/") ||
		str_starts(s, "/dev/shm/")) &&
	       !strchr(s, ' ');
}

/* Does a value begin with a program that would be run? */
static bool guess_is_command(const char *s)
{
	char name[64];
	size_t n = strcspn(s, " \t");

	if (n == 0 || n >= sizeof(name) || !s[n])
		return false;
	memcpy(name, s, n);
	name[n] = '\0';
	return guess_is_run(exec_name(name));
}

static void guess_code(struct run *r, size_t c, const struct shell_word *w, unsigned via)
{
	/* A single word is a name, of a profile or of a file. */
	if (w->len > 0 && memchr(w->s, ' ', w->len))
		(void)exec_code(r, c, word_value(w), via);
}

static void guess_lines(struct run *r, size_t c, char mark)
{
	struct shell_text in = r->m->commands[c].in;

	for (const char *s = in.s; s && *s && run_step(r); s += *s == '\n') {
		size_t n = strcspn(s, "\n");

		if (*s == mark && n > 1) {
			(void)exec_code(r, c, run_known(r, s + 1, n - 1, in.taint), VIA_HOOK);
		} else if (mark == '\t') { /* target: ; recipe */
			const char *colon = memchr(s, ':', n);
			const char *recipe = colon ? memchr(colon, ';', n - (size_t)(colon - s))
						   : NULL;

			if (recipe)
				(void)exec_code(r, c,
						run_known(r, recipe + 1,
							  n - (size_t)(recipe + 1 - s), in.taint),
						VIA_HOOK);
		}
		s += n;
	}
}

void launch_write(struct run *r, size_t c, const char *path, size_t len)
{
	struct run_words words = {0};
	struct shell_word w = word_of(r, "tee", 3);

	word_add(r, &words, &w);
	w = word_of(r, path, len);
	word_add(r, &words, &w);
	if (len > 0)
		(void)exec_words(r, c, &words, VIA_CODE);
}

/* s/x/y/e and s/x/y/w FILE: the place behind the last delimiter, or NULL; *ret_to is the word that is put in. */
static const char *guess_substitute(const char *s, const char **ret_to, size_t *ret_len)
{
	char mark = s[1];
	const char *p = s + 2;

	for (unsigned part = 0; part < 2; part++) {
		*ret_to = p;
		while (*p && *p != mark)
			p += *p == '\\' && p[1] ? 2 : 1;
		if (!*p)
			return NULL;
		*ret_len = (size_t)(p - *ret_to);
		p++;
	}
	return p;
}

/* sed 'ADDRESS e COMMAND', 's/x/COMMAND/e', 'w FILE' */
static void guess_sed_word(struct run *r, size_t c, const char *s, unsigned taint)
{
	const char *to = NULL, *flags;
	size_t len = 0;

	s += strspn(s, " \t");
	if (*s == '/') { /* an address that is a pattern */
		s = strchr(s + 1, '/');
		s = s ? s + 1 : "";
	}
	s += strspn(s, "0123456789$,~+! {");
	if (s[0] == 'e' && (s[1] == ' ' || s[1] == '\t'))
		(void)exec_code(r, c, run_known(r, s + 2, strlen(s + 2), taint), VIA_HOOK);
	if ((s[0] == 'w' || s[0] == 'W') && s[1] == ' ')
		launch_write(r, c, s + 2, strcspn(s + 2, "\n;"));
	if (s[0] != 's' || !s[1] || strchr(" \\\n", s[1]))
		return;
	flags = guess_substitute(s, &to, &len);
	if (!flags)
		return;
	s = flags + strspn(flags, "gpiImM0123456789");
	if (*s == 'e')
		(void)exec_code(r, c, run_known(r, to, len, taint), VIA_HOOK);
	else if (*s == 'w' && s[1] == ' ')
		launch_write(r, c, s + 2, strcspn(s + 2, "\n;"));
}

static void guess_sed(struct run *r, size_t c)
{
	for (size_t i = 1; i < r->m->commands[c].n && run_step(r); i++) {
		const struct shell_word *w = &r->m->commands[c].argv[i];

		guess_sed_word(r, c, w->s, w->taint);
	}
}

/* system("…") and its kin in an expression for an interpreter that we do not know. */
static void guess_expression(struct run *r, size_t c, const struct shell_word *w)
{
	static const char *const calls[] = {"system(",       "system \"",     "exec(",
					    "exec \"",       "execute(",      "os:cmd(",
					    "callCommand",   "run(\"",        "popen(",
					    "shell-command", "syscmd(",       "Sys.command",
					    "System.cmd(",   "Deno.Command(", "executeShell",
					    "call-process",  "getRuntime()",  "spawn("};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const char *at = strstr(w->s, calls[i]), *quote;

		if (!at)
			continue;
		quote = strpbrk(at, "\"'`");
		if (quote && quote[1]) {
			size_t n =
				strcspn(quote + 1, *quote == '`' ? "`'" : (char[]){*quote, '\0'});

			(void)exec_code(r, c, run_known(r, quote + 1, n, w->taint), VIA_CODE);
			return;
		}
	}
}

static void guess_word(struct run *r, size_t c, size_t i)
{
	const struct shell_command *cmd = &r->m->commands[c];
	const struct shell_word *w = &cmd->argv[i];

	if (guess_is_option(w->s)) {
		const char *eq = strchr(w->s, '=');

		if (eq) {
			struct shell_word value = word_of(r, eq + 1, strlen(eq + 1));

			value.taint = w->taint;
			if (guess_is_anybodys(value.s))
				(void)exec_code(r, c, word_value(&value), VIA_HOOK);
			else
				guess_code(r, c, &value, VIA_HOOK);
		} else if (i + 1 < cmd->n) {
			guess_code(r, c, &cmd->argv[i + 1], VIA_HOOK);
		}
	} else if (w->s[0] == '-' && strchr(w->s, '=') && !guess_is_said(w->s) &&
		   guess_is_command(strchr(w->s, '=') + 1)) {
		const char *value = strchr(w->s, '=') + 1;

		(void)exec_code(r, c, run_known(r, value, strlen(value), w->taint), VIA_HOOK);
	} else if (w->s[0] == '-' && w->s[1] == '-' && i + 1 < cmd->n && !guess_is_said(w->s) &&
		   memchr(w[1].s, ' ', w[1].len) && guess_is_command(w[1].s)) {
		(void)exec_code(r, c, word_value(&w[1]), VIA_HOOK);
	} else if (w->len > 8 && memchr(w->s, ' ', w->len)) {
		guess_expression(r, c, w);
	} else if (rule_is_shell(exec_name(w->s)) && i + 2 < cmd->n) {
		size_t at = i + 1 + (strcmp(cmd->argv[i + 1].s, "--") == 0);

		if (at + 1 < cmd->n && cmd->argv[at].s[0] == '-' && cmd->argv[at].len <= 4 &&
		    strchr(cmd->argv[at].s, 'c'))
			(void)exec_code(r, c, word_value(&cmd->argv[at + 1]), VIA_HOOK);
	}
}

/* Most commands have nothing that could be a command of its own: that is seen without asking who they are. */
static bool guess_is_idle(const struct shell_command *cmd)
{
	for (size_t i = 1; i < cmd->n; i++) {
		const struct shell_word *w = &cmd->argv[i];

		if (memchr(w->s, ' ', w->len) || str_starts(w->s, "--exec") ||
		    (w->len == 2 && memcmp(w->s, "--", 2) == 0) ||
		    (w->len >= 2 && memcmp(w->s + w->len - 2, "sh", 2) == 0) ||
		    (w->s[0] == '-' && strstr(w->s, "=/") != NULL))
			return false;
	}
	return true;
}

/* go run <(curl …): whatever takes a file of code */
static void guess_fetched(struct run *r, size_t c)
{
	if (!rule_is(
		    "go swift java dotnet ts-node tsx rustc gcc cc make terraform ansible-playbook psql mysql sqlite3 "
		    "kubectl helm docker crystal nim zig scala kotlin cmake jshell gdb nix-build emacs wasmtime sed",
		    r->m->commands[c].name))
		return;
	for (size_t i = 1; i < r->m->commands[c].n; i++)
		if (str_starts(r->m->commands[c].argv[i].s, "/dev/fd/"))
			r->m->commands[c].runs |= effect_file(r, r->m->commands[c].argv[i].s, 0) &
						  TAINT_REMOTE;
}

/* Lines that begin with a blank in a file for make or just are commands. */
static void guess_recipes(struct run *r, size_t c, const char *s)
{
	for (; *s && run_step(r); s += *s == '\n') {
		size_t n = strcspn(s, "\n");

		if ((*s == '\t' || *s == ' ') && n > 1)
			(void)exec_code(r, c, run_known(r, s + 1, n - 1, 0), VIA_HOOK);
		s += n;
	}
}

/* Files that were written in our sight: recipes, and code for a compiler whose program is run next. */
static void guess_files(struct run *r, size_t c)
{
	static const char *const recipes[] = {"Makefile", "makefile", "GNUmakefile",
					      "justfile", "Justfile", ".justfile"};
	const char *name = r->m->commands[c].name;
	bool is_recipe = rule_is("make gmake just", name);
	bool is_go = strcmp(name, "go") == 0;

	for (size_t i = 0; is_recipe && i < sizeof(recipes) / sizeof(recipes[0]); i++) {
		const struct run_file *f = run_file(r, recipes[i]);

		if (f && f->value.s)
			guess_recipes(r, c, f->value.s);
	}
	if (!is_recipe && !is_go &&
	    !rule_is("gcc cc g++ clang tcc rustc javac kotlinc swiftc", name))
		return;
	for (size_t i = 1; i < r->m->commands[c].n; i++) {
		const struct shell_word *w = &r->m->commands[c].argv[i];
		const struct run_file *f = w->s[0] == '-' ? NULL : run_file(r, w->s);

		if (!f || !f->value.s)
			continue;
		if (is_recipe)
			guess_recipes(r, c, f->value.s);
		else
			exec_language(r, c, is_go ? SHELL_GO : SHELL_OTHER, f->value);
	}
}

/* npm pkg set scripts.x=COMMAND */
static void guess_scripts(struct run *r, size_t c)
{
	for (size_t i = 3; i < r->m->commands[c].n && run_step(r); i++) {
		const struct shell_word *w = &r->m->commands[c].argv[i];
		const char *eq = str_starts(w->s, "scripts.") ? strchr(w->s, '=') : NULL;

		if (eq)
			(void)exec_code(r, c, run_known(r, eq + 1, strlen(eq + 1), w->taint),
					VIA_LATER);
	}
}

void launch_guess(struct run *r, size_t c)
{
	const char *name = r->m->commands[c].name;
	bool is_each, is_remote;

	if (r->m->commands[c].in.s && rule_is("make gmake", name))
		guess_lines(r, c, '\t');
	else if (r->m->commands[c].in.s && rule_is(guess_bangs, name))
		guess_lines(r, c, '!');
	if (r->n_files > 0)
		guess_files(r, c);
	if (r->m->commands[c].n < 2)
		return;
	if (r->n_files > 0)
		guess_fetched(r, c);
	if (r->m->commands[c].in.s && rule_is("gcc cc g++ clang tcc", name))
		exec_language(r, c, SHELL_OTHER, r->m->commands[c].in);
	if (strcmp(name, "npm") == 0 && strcmp(r->m->commands[c].argv[1].s, "pkg") == 0)
		guess_scripts(r, c);
	if (rule_is("sed gsed", name))
		guess_sed(r, c);
	if (rule_is("make gmake cmake ninja", name))
		for (size_t i = 1; i < r->m->commands[c].n && run_step(r); i++) {
			const struct shell_word *w = &r->m->commands[c].argv[i];
			const char *value = w->s[0] == '-' ? NULL : strchr(w->s, '=');

			if (value && guess_is_command(value + 1))
				(void)exec_code(
					r, c, run_known(r, value + 1, strlen(value + 1), w->taint),
					VIA_HOOK);
		}
	is_remote = rule_is(guess_remotes, name);
	if (guess_is_idle(&r->m->commands[c]) && !is_remote && !rule_is(guess_terminals, name))
		return;
	is_each = rule_is(guess_each, name);
	if (rule_is(guess_quiet, name))
		return;
	if (r->depth >= LIMIT_GUESS_DEPTH) {
		r->m->notes |= NOTE_CUT;
		return;
	}
	for (size_t i = 1; i < r->m->commands[c].n && run_step(r); i++) {
		const struct shell_word *w = &r->m->commands[c].argv[i];

		if (rule_is(guess_terminals, name) && rule_is("-e -x", w->s)) {
			if (i + 2 == r->m->commands[c].n)
				guess_code(r, c, &r->m->commands[c].argv[i + 1], VIA_HOOK);
			else
				(void)exec_rest(r, c, i + 1, VIA_HOOK);
			return;
		}
		/* -- PROGRAM WORD…, --exec PROGRAM WORD… */
		if ((strcmp(w->s, "--") == 0 ||
		     (str_starts(w->s, "--exec") && guess_is_option(w->s))) &&
		    i + 1 < r->m->commands[c].n && guess_is_run(exec_name(w[1].s))) {
			(void)exec_rest(r, c, i + 1, VIA_HOOK);
			return;
		}
		if ((is_each || is_remote) && w->s[0] != '-' && w->len > 0) {
			guess_code(r, c, w, is_remote ? VIA_REMOTE : VIA_HOOK);
			/* rsh HOST PROGRAM WORD… */
			if (i + 1 < r->m->commands[c].n &&
			    guess_is_run(exec_name(r->m->commands[c].argv[i].s))) {
				(void)exec_rest(r, c, i, is_remote ? VIA_REMOTE : VIA_HOOK);
				return;
			}
			continue;
		}
		guess_word(r, c, i);
	}
}
