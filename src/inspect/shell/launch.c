/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that run other programs or code, each in its own way: shells, eval, xargs, find -exec, ssh, interpreters
 * of other languages, and options of ordinary tools that name a command.  One function a kind, one table of names.
 */
#include "inspect/shell/launch.h"
#include "inspect/shell/output.h"
#include "inspect/shell/rule.h"
#include "inspect/shell/run.h"
#include "inspect/shell/script.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* ---- shells ---- */

static bool launch_has_letter(const char *s, char letter)
{
	return s[0] == '-' && s[1] != '-' && strchr(s + 1, letter);
}

static struct shell_text launch_script(struct run *r, size_t c, size_t at)
{
	const struct shell_command *cmd = &r->m->commands[c];
	struct shell_word *params = r->params;
	size_t n_params = r->n_params;
	bool is_network = false;
	struct shell_text code = exec_contents(r, &cmd->argv[at], &is_network), out;

	code.taint &= ~(unsigned)TAINT_FILE;
	if (!is_network && !code.s && !code.taint)
		return (struct shell_text){.taint = cmd->in.taint};
	if (code.s && !code.is_known && code.len < 2)
		code.s = NULL;
	r->params = cmd->argv + at;
	r->n_params = cmd->n - at;
	if (r->n_params > 0)
		r->params++, r->n_params--;
	out = exec_code(r, c, code, VIA_SHELL);
	r->params = params;
	r->n_params = n_params;
	return out;
}

/* What the options of a shell say, and where its first operand is. */
struct launch_options {
	size_t at;
	bool has_code, is_stdin, runs_nothing;
};

static struct launch_options launch_shell_options(const struct shell_command *cmd)
{
	struct launch_options o = {.at = 1};

	for (; o.at < cmd->n; o.at++) {
		const char *s = cmd->argv[o.at].s;

		if (strcmp(s, "--") == 0) {
			o.at++;
			break;
		}
		if ((s[0] != '-' && s[0] != '+') || !s[1])
			break;
		if (strcmp(s, "--help") == 0 || strcmp(s, "--version") == 0 || strcmp(s, "-n") == 0)
			o.runs_nothing = true;
		if (strcmp(s, "--rcfile") == 0 || strcmp(s, "--init-file") == 0 ||
		    strcmp(s, "-o") == 0 || strcmp(s, "-O") == 0 || strcmp(s, "+o") == 0 ||
		    strcmp(s, "+O") == 0 || (launch_has_letter(s, 'o') && s[strlen(s) - 1] == 'o'))
			o.at++;
		o.has_code = o.has_code || (s[0] == '-' && s[1] != '-' && strchr(s, 'c')) ||
			     strcmp(s, "--command") == 0;
		o.is_stdin = o.is_stdin || strcmp(s, "-s") == 0;
	}
	return o;
}

static bool launch_is_stdin(const char *s)
{
	return strcmp(s, "-") == 0 || strcmp(s, "/dev/stdin") == 0 || strcmp(s, "/dev/fd/0") == 0;
}

static struct shell_text launch_shell(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	struct launch_options o = launch_shell_options(cmd);
	size_t at = o.at;

	if (o.runs_nothing)
		return run_nothing();
	if (o.has_code && at < cmd->n) {
		struct shell_word *params = r->params;
		size_t n_params = r->n_params;
		struct shell_text out;

		r->params = at + 1 < cmd->n ? cmd->argv + at + 1 : NULL;
		r->n_params = at + 1 < cmd->n ? cmd->n - at - 1 : 0;
		if (r->n_params > 0)
			r->params++, r->n_params--;
		out = exec_code(r, c, word_value(&cmd->argv[at]), VIA_SHELL);
		r->params = params;
		r->n_params = n_params;
		return out;
	}
	if (at < cmd->n && !o.is_stdin && !launch_is_stdin(cmd->argv[at].s))
		return launch_script(r, c, at);
	if (cmd->has_in) {
		struct shell_text code = cmd->in;

		r->m->commands[c].runs_input = true;
		if (cmd->in_is_network)
			code.taint |= TAINT_REMOTE;
		return exec_code(r, c, code, VIA_SHELL);
	}
	return (struct shell_text){.taint = TAINT_INPUT};
}

