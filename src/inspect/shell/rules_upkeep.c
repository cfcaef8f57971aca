/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upkeep that goes too far: packages removed without a question, services that a machine is reached through, machines of
 * a cluster, positions in a queue, what lies in a working tree.
 */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

#define ROW(confidence_, level_)                                                                   \
	.type = FINDING_DANGEROUS_PATTERN, .level = THREAT_##level_, .confidence = (confidence_)

static bool upkeep_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

/* Removed without a question, and with all that belongs to it. */
static bool upkeep_removes(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "pacman") == 0)
		return rule_has(c, "--noconfirm") && rule_has(c, "-R|-Rs|-Rns|-Rdd|--remove");
	if (!rule_is("remove purge autoremove erase del uninstall autopurge rm",
		     rule_operand(c, 0)))
		return false;
	if (rule_is("brew snap", c->name))
		return rule_has(c, "--force|--ignore-dependencies|--purge|--zap|-f");
	/* with its settings, which nothing brings back */
	return rule_has(c, "-y|--yes|--assume-yes|--non-interactive|-qq") &&
	       (rule_is("purge autopurge", rule_operand(c, 0)) || rule_has(c, "--purge"));
}

/* Services through which a machine is reached, or on which all others stand. */
static bool upkeep_cuts(const struct shell_model *m, const struct shell_command *c)
{
	static const char units[] =
		"ssh sshd NetworkManager networking network systemd-networkd systemd-resolved dbus "
		"docker containerd kubelet systemd-logind systemd-journald systemd-udevd dnsmasq "
		"named bind9 haproxy traefik etcd k3s";
	const char *verb = rule_operand(c, 0), *unit = rule_operand(c, 1);
	char name[64];
	size_t n;

	(void)m;
	if (rule_is("service rc-service", c->name)) {
		unit = verb;
		verb = rule_operand(c, 1);
	}
	n = str_ends(unit, ".service") ? strlen(unit) - 8 : strlen(unit);
	if (n >= sizeof(name))
		return false;
	memcpy(name, unit, n);
	name[n] = '\0';
	return rule_is("stop disable mask kill", verb) &&
	       (rule_is(units, name) || (c->via & VIA_REMOTE));
}

static bool upkeep_empties(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "docker") == 0)
		return rule_is("service", rule_operand(c, 0)) &&
		       rule_is("scale", rule_operand(c, 1)) && rule_says(c, "=0");
	if (rule_is("cordon", rule_operand(c, 0)))
		return !rule_has(c, "--dry-run");
	if (!rule_is("scale", rule_operand(c, 0)))
		return false;
	for (size_t i = 1; i < c->n; i++)
		if (strcmp(c->argv[i].s, "--replicas=0") == 0 ||
		    (strcmp(c->argv[i].s, "--replicas") == 0 && i + 1 < c->n &&
		     strcmp(c->argv[i + 1].s, "0") == 0))
			return true;
	return false;
}

static bool upkeep_tree(const struct shell_model *m, const struct shell_command *c)
{
	const char *verb = rule_operand(c, 0);

	(void)m;
	if (strcmp(verb, "branch") == 0)
		return rule_has(c, "-f|--force") &&
		       (rule_has(c, "-d|--delete") || *rule_operand(c, 2));
	if (strcmp(verb, "read-tree") == 0)
		return rule_has(c, "--reset|-u");
	return strcmp(verb, "notes") == 0 && rule_is("prune remove", rule_operand(c, 1));
}

static bool upkeep_unmounts(const struct shell_model *m, const struct shell_command *c)
{
	return (rule_operands(m, c) & (PLACE(ROOT) | PLACE(TOP) | PLACE(LOG))) ||
	       rule_has(c, "-a|--all");
}

static bool upkeep_offsets(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_has(c, "--delete|--delete-offsets") ||
	       (rule_has(c, "--reset-offsets") && rule_has(c, "--execute"));
}

