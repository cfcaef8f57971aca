/* SPDX-License-Identifier: Apache-2.0 */
/* Switching protection off, hiding traces, hiding the command itself, and tools made for attacks. */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

static bool evade_guard(const char *name)
{
	static const char *const makers[] = {
		"crowdstrike", "falcon-", "sentinelone", "carbonblack", "wazuh",
		"ossec",       "osquery", "auditbeat",   "journald",    "sophos",
		"tanium",      "qualys",  "rapid7",      "mdatp",       "crowdsec",
		"apparmor.",   "auditd.", "suricata",    "trendmicro",  "bitdefender"};

	/* journald.socket, com.crowdstrike.falcon: the name with something around it */
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (name[0] != '-' && !strchr(name, '/') && strcasestr(name, makers[i]))
			return true;
	return rule_is(
		"auditd auditd.service ufw ufw.service firewalld firewalld.service apparmor apparmor.service rsyslog rsyslog.service "
		"syslog syslog-ng fail2ban falco iptables nftables ip6tables clamav-daemon clamd crowdsec osqueryd wazuh-agent "
		"falcon-sensor sysmon journald systemd-journald pf selinux snort suricata mdatp cbdaemon ossec aide cordon "
		"rsyslogd syslogd auditbeat filebeat elastic-agent cbagentd sentinelctl sentinelone-agent ds_agent wdavdaemon esets "
		"savd sav-protect tripwire samhain rkhunter chkrootkit osquery wazuh falcond clamav freshclam ossec-hids",
		name);
}

static bool evade_unit(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (evade_guard(c->argv[i].s))
			for (size_t k = 1; k < c->n; k++)
				if (rule_is("stop disable mask kill off", c->argv[k].s))
					return true;
	return false;
}

static bool evade_kill(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (evade_guard(c->argv[i].s))
			return true;
	return false;
}

static bool evade_remove(const struct shell_model *m, const struct shell_command *c)
{
	bool is_removing = rule_has(c, "-e|--erase|-r|-P|--remove|--purge|-R|-Rns");

	for (size_t i = 1; i < c->n; i++)
		is_removing |= rule_is("remove purge erase autoremove del uninstall", c->argv[i].s);
	return is_removing && evade_kill(m, c);
}

static bool evade_ufw(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_is("disable reset prepend", rule_operand(c, 0)) ||
	       (strcmp(rule_operand(c, 0), "logging") == 0 &&
		strcmp(rule_operand(c, 1), "off") == 0) ||
	       (strcmp(rule_operand(c, 0), "default") == 0 &&
		strcmp(rule_operand(c, 1), "allow") == 0);
}

static bool evade_iptables(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_has(c, "-F|--flush|-X|-D|--delete") ||
	       (rule_has(c, "-P|--policy") && rule_says(c, "ACCEPT"));
}

static bool evade_config(const struct shell_model *m, const struct shell_command *c)
{
	return rule_writes(m, c) & PLACE(SECURITY);
}

static bool evade_history(const struct shell_model *m, const struct shell_command *c)
{
	if (strcmp(c->name, "history") == 0)
		return rule_has(c, "-c") || rule_says(c, "/dev/null") ||
		       (rule_has(c, "-d") && (m->n > 1 || strchr(rule_operand(c, 0), '-')));
	if (strcmp(c->name, "set") == 0)
		return c->n > 2 && strcmp(c->argv[1].s, "+o") == 0 &&
		       strcmp(c->argv[2].s, "history") == 0;
	if (strcmp(c->name, "unset") == 0) {
		for (size_t i = 1; i < c->n; i++)
			if (rule_is("HISTFILE HISTSIZE HISTFILESIZE", c->argv[i].s))
				return true;
		return false;
	}
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, "HISTFILE=") ||
		    strcmp(c->argv[i].s, "HISTSIZE=0") == 0 ||
		    strcmp(c->argv[i].s, "HISTFILESIZE=0") == 0 ||
		    (str_starts(c->argv[i].s, "HISTCONTROL=") && strstr(c->argv[i].s, "ignore") &&
		     !strstr(c->argv[i].s, "dups") && !strstr(c->argv[i].s, "both")))
			return true;
	return false;
}

/* Only its modules or its version are asked for. */
static bool evade_attack(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "medusa") == 0)
		return rule_has(c, "-h|-H") && !rule_has(c, "-V");
	return !rule_has(c, "--help|--version");
}

