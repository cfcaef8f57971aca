/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials that a command would read and rights that it would take. */
#include "inspect/shell/net.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

static bool access_secret(const struct shell_model *m, const struct shell_command *c)
{
	return !rule_is("find locate", c->name) &&
	       (rule_reads(m, c) &
		(PLACE(SECRET) | PLACE(SECRET_DIR) | PLACE(BROWSER) | PLACE(WALLET)));
}

static bool access_copy(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (c->reads & TAINT_SECRET) && !rule_is("grep wc", c->name) &&
	       !(rule_operands(m, c) & (PLACE(ACCOUNT) | PLACE(SECRET) | PLACE(ENV_FILE) |
					PLACE(HISTORY) | PLACE(SECRET_DIR) | PLACE(BROWSER)));
}

static bool access_env_file(const struct shell_model *m, const struct shell_command *c)
{
	return !rule_is("find locate npm npx node pnpm yarn poetry pip uv grep diff wc", c->name) &&
	       (rule_reads(m, c) & PLACE(ENV_FILE));
}

static bool access_shadow(const struct shell_model *m, const struct shell_command *c)
{
	return rule_reads(m, c) & PLACE(SHADOW);
}

static bool access_pam(const struct shell_model *m, const struct shell_command *c)
{
	return rule_reads(m, c) & PLACE(PAM);
}

static bool access_environ(const struct shell_model *m, const struct shell_command *c)
{
	return rule_reads(m, c) & PLACE(ENVIRON);
}

static bool access_history(const struct shell_model *m, const struct shell_command *c)
{
	return !rule_is("fzf wc", c->name) && (rule_reads(m, c) & PLACE(HISTORY));
}

static bool access_is_wanted(const char *s)
{
	static const char *const names[] = {"id_rsa",     "id_ed25519",   "id_dsa",
					    "*.pem",      "*.key",        "*.kdbx",
					    ".env",       "*.env",        "*.p12",
					    "*.pfx",      ".gnupg",       ".ssh",
					    "wallet.dat", "*.keystore",   "*.jks",
					    ".aws",       "credentials",  "authorized_keys",
					    "*.ovpn",     ".netrc",       ".git-credentials",
					    "*password*", "*credential*", "*secret*",
					    "*.ppk",      "shadow",       "*_history",
					    ".htpasswd",  "kubeconfig",   "id_ecdsa",
					    "*.p8",       ".pgpass",      "wp-config.php",
					    "*.rdp",      "*.tfvars",     "*.tfstate",
					    "*token*",    "*.asc"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(s, names[i]) == 0)
			return true;
	return false;
}

static bool access_search(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i + 1 < c->n; i++)
		if (rule_is("-name -iname -path -wholename", c->argv[i].s) &&
		    access_is_wanted(c->argv[i + 1].s) &&
		    (rule_operands(m, c) &
		     (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME) | PLACE(HOME_BELOW))))
			return true;
	return false;
}

static bool access_locate(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (access_is_wanted(c->argv[i].s))
			return true;
	return false;
}

static bool access_grep(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const words[] = {"password",      "passwd=",       "secret",
					    "api_key",       "apikey",        "BEGIN RSA",
					    "BEGIN OPENSSH", "BEGIN PRIVATE", "aws_secret",
					    "AKIA",          "private_key"};
	bool is_wanted = false;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !is_wanted; i++)
		for (size_t k = 1; k < c->n; k++)
			is_wanted = is_wanted || strcasestr(c->argv[k].s, words[i]);
	return is_wanted && rule_has(c, "-r|-R|--recursive") &&
	       (rule_operands(m, c) & (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME) | PLACE(SYSTEM)));
}

static bool access_metadata(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 0; i < c->n_hosts; i++)
		if (net_is_metadata(&c->hosts[i]))
			return true;
	return false;
}

