/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordinary programs that are made to do something else: to show or write files that their callers may not, to open
 * shells, to load code.  What gives such a command away is its form (a filter that is told to change nothing, an
 * encoder that is undone at once, an option of lists and plugins with a path of the system), not the program.
 */
#include "inspect/shell/rule.h"

#include "base/path.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

static bool craft_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

/* Does the word lie outside the working directory, and not among temporary files? */
static bool craft_is_outside(const struct shell_model *m, const struct shell_command *c,
			     const char *s)
{
	uint64_t place;

	if (s[0] != '/' && s[0] != '~')
		return false;
	place = place_of(m->context, s, c->cwd, false);
	return (place & (PLACE(ABSOLUTE) | PLACE(HOME) | PLACE(HOME_BELOW) | PLACE(SYSTEM))) &&
	       !(place & PLACE(TEMPORARY)) && strncmp(s, "/dev/", 5) != 0;
}

static bool craft_names_outside(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (craft_is_outside(m, c, c->argv[i].s))
			return true;
	return false;
}

/* Options that read a list, a script or a batch, and print what they could not understand. */
static bool craft_list(const struct shell_model *m, const struct shell_command *c)
{
	static const struct {
		const char *program, *options;
	} rows[] = {
		{"dig", "-f"},
		{"date", "-f --file"},
		{"file", "-f"},
		{"ssh-keyscan", "-f"},
		{"ss", "-F"},
		{"nasm", "-@"},
		{"mtr", "-F"},
		{"fping", "-f"},
		{"ip", "-b -batch"},
		{"wc", "--files0-from"},
		{"wget", "-i"},
		{"du", "--files0-from"},
		{"arp", "-f"},
		{"bc", "-s"},
		{"lp", "-h"},
		{"msgattrib", "-P"},
		{"sort", "--files0-from"},
		{"nmap", "-iL"},
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		if (strcmp(c->name, rows[k].program) != 0)
			continue;
		for (size_t i = 1; i < c->n; i++) {
			const char *eq = strchr(c->argv[i].s, '=');

			if (rule_is(rows[k].options, c->argv[i].s))
				return craft_names_outside(m, c);
			if (eq && str_starts(c->argv[i].s, "--files0-from="))
				return craft_is_outside(m, c, eq + 1);
		}
	}
	return false;
}

/* gcc @FILE, check_x --extra-opts=@FILE: its contents come back as errors. */
static bool craft_response(const struct shell_model *m, const struct shell_command *c)
{
	bool has_file = false;

	for (size_t i = 1; i < c->n && !has_file; i++) {
		const char *at = strchr(c->argv[i].s, '@');

		has_file = at && (at == c->argv[i].s || at[-1] == '=') &&
			   craft_is_outside(m, c, at + 1);
	}
	return has_file &&
	       (str_starts(c->name, "check_") ||
		rule_is("as ld gcc cc g++ c89 c99 clang readelf objdump nm ar size strip java javac",
			c->name));
}

/* Is there an option with a number of 500 or more? */
static bool craft_is_wide(const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *p = c->argv[i].s;
		size_t n;

		if (*p != '-' && (i < 2 || c->argv[i - 1].s[0] != '-'))
			continue;
		p += strcspn(p, "123456789");
		n = strspn(p, "0123456789");
		if (n > 3 || (n == 3 && *p >= '5'))
			return true;
	}
	return false;
}

/* iconv -f a -t a */
static bool craft_same_codes(const struct shell_command *c)
{
	const char *from = "", *to = "?";

	for (size_t i = 1; i + 1 < c->n; i++) {
		if (strcmp(c->argv[i].s, "-f") == 0)
			from = c->argv[i + 1].s;
		if (strcmp(c->argv[i].s, "-t") == 0)
			to = c->argv[i + 1].s;
	}
	return strcasecmp(from, to) == 0;
}