static bool upkeep_compose(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return upkeep_any(c, "rm") &&
	       (rule_is("docker-compose podman-compose", c->name) ||
		strcmp(rule_operand(c, 0), "compose") == 0) &&
	       rule_has(c, "-f|--force|-v|--volumes");
}

static bool upkeep_blob(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_is("remove rm", rule_operand(c, 0)) ||
	       rule_says(c, "--delete-destination=true");
}

static bool upkeep_shuts(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return upkeep_any(c, "DROP REJECT");
}

static bool upkeep_server(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "nginx") == 0)
		return rule_has(c, "-s") && upkeep_any(c, "stop quit");
	if (strcmp(c->name, "mc") == 0)
		return rule_is("admin", rule_operand(c, 0)) && upkeep_any(c, "stop");
	if (strcmp(c->name, "mysqladmin") == 0)
		return upkeep_any(c, "drop shutdown kill flush-privileges");
	if (strcmp(c->name, "splunk") == 0)
		return rule_is("clean remove", rule_operand(c, 0));
	if (strcmp(c->name, "deck") == 0)
		return rule_is("reset", rule_operand(c, rule_is("gateway", rule_operand(c, 0))));
	return rule_says(c, "update delete"); /* nsupdate */
}

/* podman rm -fa: every one of them */
static bool upkeep_every(const struct shell_model *m, const struct shell_command *c)
{
	size_t at = rule_is("pod container volume", rule_operand(c, 0));

	(void)m;
	return rule_is("rm rmi kill stop", rule_operand(c, at)) && rule_has(c, "-a|--all");
}

static bool upkeep_sync(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "gsutil") == 0)
		return upkeep_any(c, "rsync") && rule_has(c, "-d");
	if (strcmp(c->name, "kubectl") == 0)
		return rule_is("apply", rule_operand(c, 0)) && rule_has(c, "--prune");
	return rule_is("s3", rule_operand(c, 0)) && rule_is("mv", rule_operand(c, 1)) &&
	       rule_has(c, "--recursive");
}

/* A script for a database whose name says what it does. */
static bool upkeep_is_loss(const char *s)
{
	static const char *const words[] = {"drop", "wipe", "truncate", "purge", "nuke", "flush"};
	const char *base = strrchr(s, '/') ? strrchr(s, '/') + 1 : s;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(base, words[i]))
			return true;
	return false;
}

static bool upkeep_script(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 0; i < c->n_redirects; i++)
		if (c->redirects[i].kind == REDIRECT_IN && upkeep_is_loss(c->redirects[i].target.s))
			return true;
	for (size_t i = 1; i + 1 < c->n; i++)
		if (rule_is("-f --file", c->argv[i].s) && upkeep_is_loss(c->argv[i + 1].s))
			return true;
	return rule_says(c, ".restore ") || rule_says(c, "script flush");
}

static bool upkeep_publishes(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "yarn") == 0)
		return rule_is("npm", rule_operand(c, 0)) && rule_is("publish", rule_operand(c, 1));
	if (strcmp(c->name, "dotnet") == 0)
		return rule_is("nuget", rule_operand(c, 0)) &&
		       rule_is("push delete", rule_operand(c, 1));
	return upkeep_any(c, "deploy publish deploy:deploy :publish") && !rule_has(c, "--dry-run");
}

/* A tree put over the settings of another machine. */
static bool upkeep_remote(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const places[] = {":/etc", ":/usr", ":/bin", ":/boot", ":/lib"};
	const char *to = c->n > 2 ? c->argv[c->n - 1].s : "";

	(void)m;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strstr(to, places[i]))
			return true;
	return false;
}

/* supervisorctl stop all, pm2 delete all, forever stopall */
static bool upkeep_stops_all(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (rule_is("stopall killall deleteall removeall", rule_operand(c, 0)))
		return true;
	for (size_t i = 0; i < 3; i++)
		if (rule_is("stop delete remove kill disable empty", rule_operand(c, i)))
			return strcmp(rule_operand(c, i + 1), "all") == 0 || rule_has(c, "--all");
	return false;
}