static struct shell_text launch_eval(struct run *r, size_t c)
{
	return exec_code(r, c, exec_joined(r, c, 1), VIA_SHELL);
}

static struct shell_text launch_source(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];

	if (cmd->n < 2)
		return run_nothing();
	if (strcmp(cmd->argv[1].s, "/dev/stdin") == 0 || strcmp(cmd->argv[1].s, "-") == 0) {
		struct shell_text code = cmd->in;

		code.taint |= cmd->in_is_network ? TAINT_REMOTE : 0;
		return exec_code(r, c, code, VIA_SHELL);
	}
	return launch_script(r, c, 1);
}

/* ---- other languages ---- */

static const struct {
	const char *name;
	enum shell_language language;
	const char *code;  /* letters of options that take code */
	const char *takes; /* letters of options with another value */
	const char *longs; /* long options that take code */
} launch_languages[] = {
	{"python", SHELL_PYTHON, "c", "mWX", " "},
	{"pypy", SHELL_PYTHON, "c", "mWX", " "},
	{"perl", SHELL_PERL, "eE", "IMm", " "},
	{"ruby", SHELL_RUBY, "e", "ICrEK", " "},
	{"jruby", SHELL_RUBY, "e", "ICrEK", " "},
	{"node", SHELL_NODE, "ep", "r", " eval print "},
	{"nodejs", SHELL_NODE, "ep", "r", " eval print "},
	{"bun", SHELL_NODE, "ep", "r", " eval print "},
	{"deno", SHELL_NODE, "", "", " "},
	{"php", SHELL_PHP, "rBRE", "dcztS", " run "},
	{"lua", SHELL_LUA, "e", "l", " "},
	{"luajit", SHELL_LUA, "e", "l", " "},
	{"osascript", SHELL_OTHER, "e", "l", " "},
	{"Rscript", SHELL_OTHER, "e", "", " "},
	{"julia", SHELL_OTHER, "eE", "", " eval "},
	{"groovy", SHELL_OTHER, "e", "", " "},
	{"groovysh", SHELL_OTHER, "e", "", " "},
	{"crystal", SHELL_OTHER, "", "", " "},
	{"scala", SHELL_OTHER, "e", "", " "},
	{"tclsh", SHELL_OTHER, "", "", " "},
	{"expect", SHELL_OTHER, "c", "", " "},
	{"irb", SHELL_RUBY, "", "", " "},
	{"guile", SHELL_OTHER, "c", "", " "},
	{"elixir", SHELL_OTHER, "e", "", " eval "},
	{"erl", SHELL_OTHER, "", "", " eval "},
	{"octave", SHELL_OTHER, "", "", " eval "},
	{"gdb", SHELL_OTHER, "", "p", " eval-command ex "},
	{"jjs", SHELL_NODE, "e", "", " "},
	{"jrunscript", SHELL_NODE, "e", "l", " "},
	{"tsx", SHELL_NODE, "ep", "r", " eval print "},
	{"jshell", SHELL_OTHER, "", "R", " "},
	{"R", SHELL_OTHER, "e", "f", " "},
	{"clojure", SHELL_OTHER, "e", "", " eval "},
	{"clj", SHELL_OTHER, "e", "", " eval "},
	{"bb", SHELL_OTHER, "e", "f", " eval "},
	{"racket", SHELL_OTHER, "e", "ltr", " eval "},
	{"sbcl", SHELL_OTHER, "", "", " eval "},
	{"swipl", SHELL_OTHER, "g", "t", " goal "},
	{"ghc", SHELL_OTHER, "e", "o", " "},
	{"raku", SHELL_PERL, "e", "I", " "},
	{"nix", SHELL_OTHER, "", "f", " expr "},
	{"nix-shell", SHELL_OTHER, "E", "pI", " expr "},
	{"nix-build", SHELL_OTHER, "E", "AI", " expr "},
	{"nix-instantiate", SHELL_OTHER, "E", "AI", " expr "},
};

/* The row of a program: python3.12 is python. */
static int launch_language_of(const char *name)
{
	for (size_t i = 0; i < sizeof(launch_languages) / sizeof(launch_languages[0]); i++) {
		size_t n = strlen(launch_languages[i].name);

		if (strncmp(name, launch_languages[i].name, n) == 0 &&
		    name[n + strspn(name + n, "0123456789.-")] == '\0')
			return (int)i;
	}
	return -1;
}

