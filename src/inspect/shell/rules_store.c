/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores of data, queues and clusters, by what is done to them and not by who offers them: emptied, restored over
 * what is there, reset, stopped, laid open, or asked for the secrets that they keep.
 */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* Does a word of the statement, in any case, stand at p, and no letter behind it? */
static size_t store_word(const char *p, const char *word)
{
	size_t n = strlen(word);

	return strncasecmp(p, word, n) == 0 && !isalnum((unsigned char)p[n]) && p[n] != '_' ? n : 0;
}

/* drop … NOUN, with words like TEMPORARY between */
static bool store_drops(const char *text)
{
	static const char *const nouns[] = {
		"warehouse",    "stage",     "tablespace", "extension",    "type",
		"sequence",     "policy",    "stream",     "task",         "measurement",
		"series",       "bucket",    "constraint", "partition",    "retention",
		"materialized", "external",  "collection", "graph",        "login",
		"server",       "procedure", "rule",       "subscription", "publication",
		"aggregate",    "domain",    "catalog",    "replica",      "share"};
	const char *p = text;

	while ((p = strcasestr(p, "drop ")) != NULL) {
		p += 5;
		p += strspn(p, " \t\n");
		for (size_t i = 0; i < sizeof(nouns) / sizeof(nouns[0]); i++)
			if (store_word(p, nouns[i]))
				return true;
	}
	return false;
}

/* WHERE 1=1, WHERE true: all rows after all */
static bool store_is_all(const char *text)
{
	const char *p = text;

	if (!strcasestr(text, "delete ") && !strcasestr(text, "update "))
		return false;
	while ((p = strcasestr(p, "where ")) != NULL) {
		p += 6;
		p += strspn(p, " \t\n(");
		if (store_word(p, "true") || store_word(p, "1") || str_starts(p, "'1'='1'") ||
		    str_starts(p, "1=1"))
			return true;
	}
	return false;
}

static bool store_statement(const char *text)
{
	static const char *const words[] = {
		" superuser",      "set password",      "identified by",   "into outfile",
		"into dumpfile",   "load_file(",        "detach delete",   "revoke all",
		"createrole",      "bypassrls",         "alter login",     "sp_configure",
		"xp_cmdshell",     "lo_export(",        "lo_import(",      "pg_read_file(",
		"pg_ls_dir(",      "pg_write_file(",    "disable trigger", "shutdown immediate",
		"detach database", "purge binary logs", "drop all objects"};

	if (store_drops(text) || store_is_all(text))
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(text, words[i]))
			return true;
	return false;
}

static bool store_sql(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].len > 8 && store_statement(c->argv[i].s))
			return true;
	return c->in.s && store_statement(c->in.s);
}

/* Clients whose statements the older row does not see. */
static bool store_sql_drop(const struct shell_model *m, const struct shell_command *c)
{
	return store_sql(m, c) || rule_says(c, "drop table") || rule_says(c, "drop database") ||
	       rule_says(c, "drop schema") || rule_says(c, "drop index") ||
	       rule_says(c, "drop user") || rule_says(c, "truncate ") ||
	       (rule_says(c, "delete from") && !rule_says(c, "where"));
}

static bool store_redis(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (rule_says(c, "config") &&
		(rule_says(c, " set ") || strcasecmp(rule_operand(c, 1), "set") == 0)) ||
	       strcasecmp(rule_operand(c, 0), "replicaof") == 0 || rule_says(c, "acl setuser") ||
	       (strcasecmp(rule_operand(c, 0), "acl") == 0 &&
		strcasecmp(rule_operand(c, 1), "setuser") == 0) ||
	       (strcasecmp(rule_operand(c, 0), "cluster") == 0 &&
		strcasecmp(rule_operand(c, 1), "reset") == 0);
}

static bool store_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

