/* SPDX-License-Identifier: Apache-2.0 */
/* Databases, containers, clouds and other services that a command would empty. */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* The length of blanks and comments, which part the words of SQL. */
static size_t service_gap(const char *s)
{
	size_t n = 0;

	for (;;) {
		if (s[n] == ' ' || s[n] == '\t' || s[n] == '\n' || s[n] == '\r') {
			n++;
		} else if (s[n] == '/' && s[n + 1] == '*' && strstr(s + n + 2, "*/")) {
			n = (size_t)(strstr(s + n + 2, "*/") + 2 - s);
		} else {
			return n;
		}
	}
}

static bool service_is_at(const char *s, const char *words)
{
	for (; *words; words++) {
		size_t n = *words == ' '
				   ? service_gap(s)
				   : (size_t)(tolower((unsigned char)*s) == (unsigned char)*words);

		if (n == 0)
			return false;
		s += n;
	}
	return true;
}

/* Does any word or the known input hold the words, however far apart they stand? */
static bool service_says(const struct shell_command *c, const char *words)
{
	static const char blanks[] = " \t\n\r/";

	if (rule_says(c, words))
		return true;
	for (size_t i = 1; i <= c->n; i++) {
		const char *s = i < c->n ? c->argv[i].s : c->in.s;

		/* only what has more than one blank in a row can hide */
		for (const char *p = s; p && (p = strpbrk(p, blanks)) != NULL; p++) {
			const char *q = p;

			while (q > s && !strchr(blanks, q[-1]) && p - q < 16)
				q--;
			if (service_is_at(q, words))
				return true;
		}
	}
	return false;
}

/* DELETE or UPDATE without a WHERE takes all rows. */
static bool service_sql(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const words[] = {"drop table",    "drop database",
					    "drop schema",   "truncate table",
					    "truncate ",     "drop user",
					    "drop keyspace", "drop index",
					    "drop view",     "drop column",
					    "drop role",     "drop owned",
					    "grant all",     "with superuser",
					    "alter user",    "alter role",
					    "set global",    "alter system",
					    "drop function", "drop trigger",
					    "reset master",  "pg_terminate_backend("};

	(void)m;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (service_says(c, words[i]))
			return true;
	if (service_says(c, "update ") && service_says(c, " set ") && !service_says(c, "where") &&
	    !service_says(c, "on conflict") && !service_says(c, "on duplicate"))
		return true;
	return service_says(c, "delete from") && !service_says(c, "where");
}

static bool service_mongo(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "dropDatabase") || rule_says(c, ".drop(") ||
	       rule_says(c, "shutdownServer") || rule_says(c, "deleteMany({})") ||
	       rule_says(c, "remove({})") || rule_says(c, "updateMany({},") ||
	       rule_says(c, "deleteMany()") || rule_says(c, "deleteMany({ })");
}

static bool service_redis(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if ((c->via & (VIA_EACH | VIA_LOOP)) &&
	    rule_is("del DEL unlink UNLINK", rule_operand(c, 0)))
		return true;
	return rule_says(c, "flushall") || rule_says(c, "slaveof") || rule_says(c, "module load") ||
	       rule_says(c, "flushdb") || rule_says(c, "shutdown") ||
	       (rule_says(c, "config") && (rule_says(c, "dir") || rule_says(c, "requirepass"))) ||
	       rule_says(c, "debug segfault");
}

static bool service_is_deleting(const char *word)
{
	static const char *const starts[] = {"delete-",    "terminate-",
					     "remove-",    "deregister-",
					     "purge-",     "destroy-",
					     "delete_",    "clear_",
					     "revoke-",    "reset-",
					     "put-secret", "update-secret",
					     "disable-",   "schedule-key-deletion",
					     "cancel-",    "batch-delete",
					     "detach-"};

	/* apps:destroy, firestore:delete */
	if (strchr(word, ':') && !strstr(word, "://"))
		word = strrchr(word, ':') + 1;
	if (rule_is("delete del destroy rm rb remove purge drop uninstall revoke nuke rmdir prune forget rdelete "
		    "deletefile rdel erase teardown terminate undefine rmi obliterate disable",
		    word))
		return true;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (str_starts(word, starts[i]))
			return true;
	return str_ends(word, "-delete") || str_ends(word, "-destroy");
}