static struct shell_text launch_language(struct run *r, size_t c, int row)
{
	const struct shell_command *cmd = &r->m->commands[c];
	enum shell_language language = launch_languages[row].language;
	struct shell_text code = {0};
	bool has_code = false, is_network = false;
	size_t at = 1;

	for (; at < cmd->n; at++) {
		const char *s = cmd->argv[at].s;
		const char *p;
		char name[66];

		if (s[0] != '-' || !s[1])
			break;
		if (strcmp(s, "--version") == 0 || strcmp(s, "--help") == 0 || strcmp(s, "-V") == 0)
			return run_nothing();
		if (s[1] == '-' || (strcmp(s, "-eval") == 0 && language == SHELL_OTHER)) {
			(void)snprintf(name, sizeof(name), " %.62s ", s + 1 + (s[1] == '-'));
			if (strstr(launch_languages[row].longs, name) && at + 1 < cmd->n) {
				code = word_value(&cmd->argv[++at]);
				has_code = true;
				exec_language(r, c, language, code);
			} else if (strchr(s, '=') && strncmp(s, "--eval=", 7) == 0) {
				has_code = true;
				exec_language(r, c, language,
					      run_known(r, s + 7, strlen(s + 7), 0));
			}
			continue;
		}
		p = s + 1;
		while (*p && !strchr(launch_languages[row].code, *p) &&
		       !strchr(launch_languages[row].takes, *p))
			p++;
		if (!*p)
			continue;
		if (strchr(launch_languages[row].code, *p)) {
			has_code = true;
			if (p[1] && strchr("ecr", *p) && language != SHELL_PERL)
				exec_language(r, c, language,
					      run_known(r, p + 1, strlen(p + 1), 0));
			else if (at + 1 < cmd->n)
				exec_language(r, c, language, word_value(&cmd->argv[++at]));
		} else {
			if (language == SHELL_PYTHON && *p == 'm' && !p[1] && at + 1 < cmd->n &&
			    rule_is("pip pip3", cmd->argv[at + 1].s))
				return exec_rest(r, c, at + 1, 0);
			has_code = has_code || *p == 'm';
			at += p[1] == '\0';
		}
		if (language == SHELL_PYTHON && has_code)
			break;
	}
	if (has_code) {
		struct shell_text out = {.taint = r->m->commands[c].runs | cmd->in.taint |
						  output_environment(cmd)};

		/* what it prints was encoded */
		for (size_t i = 1; i < cmd->n; i++)
			if (cmd->argv[i].len > 8 &&
			    script_is_hidden(cmd->argv[i].s, cmd->argv[i].len))
				out.taint |= TAINT_DECODED;
		return out;
	}
	/* deno eval CODE */
	if (at + 1 < cmd->n && strcmp(cmd->argv[at].s, "eval") == 0 &&
	    rule_is("deno crystal", cmd->name)) {
		exec_language(r, c, language, word_value(&cmd->argv[cmd->n - 1]));
		return (struct shell_text){.taint = cmd->in.taint};
	}
	if (at < cmd->n && strcmp(cmd->argv[at].s, "-") != 0 &&
	    strcmp(cmd->argv[at].s, "/dev/stdin") != 0) {
		code = exec_contents(r, &cmd->argv[at], &is_network);
		code.taint &= ~(unsigned)TAINT_FILE;
		exec_language(r, c, language, code);
	} else if (cmd->has_in) {
		code = cmd->in;
		code.taint |= cmd->in_is_network ? TAINT_REMOTE : 0;
		r->m->commands[c].runs_input = true;
		exec_language(r, c, language, code);
	}
	return (struct shell_text){.taint = cmd->in.taint};
}

/* print > "FILE" */
static void launch_awk_files(struct run *r, size_t c, const char *s)
{
	while ((s = strchr(s, '>')) != NULL && run_step(r)) {
		s += strspn(s, "> ");
		if (*s != '"')
			continue;
		s++;
		if (*s == '/' || *s == '~')
			launch_write(r, c, s, strcspn(s, "\""));
		s += strcspn(s, "\"");
	}
}