/* A filter that is told to change nothing only shows the file. */
static bool craft_idle(const struct shell_model *m, const struct shell_command *c)
{
	const char *name = c->name;

	if (!craft_names_outside(m, c))
		return false;
	if (strcmp(name, "iconv") == 0)
		return craft_same_codes(c);
	if (rule_is("join comm diff cmp sdiff", name))
		return craft_any(c, "/dev/null /dev/zero");
	if (rule_is("fold fmt od unexpand expand ptx pr", name))
		return craft_is_wide(c) || (strcmp(name, "pr") == 0 && rule_has(c, "-T"));
	if (strcmp(name, "nl") == 0)
		return rule_has(c, "-bn") || (rule_has(c, "-b") && craft_any(c, "n"));
	if (strcmp(name, "tac") == 0)
		return rule_has(c, "-s|--separator");
	if (rule_is("awk gawk mawk nawk", name))
		return c->n == 3 && rule_is("// 1 {print} 1;", c->argv[1].s);
	if (strcmp(name, "perl") == 0)
		return c->n == 4 && rule_is("-ne -pe", c->argv[1].s) &&
		       rule_is("print 1 ;", c->argv[2].s);
	if (strcmp(name, "jq") == 0)
		return craft_any(c, "-Rr -rR -R") && craft_any(c, ".");
	if (rule_is("paste uniq column",
		    name)) /* one file with nothing to join, compare or align */
		return c->n == 2 && m->n == 1 && !strchr(path_base(c->argv[1].s), '.');
	if (strcmp(name, "sort") == 0)
		return c->n == 3 && rule_has(c, "-m");
	if (strcmp(name, "shuf") == 0)
		return c->n == 3 && rule_has(c, "-z");
	if (rule_is("head tail", name)) /* -c1G: all of it */
		return c->n == 3 && str_starts(c->argv[1].s, "-c") && str_ends(c->argv[1].s, "G");
	/* grep '' FILE, look '' FILE, sed '' FILE, cut -d '' -f1 FILE */
	if (strcmp(name, "cut") == 0)
		return rule_has(c, "-d") && c->n > 3 && c->argv[2].len == 0;
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].len == 0 && (i == 1 || c->argv[i - 1].s[0] != '-'))
			return true;
	return false;
}

/* A file without a suffix, far from the work, in a tool that is made for documents, lists or settings. */
static bool craft_misused(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;
		const char *base = strrchr(s, '/');

		if (strcmp(c->argv[i - 1].s, "-C") == 0) /* a directory to work in */
			continue;
		if (s[0] == '-' && strchr(s, '='))
			s = strchr(s, '=') + 1, base = strrchr(s, '/');
		if (base && base[1] && !strchr(base, '.') && craft_is_outside(m, c, s))
			return true;
	}
	return false;
}

/* cp FILE /dev/stdout: whoever copies to a terminal wants to read. */
static bool craft_shows(const struct shell_model *m, const struct shell_command *c)
{
	return craft_any(c, "/dev/stdout /dev/fd/1 /proc/self/fd/1 of=/dev/stdout") &&
	       craft_names_outside(m, c);
}

/* curl file:///…, socat file:/… */
static bool craft_by_address(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const forms[] = {
		"file://", "file:", "open:", "create:", "FILE:", "OPEN:", "CREATE:"};

	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++)
			if (str_starts(c->argv[i].s, forms[k]) &&
			    craft_is_outside(m, c, c->argv[i].s + strlen(forms[k])))
				return true;
	return false;
}

/* ruby -e 'puts File.read("/srv/x")': one line of code that only moves a file. */
static bool craft_one_line(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const calls[] = {
		"File.read(",         "File.open(",   "IO.read(",
		"IO.copy_stream(",    "open(",        "readFileSync(",
		"writeFileSync(",     "readfile(",    "file_put_contents(",
		"file_get_contents(", "fopen(",       "io.open(",
		"FileReader(",        "FileWriter(",  "slurp <",
		"print DATA >",       "ReadAllText(", "WriteAllText(",
		"cp(\"http",          "URI.open(",    "open f",
		"createWriteStream(", "copy("};

	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < sizeof(calls) / sizeof(calls[0]); k++) {
			const char *at = strstr(c->argv[i].s, calls[k]), *path;

			path = at ? strchr(at, '/') : NULL;
			while (path && path > at && path[-1] == ':') /* http:// */
				path = strpbrk(path + 2, "\"' ")
					       ? strchr(strpbrk(path + 2, "\"' "), '/')
					       : NULL;
			if (path && strchr("\"'< >", path[-1]) && craft_is_outside(m, c, path))
				return true;
		}
	return false;
}