static bool service_deletes(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(rule_operand(c, 0), "wait") == 0)
		return false;
	for (size_t i = 0; i < 5; i++) {
		const char *s = rule_operand(c, i);

		if (!*s)
			break;
		if (service_is_deleting(s))
			return true;
	}
	/* nomad job stop -purge, railway down */
	if (rule_has(c, "-purge|--purge") ||
	    (strcmp(c->name, "railway") == 0 && strcmp(rule_operand(c, 0), "down") == 0))
		return true;
	return rule_has(c, "--delete") &&
	       rule_is("kafka-topics kafka-topics.sh aws kafka-consumer-groups kafka-configs",
		       c->name);
}

/* docker rm -f $(docker ps -aq) */
static bool service_every(const struct shell_model *m, const struct shell_command *c)
{
	const char *word = rule_operand(c, 0);
	bool is_listed = false, has_list = false;

	if (rule_is("container image service stack network", word))
		word = rule_operand(c, 1);
	for (size_t i = 2; i < c->n; i++)
		has_list = has_list || (c->argv[i].flags & (WORD_UNKNOWN | WORD_ITEM));
	if (!rule_is("rm rmi kill stop remove", word) || !has_list)
		return false;
	for (size_t i = 0; i < m->n && !is_listed; i++)
		is_listed = strcmp(m->commands[i].name, c->name) == 0 &&
			    rule_is("ps images ls container image volume service stack network",
				    rule_operand(&m->commands[i], 0)) &&
			    rule_has(&m->commands[i], "-q|--quiet") &&
			    !rule_has(&m->commands[i], "-f|--filter");
	return is_listed;
}

/* One image or one container is a small thing, and so are images without a name; all that nobody uses is not. */
static bool service_prune(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_is("system volume", rule_operand(c, 0)) ||
	       (strcmp(rule_operand(c, 1), "prune") == 0 &&
		(strcmp(rule_operand(c, 0), "container") == 0 || rule_has(c, "-a|--all")));
}

static bool service_any(const struct shell_command *c, const char *const *words, size_t n)
{
	for (size_t k = 0; k < n; k++)
		for (size_t i = 1; i < c->n; i++)
			if (strstr(c->argv[i].s, words[k]))
				return true;
	return false;
}

#define SERVICE_ANY(c, words) service_any(c, words, sizeof(words) / sizeof((words)[0]))

/* New keys, roles and rights at a cloud. */
static bool service_rights(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const words[] = {
		"create-access-key",  "create-login-profile",   "update-login-profile",
		"attach-user-policy", "attach-role-policy",     "attach-group-policy",
		"put-user-policy",    "put-role-policy",        "add-user-to-group",
		"create-user",        "update-assume-role",     "add-iam-policy-binding",
		"set-iam-policy",     "create-for-rbac",        "create-service-specific",
		"add-permission",     "put-bucket-policy",      "put-bucket-acl",
		"put-key-policy",     "modify-image-attribute", "modify-snapshot-attribute",
		"create-key-pair",    "import-key-pair",        "create-policy-version",
		"leave-organization", "invite-account"};
	const char *a = rule_operand(c, 0), *b = rule_operand(c, 1), *d = rule_operand(c, 2);

	(void)m;
	if (SERVICE_ANY(c, words))
		return true;
	if (strcmp(c->name, "az") == 0)
		return (strcmp(a, "role") == 0 && strcmp(b, "assignment") == 0 &&
			strcmp(d, "create") == 0) ||
		       (strcmp(a, "ad") == 0 && rule_is("user sp app group", b) &&
			(rule_is("create", d) || rule_says(c, "credential")));
	if (strcmp(c->name, "gcloud") == 0)
		return strcmp(a, "iam") == 0 && rule_says(c, "keys") && rule_says(c, "create");
	return strcmp(c->name, "gsutil") == 0 && rule_says(c, "allUsers");
}

/* What watches or guards an account at a cloud is switched off, or a door is opened to everybody. */
static bool service_unseen(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const words[] = {"stop-logging",
					    "stop-configuration-recorder",
					    "update-detector",
					    "put-event-selectors",
					    "delete-public-access-block",
					    "Status=Suspended",
					    "MFADelete=Disabled",
					    "--no-disable-api-termination",
					    "--no-deletion-protection",
					    "--no-enable-deletion-protection",
					    "--no-enable-logging"};

	(void)m;
	if (SERVICE_ANY(c, words))
		return true;
	for (size_t i = 1; i + 1 < c->n && rule_says(c, "nsg"); i++)
		if (strcmp(c->argv[i].s, "--source-address-prefixes") == 0)
			return rule_is("* Internet 0.0.0.0/0", c->argv[i + 1].s);
	return (rule_says(c, "0.0.0.0/0") || rule_says(c, "::/0")) &&
	       (rule_says(c, "authorize-security-group") || rule_says(c, "firewall-rules") ||
		rule_says(c, "nsg"));
}

