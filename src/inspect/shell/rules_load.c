/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that gets into a shell, a program or a service by a side door: a library that is loaded, a name that is bent to
 * another program, lines that one program writes and another runs, a file of settings that names a program.
 */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

/* How far a command's company is looked for. */
enum { LOAD_NEAR = 64 };

#define ROW(confidence_, level_)                                                                   \
	.type = FINDING_DANGEROUS_PATTERN, .level = THREAT_##level_, .confidence = (confidence_)

static bool load_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

/* gawk -l ./x.so, gawk -i /tmp/x.awk: a path, and no name of a library that awk knows */
static bool load_awk(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i + 1 < c->n; i++)
		if (rule_is("-i -l --include --load", c->argv[i].s) &&
		    strchr(c->argv[i + 1].s, '/'))
			return true;
	return false;
}

static bool load_engine(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return strchr(rule_operand(c, 1), '/') != NULL;
}

/* Settings of a service from a place where everybody may put them. */
static bool load_settings(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *eq = c->argv[i].s[0] == '-' ? strchr(c->argv[i].s, '=') : NULL;

		if (eq ? (place_of(m->context, eq + 1, c->cwd, false) & PLACE(TEMPORARY))
		       : c->argv[i].s[0] == '/' &&
				    (rule_place(m, c, &c->argv[i]) & PLACE(TEMPORARY)))
			return true;
	}
	return false;
}

static bool load_shell(const struct shell_model *m, const struct shell_command *c)
{
	const char *s = c->n > 1 ? c->argv[c->n - 1].s : "";
	const char *base = strrchr(s, '/') ? strrchr(s, '/') + 1 : s;

	(void)m;
	return c->n <= 3 && rule_is_shell(base);
}

/* A shell whose input is written by a program, and not known. */
static bool load_fed(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->runs_input && !c->in.is_known && !c->in_is_network &&
	       !(c->via & (VIA_REMOTE | VIA_CONTAINER)) &&
	       (!c->in.s || !*c->in.s || c->in.s[0] == '\001');
}

/* echo LD_PRELOAD=… >> FILE */
static bool load_setting(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const names[] = {"LD_PRELOAD=",
					    "LD_AUDIT=",
					    "BASH_ENV=",
					    "PROMPT_COMMAND=",
					    "DYLD_INSERT_LIBRARIES=",
					    "NODE_OPTIONS=--require",
					    "PYTHONSTARTUP=",
					    "PERL5OPT=",
					    "RUBYOPT=-r",
					    "JAVA_TOOL_OPTIONS=-javaagent",
					    "GIT_SSH_COMMAND="};
	bool is_written = rule_is("tee sponge", c->name);

	(void)m;
	for (size_t i = 0; i < c->n_redirects; i++)
		is_written = is_written || c->redirects[i].kind == REDIRECT_OUT ||
			     c->redirects[i].kind == REDIRECT_APPEND;
	for (size_t i = 0; is_written && i < sizeof(names) / sizeof(names[0]); i++)
		if (rule_says(c, names[i]))
			return true;
	return false;
}

/* A file of credentials for a cluster that names a program to get them with. */
static bool load_kubeconfig(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (rule_says(c, "client.authentication.k8s.io") && rule_says(c, "command:")) ||
	       (rule_is("kubectl oc", c->name) && rule_says(c, "--exec-command"));
}

/* tar -xf user@host:archive */
static bool load_remote_archive(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (rule_has(c, "--force-local"))
		return false;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s, *at = strchr(s, '@'), *colon = strchr(s, ':');

		if (s[0] != '-' && at && colon && at > s && at < colon && colon[1] &&
		    !strchr(s, ' '))
			return true;
	}
	return false;
}

/* Markup that makes a browser run something, printed and not written to a file. */
static bool load_markup(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const events[] = {"onerror=",        "onload=",          "onmouseover=",
					     "onfocus=",        "<script src=http", "<script>alert",
					     "javascript:alert"};

	(void)m;
	if (c->n_redirects > 0 || c->is_piped)
		return false;
	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < sizeof(events) / sizeof(events[0]); k++)
			if (strcasestr(c->argv[i].s, events[k]) && strchr(c->argv[i].s, '<'))
				return true;
	return false;
}

/* Is the path named by another command of this text, which may have made it? */
static bool load_is_made(const struct shell_model *m, const struct shell_command *c,
			 const char *path)
{
	size_t at = (size_t)(c - m->commands);

	for (size_t i = at > LOAD_NEAR ? at - LOAD_NEAR : 0; i < at; i++) {
		const struct shell_command *d = &m->commands[i];

		for (size_t k = 1; k < d->n; k++)
			if (strstr(d->argv[k].s, path))
				return true;
		for (size_t k = 0; k < d->n_redirects; k++)
			if (strcmp(d->redirects[k].target.s, path) == 0)
				return true;
	}
	return false;
}