static bool access_path_only(const struct shell_model *m, const struct shell_command *c)
{
	return c->n == 1 &&
	       (c->argv[0].s[0] == '/' || c->argv[0].s[0] == '~' || c->argv[0].s[0] == '.' ||
		strchr(c->argv[0].s, '.')) &&
	       (rule_place(m, c, &c->argv[0]) &
		(PLACE(SECRET) | PLACE(ENV_FILE) | PLACE(SHADOW) | PLACE(ACCOUNT) | PLACE(ENVIRON) |
		 PLACE(HISTORY) | PLACE(STARTUP) | PLACE(CRON) | PLACE(UNIT) | PLACE(AUTHORIZED) |
		 PLACE(SUDOERS) | PLACE(GIT_HOOK) | PLACE(WALLET) | PLACE(BROWSER)));
}

static bool access_climb(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->n == 1 &&
	       (str_starts(c->argv[0].s, "../../") || str_starts(c->argv[0].s, "../etc") ||
		str_starts(c->argv[0].s, "~/../"));
}

static bool access_print_token(const struct shell_model *m, const struct shell_command *c)
{
	const char *a = rule_operand(c, 0), *b = rule_operand(c, 1);

	(void)m;
	if (strcmp(c->name, "gcloud") == 0)
		return rule_says(c, "print-access-token") || rule_says(c, "print-identity-token");
	if (strcmp(c->name, "gh") == 0)
		return strcmp(a, "auth") == 0 && strcmp(b, "token") == 0;
	if (strcmp(c->name, "security") == 0)
		return str_starts(a, "find-generic-password") ||
		       str_starts(a, "find-internet-password") || strcmp(a, "dump-keychain") == 0;
	if (strcmp(c->name, "kubectl") == 0)
		return (strcmp(a, "create") == 0 && strcmp(b, "token") == 0) ||
		       (strcmp(a, "get") == 0 && str_starts(b, "secret") &&
			rule_has(c, "-o|--output"));
	if (strcmp(c->name, "gpg") == 0)
		return rule_has(c, "--export-secret-keys|--export-secret-subkeys");
	if (strcmp(c->name, "aws") == 0)
		return strcmp(a, "configure") == 0 &&
		       (strcmp(b, "get") == 0 || strcmp(b, "export-credentials") == 0);
	return false;
}

/* chmod u+s, 4755 */
static bool access_setuid(const struct shell_model *m, const struct shell_command *c)
{
	const char *mode = rule_operand(c, 0);

	(void)m;
	return rule_is_setuid(mode);
}

static bool access_setuid_shell(const struct shell_model *m, const struct shell_command *c)
{
	if (!access_setuid(m, c))
		return false;
	for (size_t i = 2; i < c->n; i++) {
		const char *base = strrchr(c->argv[i].s, '/');

		base = base ? base + 1 : c->argv[i].s;
		if (rule_is_shell(base) ||
		    rule_is("rootbash rootshell suid find vim python python3 perl nmap cp env",
			    base))
			return true;
	}
	return false;
}

static bool access_strong_cap(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "cap_setuid") || rule_says(c, "cap_sys_admin") ||
	       rule_says(c, "cap_dac") || rule_says(c, "cap_sys_ptrace") ||
	       rule_says(c, "all+ep") || rule_says(c, "=ep") || rule_says(c, "cap_setgid");
}

static bool access_accounts(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = rule_writes(m, c);

	return (place & (PLACE(SHADOW) | PLACE(SUDOERS))) ||
	       ((place & PLACE(ACCOUNT)) && !rule_is("touch ln", c->name) &&
		/* a copy beside it is a backup */
		(!rule_is("cp mv", c->name) ||
		 (rule_place(m, c, &c->argv[c->n - 1]) & PLACE(ACCOUNT))));
}

static bool access_group(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (rule_is("sudo wheel root docker lxd admin adm disk shadow 0 sudo,adm",
			    c->argv[i].s) &&
		    i > 1 && (c->argv[i - 1].s[0] == '-' || rule_is("adduser gpasswd", c->name)))
			return true;
	return rule_says(c, "-o") && rule_says(c, "-u");
}

