/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options and variables of ordinary programs that name a command which they then run: a pager, an editor, an
 * askpass program, a filter, a script for an event.  One row says which option of which program; the command is
 * judged as if it had been typed.
 */
#include "inspect/shell/launch.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum hook_form {
	HOOK_COMMAND, /* the value is a command */
	HOOK_COMMAS,  /* with commas for blanks */
	HOOK_KEY,     /* Key::x=command, when the key ends with Invoke or the like */
	HOOK_REST,    /* all words behind the option are a command */
	HOOK_SETTING, /* Key=command, when the value begins as one: ExecStartPre=/bin/x, alias.x=!y */
	HOOK_BANG,    /* what follows !, \!, .shell, .system, shell or system */
	HOOK_MODULE,  /* of ansible: a command in the value of -a */
	HOOK_OPERAND, /* an operand that begins with .shell or .system */
	HOOK_SCRIPT,  /* of osascript: the text behind "do shell script" or "do script" */
	HOOK_SPAWN,   /* of expect: what follows spawn, exec or system, with braces for quotes */
};

/* Sorted by program. */
static const struct hook_row {
	const char *program;
	const char *option; /* whole, with its dashes; it may have its value behind it or behind = */
	enum hook_form form;
} hook_rows[] = {
	{"ansible", "-a", HOOK_MODULE},
	{"apt", "-o", HOOK_KEY},
	{"apt-get", "-o", HOOK_KEY},
	{"aptitude", "-o", HOOK_KEY},
	{"aria2c", "--on-download-complete", HOOK_COMMAND},
	{"aria2c", "--on-download-error", HOOK_COMMAND},
	{"aria2c", "--on-download-start", HOOK_COMMAND},
	{"bat", "--pager", HOOK_COMMAND},
	{"batcat", "--pager", HOOK_COMMAND},
	{"borg", "--rsh", HOOK_COMMAND},
	{"c89", "-wrapper", HOOK_COMMAS},
	{"c99", "-wrapper", HOOK_COMMAS},
	{"cc", "-wrapper", HOOK_COMMAS},
	{"certbot", "--deploy-hook", HOOK_COMMAND},
	{"certbot", "--manual-auth-hook", HOOK_COMMAND},
	{"certbot", "--manual-cleanup-hook", HOOK_COMMAND},
	{"certbot", "--post-hook", HOOK_COMMAND},
	{"certbot", "--pre-hook", HOOK_COMMAND},
	{"certbot", "--renew-hook", HOOK_COMMAND},
	{"dc", "-e", HOOK_BANG},
	{"dhclient", "-sf", HOOK_COMMAND},
	{"dmsetup", "--exec", HOOK_COMMAND},
	{"docker", "--health-cmd", HOOK_COMMAND},
	{"enscript", "-I", HOOK_COMMAND},
	{"entr", "-s", HOOK_COMMAND},
	{"ex", "-c", HOOK_BANG},
	{"ex", "-sc", HOOK_BANG},
	{"expect", "-c", HOOK_SPAWN},
	{"fc", "-e", HOOK_COMMAND},
	{"fly", "--command", HOOK_COMMAND},
	{"fly", "-C", HOOK_COMMAND},
	{"flyctl", "--command", HOOK_COMMAND},
	{"flyctl", "-C", HOOK_COMMAND},
	{"fzf", "--preview", HOOK_COMMAND},
	{"g++", "-wrapper", HOOK_COMMAS},
	{"gcc", "-wrapper", HOOK_COMMAS},
	{"gcloud", "--command", HOOK_COMMAND},
	{"gdb", "--ex", HOOK_BANG},
	{"gdb", "--args", HOOK_REST},
	{"gdb", "-ex", HOOK_BANG},
	{"git", "--receive-pack", HOOK_COMMAND},
	{"git", "--upload-pack", HOOK_COMMAND},
	{"hg", "--config", HOOK_SETTING},
	{"hg", "--ssh", HOOK_COMMAND},
	{"lftp", "-c", HOOK_BANG},
	{"lftp", "-e", HOOK_BANG},
	{"lldb", "-o", HOOK_BANG},
	{"mail", "--exec", HOOK_BANG},
	{"man", "--html", HOOK_COMMAND},
	{"man", "--pager", HOOK_COMMAND},
	{"man", "-H", HOOK_COMMAND},
	{"man", "-P", HOOK_COMMAND},
	{"mosh", "--server", HOOK_COMMAND},
	{"mosh", "--ssh", HOOK_COMMAND},
	{"mutt", "-e", HOOK_BANG},
	{"mysql", "--execute", HOOK_BANG},
	{"mysql", "-e", HOOK_BANG},
	{"nix", "--command", HOOK_REST},
	{"nix", "-c", HOOK_REST},
	{"nix-shell", "--command", HOOK_COMMAND},
	{"nix-shell", "--run", HOOK_COMMAND},
	{"nodemon", "--exec", HOOK_COMMAND},
	{"nodemon", "-x", HOOK_COMMAND},
	{"npm", "-c", HOOK_COMMAND},
	{"npx", "-c", HOOK_COMMAND},
	{"openvpn", "--auth-user-pass-verify", HOOK_COMMAND},
	{"openvpn", "--down", HOOK_COMMAND},
	{"openvpn", "--route-up", HOOK_COMMAND},
	{"openvpn", "--tls-verify", HOOK_COMMAND},
	{"openvpn", "--up", HOOK_COMMAND},
	{"osascript", "-e", HOOK_SCRIPT},
	{"pidstat", "-e", HOOK_COMMAND},
	{"pip", "--editor", HOOK_COMMAND},
	{"pnpm", "-c", HOOK_COMMAND},
	{"podman", "--health-cmd", HOOK_COMMAND},
	{"psql", "--command", HOOK_BANG},
	{"psql", "-c", HOOK_BANG},
	{"pwsh", "-c", HOOK_COMMAND},
	{"rclone", "--password-command", HOOK_COMMAND},
	{"restic", "--password-command", HOOK_COMMAND},
	{"rpm", "--pipe", HOOK_COMMAND},
	{"scp", "-S", HOOK_COMMAND},
	{"scrot", "--exec", HOOK_COMMAND},
	{"scrot", "-e", HOOK_COMMAND},
	{"sftp", "-D", HOOK_COMMAND},
	{"sftp", "-S", HOOK_COMMAND},
	{"sg", "-c", HOOK_COMMAND},
	{"sort", "--compress-program", HOOK_COMMAND},
	{"split", "--filter", HOOK_COMMAND},
	{"sqlite3", "", HOOK_OPERAND},
	{"sqlite3", "-cmd", HOOK_BANG},
	{"sshuttle", "--ssh-cmd", HOOK_COMMAND},
	{"sshuttle", "-e", HOOK_COMMAND},
	{"svn", "--diff-cmd", HOOK_COMMAND},
	{"svn", "--editor-cmd", HOOK_COMMAND},
	{"systemd-run", "--property", HOOK_SETTING},
	{"systemd-run", "-p", HOOK_SETTING},
	{"unison", "-sshcmd", HOOK_COMMAND},
	{"vagrant", "-c", HOOK_COMMAND},
	{"wget", "--use-askpass", HOOK_COMMAND},
	{"x11vnc", "-afteraccept", HOOK_COMMAND},
	{"x11vnc", "-gone", HOOK_COMMAND},
	{"xdotool", "type", HOOK_COMMAND},
	{"youtube-dl", "--exec", HOOK_COMMAND},
	{"yt-dlp", "--exec", HOOK_COMMAND},
	{"zip", "--unzip-command", HOOK_COMMAND},
	{"zip", "-TT", HOOK_COMMAND},
};