static bool evade_touch(const struct shell_model *m, const struct shell_command *c)
{
	return (rule_has(c, "-r|--reference") && (rule_operands(m, c) & PLACE(SYSTEM))) ||
	       (rule_has(c, "-t") && (rule_operands(m, c) & (PLACE(SYSTEM) | PLACE(TEMPORARY)))) ||
	       (rule_has(c, "-d|--date") && (rule_operands(m, c) & PLACE(SYSTEM)));
}

static bool evade_chattr(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->n > 2 &&
	       (strcmp(c->argv[1].s, "+i") == 0 || strcmp(c->argv[1].s, "-i") == 0 ||
		strcmp(c->argv[1].s, "+a") == 0) &&
	       (rule_operands(m, c) & (PLACE(SYSTEM) | PLACE(HOME_BELOW) | PLACE(ROOT)));
}

/* r\m, r''m, $'\x72m', /???/b??h, c${IFS}… */
static bool evade_odd(const struct shell_model *m, const struct shell_command *c)
{
	const struct shell_word *w = c->argv;

	(void)m;
	if (c->n == 0 || w->len == 0)
		return false;
	if ((w->flags & WORD_QUOTED) && strchr("|;&", w->s[0]))
		return true;
	/* p^o^w^e^r^s^h^e^l^l, for the shell of Windows */
	if (w->s[0] != '^' && strchr(w->s, '^') && strchr(strchr(w->s, '^') + 1, '^'))
		return true;
	if ((w->flags & WORD_GLOB) && w->s[0] == '/' && strpbrk(w->s, "?*[") && w->len > 4 &&
	    strspn(w->s, "abcdefghijklmnopqrstuvwxyz0123456789/?*[]-.") == w->len)
		return true;
	/* *; a pattern in the place of a program runs whatever file comes first */
	if ((w->flags & WORD_GLOB) && strchr(w->s, '*') &&
	    strspn(w->s, "abcdefghijklmnopqrstuvwxyz*._-") == w->len)
		return true;
	return (w->flags & WORD_ODD) && !(c->via & VIA_FUNCTION) &&
	       strspn(w->s, "abcdefghijklmnopqrstuvwxyz0123456789/.-_") == w->len;
}

static bool evade_audit(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_has(c, "-D|-e|-d|-a");
}

static bool evade_scan(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (strchr(c->argv[i].s, '/') &&
		    strspn(c->argv[i].s, "0123456789./") == c->argv[i].len)
			return true;
	return c->n > 1 && !rule_has(c, "--version|-V|--help|-h|--iflist") &&
	       !rule_says(c, "localhost") && !rule_says(c, "127.0.0.1") && !rule_says(c, "::1");
}

static bool evade_windows(const struct shell_model *m, const struct shell_command *c)
{
	static const struct {
		const char *program, *words;
	} rows[] = {
		{"net", "/add|/del|/dom|accounts|stop|view|localgroup|session"},
		{"net1", "/add|/del|/dom|accounts|stop"},
		{"reg", "save|add|delete|import|export|password"},
		{"certutil", "-decode|-urlcache|-addstore|-encode"},
		{"sc", "sdset|create|config|stop|delete"},
		{"cmd", "del|assoc|format|rd|powershell"},
		{"schtasks", "/create|/delete|/change|/run"},
		{"wmic", "product|call|/format|shadowcopy|delete|antivirus"},
		{"rundll32", "comsvcs|javascript|shell32|url.dll|advpack|zipfldr|pcwutl"},
		{"nltest", "domain_trusts|dclist|trusted"},
		{"wevtutil", "cl|clear-log|set-log"},
		{"netsh", "add|advfirewall|firewall|portproxy|set|helper"},
		{"vssadmin", "delete|resize"},
		{"bcdedit", "/set"},
		{"bitsadmin", "/transfer|/create|/addfile"},
		{"auditpol", "/set|/clear|/remove"},
	};

	(void)m;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *p = rows[i].words;

		if (strcasecmp(c->name, rows[i].program) != 0)
			continue;
		while (*p) {
			char word[32];
			size_t n = strcspn(p, "|");

			(void)snprintf(word, sizeof(word), "%.*s", (int)n, p);
			if (rule_says(c, word))
				return true;
			p += n;
			p += *p == '|';
		}
		return false;
	}
	return rule_is("tasklist", c->name) ? c->is_piped : true;
}