/* Machines of a cloud are stopped, or scaled to none. */
static bool store_stops(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 0; i < 4; i++)
		if (rule_is("stop-instances stop-db-instance stop-db-cluster reboot-instances deallocate "
			    "power-off poweroff ps:stop maintenance:on stop-task scale-to-zero",
			    rule_operand(c, i)))
			return true;
	if (strcmp(rule_operand(c, 2), "stop") == 0 && rule_is("gcloud az doctl", c->name))
		return true;
	for (size_t i = 1; i + 1 < c->n; i++)
		if (rule_is("--desired-count --desired-capacity --min-size --replicas --num-nodes "
			    "--min-instances",
			    c->argv[i].s) &&
		    strcmp(c->argv[i + 1].s, "0") == 0)
			return true;
	for (size_t i = 1; i < c->n; i++)
		if (str_ends(c->argv[i].s, "=0") && (str_starts(rule_operand(c, 0), "ps:scale") ||
						     str_starts(c->argv[i].s, "--num-nodes") ||
						     str_starts(c->argv[i].s, "--desired-c")))
			return true;
	return rule_is("fly flyctl", c->name) && ((strcmp(rule_operand(c, 1), "count") == 0 &&
						   strcmp(rule_operand(c, 2), "0") == 0) ||
						  strcmp(rule_operand(c, 1), "detach") == 0);
}

/* What only some may reach is laid open to everybody. */
static bool store_open(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const words[] = {"--publicly-accessible",
					    "--public-network-access=Enabled",
					    "allUsers",
					    "allAuthenticatedUsers",
					    "--authorized-networks=0.0.0.0/0",
					    "--allow-blob-public-access=true",
					    "--no-public-access-block",
					    "AuthenticatedUsers",
					    "--visibility=public",
					    "\"Principal\":\"*\"",
					    "BlockPublicAcls=false",
					    "BlockPublicPolicy=false"};

	(void)m;
	for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
		for (size_t i = 1; i < c->n; i++)
			if (strstr(c->argv[i].s, words[k]))
				return true;
	for (size_t i = 1; i + 1 < c->n; i++)
		if ((strcmp(c->argv[i].s, "--public-network-access") == 0 &&
		     strcasecmp(c->argv[i + 1].s, "enabled") == 0) ||
		    (rule_is("--allow-blob-public-access --public-access", c->argv[i].s) &&
		     rule_is("true container blob", c->argv[i + 1].s)) ||
		    (rule_is("--acl --canned-acl --predefined-acl -a", c->argv[i].s) &&
		     rule_is("public-read public-read-write publicRead publicReadWrite",
			     c->argv[i + 1].s)) ||
		    (strcmp(c->argv[i].s, "--visibility") == 0 &&
		     strcmp(c->argv[i + 1].s, "public") == 0 && rule_says(c, "edit")))
			return true;
	return false;
}

/* A service prints the secrets that it keeps. */
static bool store_secrets(const struct shell_model *m, const struct shell_command *c)
{
	const char *a = rule_operand(c, 0), *b = rule_operand(c, 1);

	(void)m;
	if (strcmp(c->name, "heroku") == 0)
		return strcmp(a, "config") == 0;
	if (strcmp(c->name, "doppler") == 0)
		return strcmp(a, "secrets") == 0 && !rule_is("get set delete notes upload", b);
	if (strcmp(c->name, "infisical") == 0)
		return rule_is("export", a) ||
		       (strcmp(a, "secrets") == 0 && !rule_is("get set delete", b));
	if (strcmp(c->name, "vercel") == 0)
		return strcmp(a, "env") == 0 && strcmp(b, "pull") == 0;
	if (strcmp(c->name, "netlify") == 0)
		return rule_is("env:list env:get env:export", a);
	if (strcmp(c->name, "railway") == 0)
		return strcmp(a, "variables") == 0;
	if (strcmp(c->name, "chamber") == 0)
		return rule_is("read export env", a);
	if (strcmp(c->name, "sops") == 0)
		return rule_has(c, "-d|--decrypt") || strcmp(a, "decrypt") == 0;
	if (strcmp(c->name, "ansible-vault") == 0)
		return rule_is("view decrypt", a);
	if (strcmp(c->name, "aws") == 0)
		return strcmp(b, "get-login-password") == 0 && m->n == 1;
	if (rule_is("kubectl oc", c->name))
		return rule_says(c, "/run/secrets/");
	return false;
}