/* Variables whose value is a command line for whoever looks at them. */
static const char hook_variables[] =
	" PAGER MANPAGER GIT_PAGER SYSTEMD_PAGER BAT_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR "
	"SYSTEMD_EDITOR SUDO_EDITOR KUBE_EDITOR FCEDIT GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS SSH_ASKPASS "
	"SUDO_ASKPASS BORG_PASSCOMMAND BORG_RSH RESTIC_PASSWORD_COMMAND RUSTC_WRAPPER "
	"GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND LESSOPEN LESSCLOSE BROWSER RSYNC_RSH CVS_RSH ";

/* What a command of an editor, a debugger or a client of a database hands to a shell. */
static const char *hook_bang(const char *s)
{
	static const char *const words[] = {".shell ", ".system ", "shell ", "platform shell ",
					    "system ", "\\! ",     "\\!"};

	s += strspn(s, " \t");
	if (*s == '!')
		return s + 1;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_starts(s, words[i]))
			return s + strlen(words[i]);
	return NULL;
}

/* do shell script "..."; do script "...".  Gives the text and cuts it at its end. */
static const char *hook_script(struct run *r, const char *s)
{
	const char *p = strcasestr(s, "do shell script \""), *end;

	p = p ? p : strcasestr(s, "do script \"");
	p = p ? strchr(p, '"') + 1 : NULL;
	end = p ? strchr(p, '"') : NULL;
	return end ? arena_copy(&r->m->arena, p, (size_t)(end - p)) : p;
}