/* A program that lies where everybody may put one, and that nobody made in our sight. */
static bool load_temporary(const struct shell_model *m, const struct shell_command *c)
{
	const char *s = c->n > 0 ? c->argv[0].s : "";

	return (str_starts(s, "/tmp/") || str_starts(s, "/var/tmp/")) && s[5] &&
	       !(c->argv[0].flags & (WORD_UNKNOWN | WORD_GLOB)) &&
	       !(c->via & (VIA_CONTAINER | VIA_REMOTE | VIA_FUNCTION)) && !strstr(s, "/bin/") &&
	       !load_is_made(m, c, s);
}

/* A program whose name says what it attacks. */
static bool load_named(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const words[] = {"_injection",
					    "_injector",
					    "inject_",
					    "_overflow",
					    "_hijack",
					    "stealer",
					    "dropper",
					    "meterpreter",
					    "beacon_",
					    "implant",
					    "payload",
					    "malware",
					    "trojan",
					    "botnet",
					    "_exfil",
					    "cryptominer",
					    "ropchain",
					    "rop_",
					    "address_overwrite",
					    "instruction_overwrite"};
	const char *s = c->n > 0 ? c->argv[0].s : "";
	const char *base = strrchr(s, '/') ? strrchr(s, '/') + 1 : NULL;

	(void)m;
	for (size_t i = 0; base && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(base, words[i]))
			return true;
	return false;
}

/* What was packed or sent away is shown again: zip t f; unzip -p t */
static bool load_unpacks(const struct shell_model *m, const struct shell_command *c)
{
	size_t at = (size_t)(c - m->commands);
	const char *archive = rule_operand(c, 0);

	if (strcmp(c->name, "ar") == 0) {
		if (!str_starts(rule_operand(c, 0), "p"))
			return false;
		archive = rule_operand(c, 1);
	} else if (strcmp(c->name, "docker") == 0 || strcmp(c->name, "podman") == 0) {
		if (strcmp(archive, "cp") != 0 || !strchr(rule_operand(c, 1), ':'))
			return false;
		archive = strchr(rule_operand(c, 1), ':') + 1;
	} else if (strcmp(c->name, "unzip") == 0 && !rule_has(c, "-p|-c")) {
		return false;
	}
	if (!*archive)
		return false;
	for (size_t i = at > LOAD_NEAR ? at - LOAD_NEAR : 0; i < at; i++) {
		const struct shell_command *d = &m->commands[i];

		if (rule_is("zip ar", d->name)
			    ? rule_is("unzip ar", c->name) && load_any(d, archive)
			    : strcmp(d->name, c->name) == 0 && strcmp(c->name, "unzip") != 0 &&
				      rule_says(d, archive))
			return true;
	}
	return false;
}

/* Nothing but the name of a program that takes commands. */
static bool load_prompt(const struct shell_model *m, const struct shell_command *c)
{
	return c->n == 1 && m->n == 1 && m->lines == 1 && !c->has_in && c->n_redirects == 0 &&
	       c->n_assigns == 0 && c->via == 0;
}

/* gem build x.rb: a specification is a program */
static bool load_gem(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 2; i < c->n; i++)
		if (str_ends(c->argv[i].s, ".rb"))
			return true;
	return strcmp(rule_operand(c, 0), "open") == 0;
}

static bool load_batch(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "python-fu-eval") ||
	       (rule_says(c, "script-fu") && rule_says(c, "system"));
}

static bool load_java_file(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "java.io.File") || rule_says(c, "java.nio.file") ||
	       rule_says(c, "java.lang.Runtime") || rule_says(c, "ProcessBuilder");
}

/* Variables that name a directory whose files a program loads as code. */
static bool load_library_path(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 0; i < c->n_assigns; i++) {
		const char *s = c->assigns[i].s;
		size_t n = strcspn(s, "=");
		char name[32];

		if (n >= sizeof(name) || s[n] != '=')
			continue;
		memcpy(name, s, n);
		name[n] = '\0';
		if (rule_is("FACTERLIB RUBYLIB PERL5LIB GCONV_PATH GTK_MODULES OPENSSL_CONF OPENSSL_MODULES "
			    "MAGICK_CONFIGURE_PATH GIO_EXTRA_MODULES TERMINFO VIMRUNTIME VIMINIT",
			    name) &&
		    (place_of(m->context, s + n + 1, c->cwd, false) &
		     (PLACE(ABSOLUTE) | PLACE(TEMPORARY))))
			return true;
	}
	return false;
}

static bool load_library(const struct shell_model *m, const struct shell_command *c)
{
	return rule_writes(m, c) & PLACE(TEMPORARY);
}