/* zsh -c '</srv/x', dash -c 'echo x >/srv/y': a shell of its own for one file */
static bool craft_shell_file(const struct shell_model *m, const struct shell_command *c)
{
	const struct shell_command *first = m->commands;

	if (!(c->via & VIA_SHELL) || (c->via & (VIA_REMOTE | VIA_CONTAINER)) || c == first ||
	    !rule_is_shell(first->name) || first->n != 3 || m->n > 3 ||
	    !(*c->name == '\0' || rule_is("echo print", c->name)))
		return false;
	for (size_t i = 0; i < c->n_redirects; i++)
		if (craft_is_outside(m, c, c->redirects[i].target.s))
			return true;
	return false;
}

/* find -fprintf FILE, screen -Logfile FILE: files that hardly anybody writes in this way */
static bool craft_writes(const struct shell_model *m, const struct shell_command *c)
{
	static const char options[] =
		"-fprint -fprintf -fprint0 -fls -Logfile -l -w -o --output --xform --outFile";

	for (size_t i = 1; i + 1 < c->n; i++) {
		if (strcmp(c->argv[i].s, "--xform") == 0 && strchr(c->argv[i + 1].s, '@') &&
		    strstr(c->argv[i + 1].s, "@/"))
			return true;
		if (rule_is(options, c->argv[i].s) && craft_is_outside(m, c, c->argv[i + 1].s))
			return true;
	}
	return false;
}

static bool craft_decodes(const struct shell_command *c)
{
	return rule_has(c, "-d|-D|--decode|--decompress|-r") || strcmp(c->name, "rev") == 0 ||
	       strcmp(c->name, "uudecode") == 0;
}

/* base64 FILE | base64 -d */
static bool craft_round_trip(const struct shell_model *m, const struct shell_command *c)
{
	const struct shell_command *before = c - 1;

	if (c == m->commands || !c->has_in || before->group != c->group || !craft_decodes(c))
		return false;
	if (strcmp(c->name, "uudecode") == 0)
		return strcmp(before->name, "uuencode") == 0;
	return strcmp(before->name, c->name) == 0 &&
	       (!craft_decodes(before) || strcmp(c->name, "rev") == 0) && before->n > 1;
}

/* -engine ./x.so and other ways to hand code to a tool */
static bool craft_library(const struct shell_model *m, const struct shell_command *c)
{
	static const struct {
		const char *program, *option;
	} rows[] = {
		{"openssl", "-engine"},      {"openssl", "-provider-path"},
		{"ssh-keygen", "-D"},        {"ssh", "-I"},
		{"ssh-add", "-s"},           {"mysql", "--default-auth"},
		{"mysql", "--plugin-dir"},   {"nmap", "--script"},
		{"tshark", "-Xlua_script:"}, {"wireshark", "-Xlua_script:"},
		{"curl", "--engine"},        {"gawk", "--load"},
		{"sqlite3", ".load"},        {"sqlite3", "load_extension"},
		{"openvpn", "--plugin"},     {"volatility", "--plugins"},
		{"ldconfig", "-f"},          {"gtester", "-q"},
		{"facter", "--custom-dir"},  {"cowsay", "-f"},
		{"cowthink", "-f"},
	};

	(void)m;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		size_t n = strlen(rows[k].option);

		if (strcmp(c->name, rows[k].program) != 0)
			continue;
		for (size_t i = 1; i < c->n; i++) {
			const char *s = c->argv[i].s;

			if (rows[k].option[0] != '-' && strstr(s, rows[k].option))
				return true;
			if (strncmp(s, rows[k].option, n) != 0)
				continue;
			if (strchr(s + n, '/') ||
			    (!s[n] && i + 1 < c->n && strchr(c->argv[i + 1].s, '/')))
				return true;
		}
	}
	return false;
}