static struct shell_text launch_awk(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	size_t at = exec_operand(cmd, 1, "Fvf", " field-separator assign file ");
	struct shell_word room;
	const struct shell_word *file = exec_option(r, cmd, 'f', "file", &room);
	struct shell_command copy;
	struct shell_text out;
	bool is_network = false;

	/* -f FILE: the first operand is data */
	if (file && !launch_is_stdin(file->s)) {
		struct shell_text code = exec_contents(r, file, &is_network);

		code.taint &= ~(unsigned)TAINT_FILE;
		exec_language(r, c, SHELL_AWK, code);
	} else if (file) {
		if (cmd->in.s)
			exec_language(r, c, SHELL_AWK, cmd->in);
	} else if (at < cmd->n) {
		exec_language(r, c, SHELL_AWK, word_value(&cmd->argv[at]));
		launch_awk_files(r, c, r->m->commands[c].argv[at].s);
	}
	copy = r->m->commands[c];
	out = effect_of(r, &copy);
	out.taint |= output_environment(&copy);
	r->m->commands[c].sends = copy.sends;
	return out;
}

/* ---- for each word ---- */

struct shell_word launch_replace(struct run *r, const struct shell_word *w, const char *mark,
				 const struct shell_word *with)
{
	struct buf b = BUF_INIT(LIMIT_SHELL_WORD);
	struct shell_word out = *w;
	size_t n = strlen(mark), i = 0;

	if (strcmp(w->s, mark) == 0)
		out.flags |= WORD_ITEM;

	while (i < w->len)
		if (n > 0 && w->len - i >= n && memcmp(w->s + i, mark, n) == 0) {
			buf_add(&b, with->s, with->len);
			out.taint |= with->taint;
			out.flags |= with->flags;
			i += n;
		} else {
			buf_char(&b, w->s[i++]);
		}
	out.s = arena_copy(&r->m->arena, buf_cstr(&b), b.len);
	out.len = b.len;
	out.place = 0;
	run_buf_done(r, &b);
	return out;
}

/* Words of a known text, or one word that is not known. */
static void launch_split(struct run *r, const struct shell_text *in, struct run_words *out)
{
	if (!in->s || !in->is_known) {
		struct shell_word w = {.s = in->s ? in->s : "\001",
				       .len = in->s ? in->len : 1,
				       .taint = in->taint,
				       .flags = WORD_UNKNOWN};

		word_add(r, out, &w);
		return;
	}
	for (size_t i = 0; i < in->len && out->n < 64;) {
		size_t n = strcspn(in->s + i, " \t\n");

		if (n > in->len - i)
			n = in->len - i;
		if (n > 0) {
			struct shell_word w = word_of(r, in->s + i, n);

			w.taint = in->taint;
			word_add(r, out, &w);
		}
		i += n + 1;
	}
}

/* Lines of a known text, or one word that is not known. */
static void launch_lines(struct run *r, const struct shell_text *in, struct run_words *out)
{
	if (!in->s || !in->is_known) {
		launch_split(r, in, out);
		return;
	}
	for (size_t i = 0; i < in->len && out->n < 64; i++) {
		size_t n = strcspn(in->s + i, "\n");
		struct shell_word w = word_of(r, in->s + i, n < in->len - i ? n : in->len - i);

		w.taint = in->taint;
		if (w.len > 0)
			word_add(r, out, &w);
		i += n;
	}
}

/* Runs the words from at on with each of items put in. */
static struct shell_text launch_each(struct run *r, size_t c, size_t at, size_t end,
				     const char *mark, const struct run_words *items, unsigned via)
{
	const struct shell_command *cmd = &r->m->commands[c];
	struct run_words words = {0};
	struct shell_text out = {.taint = cmd->in.taint};
	bool has_mark = false;

	for (size_t i = at; i < end; i++)
		has_mark = has_mark || (*mark && strstr(cmd->argv[i].s, mark));
	if (!has_mark) {
		for (size_t i = at; i < end; i++)
			word_add(r, &words, &cmd->argv[i]);
		for (size_t i = 0; i < items->n; i++) {
			struct shell_word w = items->v[i];

			w.flags |= WORD_ITEM;
			word_add(r, &words, &w);
		}
		return exec_words(r, c, &words, via);
	}
	for (size_t k = 0; k < items->n && k < 8; k++) {
		words = (struct run_words){0};
		cmd = &r->m->commands[c];
		for (size_t i = at; i < end; i++) {
			struct shell_word w = launch_replace(r, &cmd->argv[i], mark, &items->v[k]);

			word_add(r, &words, &w);
		}
		out = exec_words(r, c, &words, via);
	}
	return out;
}