static bool store_absent(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "state=absent");
}

/* kubectl edit clusterrole, kubectl … --as=system:… */
static bool store_roles(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(rule_operand(c, 0), "auth") == 0)
		return strcmp(rule_operand(c, 1), "can-i") == 0 && rule_has(c, "--list");
	/* a whole namespace without checks; all nodes without pods */
	if (rule_is("label annotate", rule_operand(c, 0)))
		return rule_says(c, "enforce=privileged");
	if (strcmp(rule_operand(c, 0), "taint") == 0)
		return rule_has(c, "--all") || rule_says(c, ":NoExecute");
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, "--as=") || str_starts(c->argv[i].s, "--as-group") ||
		    strcmp(c->argv[i].s, "--as") == 0)
			return true;
	return rule_is("edit patch replace set", rule_operand(c, 0)) &&
	       (str_starts(rule_operand(c, 1), "clusterrole") ||
		str_starts(rule_operand(c, 1), "role") ||
		strstr(rule_operand(c, 1), "webhookconfiguration"));
}

static bool store_api(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return store_any(c, "DELETE -XDELETE --method=DELETE");
}

static bool store_deletes(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return store_any(c, "delete deleteall rmr purge trim-prefix delete-partitioned-topic");
}

static bool store_halts(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return store_any(c, "stop") && store_any(c, "immediate --mode=immediate -mimmediate i");
}

static bool store_environment(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "Config.Env");
}

static bool store_restores(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "mongorestore") == 0)
		return rule_has(c, "--drop");
	if (rule_is("etcdctl etcdutl", c->name))
		return strcmp(rule_operand(c, 0), "snapshot") == 0 &&
		       strcmp(rule_operand(c, 1), "restore") == 0;
	if (strcmp(c->name, "neo4j-admin") == 0)
		return rule_says(c, "--overwrite-destination") || rule_says(c, "--force");
	return rule_has(c, "-c|--clean");
}

#define SUSPECT .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_MEDIUM, .confidence = 0.6
#define DOUBT .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_LOW, .confidence = 0.4