static bool evade_powershell(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "-enc") || rule_says(c, "-w hidden") || rule_says(c, "bypass") ||
	       rule_says(c, "downloadstring") || rule_says(c, "iex") ||
	       rule_says(c, "invoke-expression") || rule_says(c, "AntiVirusProduct") ||
	       rule_says(c, "Sockets.TCPClient") || rule_says(c, "Net.WebClient") ||
	       rule_says(c, "Invoke-WebRequest") || rule_says(c, "Get-SmbShare") ||
	       rule_says(c, "Remove-Item") || (c->runs & TAINT_REMOTE) ||
	       (c->in.taint & TAINT_REMOTE && c->n == 1);
}

static bool evade_cmdlet(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const starts[] = {"Invoke-Mimi",
					     "Invoke-Cred",
					     "Invoke-Kerb",
					     "Invoke-Bypass",
					     "Invoke-Dll",
					     "Invoke-Exfil",
					     "Invoke-Dropbox",
					     "Invoke-PSImage",
					     "Invoke-DCOM",
					     "Invoke-Shellcode",
					     "Invoke-Reflective",
					     "Invoke-WMI",
					     "Invoke-SMB",
					     "Invoke-Obfus",
					     "Get-LSASecret",
					     "Get-ChromeDump",
					     "Get-Vault",
					     "Get-ASREP",
					     "Get-GPPP",
					     "Get-Keystrokes",
					     "Add-Persistence",
					     "Add-RegBackdoor",
					     "Add-MailboxPermission",
					     "Find-AVSignature",
					     "New-GPOImmediateTask",
					     "Set-PSReadlineOption",
					     "Get-Management",
					     "Get-GlobalAddress",
					     "Get-WMIObject",
					     "Set-MpPreference",
					     "Add-MpPreference",
					     "Disable-",
					     "Clear-EventLog",
					     "Remove-Eventlog"};

	(void)m;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncasecmp(c->name, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

#define ROW(conf, lev) .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_##lev, .confidence = conf

static const struct shell_rule evade_rows[] = {
	{.id = "CMD-GUARD-STOP",
	 .reason = "It stops a service that protects the machine.",
	 ROW(0.6, MEDIUM),
	 .programs = "systemctl service rc-service initctl launchctl chkconfig update-rc.d",
	 .test = evade_unit,
	 .hit = "systemctl stop auditd",
	 .miss = "systemctl stop nginx"},
	{.id = "CMD-GUARD-KILL",
	 .reason = "It kills a service that protects the machine.",
	 ROW(0.6, MEDIUM),
	 .programs = "pkill killall",
	 .test = evade_kill,
	 .hit = "pkill auditd",
	 .miss = "pkill node"},
	{.id = "CMD-GUARD-REMOVE",
	 .reason = "It takes away what watches over the machine.",
	 ROW(0.5, MEDIUM),
	 .programs = "apt apt-get aptitude yum dnf zypper pacman rpm dpkg apk snap brew",
	 .test = evade_remove,
	 .hit = "apt-get remove -y auditd",
	 .miss = "apt-get remove -y nano"},
	{.id = "CMD-SELINUX-OFF",
	 .reason = "It switches access control off.",
	 ROW(0.6, MEDIUM),
	 .programs = "setenforce aa-teardown aa-disable aa-complain apparmor_parser",
	 .hit = "setenforce 0",
	 .miss = "getenforce"},
	{.id = "CMD-UFW-OFF",
	 .reason = "It opens the firewall.",
	 ROW(0.5, MEDIUM),
	 .programs = "ufw",
	 .unless = "--dry-run",
	 .test = evade_ufw,
	 .hit = "ufw disable",
	 .miss = "ufw status"},
	{.id = "CMD-IPTABLES-FLUSH",
	 .reason = "It opens the firewall.",
	 ROW(0.5, MEDIUM),
	 .programs = "iptables ip6tables iptables-legacy",
	 .test = evade_iptables,
	 .hit = "iptables -F",
	 .miss = "iptables -L"},
	{.id = "CMD-NFT-FLUSH",
	 .reason = "It opens the firewall.",
	 ROW(0.5, MEDIUM),
	 .programs = "nft pfctl",
	 .words = "flush|delete",
	 .hit = "nft flush ruleset",
	 .miss = "nft list ruleset"},
	{.id = "CMD-PF-OFF",
	 .reason = "It changes the firewall.",
	 ROW(0.5, MEDIUM),
	 .programs = "pfctl",
	 .flags = "-d|-F|-f",
	 .hit = "pfctl -d",
	 .miss = "pfctl -s rules"},
	{.id = "CMD-SECURITY-CONFIG",
	 .reason = "It changes the configuration of the firewall, the audit or the logs.",
	 ROW(0.5, MEDIUM),
	 .test = evade_config,
	 .hit = "echo x >> /etc/ufw/user.rules",
	 .miss = "cat /etc/ufw/user.rules"},
	{.id = "CMD-AUDIT-OFF",
	 .reason = "It changes what is audited.",
	 ROW(0.5, MEDIUM),
	 .programs = "auditctl",
	 .test = evade_audit,
	 .hit = "auditctl -D",
	 .miss = "auditctl -l"},
	{.id = "CMD-HISTORY-OFF",
	 .reason = "It hides what was typed.",
	 ROW(0.5, MEDIUM),
	 .programs = "history set unset export declare",
	 .test = evade_history,
	 .hit = "unset HISTFILE",
	 .miss = "history 10"},
	{.id = "CMD-TIMESTOMP",
	 .reason = "It gives a file a false date.",
	 ROW(0.35, LOW),
	 .programs = "touch",
	 .test = evade_touch,
	 .hit = "touch -r /bin/sh /tmp/x",
	 .miss = "touch a.txt"},
	{.id = "CMD-CHATTR",
	 .reason = "It makes a file unchangeable, or changeable again.",
	 ROW(0.4, LOW),
	 .programs = "chattr",
	 .test = evade_chattr,
	 .hit = "chattr +i /etc/passwd",
	 .miss = "chattr +c data"},
	{.id = "CMD-NAME-ODD",
	 .reason = "The name of its program is written so that people and filters overlook it.",
	 ROW(0.5, MEDIUM),
	 .test = evade_odd,
	 .hit = "w\\h\\o\\a\\m\\i",
	 .miss = "\\ls"},
	{.id = "CMD-NAME-UPPER",
	 .reason =
		 "The name of its program is in capitals, which some systems run and filters overlook.",
	 ROW(0.4, LOW),
	 .programs = "RM GIT CURL WGET BASH SH CAT DD CHMOD CHOWN SUDO NC PYTHON PYTHON3 EVAL SSH",
	 .hit = "GIT push",
	 .miss = "git push"},
	{.id = "CMD-SCAN",
	 .reason = "It scans a network.",
	 ROW(0.35, LOW),
	 .programs = "nmap",
	 .test = evade_scan,
	 .hit = "nmap -sV 192.0.2.0/24",
	 .miss = "nmap localhost"},
	{.id = "CMD-ATTACK-TOOL",
	 .reason = "It is a tool made for attacks.",
	 ROW(0.4, LOW),
	 .programs =
		 "masscan zmap hydra medusa ncrack msfvenom msfconsole msfcli crackmapexec netexec nxc enum4linux linpeas linpeas.sh pspy pspy64 "
		 "evil-winrm bloodhound-python patator beef bettercap ettercap dsniff arpspoof hping3 slowloris linenum.sh les.sh",
	 .test = evade_attack,
	 .hit = "hydra -l root -P p.txt ssh://192.0.2.1",
	 .miss = "ping -c 1 192.0.2.1"},
	{.id = "CMD-WINDOWS",
	 .reason = "It changes accounts, services or the registry of Windows.",
	 ROW(0.4, LOW),
	 .programs =
		 "net net1 reg certutil sc cmd schtasks at.exe wmic rundll32 mshta regsvr32 cscript wscript bitsadmin vssadmin bcdedit wevtutil auditpol AUDITPOL cmdkey nltest "
		 "netsh tscon tasklist verclsid pubprn.vbs scrcons wbadmin fsutil icacls takeown cipher diskpart format",
	 .test = evade_windows,
	 .hit = "reg save HKLM\\sam sam",
	 .miss = "net rpc info"},
	{.id = "CMD-POWERSHELL",
	 .reason = "It runs hidden or downloaded code.",
	 ROW(0.6, MEDIUM),
	 .programs = "powershell pwsh",
	 .test = evade_powershell,
	 .hit = "powershell -enc AAAA",
	 .miss = "powershell -Command 'echo a'"},
	{.id = "CMD-CMDLET",
	 .reason = "It is a script made for attacks.",
	 ROW(0.6, MEDIUM),
	 .test = evade_cmdlet,
	 .hit = "Invoke-Mimikatz",
	 .miss = "Get-ChildItem"},
};

const struct shell_rules shell_rules_evade = {evade_rows,
					      sizeof(evade_rows) / sizeof(evade_rows[0])};