static struct shell_text launch_xargs(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	size_t at = exec_operand(cmd, 1, "adEeILlnPsJR",
				 " arg-file delimiter max-args max-procs max-lines max-chars "
				 "replace-str process-slot-var ");
	struct shell_word room;
	const struct shell_word *mark = exec_option(r, cmd, 'I', "replace", &room);
	const struct shell_word *file = exec_option(r, cmd, 'a', "arg-file", &room);
	struct run_words items = {0};
	struct shell_text in = cmd->in;
	const char *text = mark ? mark->s : "";
	bool is_network;

	if (!mark)
		mark = exec_option(r, cmd, 'J', NULL, &room), text = mark ? mark->s : "";
	if (!mark)
		for (size_t i = 1; i < at && i < cmd->n; i++)
			if (strcmp(cmd->argv[i].s, "-i") == 0 ||
			    str_starts(cmd->argv[i].s, "--replace"))
				text = "{}";
	/* --replace without a value takes none from the next word. */
	if (mark && mark->s[0] == '\0')
		text = "{}";
	if (file)
		in = exec_contents(r, file, &is_network);
	/* Many people write {} without -I; what they mean is clear. */
	if (!*text)
		for (size_t i = at; i < cmd->n; i++)
			text = strstr(cmd->argv[i].s, "{}") ? "{}" : text;
	launch_split(r, &in, &items);
	if (at >= cmd->n)
		return in;
	return launch_each(r, c, at, cmd->n, text, &items, VIA_EACH);
}

static struct shell_text launch_parallel(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	size_t at = exec_operand(
		cmd, 1, "jNnaILSsd",
		" jobs max-args arg-file sshlogin joblog results delay timeout retries "
		"colsep memfree tmpdir workdir env tagstring ");
	struct run_words items = {0};
	size_t end = at;

	while (end < cmd->n && strncmp(cmd->argv[end].s, ":::", 3) != 0)
		end++;
	if (end < cmd->n)
		for (size_t i = end + 1; i < cmd->n; i++)
			word_add(r, &items, &cmd->argv[i]);
	else
		launch_lines(r, &cmd->in, &items);
	if (at >= end) {
		/* Every item is a command. */
		struct shell_text out = {0};

		for (size_t i = 0; i < items.n && i < 8; i++)
			out = exec_code(r, c, word_value(&items.v[i]), VIA_SHELL | VIA_EACH);
		return out;
	}
	if (end - at == 1 && strpbrk(cmd->argv[at].s, " \t;|")) {
		struct shell_text out = {0};

		for (size_t i = 0; i < items.n && i < 8; i++) {
			struct shell_word w =
				launch_replace(r, &r->m->commands[c].argv[at], "{}", &items.v[i]);

			out = exec_code(r, c, word_value(&w), VIA_SHELL | VIA_EACH);
		}
		return out;
	}
	return launch_each(r, c, at, end, "{}", &items, VIA_EACH);
}

/* Is it the option behind which find, or fd, is told what to run? */
static bool launch_is_exec(const struct shell_command *cmd, const char *s)
{
	return rule_is(strcmp(cmd->name, "find") == 0 ? "-exec -execdir -ok -okdir"
						      : "-x -X --exec --exec-batch",
		       s);
}