static bool craft_is_own_line(const struct shell_model *m, const struct shell_command *c)
{
	size_t i = (size_t)(c - m->commands);

	/* lines that are no shell at all */
	if (i == 0 && m->n == 1 && m->lines > 1)
		return c->line == 1;
	/* deeper when it looks like "! x" or "f(x)" to a shell */
	return i == 0 && m->n > 1 && m->commands[1].line > c->line &&
	       m->commands[1].depth >= c->depth;
}

/* A line that is a key of a pager or an editor, not a program: q, :e, ,p, ^O. */
static bool craft_is_key(const char *s)
{
	return (s[0] && !s[1] && strchr("qvbpQ1234", s[0])) ||
	       (s[0] && strchr(":,^", s[0]) && s[1]);
}

/* An interactive program alone on the first line, and lines behind it that can only be meant for it. */
static bool craft_typed(const struct shell_model *m, const struct shell_command *c)
{
	if (c->has_in || c->is_piped || c->n_redirects > 0 || !craft_is_own_line(m, c))
		return false;
	if (rule_is("terraform dotnet", c->name))
		return rule_is("console fsi", rule_operand(c, 0));
	if (m->n > 1 && craft_is_key(m->commands[1].name))
		return true;
	return c->n == 1 && !rule_is("less more man journalctl systemctl kubectl git", c->name);
}

static bool craft_multiplexer(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (c->has_in || (c->via & (VIA_CONTAINER | VIA_REMOTE | VIA_FUNCTION)))
		return false;
	if (strcmp(c->name, "tmux") == 0 && c->n == 3 && rule_is("-S -L -c -f", c->argv[1].s))
		return c->argv[2].s[0] == '/' || strcmp(c->argv[1].s, "-c") == 0;
	return c->n == 1;
}

static bool craft_keeps(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->n > 1 && strcmp(c->argv[1].s, "-p") == 0;
}

static bool craft_terminal(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 0; i < c->n_redirects; i++)
		if (c->redirects[i].kind == REDIRECT_IN &&
		    (strcmp(c->redirects[i].target.s, "/dev/tty") == 0 ||
		     str_starts(c->redirects[i].target.s, "@std")))
			return c->n == 1;
	return false;
}

/* sshpass /bin/sh, openvt -- sh */
static bool craft_wraps(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *base = strrchr(c->argv[i].s, '/');

		if (c->argv[i].s[0] == '-')
			continue;
		return rule_is_shell(base ? base + 1 : c->argv[i].s);
	}
	return false;
}

/* install -m 4755, install -m =xs */
static bool craft_install(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *mode = NULL;

		if (strcmp(c->argv[i].s, "-m") == 0 && i + 1 < c->n)
			mode = c->argv[i + 1].s;
		else if (str_starts(c->argv[i].s, "--mode="))
			mode = c->argv[i].s + 7;
		else if (str_starts(c->argv[i].s, "-m") && c->argv[i].len > 2)
			mode = c->argv[i].s + 2;
		if (mode && rule_is_setuid(mode))
			return true;
	}
	return false;
}

/* Files that make things run or let people in, in the hands of a program that is not known to only read. */
static bool craft_sensitive(const struct shell_model *m, const struct shell_command *c)
{
	if (!(rule_operands(m, c) & (PLACE(CRON) | PLACE(SUDOERS) | PLACE(AUTHORIZED) |
				     PLACE(PRELOAD) | PLACE(UNIT) | PLACE(SHADOW))) ||
	    (c->via & (VIA_CONTAINER | VIA_REMOTE)))
		return false;
	return !rule_is(
		"cat bat less more head tail grep egrep fgrep rg ag ls stat file find fd locate diff wc md5sum "
		"sha1sum sha256sum test [ [[ echo printf cd pushd source . awk sed sort uniq cut chmod chown chgrp "
		"mkdir rmdir rm unlink touch cp mv ln install tee systemctl systemd-analyze journalctl crontab "
		"visudo vi vim nvim nano view realpath readlink basename dirname du tree getfacl lsattr dpkg rpm "
		"service dpkg-maintscript-helper deb-systemd-helper deb-systemd-invoke git export declare local ssh scp sftp ssh-copy-id ssh-keygen docker podman kubectl "
		"run-parts anacron man which type rsync tar xargs code atop for case",
		c->name);
}