/* spawn sh -c {…}: Tcl's braces are the shell's quotes. */
static const char *hook_spawn(struct run *r, const char *s)
{
	static const char *const words[] = {"spawn ", "system ", "exec "};
	const char *found = NULL;
	char *copy;
	size_t len;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !found; i++) {
		found = strstr(s, words[i]);
		found = found ? found + strlen(words[i]) : NULL;
	}
	if (!found)
		return NULL;
	len = strlen(found);
	copy = arena_take(&r->m->arena, len + 1);
	for (size_t i = 0; copy && i < len; i++)
		copy[i] = found[i] == '{' || found[i] == '}' ? '\'' : found[i];
	return copy;
}

static bool hook_is_event(const char *s)
{
	return strcasestr(s, "Invoke") || strcasestr(s, "Post-") || strcasestr(s, "Pre-") ||
	       strcasestr(s, "Pager") || strcasestr(s, "::Bin");
}

static void hook_run(struct run *r, size_t c, const struct hook_row *row, const char *value,
		     unsigned taint)
{
	struct shell_word w, blank;

	if (row->form == HOOK_KEY) {
		const char *eq = strchr(value, '=');

		if (!eq || !hook_is_event(value))
			return;
		value = eq + 1;
	}
	if (row->form == HOOK_SETTING) {
		const char *eq = strchr(value, '=');

		if (!eq || !(str_starts(value, "Exec") || eq[1] == '!' || eq[1] == '/'))
			return;
		value = eq + 1 + strspn(eq + 1, "!@-+:");
	}
	/* gdb has python in it */
	if (row->form == HOOK_BANG && (str_starts(value, "python ") || str_starts(value, "py "))) {
		value = strchr(value, ' ') + 1;
		exec_language(r, c, SHELL_PYTHON, run_known(r, value, strlen(value), taint));
		return;
	}
	if (row->form == HOOK_BANG || row->form == HOOK_OPERAND) {
		value = hook_bang(value);
		if (!value)
			return;
	}
	if (row->form == HOOK_SCRIPT) {
		value = hook_script(r, value);
		if (!value)
			return;
	}
	if (row->form == HOOK_SPAWN) {
		value = hook_spawn(r, value);
		if (!value)
			return;
	}
	w = word_of(r, value, strlen(value));
	w.taint = taint;
	if (row->form == HOOK_COMMAS) {
		blank = word_of(r, " ", 1);
		w = launch_replace(r, &w, ",", &blank);
	}
	(void)exec_code(r, c, word_value(&w), VIA_HOOK);
}