static struct shell_text launch_find(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	struct run_words start = {0};
	size_t first = 1;
	struct shell_text out = output_names(r, cmd);
	bool has_filter = false, is_choosing = output_is_choosing(cmd);

	while (first < cmd->n &&
	       (str_starts(cmd->argv[first].s, "-H") || str_starts(cmd->argv[first].s, "-L") ||
		str_starts(cmd->argv[first].s, "-P") || str_starts(cmd->argv[first].s, "-O")))
		first++;
	for (size_t i = 1; i < cmd->n; i++) {
		if (launch_is_exec(cmd, cmd->argv[i].s))
			while (i < cmd->n && strcmp(cmd->argv[i].s, ";") != 0 &&
			       strcmp(cmd->argv[i].s, "+") != 0)
				i++;
		else if (cmd->argv[i].s[0] == '-' && strcmp(cmd->argv[i].s, "-print") != 0)
			has_filter = true;
	}
	/* What is found is below where the search begins. */
	for (; first < cmd->n && !strchr("-(!", cmd->argv[first].s[0]); first++) {
		struct shell_word w = cmd->argv[first];
		struct buf b = BUF_INIT(LIMIT_SHELL_WORD);

		w.taint |= output_place(r, &w, is_choosing);
		buf_add(&b, w.s, w.len);
		if (has_filter) {
			buf_str(&b,
				w.len > 0 && w.s[w.len - 1] == '/' ? "\001/\001" : "/\001/\001");
			w.flags |= WORD_UNKNOWN;
		}
		w.s = arena_copy(&r->m->arena, buf_cstr(&b), b.len);
		w.len = b.len;
		w.place = 0;
		run_buf_done(r, &b);
		word_add(r, &start, &w);
	}
	if (start.n == 0) {
		struct shell_word w = word_of(r, has_filter ? "./\001" : ".", has_filter ? 3 : 1);

		word_add(r, &start, &w);
	}
	for (size_t i = first; i < cmd->n; i++) {
		const char *s = cmd->argv[i].s;
		size_t end = i + 1;

		/* A credential that is searched for is what will be found. */
		if ((strcmp(s, "-name") == 0 || strcmp(s, "-path") == 0 ||
		     strcmp(s, "-iname") == 0) &&
		    i + 1 < cmd->n) {
			struct shell_word w = cmd->argv[i + 1];

			w.place = 0;
			out.taint |= w.taint;
			if (start.n < 8 && !strpbrk(w.s, "*?["))
				word_add(r, &start, &w);
		}
		if (!launch_is_exec(cmd, s))
			continue;
		while (end < cmd->n && strcmp(cmd->argv[end].s, ";") != 0 &&
		       strcmp(cmd->argv[end].s, "+") != 0)
			end++;
		out = launch_each(r, c, i + 1, end, "{}", &start, VIA_EACH);
		cmd = &r->m->commands[c];
		i = end;
	}
	return out;
}

struct launch_row {
	const char *names; /* with a blank around each */
	struct shell_text (*run)(struct run *r, size_t c);
};

static const struct launch_row launch_rows[] = {
	{" sh bash dash zsh ksh ash mksh fish csh tcsh rbash yash ksh93 lksh oksh posh bash-static rzsh ",
	 launch_shell},
	{" eval ", launch_eval},
	{" source . ", launch_source},
	{" xargs ", launch_xargs},
	{" parallel ", launch_parallel},
	{" find fd fdfind ", launch_find},
	{" ssh autossh mosh sshpass dbclient ", launch_ssh},
	{" scp sftp rsync lsyncd ", launch_rsync},
	{" su runuser ", launch_su},
	{" script ", launch_script_c},
	{" cordon ", launch_cordon},
	{" flock ", launch_flock},
	{" watch ", launch_watch},
	{" tmux byobu ", launch_tmux},
	{" screen ", launch_screen},
	{" docker podman nerdctl kubectl oc docker-compose lxc ctr crictl ", launch_container},
	{" tar bsdtar gtar ", launch_tar},
	{" git ", launch_git},
	{" nc ncat netcat nc.traditional nc.openbsd ", launch_netcat},
	{" socat ", launch_socat},
	{" at batch ", launch_at},
	{" crontab ", launch_crontab},
	{" trap ", launch_trap},
	{" alias ", launch_alias},
	{" hash ", launch_hash},
	{" cd pushd chdir ", launch_cd},
	{" read ", launch_read},
	{" unset ", launch_unset},
	{" exec ", launch_exec},
	{" shift ", launch_shift},
	{" set ", launch_set},
	{" mapfile readarray ", launch_mapfile},
	{" bind ", launch_bind},
	{" complete compgen ", launch_complete},
	{" vi vim nvim view vimdiff rvim ex less more man ", launch_editor},
	{" awk gawk mawk nawk ", launch_awk},
	{" cmd ", launch_cmd},
};