/* Secrets that a cloud keeps, and commands that it runs on machines. */
static bool service_secret(const struct shell_model *m, const struct shell_command *c)
{
	const char *a = rule_operand(c, 0), *b = rule_operand(c, 1), *d = rule_operand(c, 2);

	(void)m;
	if (strcmp(c->name, "aws") == 0)
		return rule_is("get-secret-value batch-get-secret-value get-session-token "
			       "assume-role get-authorization-token get-password-data",
			       b) ||
		       (strcmp(a, "ssm") == 0 && rule_has(c, "--with-decryption"));
	if (strcmp(c->name, "gcloud") == 0)
		return strcmp(a, "secrets") == 0 && strcmp(d, "access") == 0;
	if (strcmp(c->name, "az") == 0)
		return (strcmp(a, "keyvault") == 0 && rule_is("show download", d)) ||
		       rule_is("get-access-token", b);
	if (strcmp(c->name, "heroku") == 0)
		return rule_is("auth:token config:get", a) ||
		       (strcmp(a, "config") == 0 && rule_has(c, "-s|--shell|--json|-j"));
	if (strcmp(c->name, "vault") == 0)
		return (strcmp(a, "kv") == 0 && strcmp(b, "get") == 0) || strcmp(a, "read") == 0 ||
		       (strcmp(a, "token") == 0 && strcmp(b, "create") == 0);
	if (rule_is("kubectl oc", c->name))
		return strcmp(a, "config") == 0 && strcmp(b, "view") == 0 && rule_has(c, "--raw");
	return false;
}

static bool service_remote(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return strcmp(c->name, "aws") == 0
		       ? rule_is("send-command start-session", rule_operand(c, 1))
		       : strcmp(rule_operand(c, 1), "run-command") == 0 &&
				 strcmp(rule_operand(c, 2), "invoke") == 0;
}

static bool service_vault(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(rule_operand(c, 0), "operator") == 0)
		return rule_is("seal unseal init rekey generate-root rotate step-down",
			       rule_operand(c, 1));
	return rule_is("disable revoke delete destroy", rule_operand(c, 1)) ||
	       rule_is("delete seal", rule_operand(c, 0));
}

static bool service_curl(const struct shell_model *m, const struct shell_command *c)
{
	bool is_post = false;

	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (str_ends(s, "XDELETE") || strcmp(s, "--request=DELETE") == 0 ||
		    (i + 1 < c->n && rule_is("-X --request", s) &&
		     rule_is("DELETE PURGE", c->argv[i + 1].s)) ||
		    (i == 1 && rule_is("http https xh", c->name) && strcmp(s, "DELETE") == 0))
			return true;
		is_post = is_post || strcmp(s, "POST") == 0 || str_ends(s, "XPOST");
	}
	return is_post && (rule_says(c, "/delete") || rule_says(c, "/doDelete") ||
			   rule_says(c, "_delete_by_query") || rule_says(c, "/purge") ||
			   rule_says(c, "/destroy"));
}

static bool service_compose(const struct shell_model *m, const struct shell_command *c)
{
	bool is_down = false;

	(void)m;
	if (strcmp(c->name, "docker") == 0 && strcmp(rule_operand(c, 0), "compose") != 0)
		return false;
	for (size_t i = 1; i < c->n; i++)
		is_down = is_down || strcmp(c->argv[i].s, "down") == 0;
	return is_down && rule_has(c, "-v|--volumes");
}

static bool service_jar(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (!rule_says(c, "-cli"))
		return false;
	for (size_t i = 1; i < c->n; i++)
		if (service_is_deleting(c->argv[i].s))
			return true;
	return false;
}

static bool service_sync(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, "--delete") || str_starts(c->argv[i].s, "--del") ||
		    strcmp(c->argv[i].s, "--remove-source-files") == 0)
			return true;
	return false;
}

static bool service_sync_root(const struct shell_model *m, const struct shell_command *c)
{
	return service_sync(m, c) && c->n > 2 &&
	       (rule_place(m, c, &c->argv[c->n - 1]) & (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME)));
}