/* '{/etc/shadow}', "e /etc/shadow": the name in the middle of a script for another program */
static bool craft_spoken(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const names[] = {"/etc/shadow", "\\etc\\shadow", "/etc/gshadow",
					    "/etc/master.passwd"};

	(void)m;
	if (rule_is("echo printf grep egrep fgrep rg ag git gh glab cat tee", c->name))
		return false;
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		for (size_t i = 1; i < c->n; i++) {
			const char *p = c->argv[i].len > 12 ? strstr(c->argv[i].s, names[k]) : NULL;

			if (p && p > c->argv[i].s)
				return true;
		}
		if (c->has_in && c->in.s && c->in.is_known && strstr(c->in.s, names[k]))
			return true;
	}
	return false;
}

/* A directory that anybody may write to comes first. */
static bool craft_is_open_path(const char *s)
{
	static const char *const others[] = {
		"LD_LIBRARY_PATH=", "PYTHONPATH=", "PERL5LIB=", "RUBYLIB=", "NODE_PATH="};
	bool is_path = str_starts(s, "PATH="), is_other = false;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && !is_path; i++)
		is_other = is_other || str_starts(s, others[i]);
	if (!is_path && !is_other)
		return false;
	s += strcspn(s, "=") + 1;
	if (is_path && (s[0] == ':' || str_starts(s, ".:") || strcmp(s, ".") == 0))
		return true;
	return strcmp(s, "/tmp") == 0 || str_starts(s, "/tmp/") || str_starts(s, "/tmp:") ||
	       str_starts(s, "/var/tmp") || str_starts(s, "/dev/shm");
}

static bool craft_path(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 0; i < c->n_assigns; i++)
		if (craft_is_open_path(c->assigns[i].s))
			return true;
	for (size_t i = 1; i < c->n && rule_is("export env declare sudo", c->name); i++)
		if (craft_is_open_path(c->argv[i].s))
			return true;
	return false;
}

/* Somebody's agent without its questions. */
static bool craft_unbound(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const options[] = {"--dangerously",     "--yolo",
					      "--full-auto",       "danger-full-access",
					      "bypassPermissions", "--allow-all-tools",
					      "--yes-always",      "--trust-all-tools",
					      "--no-sandbox",      "--auto-approve"};

	(void)m;
	for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++)
		for (size_t i = 1; i < c->n; i++)
			if (strstr(c->argv[i].s, options[k]))
				return true;
	return rule_is("gemini", c->name) && rule_has(c, "-y");
}

/* fallocate -l 500G; head -c 1T /dev/zero > f; dd without an end */
static bool craft_fills(const struct shell_model *m, const struct shell_command *c)
{
	bool is_to_file = false;

	(void)m;
	for (size_t i = 0; i < c->n_redirects; i++)
		is_to_file = is_to_file || ((c->redirects[i].kind == REDIRECT_OUT ||
					     c->redirects[i].kind == REDIRECT_APPEND) &&
					    strncmp(c->redirects[i].target.s, "/dev/", 5) != 0);
	if (strcmp(c->name, "dd") == 0)
		return craft_any(c, "if=/dev/zero if=/dev/urandom if=/dev/random") &&
		       rule_says(c, "of=") && !rule_says(c, "of=/dev/") && !rule_says(c, "count=");
	if (strcmp(c->name, "yes") == 0)
		return is_to_file;
	if (strcmp(c->name, "cat") == 0)
		return is_to_file && craft_any(c, "/dev/zero /dev/urandom /dev/random");
	for (size_t i = 1; i < c->n; i++) {
		const char *p = c->argv[i].s + strcspn(c->argv[i].s, "0123456789");
		size_t n = strspn(p, "0123456789");

		if (n > 0 && (strchr("TPE", toupper((unsigned char)p[n] ? p[n] : '?')) ||
			      (toupper((unsigned char)p[n]) == 'G' && n >= 3)))
			return p[n] != '\0';
	}
	return false;
}

