/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clouds and clusters by the grammar of their commands: what is done (a verb) to what lets somebody in (a noun),
 * whichever service the words stand in.  A list of single actions would always be behind.
 */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

#define ROW(type_, confidence_, level_)                                                            \
	.type = FINDING_##type_, .level = THREAT_##level_, .confidence = (confidence_)

#define CLOUDS                                                                                                          \
	"aws gcloud az oci ibmcloud aliyun doctl linode-cli hcloud openstack scw exo vultr-cli yc tccli gsutil heroku " \
	"supabase firebase okta auth0 cf"

enum { CLOUD_OPERANDS = 5, CLOUD_BYTES = 256 };

/* The first operands with a dash before and behind each part: -sql-users-set-password- */
static void cloud_words(const struct shell_command *c, char out[static CLOUD_BYTES])
{
	size_t n = 0;

	out[n++] = '-';
	for (size_t i = 0; i < CLOUD_OPERANDS; i++) {
		const char *s = rule_operand(c, i);
		size_t len = strlen(s);

		if (len == 0 || n + len + 2 > CLOUD_BYTES || strpbrk(s, "/={"))
			break;
		for (size_t k = 0; k < len; k++)
			out[n++] = s[k] == '_' || s[k] == ':' ? '-' : s[k];
		out[n++] = '-';
	}
	out[n] = '\0';
}

/* A password, a key or a right is made, changed or approved. */
static bool cloud_lets_in(const struct shell_model *m, const struct shell_command *c)
{
	char words[CLOUD_BYTES];

	(void)m;
	cloud_words(c, words);
	return rule_is_part(
		       words,
		       "set reset change update put add attach create upload import approve grant send "
		       "enable associate regenerate renew issue") &&
	       rule_is_part(
		       words,
		       "password user-password admin-password login-profile access-key access-keys ssh-key ssh-keys "
		       "ssh-public-key key-pair iam-policy iam-policy-binding role-policy user-policy group-policy "
		       "permission permissions record-sets record-set credential credentials api-key app-password "
		       "superuser admin-user mfa-device saml-provider open-id-connect-provider identity-provider "
		       "trust-policy assume-role-policy role-assignment key-credential fic");
}

/* What a machine runs when it starts, or who may log in to it, as a value of another action. */
static bool cloud_seeds(const struct shell_model *m, const struct shell_command *c)
{
	char words[CLOUD_BYTES];

	(void)m;
	cloud_words(c, words);
	if (rule_is_part(words, "create run-instances run launch-template"))
		return false; /* a new machine is made with such values */
	return rule_says(c, "ssh-keys=") || rule_says(c, "startup-script") ||
	       rule_has(c, "--user-data") || rule_says(c, "enable-oslogin=FALSE");
}

/* Keys and links that open a store to whoever has them. */
static bool cloud_reveals(const struct shell_model *m, const struct shell_command *c)
{
	char words[CLOUD_BYTES];

	(void)m;
	cloud_words(c, words);
	if (rule_is_part(
		    words,
		    "generate-sas presign signurl sign-url show-connection-string connection-string "
		    "list-connection-strings get-password-data list-publishing-credentials "
		    "list-publishing-profiles sas"))
		return !rule_is_part(words, "revoke");
	if (strcmp(c->name, "az") == 0 &&
	    rule_is_part(words, "list-keys keys-list keys-show list-admin-key"))
		return true;
	return strcmp(c->name, "az") == 0 && rule_is_part(words, "get-credentials") &&
	       rule_has(c, "--admin|-a");
}

/* Eight or more machines at once. */
static bool cloud_hires(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i + 1 < c->n; i++) {
		const char *s = c->argv[i + 1].s;

		if (rule_is("--count --max-count --num-instances", c->argv[i].s) &&
		    strspn(s, "0123456789") == c->argv[i + 1].len && *s)
			return c->argv[i + 1].len > 1 || *s >= '8';
	}
	return false;
}

static bool cloud_approves(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return strcmp(rule_operand(c, 1), "approve") == 0;
}

/* A rule of a vault from where everybody may write, or one that is called after root. */
static bool cloud_policy(const struct shell_model *m, const struct shell_command *c)
{
	return (rule_operands(m, c) & PLACE(TEMPORARY)) ||
	       rule_is("root admin default", rule_operand(c, 2)) ||
	       (c->has_in && c->in.s && (strstr(c->in.s, "path \"*\"") || strstr(c->in.s, "sudo")));
}

static const struct shell_rule cloud_rows[] = {
	{.id = "CMD-CLOUD-LOGIN",
	 .reason = "It makes or changes what lets somebody in at a cloud.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = CLOUDS,
	 .unless = "--help|--dry-run",
	 .test = cloud_lets_in,
	 .hit = "gcloud sql users set-password root -i x --password y",
	 .miss = "gcloud sql users list -i x"},
	{.id = "CMD-CLOUD-SEED",
	 .reason =
		 "It changes what a machine at a cloud runs when it starts, or who may log in to it.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "aws gcloud az oci openstack",
	 .test = cloud_seeds,
	 .hit = "gcloud compute instances add-metadata vm --metadata=ssh-keys='x:ssh-rsa A'",
	 .miss = "gcloud compute instances describe vm"},
	{.id = "CMD-CLOUD-KEYS",
	 .reason = "It shows a key or makes a link that opens a store at a cloud.",
	 ROW(DATA_LEAK, 0.4, LOW),
	 .programs = "aws gcloud az gsutil s3cmd mc oci",
	 .unless = "--help",
	 .test = cloud_reveals,
	 .hit = "az storage account keys list -n a -g g",
	 .miss = "az storage account list -g g"},
	{.id = "CMD-CLOUD-HIRE",
	 .reason = "It hires many machines at once.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "aws gcloud az oci doctl",
	 .test = cloud_hires,
	 .hit = "aws ec2 run-instances --image-id x --instance-type p4d.24xlarge --count 20",
	 .miss = "aws ec2 run-instances --image-id x --instance-type t3.micro --count 1"},
	{.id = "CMD-CLUSTER-APPROVE",
	 .reason = "It lets somebody into a cluster.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "kubectl oc",
	 .words = "certificate|csr",
	 .test = cloud_approves,
	 .hit = "kubectl certificate approve x",
	 .miss = "kubectl certificate deny x"},
	{.id = "CMD-VAULT-POLICY",
	 .reason = "It changes who may read what a vault keeps.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "vault bao",
	 .words = "policy write",
	 .test = cloud_policy,
	 .hit = "vault policy write root p.hcl",
	 .miss = "vault policy write app p.hcl"},
};

const struct shell_rules shell_rules_cloud = {cloud_rows,
					      sizeof(cloud_rows) / sizeof(cloud_rows[0])};