/* A database of tests is made to be thrown away. */
static bool service_dropdb(const struct shell_model *m, const struct shell_command *c)
{
	const char *name = c->n > 1 ? c->argv[c->n - 1].s : "";

	(void)m;
	return !(str_ends(name, "_test") || str_ends(name, "-test") || str_starts(name, "test_"));
}

#define SUSPECT .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_MEDIUM, .confidence = 0.6
#define DOUBT .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_LOW, .confidence = 0.4
#define CERTAIN .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_CRITICAL, .confidence = 0.95

static const struct shell_rule service_rows[] = {
	{.id = "CMD-SQL-DROP",
	 .reason = "It drops or empties tables.",
	 SUSPECT,
	 .programs =
		 "psql mysql mariadb sqlite3 sqlcmd cqlsh clickhouse-client duckdb bq usql snowsql sqlplus cockroach isql",
	 .test = service_sql,
	 .hit = "psql -c 'DROP TABLE users'",
	 .miss = "psql -c 'SELECT 1'"},
	{.id = "CMD-DROPDB",
	 .reason = "It drops a database.",
	 SUSPECT,
	 .programs = "dropdb dropuser",
	 .test = service_dropdb,
	 .hit = "dropdb shop",
	 .miss = "createdb shop"},
	{.id = "CMD-MYSQLADMIN-DROP",
	 .reason = "It drops a database.",
	 SUSPECT,
	 .programs = "mysqladmin",
	 .words = "drop|shutdown",
	 .hit = "mysqladmin drop shop",
	 .miss = "mysqladmin status"},
	{.id = "CMD-MONGO-DROP",
	 .reason = "It drops a database or a collection.",
	 SUSPECT,
	 .programs = "mongo mongosh",
	 .test = service_mongo,
	 .hit = "mongosh --eval 'db.dropDatabase()'",
	 .miss = "mongosh --eval 'db.stats()'"},
	{.id = "CMD-REDIS-FLUSH",
	 .reason = "It empties a cache or makes the server write files.",
	 SUSPECT,
	 .programs = "redis-cli valkey-cli",
	 .test = service_redis,
	 .hit = "redis-cli FLUSHALL",
	 .miss = "redis-cli PING"},
	{.id = "CMD-DOCKER-PRUNE",
	 .reason = "It deletes volumes or everything that no container uses.",
	 DOUBT,
	 .programs = "docker podman nerdctl",
	 .words = "system|volume|container|image|network|builder|buildx prune|rm|remove|reset",
	 .test = service_prune,
	 .hit = "docker system prune -af",
	 .miss = "docker system df"},
	{.id = "CMD-COMPOSE-DOWN",
	 .reason = "It deletes the volumes of services.",
	 DOUBT,
	 .programs = "docker docker-compose podman-compose",
	 .test = service_compose,
	 .hit = "docker compose down -v",
	 .miss = "docker compose down"},
	{.id = "CMD-CLOUD-DELETE",
	 .reason = "It deletes something at a cloud or a service.",
	 DOUBT,
	 .programs =
		 "aws gcloud az gsutil oci doctl linode-cli hcloud heroku fly flyctl vercel netlify wrangler firebase supabase "
		 "gh glab circleci op doppler consul nomad velero borg restic rclone kafka-topics kafka-topics.sh "
		 "kafka-consumer-groups kafka-configs rabbitmqctl rabbitmqadmin nats etcdctl influx mc s3cmd b2 ibmcloud scw "
		 "exo openstack cf argocd flux helm kubectl oc eksctl kops rancher pulumi terraform tofu terragrunt vagrant "
		 "virsh multipass lxc incus qm pct bq s5cmd railway render akamai fastly ngrok cloudflared confluent ccloud "
		 "pscale turso neonctl planetscale civo minikube kind k3d docker-machine jenkins-cli buildkite-agent eb sam serverless sls knife crictl "
		 "copilot amplify dapr porter cdk istioctl linkerd cilium p4 proxmox-backup-client ctr "
		 "certbot step pass flarectl cfcli cloudflare-cli vultr-cli upctl cli53 aliyun yc tccli koyeb clever scalingo "
		 "exoscale stackit dnscontrol",
	 .unless = "--dry-run|--dryrun|--help",
	 .test = service_deletes,
	 .hit = "kubectl delete namespace shop",
	 .miss = "kubectl get pods"},
	{.id = "CMD-CONTAINER-EVERY",
	 .reason = "It stops or deletes every container or image.",
	 DOUBT,
	 .programs = "docker podman nerdctl",
	 .test = service_every,
	 .hit = "docker rm -f $(docker ps -aq)",
	 .miss = "docker rm -f web"},
	{.id = "CMD-CLOUD-RIGHTS",
	 .reason = "It gives keys or rights at a cloud.",
	 DOUBT,
	 .programs = "aws gcloud az gsutil",
	 .test = service_rights,
	 .hit = "aws iam create-access-key --user-name admin",
	 .miss = "aws iam list-access-keys --user-name admin"},
	{.id = "CMD-CLOUD-UNSEEN",
	 .reason = "It switches off what watches a cloud, or opens it to everybody.",
	 SUSPECT,
	 .programs = "aws gcloud az",
	 .test = service_unseen,
	 .hit = "aws cloudtrail stop-logging --name main",
	 .miss = "aws cloudtrail describe-trails"},
	{.id = "CMD-CLOUD-SECRET",
	 .reason = "It prints a secret that a cloud or a store keeps.",
	 DOUBT,
	 .programs = "aws gcloud az heroku vault kubectl oc",
	 .test = service_secret,
	 .hit = "aws secretsmanager get-secret-value --secret-id db",
	 .miss = "aws secretsmanager list-secrets"},
	{.id = "CMD-CLOUD-COMMAND",
	 .reason = "It runs a command on other machines.",
	 DOUBT,
	 .programs = "aws az",
	 .test = service_remote,
	 .hit = "aws ssm send-command --document-name AWS-RunShellScript",
	 .miss = "aws ssm list-commands"},
	{.id = "CMD-VAULT",
	 .reason = "It deletes secrets or closes a store of secrets.",
	 SUSPECT,
	 .programs = "vault",
	 .test = service_vault,
	 .hit = "vault secrets disable kv",
	 .miss = "vault secrets list"},
	{.id = "CMD-JENKINS",
	 .reason = "It deletes something on a build server.",
	 DOUBT,
	 .programs = "java",
	 .test = service_jar,
	 .hit = "java -jar jenkins-cli.jar -s http://ci.local/ delete-job a",
	 .miss = "java -jar jenkins-cli.jar -s http://ci.local/ list-jobs"},
	{.id = "CMD-HTTP-DELETE",
	 .reason = "It asks a service to delete something.",
	 DOUBT,
	 .programs = "curl wget http https xh",
	 .test = service_curl,
	 .hit = "curl -X DELETE http://api.example/users/1",
	 .miss = "curl -X GET http://api.example/users/1"},
	{.id = "CMD-SYNC-DELETE",
	 .reason = "It deletes at the destination what the source does not have.",
	 DOUBT,
	 .programs = "rsync",
	 .unless = "-n|--dry-run",
	 .test = service_sync,
	 .hit = "rsync -a --delete src/ dst/",
	 .miss = "rsync -a src/ dst/"},
	{.id = "CMD-SYNC-ROOT",
	 .reason = "It makes the system look like another directory and deletes the rest.",
	 CERTAIN,
	 .programs = "rsync",
	 .unless = "-n|--dry-run",
	 .test = service_sync_root,
	 .hit = "rsync -a --delete empty/ /",
	 .miss = "rsync -a --delete src/ dst/"},
	{.id = "CMD-RCLONE-SYNC",
	 .reason = "It deletes at the destination what the source does not have.",
	 DOUBT,
	 .programs = "rclone",
	 .words = "sync|move|bisync|cleanup",
	 .unless = "--dry-run|-n",
	 .hit = "rclone sync empty remote:b",
	 .miss = "rclone ls remote:b"},
	{.id = "CMD-TERRAFORM-DESTROY",
	 .reason = "It destroys infrastructure.",
	 SUSPECT,
	 .programs = "terraform tofu terragrunt pulumi cdk sls serverless",
	 .words = "destroy|remove|apply",
	 .flags = "-destroy|-auto-approve|--yes|-y|--force",
	 .hit = "terraform apply -destroy",
	 .miss = "terraform plan"},
	{.id = "CMD-RESTIC-FORGET",
	 .reason = "It deletes backups.",
	 DOUBT,
	 .programs = "restic borg duplicity duplicacy kopia",
	 .words = "forget|prune|delete|rdelete|remove-older-than|remove-all-but-n-full",
	 .hit = "restic forget --prune",
	 .miss = "restic stats"},
};

const struct shell_rules shell_rules_service = {service_rows,
						sizeof(service_rows) / sizeof(service_rows[0])};