static const struct shell_rule store_rows[] = {
	{.id = "CMD-SQL-RIGHTS",
	 .reason =
		 "Its statement drops, takes all rows, gives rights, or reads and writes files of the server.",
	 SUSPECT,
	 .programs =
		 "psql mysql mariadb sqlite3 sqlcmd cqlsh clickhouse-client duckdb bq usql snowsql sqlplus cockroach isql",
	 .test = store_sql,
	 .hit = "psql -c \"CREATE ROLE x LOGIN SUPERUSER\"",
	 .miss = "psql -c 'CREATE TABLE t (id int)'"},
	{.id = "CMD-SQL-CLIENT",
	 .reason = "Its statement drops or empties tables.",
	 SUSPECT,
	 .programs =
		 "influx cypher-shell pgcli mycli litecli trino presto hive beeline impala-shell spark-sql mssql-cli vsql db2 "
		 "wrangler turso surreal arangosh cbq ksql sqlline ysqlsh ycqlsh clickhouse questdb monetdb mclient",
	 .test = store_sql_drop,
	 .hit = "influx -execute 'DROP DATABASE metrics'",
	 .miss = "influx -execute 'SHOW DATABASES'"},
	{.id = "CMD-DATABASE-RESET",
	 .reason = "It deletes or resets the files of a database.",
	 SUSPECT,
	 .programs =
		 "pg_dropcluster pg_resetwal pg_resetxlog memcflush memcrm kafka-delete-records kafka-delete-records.sh",
	 .unless = "--help|--version|-n|--dry-run",
	 .hit = "pg_dropcluster 15 main",
	 .miss = "pg_lsclusters"},
	{.id = "CMD-RESTORE-OVER",
	 .reason = "It drops what is there before it restores.",
	 DOUBT,
	 .programs = "mongorestore pg_restore neo4j-admin etcdctl etcdutl",
	 .test = store_restores,
	 .hit = "mongorestore --drop dump/",
	 .miss = "mongorestore dump/"},
	{.id = "CMD-REDIS-CONFIG",
	 .reason = "It changes where the server writes, whom it follows or whom it lets in.",
	 SUSPECT,
	 .programs = "redis-cli valkey-cli keydb-cli dragonfly-cli",
	 .test = store_redis,
	 .hit = "redis-cli CONFIG SET dbfilename x.php",
	 .miss = "redis-cli CONFIG GET maxmemory"},
	{.id = "CMD-QUEUE-RESET",
	 .reason = "It empties or resets a message broker, or changes who may use it.",
	 DOUBT,
	 .programs = "rabbitmqctl",
	 .words =
		 "reset|force_reset|purge_*|delete_*|stop_app|forget_cluster_node|change_password|set_user_tags|clear_permissions",
	 .hit = "rabbitmqctl purge_queue orders",
	 .miss = "rabbitmqctl list_queues"},
	{.id = "CMD-QUEUE-DELETE",
	 .reason = "It deletes something of a message broker or a registry.",
	 DOUBT,
	 .programs =
		 "rpk pulsar-admin kaf zkCli.sh zkCli zookeeper-shell zookeeper-shell.sh activemq artemis",
	 .unless = "--help|--list",
	 .test = store_deletes,
	 .hit = "zkCli.sh deleteall /brokers",
	 .miss = "zkCli.sh ls /"},
	{.id = "CMD-CLUSTER-RESET",
	 .reason = "It takes a cluster or a node of it down.",
	 SUSPECT,
	 .programs = "kubeadm microk8s k0s talosctl rke rke2-killall.sh k3s-killall.sh",
	 .words = "reset|remove|leave",
	 .hit = "kubeadm reset -f",
	 .miss = "kubeadm token list"},
	{.id = "CMD-CLUSTER-UNINSTALL",
	 .reason = "It removes a cluster from this machine.",
	 SUSPECT,
	 .programs = "k3s-uninstall.sh k3s-agent-uninstall.sh rke2-uninstall.sh",
	 .hit = "/usr/local/bin/k3s-uninstall.sh",
	 .miss = "k3s kubectl get nodes"},
	{.id = "CMD-CLUSTER-ROLES",
	 .reason =
		 "It acts as somebody else in a cluster, changes roles, or asks what it may do there.",
	 DOUBT,
	 .programs = "kubectl oc",
	 .test = store_roles,
	 .hit = "kubectl edit clusterrole admin",
	 .miss = "kubectl auth can-i get pods"},
	{.id = "CMD-HELM-BACK",
	 .reason = "It puts an older release in the place of the running one by force.",
	 DOUBT,
	 .programs = "helm",
	 .words = "rollback",
	 .flags = "--force|--recreate-pods",
	 .hit = "helm rollback web 1 --force",
	 .miss = "helm rollback web 1"},
	{.id = "CMD-CLOUD-STOP",
	 .reason = "It stops machines or databases of a cloud.",
	 DOUBT,
	 .programs = "aws gcloud az doctl hcloud linode-cli fly flyctl heroku",
	 .unless = "--dry-run|--help",
	 .test = store_stops,
	 .hit = "aws ec2 stop-instances --instance-ids i-1",
	 .miss = "aws ec2 start-instances --instance-ids i-1"},
	{.id = "CMD-CLOUD-OPEN",
	 .reason = "It lays data of a cloud open to everybody.",
	 SUSPECT,
	 .programs = "aws gcloud az gsutil gh s3cmd mc",
	 .test = store_open,
	 .hit = "aws rds modify-db-instance --db-instance-identifier p --publicly-accessible",
	 .miss = "aws rds describe-db-instances"},
	{.id = "CMD-STORE-SECRETS",
	 .reason = "It prints the secrets that a service keeps.",
	 DOUBT,
	 .programs =
		 "heroku doppler infisical vercel netlify railway chamber sops ansible-vault aws kubectl oc",
	 .unless = "--help",
	 .test = store_secrets,
	 .hit = "doppler secrets download --no-file --format env",
	 .miss = "doppler setup"},
	{.id = "CMD-STATE-ABSENT",
	 .reason = "It removes something on many machines.",
	 DOUBT,
	 .programs = "ansible",
	 .test = store_absent,
	 .hit = "ansible all -m file -a 'path=/srv state=absent'",
	 .miss = "ansible all -m file -a 'path=/srv state=directory'"},
	{.id = "CMD-STATE-UNLOCK",
	 .reason =
		 "It breaks the lock of a state that somebody else may be writing, or overwrites that state.",
	 DOUBT,
	 .programs = "terraform tofu terragrunt",
	 .words = "force-unlock",
	 .hit = "terraform force-unlock -force 123",
	 .miss = "terraform state list"},
	{.id = "CMD-STATE-PUSH",
	 .reason = "It overwrites the state of an infrastructure.",
	 DOUBT,
	 .programs = "terraform tofu terragrunt",
	 .words = "state push",
	 .hit = "terraform state push old.tfstate",
	 .miss = "terraform state pull"},
	{.id = "CMD-QUEUE-CONFIG",
	 .reason = "It changes how long a broker keeps messages, or who may read them.",
	 DOUBT,
	 .programs = "kafka-configs kafka-configs.sh kafka-acls kafka-acls.sh",
	 .flags = "--alter|--add|--remove",
	 .hit = "kafka-configs.sh --alter --entity-type topics --entity-name t --add-config retention.ms=1",
	 .miss = "kafka-configs.sh --describe --entity-type topics"},
	{.id = "CMD-DATABASE-STOP",
	 .reason = "It stops a database without letting it finish.",
	 DOUBT,
	 .programs = "pg_ctl pg_ctlcluster",
	 .test = store_halts,
	 .hit = "pg_ctl stop -m immediate",
	 .miss = "pg_ctl status"},
	{.id = "CMD-CONTAINER-ENVIRONMENT",
	 .reason = "It shows the environment of a container, in which secrets are.",
	 DOUBT,
	 .programs = "docker podman nerdctl",
	 .words = "inspect|container",
	 .test = store_environment,
	 .hit = "docker inspect -f '{{.Config.Env}}' web",
	 .miss = "docker inspect -f '{{.State.Status}}' web"},
	{.id = "CMD-MACHINE-DELETE",
	 .reason = "It deletes a virtual machine or its disks.",
	 DOUBT,
	 .programs = "VBoxManage vboxmanage prlctl vmrun limactl colima tart utmctl orb xe govc",
	 .words =
		 "unregistervm|delete|deleteVM|destroy|closemedium|vm-destroy|vm.destroy|rm|prune|factory-reset",
	 .hit = "VBoxManage unregistervm vm1 --delete",
	 .miss = "VBoxManage list vms"},
	{.id = "CMD-SWARM-REMOVE",
	 .reason = "It removes a stack, a service or a secret of a cluster.",
	 DOUBT,
	 .programs = "docker podman",
	 .words = "stack|secret|config|service|node rm|remove|down",
	 .hit = "docker stack rm prod",
	 .miss = "docker stack ps prod"},
	{.id = "CMD-VAULT-METADATA",
	 .reason = "It deletes all versions of a secret.",
	 SUSPECT,
	 .programs = "vault",
	 .words = "kv metadata delete",
	 .hit = "vault kv metadata delete secret/db",
	 .miss = "vault kv metadata get secret/db"},
	{.id = "CMD-POD-REMOVE",
	 .reason = "It removes pods behind the back of the cluster.",
	 DOUBT,
	 .programs = "crictl",
	 .words = "rmp|stopp|rm|rmi",
	 .hit = "crictl rmp -fa",
	 .miss = "crictl pods"},
	{.id = "CMD-FORGE-DELETE",
	 .reason = "It deletes something on a server of repositories.",
	 DOUBT,
	 .programs = "gh glab hub",
	 .words = "api",
	 .flags = "-X|--method",
	 .test = store_api,
	 .hit = "glab api -X DELETE projects/12",
	 .miss = "glab api -X GET projects/12"},
};

const struct shell_rules shell_rules_store = {store_rows,
					      sizeof(store_rows) / sizeof(store_rows[0])};