/* useradd -D shows or sets defaults; adduser -D of busybox gives no password. */
static bool access_user(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return !rule_has(c, "--defaults|--help") &&
	       !(strcmp(c->name, "useradd") == 0 && rule_has(c, "-D"));
}

static bool access_root_shell(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_has(c, "-i|-s|--login|--shell") && c->n == 2;
}

static bool access_sudo_shell(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (c->via & VIA_ROOT) && c->n == 1 && !c->has_in &&
	       (rule_is_shell(c->name) || strcmp(c->name, "su") == 0);
}

static bool access_sudo_stdin(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->has_in && c->in.s && c->in.len > 1 && c->in.is_known;
}

#define ROW(conf, lev) .type = FINDING_FILE_ACCESS, .level = THREAT_##lev, .confidence = conf

static bool access_root_asking(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (c->via & VIA_ROOT) && c->n == 1 && !c->has_in && !(c->via & VIA_CONTAINER);
}

static bool access_bus(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "freedesktop.secret") || rule_says(c, "kwalletd");
}

/* Agents of log-ins keep their sockets under names that only their owner is told. */
static bool access_agent(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 0; i < c->n_assigns; i++)
		if (str_starts(c->assigns[i].s, "SSH_AUTH_SOCK=/tmp/ssh-") ||
		    str_starts(c->assigns[i].s, "SSH_AUTH_SOCK=/run/user/"))
			return true;
	return false;
}

#define RIGHTS(conf, lev) .type = FINDING_SYSTEM_CALL, .level = THREAT_##lev, .confidence = conf