/* Stores and machines with words of their own for it. */
static bool upkeep_deletes(const struct shell_model *m, const struct shell_command *c)
{
	static const struct {
		const char *programs, *words;
	} rows[] = {
		{"rbd rados ceph", "rm purge destroy remove"},
		{"hdfs hadoop", "-rm -rmr -expunge"},
		{"lvreduce", NULL},
		{"nodetool", "clearsnapshot decommission removenode assassinate"},
		{"hbase", "drop"},
		{"argocd", "--prune"},
		{"docker", "--force-new-cluster"},
		{"dbt", "--full-refresh"},
		{"ipmitool", "off cycle reset soft"},
		{"VBoxManage vboxmanage", "poweroff"},
		{"esxcli", "poweroff"},
		{"sidekiqctl", "stop"},
	};

	(void)m;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
		if (rule_is(rows[k].programs, c->name) &&
		    (!rows[k].words || upkeep_any(c, rows[k].words) ||
		     (c->in.s && strcmp(c->name, "hbase") == 0 && strstr(c->in.s, "drop "))))
			return true;
	return false;
}

/* rm for everything that fd lists */
static bool upkeep_lists(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i + 1 < c->n; i++)
		if (rule_is("-x -X --exec --exec-batch", c->argv[i].s))
			return rule_is("rm shred unlink", c->argv[i + 1].s) &&
			       (rule_is(". .* *", rule_operand(c, 0)) || c->argv[1].s[0] == '-') &&
			       !rule_has(c, "-e|--extension|-g|--glob");
	return false;
}

static bool upkeep_path(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (strcmp(c->argv[i].s, "PATH=") == 0 ||
		    (strcmp(c->name, "unset") == 0 && strcmp(c->argv[i].s, "PATH") == 0))
			return true;
	return false;
}

static bool upkeep_forges(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i + 1 < c->n; i++)
		if (rule_is("-p --priority", c->argv[i].s))
			return str_starts(c->argv[i + 1].s, "auth");
	return rule_says(c, "sshd") && rule_has(c, "-t|--tag|-i|--id");
}

static bool upkeep_everything(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return upkeep_any(c, ". .* ^");
}

static bool upkeep_memory(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "memfd_create") || rule_says(c, "syscall(319");
}