static bool hook_is_module(const struct shell_command *cmd)
{
	for (size_t i = 1; i + 1 < cmd->n; i++)
		if (strcmp(cmd->argv[i].s, "-m") == 0 ||
		    strcmp(cmd->argv[i].s, "--module-name") == 0)
			return strstr("shell command raw script", cmd->argv[i + 1].s) != NULL;
	return true;
}

static void hook_options(struct run *r, size_t c, const struct hook_row *row)
{
	size_t len = strlen(row->option);

	if (row->form == HOOK_MODULE && !hook_is_module(&r->m->commands[c]))
		return;
	for (size_t i = 1; i < r->m->commands[c].n; i++) {
		const struct shell_word *w = &r->m->commands[c].argv[i];

		if (strcmp(w->s, "--") == 0)
			break;
		if (row->form == HOOK_OPERAND) {
			if (w->s[0] == '.')
				hook_run(r, c, row, w->s, w->taint);
			continue;
		}
		if (strncmp(w->s, row->option, len) != 0)
			continue;
		if (row->form == HOOK_REST) {
			if (w->s[len] == '\0' && i + 1 < r->m->commands[c].n)
				(void)exec_rest(r, c, i + 1, VIA_HOOK);
			return;
		}
		if (w->s[len] == '\0') {
			if (i + 1 < r->m->commands[c].n) {
				w = &r->m->commands[c].argv[++i];
				hook_run(r, c, row, w->s, w->taint);
			}
		} else if (w->s[len] == '=' || row->option[1] != '-') {
			hook_run(r, c, row, w->s + len + (w->s[len] == '='), w->taint);
		}
	}
}

/* Variables that hold options for a program: --checkpoint-action=exec=COMMAND, --eval=$(shell COMMAND) */
static void hook_options_of(struct run *r, size_t c, const char *s, unsigned taint)
{
	static const char *const marks[] = {"exec=", "command=", "program=", "$(shell ", "+!"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *p = strstr(s, marks[i]);

		if (!p)
			continue;
		p += strlen(marks[i]);
		(void)exec_code(r, c,
				run_known(r, p, marks[i][0] == '$' ? strcspn(p, ")") : strlen(p),
					  taint),
				VIA_HOOK);
	}
}

static int hook_compare(const void *key, const void *row)
{
	return strcmp(key, ((const struct hook_row *)row)->program);
}

void launch_hooks(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	const char *name = cmd->name;
	const struct hook_row *end = hook_rows + sizeof(hook_rows) / sizeof(hook_rows[0]);
	const struct hook_row *row = NULL;

	for (size_t i = 0; i < cmd->n_assigns && cmd->n > 0; i++) {
		const struct shell_word *w = &r->m->commands[c].assigns[i];
		size_t eq = strcspn(w->s, "=");
		char key[32];

		if (eq >= sizeof(key) || w->s[eq] != '=' || !strpbrk(w->s + eq, " /|"))
			continue;
		memcpy(key, w->s, eq);
		key[eq] = '\0';
		if (rule_is("TAR_OPTIONS MAKEFLAGS GNUMAKEFLAGS LESS", key)) {
			hook_options_of(r, c, w->s + eq + 1, w->taint);
			continue;
		}
		/* prompts are expanded, and so are the commands in them */
		if (rule_is(hook_variables, key) || str_starts(key, "GIT_CONFIG_VALUE_") ||
		    (rule_is("PS4 PS0 PS1", key) && strpbrk(w->s + eq, "`("))) {
			const char *value = w->s + eq + 1;

			value += strspn(value, "|");
			(void)exec_code(r, c, run_known(r, value, strlen(value), w->taint),
					VIA_HOOK);
		}
	}
	if (r->m->commands[c].n > 1)
		row = bsearch(name, hook_rows, (size_t)(end - hook_rows), sizeof(*row),
			      hook_compare);
	while (row && row > hook_rows && strcmp(row[-1].program, name) == 0)
		row--;
	for (; row && row < end && strcmp(row->program, name) == 0; row++)
		hook_options(r, c, row);
}