static const struct shell_rule access_rows[] = {
	{.id = "CMD-READ-SECRET",
	 .reason = "It reads a file that holds credentials.",
	 ROW(0.6, MEDIUM),
	 .test = access_secret,
	 .hit = "cat ~/.ssh/id_rsa",
	 .miss = "cat ~/.ssh/id_rsa.pub"},
	{.id = "CMD-READ-COPY",
	 .reason = "It reads a copy of a file that holds credentials.",
	 ROW(0.5, MEDIUM),
	 .programs = "cat less more head tail base64 xxd od strings nl tac",
	 .test = access_copy,
	 .hit = "cp ~/.ssh/id_rsa k; cat k",
	 .miss = "cp a k; cat k"},
	{.id = "CMD-READ-ENV",
	 .reason = "It reads a file of secrets for an application.",
	 ROW(0.4, LOW),
	 .test = access_env_file,
	 .hit = "cat .env",
	 .miss = "cat .env.example"},
	{.id = "CMD-READ-SHADOW",
	 .reason = "It reads password hashes.",
	 ROW(0.8, HIGH),
	 .test = access_shadow,
	 .hit = "cat /etc/shadow",
	 .miss = "cat /etc/hosts"},
	{.id = "CMD-GETENT-SHADOW",
	 .reason = "It reads password hashes.",
	 ROW(0.8, HIGH),
	 .programs = "getent",
	 .words = "shadow|gshadow",
	 .hit = "getent shadow",
	 .miss = "getent hosts"},
	{.id = "CMD-READ-PAM",
	 .reason = "It reads how log-ins and passwords are checked.",
	 ROW(0.35, LOW),
	 .programs = "cat less more head tail grep awk",
	 .test = access_pam,
	 .hit = "cat /etc/pam.d/su",
	 .miss = "ls /etc/pam.d"},
	{.id = "CMD-READ-ENVIRON",
	 .reason = "It reads the environment of a process, where secrets often are.",
	 ROW(0.6, MEDIUM),
	 .test = access_environ,
	 .hit = "cat /proc/1/environ",
	 .miss = "cat /proc/1/status"},
	{.id = "CMD-READ-HISTORY",
	 .reason = "It reads a history of commands, where passwords often are.",
	 ROW(0.5, MEDIUM),
	 .test = access_history,
	 .hit = "cat ~/.bash_history",
	 .miss = "cat history.txt"},
	{.id = "CMD-FIND-SECRET",
	 .reason = "It searches the system for credentials.",
	 ROW(0.6, MEDIUM),
	 .programs = "find",
	 .test = access_search,
	 .hit = "find / -name id_rsa",
	 .miss = "find . -name '*.c'"},
	{.id = "CMD-LOCATE-SECRET",
	 .reason = "It searches the system for credentials.",
	 ROW(0.5, MEDIUM),
	 .programs = "locate mlocate plocate mdfind",
	 .test = access_locate,
	 .hit = "locate id_rsa",
	 .miss = "locate stdio.h"},
	{.id = "CMD-GREP-SECRET",
	 .reason = "It searches the system for passwords.",
	 ROW(0.5, MEDIUM),
	 .programs = "grep egrep rg ag ack fgrep",
	 .test = access_grep,
	 .hit = "grep -ri password /home",
	 .miss = "grep -ri password src"},
	{.id = "CMD-METADATA",
	 .reason = "It asks the metadata service of a cloud, which gives out credentials.",
	 ROW(0.7, MEDIUM),
	 .test = access_metadata,
	 .hit = "curl http://169.254.169.254/latest/meta-data/",
	 .miss = "curl http://192.0.2.1/latest/"},
	{.id = "CMD-PATH-SENSITIVE",
	 .reason = "It is nothing but the name of a sensitive file.",
	 ROW(0.4, LOW),
	 .test = access_path_only,
	 .hit = "/etc/shadow",
	 .miss = "/usr/bin/true"},
	{.id = "CMD-PATH-CLIMB",
	 .reason = "It is nothing but a path that climbs out of the working directory.",
	 ROW(0.35, LOW),
	 .test = access_climb,
	 .hit = "../../etc/passwd",
	 .miss = "./configure"},
	{.id = "CMD-SECRET-BUS",
	 .reason = "It asks the store of passwords of a desktop.",
	 .type = FINDING_FILE_ACCESS,
	 .level = THREAT_MEDIUM,
	 .confidence = 0.5,
	 .programs = "dbus-send gdbus busctl qdbus",
	 .test = access_bus,
	 .hit = "dbus-send --dest=org.freedesktop.secrets / org.freedesktop.Secret.Service.SearchItems",
	 .miss = "busctl list"},
	{.id = "CMD-AGENT-BORROWED",
	 .reason = "It uses the key agent of somebody else.",
	 .type = FINDING_FILE_ACCESS,
	 .level = THREAT_MEDIUM,
	 .confidence = 0.5,
	 .programs = "ssh ssh-add scp sftp git rsync",
	 .test = access_agent,
	 .hit = "SSH_AUTH_SOCK=/tmp/ssh-x/agent.1 ssh root@a.example",
	 .miss = "SSH_AUTH_SOCK=$HOME/.agent ssh a.example"},
	{.id = "CMD-PRINT-TOKEN",
	 .reason = "It prints a credential.",
	 ROW(0.5, MEDIUM),
	 .programs = "gcloud gh security kubectl gpg aws",
	 .test = access_print_token,
	 .hit = "gcloud auth print-access-token",
	 .miss = "gcloud auth list"},
	{.id = "CMD-SETUID",
	 .reason = "It lets a program run with its owner's rights.",
	 RIGHTS(0.6, MEDIUM),
	 .programs = "chmod",
	 .test = access_setuid,
	 .hit = "chmod u+s tool",
	 .miss = "chmod u+x tool"},
	{.id = "CMD-SETUID-SHELL",
	 .reason = "It makes a shell that gives its owner's rights to everyone.",
	 RIGHTS(0.9, CRITICAL),
	 .programs = "chmod",
	 .test = access_setuid_shell,
	 .hit = "chmod 4755 /bin/bash",
	 .miss = "chmod 755 /bin/bash"},
	{.id = "CMD-SETCAP",
	 .reason = "It gives a program capabilities of root.",
	 RIGHTS(0.6, MEDIUM),
	 .programs = "setcap",
	 .test = access_strong_cap,
	 .hit = "setcap cap_setuid+ep /usr/bin/python3",
	 .miss = "setcap cap_net_bind_service+ep server"},
	{.id = "CMD-ACCOUNTS-WRITE",
	 .reason = "It changes accounts, passwords or who may become root.",
	 RIGHTS(0.85, HIGH),
	 .test = access_accounts,
	 .hit = "echo 'x ALL=(ALL) NOPASSWD:ALL' >> /etc/sudoers",
	 .miss = "cat /etc/passwd"},
	{.id = "CMD-GROUP-ROOT",
	 .reason = "It puts a user into a group that can become root.",
	 RIGHTS(0.6, MEDIUM),
	 .programs = "usermod useradd adduser gpasswd groupmems",
	 .test = access_group,
	 .hit = "usermod -aG sudo mallory",
	 .miss = "usermod -aG audio alice"},
	{.id = "CMD-USER-ADD",
	 .reason = "It creates an account.",
	 RIGHTS(0.35, LOW),
	 .programs = "useradd adduser pw dscl newusers",
	 .test = access_user,
	 .hit = "useradd -m mallory",
	 .miss = "id mallory"},
	{.id = "CMD-PASSWORD-SET",
	 .reason = "It sets a password.",
	 RIGHTS(0.5, MEDIUM),
	 .programs = "chpasswd passwd",
	 .test = access_sudo_stdin,
	 .hit = "echo 'a:b' | chpasswd",
	 .miss = "passwd --status alice"},
	{.id = "CMD-PASSWORD-REMOVE",
	 .reason = "It removes or unlocks a password.",
	 RIGHTS(0.5, MEDIUM),
	 .programs = "passwd",
	 .flags = "-d|--delete|-u|--unlock",
	 .hit = "passwd -d root",
	 .miss = "passwd -S root"},
	{.id = "CMD-ROOT-SHELL",
	 .reason = "It opens a shell as root.",
	 RIGHTS(0.35, LOW),
	 .programs = "sudo doas",
	 .test = access_root_shell,
	 .hit = "sudo -i",
	 .miss = "sudo -l"},
	{.id = "CMD-SUDO-SHELL",
	 .reason = "It opens a shell as root.",
	 RIGHTS(0.4, LOW),
	 .test = access_sudo_shell,
	 .hit = "sudo bash",
	 .miss = "sudo bash setup.sh"},
	{.id = "CMD-ROOT-ASKING",
	 .reason = "It opens a program as root that does whatever it is asked.",
	 RIGHTS(0.4, LOW),
	 .programs =
		 "ed ex python python2 python3 perl irb pry ipython node lua luajit ruby php ghci gdb R julia cpan tclsh wish "
		 "jjs jshell ftp sftp tasksh tdbtool gnuplot octave iex erl ocaml guile sbcl clisp scala swipl sqlite3",
	 .test = access_root_asking,
	 .hit = "sudo ed",
	 .miss = "sudo python3 setup.py"},
	{.id = "CMD-VISUDO",
	 .reason = "It edits who may become root.",
	 RIGHTS(0.4, LOW),
	 .programs = "visudo",
	 .unless = "-c|--check",
	 .hit = "visudo",
	 .miss = "visudo -c"},
	{.id = "CMD-CREDENTIAL-TOOL",
	 .reason = "It is a tool that steals credentials.",
	 ROW(0.85, HIGH),
	 .programs =
		 "mimikatz mimipenguin lazagne laZagne LaZagne lazagne.py laZagne.py mimipenguin.sh mimipenguin.py pypykatz secretsdump.py impacket-secretsdump Invoke-Mimikatz Invoke-Kerberoast "
		 "rubeus kerbrute responder ntdsutil procdump lsassy gcore unshadow truffleHog",
	 .hit = "mimipenguin",
	 .miss = "free -m"},
};

const struct shell_rules shell_rules_access = {access_rows,
					       sizeof(access_rows) / sizeof(access_rows[0])};