static const struct shell_rule upkeep_rows[] = {
	{.id = "CMD-STOP-ALL",
	 .reason = "It stops or deletes all that a manager of services has.",
	 ROW(0.35, LOW),
	 .programs =
		 "supervisorctl pm2 forever monit crm pcs rq celery circusctl svc sv nssm launchctl runitctl",
	 .test = upkeep_stops_all,
	 .hit = "supervisorctl stop all",
	 .miss = "supervisorctl restart web"},
	{.id = "CMD-STORE-DELETES",
	 .reason = "It deletes from a store of many machines, or turns one of them off.",
	 ROW(0.4, LOW),
	 .programs =
		 "rbd rados ceph hdfs hadoop lvreduce nodetool hbase argocd docker dbt ipmitool VBoxManage "
		 "vboxmanage esxcli sidekiqctl",
	 .unless = "--help|--dry-run|--test",
	 .test = upkeep_deletes,
	 .hit = "hdfs dfs -rm -r /data",
	 .miss = "hdfs dfs -ls /data"},
	{.id = "CMD-FD-DELETE",
	 .reason = "It deletes all that it finds.",
	 ROW(0.5, MEDIUM),
	 .programs = "fd fdfind",
	 .test = upkeep_lists,
	 .hit = "fd -H . -x rm -rf",
	 .miss = "fd -e tmp -x rm"},
	{.id = "CMD-PATH-EMPTY",
	 .reason = "It takes away where programs are looked for.",
	 ROW(0.35, LOW),
	 .programs = "export declare unset typeset",
	 .test = upkeep_path,
	 .hit = "unset PATH",
	 .miss = "export PATH=/opt/bin:$PATH"},
	{.id = "CMD-LOG-FORGE",
	 .reason = "It writes a line into the log that another program would have to write.",
	 ROW(0.35, LOW),
	 .programs = "logger",
	 .test = upkeep_forges,
	 .hit = "logger -p auth.info 'Accepted password for root'",
	 .miss = "logger -t backup done"},
	{.id = "CMD-KILL-PATTERN",
	 .reason = "It stops every process that it may.",
	 ROW(0.5, MEDIUM),
	 .programs = "pkill",
	 .test = upkeep_everything,
	 .hit = "pkill -9 -f .",
	 .miss = "pkill -f server.py"},
	{.id = "CMD-MEMORY-FILE",
	 .reason = "It runs a program that lies on no disk.",
	 ROW(0.5, MEDIUM),
	 .programs = "perl python python2 python3 ruby",
	 .test = upkeep_memory,
	 .hit = "perl -e 'syscall(319, $n, 1)'",
	 .miss = "perl -e 'print 319'"},
	{.id = "CMD-SERVER-STOP",
	 .reason = "It stops a server, or throws away what it keeps.",
	 ROW(0.4, LOW),
	 .programs = "nginx mc mysqladmin splunk deck nsupdate",
	 .test = upkeep_server,
	 .hit = "nginx -s stop",
	 .miss = "nginx -s reload"},
	{.id = "CMD-CONTAINER-ALL",
	 .reason = "It removes or stops every container, pod or image.",
	 ROW(0.4, LOW),
	 .programs = "podman docker nerdctl",
	 .test = upkeep_every,
	 .hit = "podman rm -fa",
	 .miss = "podman rm web"},
	{.id = "CMD-STORE-MIRROR",
	 .reason = "It makes a store like something else, and deletes what is not there.",
	 ROW(0.4, LOW),
	 .programs = "gsutil aws kubectl",
	 .unless = "-n|--dry-run|--dryrun",
	 .test = upkeep_sync,
	 .hit = "gsutil rsync -d -r empty gs://b",
	 .miss = "gsutil rsync -r site gs://b"},
	{.id = "CMD-SQL-SCRIPT",
	 .reason = "It runs a script that says of itself that it deletes.",
	 ROW(0.35, LOW),
	 .programs = "mysql mariadb psql sqlite3 mongosh redis-cli sqlcmd cqlsh clickhouse-client",
	 .test = upkeep_script,
	 .hit = "psql -f drop_all.sql",
	 .miss = "psql -f schema.sql"},
	{.id = "CMD-PUBLISH-BUILD",
	 .reason = "It publishes a package.",
	 ROW(0.35, LOW),
	 .programs = "yarn dotnet mvn gradle gradlew sbt",
	 .test = upkeep_publishes,
	 .hit = "mvn deploy -DskipTests",
	 .miss = "mvn package"},
	{.id = "CMD-REMOTE-SETTINGS",
	 .reason = "It writes over the system of another machine.",
	 ROW(0.4, LOW),
	 .programs = "scp rsync",
	 .test = upkeep_remote,
	 .hit = "scp -r etc/ root@a.example:/etc/",
	 .miss = "scp -r site/ a.example:/srv/site"},
	{.id = "CMD-STACK-UNSEEN",
	 .reason = "It changes machines of others without a look at what would change.",
	 ROW(0.35, LOW),
	 .programs = "pulumi",
	 .words = "up|update",
	 .flags = "--skip-preview|-f",
	 .hit = "pulumi up --yes --skip-preview",
	 .miss = "pulumi up"},
	{.id = "CMD-PACKAGE-UNASKED",
	 .reason = "It removes packages without asking.",
	 ROW(0.35, LOW),
	 .programs = "apt apt-get aptitude yum dnf zypper pacman apk pkg brew snap",
	 .unless = "-s|--simulate|--dry-run|--assumeno",
	 .test = upkeep_removes,
	 .hit = "apt-get purge -y nginx",
	 .miss = "apt-get remove nginx"},
	{.id = "CMD-SERVICE-CUT",
	 .reason = "It stops a service that others or the machine itself stand on.",
	 ROW(0.4, LOW),
	 .programs = "systemctl service rc-service",
	 .unless = "--user|--dry-run",
	 .test = upkeep_cuts,
	 .hit = "systemctl stop sshd",
	 .miss = "systemctl stop web"},
	{.id = "CMD-CLUSTER-ZERO",
	 .reason = "It takes all copies of a service or a machine of a cluster out of work.",
	 ROW(0.4, LOW),
	 .programs = "kubectl oc docker",
	 .test = upkeep_empties,
	 .hit = "kubectl scale deploy web --replicas=0",
	 .miss = "kubectl scale deploy web --replicas=3"},
	{.id = "CMD-GIT-OVERWRITE",
	 .reason = "It overwrites the working tree, or drops commits that nothing else keeps.",
	 ROW(0.4, LOW),
	 .programs = "git",
	 .test = upkeep_tree,
	 .hit = "git read-tree --reset -u HEAD",
	 .miss = "git branch -d merged"},
	{.id = "CMD-UNMOUNT",
	 .reason = "It takes a part of the system away from under running programs.",
	 ROW(0.4, LOW),
	 .programs = "umount",
	 .test = upkeep_unmounts,
	 .hit = "umount -l /",
	 .miss = "umount /mnt/disk"},
	{.id = "CMD-QUEUE-OFFSETS",
	 .reason = "It moves or deletes the place up to which a queue was read.",
	 ROW(0.4, LOW),
	 .programs = "kafka-consumer-groups kafka-consumer-groups.sh",
	 .test = upkeep_offsets,
	 .hit = "kafka-consumer-groups --reset-offsets --to-earliest --execute --group g --topic t",
	 .miss = "kafka-consumer-groups --describe --group g"},
	{.id = "CMD-COMPOSE-RM",
	 .reason = "It removes containers of a project, and what they keep.",
	 ROW(0.35, LOW),
	 .programs = "docker docker-compose podman-compose",
	 .test = upkeep_compose,
	 .hit = "docker compose rm -fsv",
	 .miss = "docker compose ps"},
	{.id = "CMD-BLOB-REMOVE",
	 .reason = "It deletes what lies in a store of a cloud.",
	 ROW(0.4, LOW),
	 .programs = "azcopy",
	 .unless = "--dry-run",
	 .test = upkeep_blob,
	 .hit = "azcopy remove 'https://x.blob.core.windows.net/c' --recursive",
	 .miss = "azcopy copy a 'https://x.blob.core.windows.net/c'"},
	{.id = "CMD-SCHEMA-FORCE",
	 .reason = "It changes a database without a question about what gets lost.",
	 ROW(0.35, LOW),
	 .programs = "drizzle-kit",
	 .words = "push",
	 .flags = "--force",
	 .hit = "drizzle-kit push --force",
	 .miss = "drizzle-kit push"},
	{.id = "CMD-FIREWALL-SHUT",
	 .reason = "It shuts the machine off from the network.",
	 ROW(0.4, LOW),
	 .programs = "iptables ip6tables iptables-legacy iptables-nft ebtables arptables",
	 .flags = "-P|--policy",
	 .test = upkeep_shuts,
	 .hit = "iptables -P INPUT DROP",
	 .miss = "iptables -L INPUT"},
	{.id = "CMD-LINK-DOWN",
	 .reason = "It takes an interface of the network down.",
	 ROW(0.35, LOW),
	 .programs = "ifdown",
	 .unless = "-n|--no-act|--state|-l|--list",
	 .hit = "ifdown eth0",
	 .miss = "ifup eth0"},
	{.id = "CMD-JOBS-CLEAN",
	 .reason = "It throws away what a scheduler still knows of finished jobs.",
	 ROW(0.35, LOW),
	 .programs = "nomad",
	 .words = "system gc",
	 .hit = "nomad system gc",
	 .miss = "nomad status"},
};

const struct shell_rules shell_rules_upkeep = {upkeep_rows,
					       sizeof(upkeep_rows) / sizeof(upkeep_rows[0])};