bool launch_known(struct run *r, size_t c, struct shell_text *ret_out)
{
	const char *name = r->m->commands[c].name;
	int row;

	for (size_t i = 0; i < sizeof(launch_rows) / sizeof(launch_rows[0]); i++)
		if (rule_is(launch_rows[i].names, name)) {
			*ret_out = launch_rows[i].run(r, c);
			return true;
		}
	if (launch_runner(r, c, ret_out))
		return true;
	row = launch_language_of(name);
	if (row < 0)
		return false;
	*ret_out = launch_language(r, c, row);
	return true;
}

/* ---- files ---- */

/* The first operand of another language's interpreter; cmd->n when its code comes from elsewhere. */
static size_t launch_language_file(const struct shell_command *cmd, int row)
{
	for (size_t at = 1; at < cmd->n; at++) {
		const char *s = cmd->argv[at].s;
		char name[66];

		if (s[0] != '-') {
			/* deno run, bun run */
			if (launch_languages[row].language == SHELL_NODE && strcmp(s, "run") == 0 &&
			    !rule_is(" node nodejs ", cmd->name))
				continue;
			return at;
		}
		if (!s[1])
			return cmd->n;
		(void)snprintf(name, sizeof(name), " %.62s ", s + (s[1] == '-' ? 2 : 1));
		if (s[1] == '-') {
			if (strstr(launch_languages[row].longs, name) || str_starts(s, "--eval="))
				return cmd->n;
			continue;
		}
		for (const char *p = s + 1; *p; p++) {
			if (strchr(launch_languages[row].code, *p) || (*p == 'm' && row < 2))
				return cmd->n;
			if (strchr(launch_languages[row].takes, *p)) {
				at += p[1] == '\0';
				break;
			}
		}
	}
	return cmd->n;
}

/* Where the file of the command is, which may be the command itself; cmd->n: it names none. */
static size_t launch_file_word(const struct shell_command *cmd, enum shell_language *ret)
{
	struct launch_options o;
	int row;

	*ret = SHELL_BASH;
	if (rule_is(launch_rows[0].names, cmd->name)) {
		o = launch_shell_options(cmd);
		return o.runs_nothing || o.has_code || o.is_stdin ? cmd->n : o.at;
	}
	if (rule_is(" source . ", cmd->name))
		return 1;
	row = launch_language_of(cmd->name);
	if (row >= 0) {
		*ret = launch_languages[row].language;
		return launch_language_file(cmd, row);
	}
	*ret = SHELL_ANY;
	return strchr(cmd->argv[0].s, '/') ? 0 : cmd->n;
}

/* go run: files of its language, or else the directory of a package, which is the first operand. */
static size_t launch_go_word(const struct shell_command *cmd, size_t at)
{
	size_t first = 2;

	for (; first < cmd->n && cmd->argv[first].s[0] == '-'; first++)
		first += rule_is(
			"C exec ldflags gcflags asmflags gccgoflags tags mod modfile overlay p o "
			"coverpkg covermode pkgdir toolexec buildmode compiler pgo",
			cmd->argv[first].s + strspn(cmd->argv[first].s, "-"));
	if (first < cmd->n && !str_ends(cmd->argv[first].s, ".go")) {
		const char *s = cmd->argv[first].s;

		return at <= first && (s[0] == '.' || s[0] == '/') ? first : cmd->n;
	}
	while (at < cmd->n && !str_ends(cmd->argv[at].s, ".go"))
		at++;
	return at;
}

bool launch_file(const struct shell_command *cmd, size_t *at, enum shell_language *ret)
{
	size_t word = cmd->n;

	if (cmd->n > 2 && strcmp(cmd->name, "go") == 0 && strcmp(cmd->argv[1].s, "run") == 0) {
		*ret = SHELL_GO;
		word = launch_go_word(cmd, *at > 2 ? *at : 2);
	} else if (cmd->n > 0) {
		word = launch_file_word(cmd, ret);
		if (word < *at)
			word = cmd->n;
	}
	*at = word;
	return word < cmd->n && !(cmd->argv[word].flags & (WORD_UNKNOWN | WORD_GLOB)) &&
	       !launch_is_stdin(cmd->argv[word].s);
}