static bool craft_serves(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = c->cwd ? place_of(m->context, c->cwd, NULL, false) : 0;

	if (strcmp(c->name, "ruby") == 0)
		return craft_any(c, "-run") && craft_any(c, "httpd");
	if (strcmp(c->name, "php") == 0)
		return rule_has(c, "-S") && rule_says(c, "0.0.0.0:");
	if (strcmp(c->name, "httpd") == 0)
		return rule_has(c, "-f") && rule_has(c, "-p");
	if (!craft_any(c, "http.server SimpleHTTPServer pyftpdlib"))
		return false;
	for (size_t i = 1; i + 1 < c->n; i++)
		if (rule_is("-d --directory", c->argv[i].s))
			place = rule_place(m, c, &c->argv[i + 1]);
	return place & (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME) | PLACE(SECRET_DIR) | PLACE(SYSTEM));
}

/* A program of Windows by its path, or files of it that hold hashes. */
static bool craft_windows(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const names[] = {"repair\\SAM",  "repairSAM",         "config\\SAM",
					    "configSAM",    "boot.ini",          "ntds.dit",
					    "unattend.xml", "System32\\LogFiles"};

	(void)m;
	if (c->n > 0 && c->argv[0].len > 6 && c->argv[0].s[1] == ':' &&
	    isalpha((unsigned char)c->argv[0].s[0]) && str_ends(c->argv[0].s, ".exe"))
		return true;
	if (!rule_is("type more cat copy findstr", c->name))
		return false;
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		for (size_t i = 1; i < c->n; i++)
			if (strcasestr(c->argv[i].s, names[k]))
				return true;
	return false;
}

#define READ(conf) .type = FINDING_FILE_ACCESS, .level = THREAT_LOW, .confidence = conf
#define ROW(conf, lev) .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_##lev, .confidence = conf