static bool load_environment(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const names[] = {"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES",
					    "BASH_ENV", "PROMPT_COMMAND"};

	(void)m;
	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (str_starts(c->argv[i].s, names[k]))
				return true;
	return false;
}

static bool load_bus(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const calls[] = {"StartTransientUnit", "EnableUnitFiles",
					    "StartUnit",          "CreateUser",
					    "SetPassword",        "SetAccountType",
					    "RunCommand",         "InstallFiles"};

	(void)m;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (rule_says(c, calls[i]))
			return true;
	return false;
}

static const struct shell_rule load_rows[] = {
	{.id = "CMD-LOAD-BUILTIN",
	 .reason = "It loads a library into the shell as a command.",
	 ROW(0.5, MEDIUM),
	 .programs = "enable",
	 .flags = "-f",
	 .hit = "enable -f ./x.so x",
	 .miss = "enable -n kill"},
	{.id = "CMD-NAME-BENT",
	 .reason = "It makes the name of one program mean another.",
	 ROW(0.45, MEDIUM),
	 .programs = "hash",
	 .flags = "-p",
	 .hit = "hash -p ./mine ls",
	 .miss = "hash -r"},
	{.id = "CMD-LOAD-AWK",
	 .reason = "It loads code into awk from a file that is none of awk's own.",
	 ROW(0.4, LOW),
	 .programs = "gawk awk",
	 .test = load_awk,
	 .hit = "gawk -l ./x.so 1 a",
	 .miss = "gawk -i inplace 1 a"},
	{.id = "CMD-LOAD-ENGINE",
	 .reason = "It makes a tool load code from a file.",
	 ROW(0.4, LOW),
	 .programs = "openssl",
	 .words = "engine",
	 .test = load_engine,
	 .hit = "openssl engine ./x.so",
	 .miss = "openssl engine -t"},
	{.id = "CMD-LOAD-SETTINGS",
	 .reason =
		 "It starts a service with settings that name programs, from where everybody may write.",
	 ROW(0.4, LOW),
	 .programs =
		 "logrotate anacron sshd crond cron supervisord uwsgi incrond monit xinetd inetd runsvdir s6-svscan at atd "
		 "udevadm rsyslogd syslog-ng dnsmasq openvpn wpa_supplicant keepalived stunnel stunnel4 wg-quick neofetch "
		 "fastfetch ansible-playbook",
	 .test = load_settings,
	 .hit = "logrotate -f /tmp/x.conf",
	 .miss = "logrotate -f /etc/logrotate.conf"},
	{.id = "CMD-SHELL-FED",
	 .reason = "It runs what another program writes, and nobody has read that.",
	 ROW(0.4, LOW),
	 .programs = "sh bash dash zsh ksh ash mksh fish",
	 .test = load_fed,
	 .hit = "git log --format=%B | sh",
	 .miss = "echo ls | sh"},
	{.id = "CMD-SHELL-COPROC",
	 .reason = "It keeps a shell open, and what is written to it later is seen by nobody.",
	 ROW(0.4, LOW),
	 .programs = "coproc",
	 .test = load_shell,
	 .hit = "coproc bash",
	 .miss = "coproc tail -f log"},
	{.id = "CMD-PROMPT-BARE",
	 .reason =
		 "It opens a program from which a shell can be had, and what is typed into it is seen by nobody.",
	 ROW(0.35, LOW),
	 .programs =
		 "vi vim nvim view rvim vimdiff ex ed red emacs nano pico joe jed python python2 python3 ipython perl irb pry "
		 "lua luajit tclsh wish expect ghci jshell groovysh ocaml octave scala sbcl guile gforth gdb lldb ftp tftp "
		 "cpan bashbug crash debugfs scapy mutt mc ranger nnn node julia erl iex xonsh bconsole ginsh tasksh gnuplot maxima",
	 .test = load_prompt,
	 .hit = "wish",
	 .miss = "wish app.tcl"},
	{.id = "CMD-GEM-CODE",
	 .reason = "It makes a tool run a file as its specification.",
	 ROW(0.35, LOW),
	 .programs = "gem",
	 .words = "build|install|open|spec|specification",
	 .test = load_gem,
	 .hit = "gem build x.rb",
	 .miss = "gem build x.gemspec"},
	{.id = "CMD-BATCH-CODE",
	 .reason = "It makes a program run code that is given to it.",
	 ROW(0.35, LOW),
	 .programs = "gimp gimp-console inkscape blender libreoffice soffice",
	 .test = load_batch,
	 .hit = "gimp -idf --batch-interpreter=python-fu-eval -b 'x()'",
	 .miss = "gimp a.png"},
	{.id = "CMD-JAVA-FILE",
	 .reason = "It reads, writes or runs any file through a tool for scripts.",
	 ROW(0.35, LOW),
	 .programs = "jrunscript jjs jshell",
	 .test = load_java_file,
	 .hit = "jrunscript -e 'new java.io.FileReader(\"x\")'",
	 .miss = "jrunscript -e 'print(1)'"},
	{.id = "CMD-LIBRARY-PATH",
	 .reason = "It makes a program load code from a directory.",
	 ROW(0.35, LOW),
	 .test = load_library_path,
	 .hit = "FACTERLIB=/srv/x facter",
	 .miss = "FACTERLIB=lib facter"},
	{.id = "CMD-BUILD-LIBRARY",
	 .reason = "It builds a library where everybody may put one, for others to load.",
	 ROW(0.35, LOW),
	 .programs = "gcc cc clang g++ c++ tcc ld",
	 .flags = "-shared",
	 .test = load_library,
	 .hit = "gcc -shared -fPIC -o /tmp/x.so x.c",
	 .miss = "gcc -shared -fPIC -o libx.so x.c"},
	{.id = "CMD-ENVIRONMENT-SET",
	 .reason = "It makes every program of a user load code.",
	 ROW(0.45, MEDIUM),
	 .programs = "systemctl launchctl dbus-update-activation-environment setx",
	 .test = load_environment,
	 .hit = "systemctl set-environment LD_PRELOAD=/x.so",
	 .miss = "systemctl set-environment TZ=UTC"},
	{.id = "CMD-BUS-CALL",
	 .reason = "It makes a service of the system start something or change an account.",
	 ROW(0.4, LOW),
	 .programs = "busctl dbus-send gdbus qdbus",
	 .test = load_bus,
	 .hit = "busctl call org.freedesktop.systemd1 /x y StartTransientUnit",
	 .miss = "busctl list"},
	{.id = "CMD-EDITOR-TUNNEL",
	 .reason = "It opens this machine to whoever has an account elsewhere.",
	 ROW(0.4, LOW),
	 .programs = "code code-insiders cursor codium",
	 .words = "tunnel|serve-web",
	 .hit = "code tunnel",
	 .miss = "code notes"},
	{.id = "CMD-SETTING-LOADS",
	 .reason = "It writes a setting down that makes every program load code.",
	 ROW(0.45, MEDIUM),
	 .programs = "echo printf tee cat sponge",
	 .test = load_setting,
	 .hit = "echo LD_PRELOAD=/x.so >> settings",
	 .miss = "echo LD_PRELOAD=/x.so"},
	{.id = "CMD-CLUSTER-PROGRAM",
	 .reason = "It writes down a login to a cluster that runs a program.",
	 ROW(0.45, MEDIUM),
	 .programs = "cat tee echo printf kubectl oc",
	 .test = load_kubeconfig,
	 .hit = "kubectl config set-credentials x --exec-command=/x",
	 .miss = "kubectl config set-credentials x --token=t"},
	{.id = "CMD-UNPACK-REMOTE",
	 .reason = "It unpacks what another machine sends.",
	 ROW(0.4, LOW),
	 .programs = "tar gtar bsdtar cpio",
	 .test = load_remote_archive,
	 .hit = "tar xf u@a.example:x.tar",
	 .miss = "tar xf x.tar"},
	{.id = "CMD-PRINT-MARKUP",
	 .reason = "It prints markup that makes the browser of a reader run something.",
	 ROW(0.4, LOW),
	 .programs = "echo printf",
	 .test = load_markup,
	 .hit = "echo '<img src=x onerror=alert(1)>'",
	 .miss = "echo '<img src=x>'"},
	{.id = "CMD-RUN-FOUND",
	 .reason = "It runs a program that lies where everybody may put one.",
	 ROW(0.35, LOW),
	 .test = load_temporary,
	 .hit = "/tmp/update",
	 .miss = "cc -o /tmp/t t.c && /tmp/t"},
	{.id = "CMD-RUN-NAMED",
	 .reason = "What it runs is named as an attack.",
	 ROW(0.4, LOW),
	 .test = load_named,
	 .hit = "./got_injection",
	 .miss = "./inspection"},
	{.id = "CMD-READ-UNPACKED",
	 .reason = "It packs a file and shows what it packed, which only shows the file.",
	 ROW(0.4, LOW),
	 .programs = "unzip ar docker podman",
	 .test = load_unpacks,
	 .hit = "zip t f; unzip -p t",
	 .miss = "zip t f; unzip -l t"},
	{.id = "CMD-TOOLCHAIN-LINK",
	 .reason = "It makes a directory of programs the compiler that others run.",
	 ROW(0.35, LOW),
	 .programs = "rustup",
	 .words = "toolchain link",
	 .hit = "rustup toolchain link x ./x",
	 .miss = "rustup toolchain list"},
};

const struct shell_rules shell_rules_load = {load_rows, sizeof(load_rows) / sizeof(load_rows[0])};