static const struct shell_rule craft_rows[] = {
	{.id = "CMD-READ-LIST",
	 .reason = "It shows a file through an option that is made for lists.",
	 READ(0.4),
	 .programs =
		 "dig date file ssh-keyscan ss nasm mtr fping ip wc wget du arp bc lp msgattrib sort nmap",
	 .test = craft_list,
	 .hit = "dig -f /etc/issue",
	 .miss = "dig -f hosts.txt"},
	{.id = "CMD-READ-RESPONSE",
	 .reason = "It shows a file as if it were a list of options.",
	 READ(0.4),
	 .test = craft_response,
	 .hit = "gcc @/etc/issue",
	 .miss = "gcc @flags.txt a.c"},
	{.id = "CMD-READ-IDLE",
	 .reason = "It shows a file through a filter that is told to change nothing.",
	 READ(0.35),
	 .programs =
		 "iconv join comm diff cmp sdiff fold fmt od unexpand expand ptx pr nl tac grep egrep fgrep look sed "
		 "awk gawk mawk nawk cut paste shuf sort head tail jq perl uniq column",
	 .test = craft_idle,
	 .hit = "iconv -f 8859_1 -t 8859_1 /etc/issue",
	 .miss = "iconv -f latin1 -t utf8 /etc/issue"},
	{.id = "CMD-READ-ROUND-TRIP",
	 .reason = "It encodes a file and undoes that at once, which only shows it.",
	 READ(0.4),
	 .programs =
		 "base64 base32 basenc basez base58 gzip bzip2 xz zstd lz4 lzma rev xxd uudecode",
	 .test = craft_round_trip,
	 .hit = "base64 notes | base64 --decode",
	 .miss = "cat notes.b64 | base64 --decode"},
	{.id = "CMD-READ-MISUSED",
	 .reason = "It shows a file through a program that is made for something else.",
	 READ(0.35),
	 .programs =
		 "dialog whiptail cupsfilter pygmentize highlight rustc rustdoc rustfmt tbl eqn pic nroff troff soelim zsoelim xmore pg "
		 "logrotate mosquitto msgcat msgconv msgmerge msguniq pandoc efax espeak genisoimage redcarpet ul xmodmap xpad "
		 "w3m links bconsole bbot ksshell cobc alpine dosbox tsc expect basez urlget ssh-keyscan yelp csplit neofetch ascii-xfr aspell ispell atobm "
		 "bridge csvtool easyrsa m4 tic run-mailcap lwp-download lwp-request hd hping3 knife ldapmodify nft",
	 .test = craft_misused,
	 .hit = "dialog --textbox /etc/issue 0 0",
	 .miss = "dialog --textbox notes 0 0"},
	{.id = "CMD-READ-TERMINAL",
	 .reason = "It shows a file through a program that is made to copy.",
	 READ(0.35),
	 .programs = "cp mv install rsync split uuencode tar scp dd zip cpio ln",
	 .test = craft_shows,
	 .hit = "cp /etc/issue /dev/stdout",
	 .miss = "cp notes /dev/stdout"},
	{.id = "CMD-READ-ADDRESS",
	 .reason = "It reaches a file of this machine through an address.",
	 READ(0.35),
	 .programs =
		 "curl wget socat lwp-download lwp-request links lynx aria2c w3m firefox chromium yelp",
	 .test = craft_by_address,
	 .hit = "curl file:///etc/issue",
	 .miss = "curl https://a.example/etc/issue"},
	{.id = "CMD-CODE-FILE",
	 .reason = "It reads or writes a file far from the work through one line of code.",
	 READ(0.35),
	 .programs =
		 "ruby perl node nodejs php lua luajit julia jrunscript jjs elvish tclsh guile octave octave-cli scala groovy dotnet",
	 .test = craft_one_line,
	 .hit = "ruby -e 'puts File.read(\"/etc/issue\")'",
	 .miss = "ruby -e 'puts File.read(\"/tmp/x\")'"},
	{.id = "CMD-SHELL-FILE",
	 .reason = "It starts a shell only to read or write one file far from the work.",
	 READ(0.35),
	 .test = craft_shell_file,
	 .hit = "zsh -c 'echo x >/srv/y'",
	 .miss = "zsh -c 'echo x >y'"},
	{.id = "CMD-WRITE-SIDEWAYS",
	 .reason = "It writes a file far from the work through an option for something else.",
	 ROW(0.35, LOW),
	 .programs = "find screen logrotate varnishncsa iconv shuf tar tsc pandoc",
	 .test = craft_writes,
	 .hit = "find . -fprintf /srv/x data -quit",
	 .miss = "find . -fprintf out.txt '%p'"},
	{.id = "CMD-READ-SPOKEN",
	 .reason = "It names the password hashes within a script for another program.",
	 READ(0.45),
	 .test = craft_spoken,
	 .hit = "printf 'e /etc/shadow\\n,p\\n' | ed",
	 .miss = "echo 'see /etc/shadow'"},
	{.id = "CMD-LOAD-PLUGIN",
	 .reason = "It makes a tool load code from a file.",
	 ROW(0.4, LOW),
	 .programs =
		 "openssl ssh-keygen ssh ssh-add mysql nmap tshark wireshark curl gawk sqlite3 openvpn volatility ldconfig gtester facter cowsay cowthink",
	 .test = craft_library,
	 .hit = "openssl req -engine ./x.so",
	 .miss = "openssl req -new -key k"},
	{.id = "CMD-TYPED-LINES",
	 .reason = "It starts an interactive program and types the next lines into it.",
	 ROW(0.35, LOW),
	 .programs =
		 "python python3 perl ruby irb pry node lua luajit php jshell jjs ghci tclsh wish expect scala sbcl guile ocaml julia R "
		 "gdb lldb ftp sftp lftp telnet psql mysql sqlite3 ed ex vi vim nano pico emacs joe ncdu ranger mc nnn zathura "
		 "scanmem tdbtool tasksh psftp smbclient msfconsole hping3 crash debugfs ginsh jtag cpan terraform dotnet "
		 "top htop iftop apport-cli bashbug red ispell slsh less more man journalctl systemctl kubectl git rview rvim view",
	 .test = craft_typed,
	 .hit = "wish\nexec xterm",
	 .miss = "wish app.tcl\nls"},
	{.id = "CMD-SHELL-HELD",
	 .reason = "It opens a shell, and what is typed into it is seen by nobody.",
	 ROW(0.35, LOW),
	 .programs = "tmux screen byobu dtach abduco zellij tmate sash posh",
	 .test = craft_multiplexer,
	 .hit = "tmux -S /run/x",
	 .miss = "tmux ls"},
	{.id = "CMD-SHELL-KEEPS",
	 .reason = "It starts a shell that keeps the rights of its owner.",
	 ROW(0.5, MEDIUM),
	 .programs = "sh bash dash zsh ksh ash mksh rbash yash posh csh tcsh",
	 .test = craft_keeps,
	 .hit = "./copy-of/bash -p",
	 .miss = "bash --posix run.sh"},
	{.id = "CMD-SHELL-TERMINAL",
	 .reason = "It starts a shell on the terminal of somebody else's program.",
	 ROW(0.4, LOW),
	 .programs = "sh bash dash zsh ksh ash",
	 .test = craft_terminal,
	 .hit = "sh -c '/bin/sh </dev/tty >/dev/tty'",
	 .miss = "sh </dev/null"},
	{.id = "CMD-SHELL-BEHIND",
	 .reason = "It starts a shell through a program that is made for something else.",
	 ROW(0.4, LOW),
	 .programs =
		 "sshpass openvt tmate pexec genie grc setlock torify aoss ssh-agent gpg-agent xinit startx dbus-launch script unbuffer",
	 .test = craft_wraps,
	 .hit = "sshpass /bin/sh",
	 .miss = "sshpass -e ssh a.example"},
	{.id = "CMD-SETUID-INSTALL",
	 .reason = "It installs a program that runs with its owner's rights.",
	 ROW(0.6, MEDIUM),
	 .programs = "install",
	 .test = craft_install,
	 .hit = "install -m 4755 tool bin/",
	 .miss = "install -m 755 tool bin/"},
	{.id = "CMD-NAMES-TRUSTED",
	 .reason = "It hands a file that makes things run, or lets people in, to another program.",
	 ROW(0.35, LOW),
	 .test = craft_sensitive,
	 .hit = "exiftool -filename=/etc/cron.d/x y",
	 .miss = "ls -l /etc/cron.d"},
	{.id = "CMD-PATH-FIRST",
	 .reason = "It looks for programs in a place where everybody may put one.",
	 ROW(0.4, LOW),
	 .test = craft_path,
	 .hit = "PATH=/tmp:$PATH tool",
	 .miss = "PATH=/opt/tool/bin:$PATH tool"},
	{.id = "CMD-AGENT-UNBOUND",
	 .reason = "It starts an agent that asks nobody.",
	 ROW(0.5, MEDIUM),
	 .programs =
		 "claude codex gemini cursor-agent aider amp goose opencode copilot qwen droid crush q kiro-cli",
	 .test = craft_unbound,
	 .hit = "claude --dangerously-skip-permissions -p x",
	 .miss = "claude -p x"},
	{.id = "CMD-FILL-DISK",
	 .reason = "It fills the disk.",
	 ROW(0.4, LOW),
	 .programs = "fallocate truncate dd yes cat head mkfile",
	 .test = craft_fills,
	 .hit = "fallocate -l 900G x",
	 .miss = "fallocate -l 10M x"},
	{.id = "CMD-SERVE-FILES",
	 .reason = "It serves files to everybody who asks.",
	 ROW(0.35, LOW),
	 .programs = "ruby php httpd python python2 python3",
	 .test = craft_serves,
	 .hit = "cd / && python3 -m http.server",
	 .miss = "python3 -m http.server 8000"},
	{.id = "CMD-WINDOWS-PATH",
	 .reason = "It runs a program of Windows by its path or reads its password hashes.",
	 ROW(0.4, LOW),
	 .test = craft_windows,
	 .hit = "C:\\\\Windows\\\\System32\\\\tscon.exe 2",
	 .miss = "type tscon"},
};

const struct shell_rules shell_rules_craft = {craft_rows,
					      sizeof(craft_rows) / sizeof(craft_rows[0])};
